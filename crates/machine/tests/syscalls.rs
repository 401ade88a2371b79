//! System calls about files, by comparison: small C programs make calls and print what they
//! answer; natively and in the machine they must print the same, and end in the same way.
//!
//! A program prints nothing that may differ between two runs of the kernel: no process numbers,
//! no inode numbers, no times that it did not set itself.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use stunt_machine::{
    Machine,
    linux::{
        Ending, Limits, Setup,
        fs::{Allow, Config, Stream, User},
    },
};

/// What standard input holds.
const INPUT: &[u8] = b"first line\nsecond line\nthe end";

fn scratch(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("syscalls").join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("a scratch directory");
    place
}

fn compile(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/syscalls");
    let program = scratch(&format!("{name}.bin")).join(name);
    let status = Command::new("gcc")
        .args(["-O1", "-w", "-pthread", "-I"])
        .arg(&tests)
        .arg(tests.join(format!("{name}.c")))
        .arg("-o")
        .arg(&program)
        .status()
        .expect("gcc runs");
    assert!(status.success(), "{name}.c does not compile");
    program
}

/// Standard input of a native program.
fn input(kind: Stream, place: &Path) -> Stdio {
    if kind == Stream::Pipe {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(INPUT).expect("it fits");
        return Stdio::from(reader);
    }
    let path = place.with_extension("input");
    fs::write(&path, INPUT).expect("the input can be written");
    Stdio::from(fs::File::open(&path).expect("the input can be read"))
}

fn native(program: &Path, place: &Path, kind: Stream) -> (String, String) {
    let output = Command::new(program)
        .current_dir(place)
        .env_clear()
        .stdin(input(kind, place))
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ending =
        match (output.status.code(), std::os::unix::process::ExitStatusExt::signal(&output.status))
        {
            (Some(code), _) => format!("exit {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or(0)),
        };
    (text, ending)
}

fn simulated(program: &Path, place: &Path, kind: Stream) -> (String, String) {
    use std::os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _};
    let owner = fs::metadata(place).expect("it exists");
    let files = Config {
        allow: Allow::Everything,
        user: User { uid: owner.uid(), gid: owner.gid(), groups: Vec::new() },
        cwd: place.as_os_str().as_bytes().to_vec(),
        scratch: Vec::new(),
        streams: [kind, Stream::Pipe, Stream::Pipe],
        stdin: Arc::from(INPUT),
        seed: 1,
        ..Config::default()
    };
    let path = program.as_os_str().as_bytes().to_vec();
    let setup = Setup {
        files,
        program: path.clone(),
        arguments: vec![path],
        environment: Vec::new(),
        memory: 1 << 30,
    };
    let mut machine = Machine::new(setup).expect("the program starts");
    let ending = match machine.run(Limits { instructions: 2_000_000_000 }) {
        Ending::Exited(code) => format!("exit {code}"),
        Ending::Killed(signal) => format!("signal {}", signal.number),
        other => format!("{other:?}"),
    };
    let text = String::from_utf8_lossy(&machine.kernel().files().drain(1)).into_owned();
    (text, ending)
}

/// Runs a program both ways and compares line by line.
fn same(name: &str, kind: Stream) {
    let program = compile(name);
    let (expected, expected_end) = native(&program, &scratch(&format!("{name}.native")), kind);
    let (found, found_end) = simulated(&program, &scratch(&format!("{name}.machine")), kind);
    assert!(expected.lines().count() > 5, "{name} prints too little to compare: {expected}");
    let mut wrong = String::new();
    let (mut left, mut right) = (expected.lines(), found.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            (left, right) if left == right => {}
            (left, right) => {
                wrong.push_str(&format!("native  {left:?}\nmachine {right:?}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{name} differs:\n{wrong}");
    assert_eq!(expected_end, found_end, "{name} ends differently");
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            same(stringify!($name), Stream::File);
        })*
    };
}

programs! {
    transfers names attributes descriptors waiting sockets processes copies threads hostile
    interrupted limits shared timers netlink
}

#[test]
fn piped() {
    same("piped", Stream::Pipe);
}
