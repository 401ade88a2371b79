//! Servers that are killed in the middle of their work: whatever was acknowledged is there, and
//! counted once.

mod common;

use common::postgres::Postgres;
use common::process::{Server, serve_if_told};
use common::{Folder, load};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    serve_if_told();
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("what_sqlite_acknowledged_outlives_kills", sqlite),
        Trial::test("what_two_replicas_acknowledged_outlives_one", replicas),
        Trial::test("a_server_that_is_told_to_stop_ends_in_order", in_order),
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
