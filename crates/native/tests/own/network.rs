//! Runs with connections: the other side says what it is given, whoever serves it may be the one that
//! fails, and a server that waits for more ends the run.

use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stunt_native::{Command, Containment, Native};
use stunt_path::{Connection, Ending, FailureKind, Way};

use crate::build::{build, command};

const MANNERS: [&str; 7] = ["single", "fork", "thread", "daemon", "epoll", "six", "sleepy"];

fn client(bytes: &[u8]) -> Connection {
    Connection { way: Way::Accepted, port: None, bytes: bytes.into(), closes: true }
}

fn server(words: &[&str], connections: &[Connection]) -> Command {
    let mut command = command(&build("server.c", &["-O1"]), words);
    command.connections = connections.to_vec();
    command.time = Duration::from_secs(60);
    command
}

fn contained(words: &[&str], connections: &[Connection]) -> Command {
    let mut command = server(words, connections);
    command.containment = Containment::Contained;
    command
}

#[test]
fn whoever_serves_is_the_one_that_fails() {
    let native = Native::new();
    let mut seen = None;
    for manner in MANNERS {
        let words = [manner, "8080"];
        let connections = [client(b"good"), client(b"BUG")];
        for command in [server(&words, &connections), contained(&words, &connections)] {
            let run = native.run(&command).expect("it runs");
            assert_eq!(run.ending, Ending::Signal(11), "{manner}");
            let failure = run.failure.expect("it fails");
            assert_eq!(failure.kind, FailureKind::Signal(11), "{manner}");
            let place = failure.identity().first().map(|&(_, offset)| offset);
            assert_eq!(*seen.get_or_insert(place), place, "{manner}");
            assert!(failure.to_string().contains("in check"), "{failure}");
            assert_eq!(run.stdout.reveal(), b"4 bytes\n", "{manner}");
        }
    }
}

#[test]
fn a_server_that_waits_for_more_ends_the_run() {
    let native = Native::new();
    for manner in MANNERS {
        let words = [manner, "8080"];
        let run = native.run(&contained(&words, &[client(b"good"), client(b"better")]));
        let run = run.expect("it runs");
        assert_eq!((run.ending, run.failure), (Ending::Idle, None), "{manner}");
        assert_eq!(run.stdout.reveal(), b"4 bytes\n6 bytes\n", "{manner}");
    }
}

#[test]
fn the_next_client_comes_when_the_program_waits_for_it() {
    let run = Native::new().run(&server(&["twice", "8080"], &[client(b"one"), client(b"second")]));
    let run = run.expect("it runs");
    assert_eq!(run.ending, Ending::Exit(9));
    assert_eq!(run.stdout.reveal(), b"6 bytes\n3 bytes\n");
}

#[test]
fn who_does_not_close_is_waited_for_in_vain() {
    let open = Connection { closes: false, ..client(b"BUG") };
    let run = Native::new().run(&server(&["single", "8080"], &[open])).expect("it runs");
    assert_eq!((run.ending, run.failure), (Ending::Idle, None));
}

#[test]
fn large_requests_arrive_whole() {
    let run = Native::new().run(&server(&["single", "8080"], &[client(&[b'x'; 60_000])]));
    assert_eq!(run.expect("it runs").stdout.reveal(), b"60000 bytes\n");
}

#[test]
fn a_client_is_answered_whomever_it_asks() {
    let native = Native::new();
    let answer = |bytes: &[u8]| Connection {
        way: Way::Made,
        port: Some(80),
        bytes: bytes.into(),
        closes: true,
    };
    for contain in [Containment::Free, Containment::Contained] {
        let mut command = server(&["client", "80"], &[answer(b"BUG")]);
        command.containment = contain;
        let failure = native.run(&command).expect("it runs").failure.expect("it fails");
        assert!(failure.to_string().contains("in check"), "{failure}");
        command.connections = vec![answer(b"fine")];
        let run = native.run(&command).expect("it runs");
        assert_eq!((run.ending, run.stdout.reveal()), (Ending::Exit(0), &b"4 bytes\n"[..]));
    }
    // Nobody else is there.
    let run = native.run(&server(&["client", "81"], &[answer(b"BUG")])).expect("it runs");
    assert_eq!(run.ending, Ending::Exit(3));
}

#[test]
fn ports_of_administrators_and_of_others_can_be_used() {
    let native = Native::new();
    let other = Connection { port: Some(9), ..client(b"BUG") };
    let run = native.run(&contained(&["single", "8080"], &[other])).expect("it runs");
    assert_eq!(run.ending, Ending::Idle);
    let run = native.run(&contained(&["single", "8080"], &[client(b"BUG")])).expect("it runs");
    assert_eq!(run.ending, Ending::Signal(11));
}

#[test]
fn nothing_of_the_host_can_be_reached() {
    let host = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = host.local_addr().expect("its address").port().to_string();
    let run = Native::new().run(&contained(&["reach", &port], &[client(b"")])).expect("it runs");
    let refused = (libc_error("EACCES"), libc_error("ECONNREFUSED"));
    let expected = format!("unix {0}\nnetlink {0}\nconnect {1}\n", refused.0, refused.1);
    assert_eq!(String::from_utf8_lossy(run.stdout.reveal()), expected);
    host.set_nonblocking(true).expect("it is a socket");
    assert!(host.accept().is_err());
}

/// The numbers of Linux on x86-64.
fn libc_error(name: &str) -> i32 {
    match name {
        "EACCES" => 13,
        _ => 111,
    }
}

#[test]
fn many_runs_do_not_disturb_each_other() {
    let inputs: Vec<Vec<u8>> =
        (0..60).map(|n| if n % 3 == 0 { b"BUG".to_vec() } else { vec![b'x'; n] }).collect();
    let commands: Vec<Command> =
        inputs.iter().map(|it| contained(&["fork", "8080"], &[client(it)])).collect();
    let never = AtomicBool::new(false);
    for (input, run) in inputs.iter().zip(Native::new().run_all(&commands, &never)) {
        let run = run.expect("it runs");
        let bug = input.starts_with(b"BUG");
        assert_eq!(run.ending, if bug { Ending::Signal(11) } else { Ending::Idle });
        let said = format!("{} bytes\n", input.len());
        assert_eq!(run.stdout.reveal(), if bug { b"" } else { said.as_bytes() });
    }
}
