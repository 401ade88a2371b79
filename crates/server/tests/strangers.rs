//! Strangers who want the server's places and its memory: others are served all the same.
//!
//! Everything is on loopback, where one machine has many addresses; limits are made small where their
//! size is not the point.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::time::Duration;

use common::client::Client;
use common::process::{Server, serve_if_told};
use common::{Folder, Made, sealed};
use libtest_mimic::{Arguments, Failed, Trial};
use stunt_server::{Config, Connections, Running, start};
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(600);
/// How long an honest client waits.
const PATIENCE: Duration = Duration::from_secs(100);

fn main() {
    serve_if_told();
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("attack_connections_that_never_read", attack_connections_that_never_read),
        Trial::test("attack_one_address_takes_every_place", attack_one_address_takes_every_place),
        Trial::test("attack_one_address_behind_the_proxy", attack_one_address_behind_the_proxy),
        Trial::test(
            "attack_small_parcels_that_unpack_large",
            attack_small_parcels_that_unpack_large,
        ),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

/// A server in this process.
struct World {
    runtime: Runtime,
    running: Running,
    _folder: Folder,
}

impl World {
    fn new(connections: Connections, proxies: &[&str]) -> World {
        let (folder, runtime) = (Folder::new(), Runtime::new().unwrap());
        let mut config = Config::new(SocketAddr::from(([0, 0, 0, 0], 0)), folder.path());
        config.connections = connections;
        config.proxies = proxies.iter().map(|text| text.parse().unwrap()).collect();
        let running = runtime.block_on(start(config)).unwrap();
        World { runtime, running, _folder: folder }
    }

    /// A connection from an address of this machine.
    fn from(&self, address: &str, receive: Option<u32>) -> TcpStream {
        let to = SocketAddr::from(([127, 0, 0, 1], self.running.address.port()));
        let stream = self.runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            if let Some(bytes) = receive {
                socket.set_recv_buffer_size(bytes).unwrap();
            }
            socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
            socket.connect(to).await.unwrap().into_std().unwrap()
        });
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn stop(self) {
        self.runtime.block_on(self.running.stop());
    }
}

/// Asks whether the server is well, and what it says.
fn asks(stream: &mut TcpStream, header: &str) -> std::io::Result<String> {
    let head = format!("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\r\n");
    stream.write_all(head.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn attack_connections_that_never_read() -> Result<(), Failed> {
    let places = 8;
    let connections = Connections {
        most: places,
        of_one_address: places,
        head: LONG,
        unread: Duration::from_secs(1),
    };
    let world = World::new(connections, &[]);
    // Each asks for more than all buffers between the two hold, and reads nothing of it.
    let page = Client::new(format!("http://127.0.0.1:{}", world.running.address.port()));
    let page = String::from_utf8(page.get("/login").body)?;
    let script = page.split('"').find(|part| part.ends_with("/htmx.min.js")).expect("a script");
    let ask = format!("GET {script} HTTP/1.1\r\nHost: x\r\n\r\n").repeat(400);
    let mut deaf = Vec::new();
    for _ in 0..places {
        let mut stream = world.from("127.0.0.1", Some(4096));
        stream.set_write_timeout(Some(Duration::from_secs(1)))?;
        // The server stops to read when nobody reads what it writes.
        let _ = stream.write_all(ask.as_bytes());
        deaf.push(stream);
    }
    let answer = asks(&mut world.from("127.0.0.1", None), "")?;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(deaf);
    world.stop();
    Ok(())
}

fn attack_one_address_takes_every_place() -> Result<(), Failed> {
    let own = 8;
    let connections = Connections { most: 24, of_one_address: own, head: LONG, unread: LONG };
    let world = World::new(connections, &[]);
    let mut silent: Vec<TcpStream> = (0..48).map(|_| world.from("127.0.0.1", None)).collect();
    // Somebody else is served while they are all there.
    let answer = asks(&mut world.from("127.0.0.2", None), "")?;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The first ones have their places, and the others were closed.
    let closed = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        match stream.read(&mut [0]) {
            Ok(0) => true,
            Ok(_) => panic!("nobody has asked"),
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    };
    let open = silent.iter_mut().filter_map(|stream| (!closed(stream)).then_some(())).count();
    assert_eq!(open, own);
    drop(silent);
    world.stop();
    Ok(())
}

/// Behind a proxy all connections are the proxy's. Whose request it is says the proxy, and whoever is
/// no proxy of ours says nothing.
fn attack_one_address_behind_the_proxy() -> Result<(), Failed> {
    let connections = Connections { most: 24, of_one_address: 4, head: LONG, unread: LONG };
    let world = World::new(connections, &["127.0.0.3"]);
    // A stranger's parcels that never come, by way of the proxy.
    let begin = format!(
        "PUT /api/v1/reports/{} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\
         X-Forwarded-For: 203.0.113.7\r\nContent-Length: 1000\r\n\r\n",
        "0".repeat(64)
    );
    let mut held = Vec::new();
    for number in 0..12 {
        let mut stream = world.from("127.0.0.3", None);
        stream.write_all(begin.as_bytes())?;
        let mut said = [0; 12];
        stream.read_exact(&mut said)?;
        let expected = if number < 4 { "HTTP/1.1 100" } else { "HTTP/1.1 429" };
        assert_eq!(String::from_utf8_lossy(&said), expected, "number {number}");
        held.push(stream);
    }
    let others = "X-Forwarded-For: 203.0.113.8\r\n";
    let answer = asks(&mut world.from("127.0.0.3", None), others)?;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The same header from somebody else is nothing: their connections are counted.
    let mut silent: Vec<TcpStream> = (0..5).map(|_| world.from("127.0.0.4", None)).collect();
    let mut more = world.from("127.0.0.4", None);
    let refused = asks(&mut more, others);
    assert!(refused.is_err() || refused.is_ok_and(|answer| answer.is_empty()));
    silent.clear();
    drop(held);
    world.stop();
    Ok(())
}

/// What docs/server.md promises: whatever comes in, strangers share 256 MiB.
fn attack_small_parcels_that_unpack_large() -> Result<(), Failed> {
    const PROMISED: u64 = 256 << 20;
    let folder = Folder::new();
    let server = Server::start(folder.path(), None, None);
    let client = Client::new(&server.base);
    let to = client.recipient();
    let bomb = Made::new("1111", &["f"]).report_on(&vec![0; 60 << 20]);
    assert!(bomb.len() < 64 << 10, "{}", bomb.len());
    let large = Made { bytes: 6 << 20, ..Made::new("2222", &["g"]) };
    let mut parcels: Vec<_> = (0..20).map(|_| sealed(&bomb, &to)).collect();
    parcels.extend((0..12).map(|_| sealed(&large.report(), &to)));
    let before = server.peak();
    // All at once; each of them comes through in the end.
    let begin = Barrier::new(parcels.len());
    std::thread::scope(|scope| {
        for (parcel, digest) in &parcels {
            let (begin, base) = (&begin, &server.base);
            scope.spawn(move || {
                let client = Client::new(base);
                begin.wait();
                loop {
                    match client.put(parcel, *digest).status {
                        200 | 201 => return,
                        status => assert_eq!(status, 503),
                    }
                }
            });
        }
    });
    let taken = server.peak() - before;
    eprintln!("{} MiB", taken >> 20);
    assert!(taken < PROMISED, "it took {} MiB", taken >> 20);
    server.stop();
    Ok(())
}
