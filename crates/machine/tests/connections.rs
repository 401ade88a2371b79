//! Recorded connections in the machine: what servers and clients of all manners receive, how the run
//! ends, and that the bytes are followed. The program is that of the tests of native runs, and so is
//! what is expected.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use stunt_machine::linux::fs::{Allow, Config, Stream};
use stunt_machine::linux::{Ending, Input, Limits, Setup};
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_machine::{Following, Machine, Options};
use stunt_path::{Connection, Execution, Source, Stop, Way};
use stunt_terms::{Assignment, InputByte, Pool};
use stunt_unwind::stack::Symbols;

const MANNERS: [&str; 7] = ["single", "fork", "thread", "daemon", "epoll", "six", "sleepy"];

fn build() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("connections");
    fs::create_dir_all(&folder).expect("a folder");
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../native/tests/own/programs/server.c");
    let program = folder.join("server");
    let lock = File::create(folder.join("lock")).expect("a lock");
    lock.lock().expect("the lock");
    let changed = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
    if changed(&program) <= changed(&source) {
        let fresh = folder.join("fresh");
        let flags = ["-O1", "-g", "-w", "-pthread", "-o"];
        let status = Command::new("gcc").args(flags).args([&fresh, &source]).status();
        assert!(status.is_ok_and(|status| status.success()), "gcc");
        fs::rename(&fresh, &program).expect("the program in its place");
    }
    program
}

fn client(bytes: &[u8]) -> Connection {
    Connection { way: Way::Accepted, port: None, bytes: bytes.into(), closes: true }
}

fn machine(words: &[&str], connections: &[Connection]) -> Machine {
    use std::os::unix::ffi::OsStrExt as _;
    let program = build().as_os_str().as_bytes().to_vec();
    let arguments = words.iter().map(|word| word.as_bytes().to_vec());
    let setup = Setup {
        files: Config {
            allow: Allow::Everything,
            streams: [Stream::Null, Stream::Pipe, Stream::Pipe],
            connections: connections.to_vec(),
            ..Config::default()
        },
        program: program.clone(),
        arguments: std::iter::once(program).chain(arguments).collect(),
        environment: Vec::new(),
        memory: 1 << 30,
    };
    Machine::new(setup).expect("the program starts")
}

/// How a run ends, in a word, and what it printed.
fn run(words: &[&str], connections: &[Connection]) -> (String, String) {
    let mut machine = machine(words, connections);
    let ending = match machine.run(Limits { instructions: 1 << 30 }) {
        Ending::Exited(code) => format!("exit {code}"),
        Ending::Killed(signal) => {
            let stack = machine.call_stack(&Symbols::of_host()).expect("a stack");
            let first = stack.frames.first().and_then(|frame| frame.symbol.as_ref());
            format!("signal {} in {}", signal.number, first.map_or("?", |it| &it.name))
        }
        Ending::Idle => "idle".to_owned(),
        other => format!("{other:?}"),
    };
    let printed = machine.kernel().files().drain(1);
    (ending, String::from_utf8(printed).expect("text"))
}

fn seen(ending: &str, printed: &str) -> (String, String) {
    (ending.to_owned(), printed.to_owned())
}

#[test]
fn whoever_serves_is_the_one_that_fails() {
    for manner in MANNERS {
        let both = run(&[manner, "8080"], &[client(b"good"), client(b"BUG")]);
        assert_eq!(both, seen("signal 11 in check", "4 bytes\n"), "{manner}");
    }
}

#[test]
fn a_server_that_waits_for_more_ends_the_run() {
    for manner in MANNERS {
        let both = run(&[manner, "8080"], &[client(b"good"), client(b"better")]);
        // The first process of a daemon is the one that has gone.
        let ending = if manner == "daemon" { "exit 0" } else { "idle" };
        assert_eq!(both, seen(ending, "4 bytes\n6 bytes\n"), "{manner}");
    }
}

#[test]
fn the_next_client_comes_when_the_program_waits_for_it() {
    let both = run(&["twice", "8080"], &[client(b"one"), client(b"second")]);
    assert_eq!(both, seen("exit 9", "6 bytes\n3 bytes\n"));
}

#[test]
fn who_does_not_close_is_waited_for_in_vain() {
    let open = Connection { closes: false, ..client(b"BUG") };
    assert_eq!(run(&["single", "8080"], &[open]), seen("idle", ""));
    let other = Connection { port: Some(9), ..client(b"BUG") };
    assert_eq!(run(&["single", "8080"], &[other]), seen("idle", ""));
    let large = client(&[b'x'; 60_000]);
    assert_eq!(run(&["single", "8080"], &[large]), seen("idle", "60000 bytes\n"));
}

#[test]
fn a_client_is_answered_whomever_it_asks() {
    let answer = |bytes: &[u8]| Connection { way: Way::Made, port: Some(80), ..client(bytes) };
    let failed = seen("signal 11 in check", "");
    assert_eq!(run(&["client", "80"], &[answer(b"BUG")]), failed);
    assert_eq!(run(&["client", "80"], &[answer(b"fine")]), seen("exit 0", "4 bytes\n"));
    assert_eq!(run(&["client", "81"], &[answer(b"BUG")]), seen("exit 3", ""));
    // Without any connection nobody can be asked.
    assert_eq!(run(&["client", "80"], &[]), seen("exit 3", ""));
}

fn input(number: usize) -> Input {
    Input { place: Source::Connection(number), public: Vec::new() }
}

fn assignment(all: &[&[u8]]) -> Assignment {
    let mut values = Assignment::default();
    for (bytes, source) in all.iter().zip(0..) {
        for (&byte, offset) in bytes.iter().zip(0..) {
            values.set(InputByte::new(source, offset), byte);
        }
    }
    values
}

#[test]
fn what_clients_send_is_followed() {
    for manner in MANNERS {
        let bytes: [&[u8]; 2] = [b"good", b"BUG and more"];
        let mut machine = machine(&[manner, "8080"], &bytes.map(client));
        let mut symbolic = Symbolic::new(Relaxations::NONE);
        symbolic.set_input(assignment(&bytes));
        machine.follow(&[input(0), input(1)], symbolic).expect("inputs");
        let ending = machine.run(Limits { instructions: 1 << 30 });
        assert!(matches!(ending, Ending::Killed(_)), "{manner}");
        let symbolic = machine.take_symbolic().expect("it was followed");
        let mut looked: Vec<InputByte> = Vec::new();
        for test in symbolic.tests() {
            looked.extend(symbolic.pool.support(test.condition).iter());
        }
        looked.sort_unstable();
        looked.dedup();
        let expected = [(0, 0), (1, 0), (1, 1), (1, 2)];
        let expected: Vec<_> = expected.iter().map(|&(s, o)| InputByte::new(s, o)).collect();
        assert_eq!(looked, expected, "{manner}");
    }
}

#[test]
fn another_input_can_be_bound_before_it_is_read_and_after() {
    let bytes: [&[u8]; 2] = [b"good", b"BUG"];
    let machine = machine(&["fork", "8080"], &bytes.map(client));
    let mut pool = Pool::new();
    let symbols = Arc::new(Symbols::of_host());
    let mut start = Following::start(
        machine,
        &[input(0), input(1)],
        &assignment(&bytes),
        symbols,
        Options::default(),
        &mut pool,
    )
    .expect("inputs");
    let mut to_end = |mut at: Following, other: Option<[&[u8]; 2]>| {
        if let Some(other) = other {
            at.bind(&mut pool, &assignment(&other));
        }
        while matches!(at.stop(), Stop::Test(_)) {
            at.advance(&mut pool);
        }
        match at.stop() {
            Stop::Ended(failure) => failure.is_some(),
            _ => panic!("it was lost"),
        }
    };
    // It stands before a test of the first connection; the second is still to come.
    let copies = [start.fork(), start.fork(), start.fork()];
    let [one, two, three] = copies;
    assert!(to_end(one, None));
    assert!(to_end(two, Some([b"BUG!", b"xyz"])));
    assert!(!to_end(three, Some([b"food", b"BUx"])));
}
