//! Servers that are killed in the middle of their work: whatever was acknowledged is there, and
//! counted once.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::postgres::Postgres;
use common::process::{Server, serve_if_told};
use common::{Folder, Made, load, sealed};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    serve_if_told();
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("what_sqlite_acknowledged_outlives_kills", sqlite),
        Trial::test("what_two_replicas_acknowledged_outlives_one", replicas),
        Trial::test("a_server_that_is_told_to_stop_ends_in_order", in_order),
        Trial::test("what_is_half_sent_by_then_is_taken", half_sent),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

fn sqlite() -> Result<(), Failed> {
    let folder = Folder::new();
    let outcome = load::killed(folder.path(), 5);
    assert!(outcome.acknowledged > 0);
    assert_eq!(outcome.lost, 0, "{outcome:?}");
    assert_eq!(outcome.counted, outcome.expected, "{outcome:?}");
    Ok(())
}

fn replicas() -> Result<(), Failed> {
    let postgres = Postgres::start();
    let folder = Folder::new();
    let outcome = load::one_of_two(folder.path(), &postgres.database("replicas"));
    assert!(outcome.acknowledged > 0);
    assert_eq!(outcome.lost, 0, "{outcome:?}");
    assert_eq!(outcome.counted, outcome.expected, "{outcome:?}");
    Ok(())
}

fn in_order() -> Result<(), Failed> {
    let folder = Folder::new();
    let server = Server::start(folder.path(), None, None);
    let client = common::client::Client::new(&server.base);
    assert_eq!(client.get("/healthz").status, 200);
    server.stop();
    Ok(())
}

fn half_sent() -> Result<(), Failed> {
    let folder = Folder::new();
    let mut server = Server::start(folder.path(), None, None);
    let client = common::client::Client::new(&server.base);
    let (parcel, digest) = sealed(&Made::new("1111", &["f"]).report(), &client.recipient());
    let address = server.base.strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address)?;
    let head = format!(
        "PUT /api/v1/reports/{digest} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\
         Expect: 100-continue\r\n\r\n",
        parcel.len()
    );
    stream.write_all(head.as_bytes())?;
    // The server says when it begins to read.
    let mut said = [0; 25];
    stream.read_exact(&mut said)?;
    assert!(said.starts_with(b"HTTP/1.1 100"), "{}", String::from_utf8_lossy(&said));
    let (first, second) = parcel.split_at(parcel.len() / 2);
    stream.write_all(first)?;
    server.tell();
    // It has heard it when it takes no connection any more.
    while TcpStream::connect(&address).is_ok() {
        std::thread::sleep(Duration::from_millis(20));
    }
    stream.write_all(second)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    server.ended();
    let server = Server::start(folder.path(), None, None);
    let client = common::client::Client::new(&server.base);
    assert_eq!(client.put(&parcel, digest).status, 200, "it is there");
    server.stop();
    Ok(())
}
