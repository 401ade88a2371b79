//! Programs that mean harm: they reach for the host, take all they can get, and pass nonsense.
//!
//! Whatever they do, the machine answers with an [`Ending`], the host stays as it was, and its
//! memory is not used up. A panic anywhere fails the test.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    io::ErrorKind,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use rand::{Rng as _, SeedableRng as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use stunt_machine::{
    Machine,
    linux::{
        Ending, LimitReached, Limits, Setup,
        fs::{Allow, Config, Stream, User},
    },
};

const MEMORY: u64 = 64 << 20;

fn scratch(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile").join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("a scratch directory");
    place
}

fn gcc(arguments: &[&OsStr]) {
    let status = Command::new("gcc").args(arguments).status().expect("gcc runs");
    assert!(status.success(), "{arguments:?}");
}

/// Compiles a program of `hostile/`, static, so that it needs nothing of the host.
fn compile(name: &str, place: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/hostile/{name}.c"));
    let program = place.join(name);
    let flags = ["-O1", "-w", "-static", "-pthread", "-o"].map(OsStr::new);
    gcc(&[&flags[..], &[program.as_os_str(), source.as_os_str()]].concat());
    program
}

fn setup(program: &Path, arguments: &[&str], allow: Allow) -> Setup {
    let place = program.parent().expect("a directory");
    let owner = fs::metadata(place).expect("it exists");
    let path = program.as_os_str().as_bytes().to_vec();
    let files = Config {
        allow,
        user: User { uid: owner.uid(), gid: owner.gid(), groups: Vec::new() },
        cwd: place.as_os_str().as_bytes().to_vec(),
        scratch: vec![b"/tmp".to_vec()],
        streams: [Stream::Null, Stream::Pipe, Stream::Pipe],
        stdin: Arc::from([]),
        seed: 1,
        ..Config::default()
    };
    let words = arguments.iter().map(|word| word.as_bytes().to_vec());
    Setup {
        files,
        program: path.clone(),
        arguments: std::iter::once(path).chain(words).collect(),
        environment: Vec::new(),
        memory: MEMORY,
    }
}

fn run(setup: Setup, instructions: u64) -> (Ending, String) {
    let mut machine = Machine::new(setup).expect("the program starts");
    let ending = machine.run(Limits { instructions });
    let mut text = machine.kernel().files().drain(1);
    text.extend(machine.kernel().files().drain(2));
    (ending, String::from_utf8_lossy(&text).into_owned())
}

// ---- the host ---------------------------------------------------------------------------------

#[test]
fn what_is_not_allowed_is_not_reached() {
    use std::os::unix::fs::symlink;
    let place = scratch("reach");
    let (allowed, outside) = (place.join("allowed"), place.join("outside"));
    fs::create_dir(&allowed).expect("a directory");
    fs::create_dir(&outside).expect("a directory");
    let secret = outside.join("secret");
    fs::write(&secret, "#!/bin/sh\nthe text of the secret\n").expect("a file");
    fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("x");
    symlink(&secret, allowed.join("link")).expect("a link");
    symlink(&outside, allowed.join("folder")).expect("a link");
    symlink("../outside/secret", allowed.join("relative")).expect("a link");
    let program = compile("reach", &allowed);
    let path = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let words = [path(&secret), "the text of the secret".to_owned(), path(&allowed)];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();

    let (ending, text) = run(setup(&program, &words, Allow::under([&allowed])), 500_000_000);
    assert_eq!(ending, Ending::Exited(0), "{text}");
    assert!(text.contains("0 reached"), "{text}");
    // The program does find what is allowed: it is not blind.
    let (ending, text) = run(setup(&program, &words, Allow::under([&place])), 500_000_000);
    assert_ne!(ending, Ending::Exited(0), "{text}");
    assert!(text.contains("REACHED by a handle"), "{text}");
}

/// Everything that can be seen of a directory.
fn tree(place: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![place.to_path_buf()];
    while let Some(path) = open.pop() {
        let data = fs::symlink_metadata(&path).expect("it exists");
        let content = if data.is_file() { fs::read(&path).expect("readable") } else { Vec::new() };
        if data.is_dir() {
            let entries = fs::read_dir(&path).expect("readable");
            open.extend(entries.map(|entry| entry.expect("readable").path()));
        }
        let facts = (data.mode(), data.mtime(), data.mtime_nsec(), data.nlink(), content);
        found.insert(path, facts);
    }
    found
}

#[test]
fn what_is_written_stays_inside() {
    let place = scratch("write");
    for name in ["old", "gone", "kept"] {
        fs::write(place.join(name), "as it was").expect("a file");
    }
    fs::create_dir(place.join("empty")).expect("a directory");
    fs::create_dir_all(place.join("folder/deep")).expect("a directory");
    fs::write(place.join("folder/deep/file"), "as it was").expect("a file");
    let program = compile("write", &place);
    let before = tree(&place);
    let (ending, text) = run(setup(&program, &[], Allow::Everything), 500_000_000);
    assert_eq!((ending, text.as_str()), (Ending::Exited(0), "all done\n"));
    assert!(before == tree(&place), "the host's files changed");
}

#[test]
fn nobody_on_the_host_is_called() {
    let place = scratch("connect");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = tcp.local_addr().expect("it has one").port();
    let udp = std::net::UdpSocket::bind(("127.0.0.1", port)).expect("a socket");
    let socket = place.join("s");
    // A name in a socket address is short: the listener is reached by a relative one.
    std::env::set_current_dir(&place).expect("it exists");
    let unix = std::os::unix::net::UnixListener::bind("s").expect("a listener");
    tcp.set_nonblocking(true).expect("it can");
    udp.set_nonblocking(true).expect("it can");
    unix.set_nonblocking(true).expect("it can");
    assert!(socket.exists());
    let program = compile("connect", &place);
    let (ending, text) =
        run(setup(&program, &[&port.to_string(), "s"], Allow::Everything), 500_000_000);
    assert_eq!(ending, Ending::Exited(0), "{text}");
    assert!(text.contains("127.0.0.1 -1 Connection refused"), "{text}");
    assert!(text.contains("unix Connection refused") || text.contains("unix No such"), "{text}");
    assert_eq!(tcp.accept().expect_err("nobody").kind(), ErrorKind::WouldBlock);
    assert_eq!(unix.accept().expect_err("nobody").kind(), ErrorKind::WouldBlock);
    let mut buffer = [0; 16];
    assert_eq!(udp.recv(&mut buffer).expect_err("nothing").kind(), ErrorKind::WouldBlock);
}

// ---- all that there is ------------------------------------------------------------------------

/// The memory of this process, in bytes.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = text.split(' ').nth(1).and_then(|word| word.parse::<u64>().ok());
    pages.expect("the second number") * 4096
}

/// An ending in a few words.
fn told(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exit {code}"),
        Ending::Killed(signal) => format!("signal {}", signal.number),
        Ending::Limit(LimitReached::Instructions) => "instructions".to_owned(),
        Ending::Limit(LimitReached::Memory) => "memory".to_owned(),
        Ending::Limit(LimitReached::Deadlock) => "deadlock".to_owned(),
        Ending::Idle => "no more input".to_owned(),
        Ending::Unsupported(_) => "unsupported".to_owned(),
    }
}

/// Lets the program take what it can in one way; the ending must be one of those expected.
fn greedy(way: &str, expected: &[&str]) {
    let program = compile("greedy", &scratch(way));
    let before = resident();
    let mut machine =
        Machine::new(setup(&program, &[way], Allow::Everything)).expect("the program starts");
    // Calls take longer than other instructions.
    let short = ["calls", "execs"].contains(&way);
    let instructions = if short { 20_000_000 } else { 300_000_000 };
    let ending = told(machine.run(Limits { instructions }));
    let taken = resident().saturating_sub(before);
    println!("{way}: {ending}, {} MB of the host", taken >> 20);
    assert!(expected.contains(&ending.as_str()), "{way}: {ending}");
    // Eight full processes, the files, and the machine itself.
    assert!(taken < 12 * MEMORY, "{way}: {taken} bytes of the host's memory");
}

macro_rules! ways {
    ($($name:ident $way:literal: $($ending:literal)|+;)*) => {
        $(#[test]
        fn $name() {
            greedy($way, &[$($ending),+]);
        })*
    };
}

ways! {
    memory_by_touch "touch": "memory";
    memory_by_mappings "maps": "exit 7";
    memory_by_addresses "address": "exit 7";
    memory_by_brk "brk": "memory";
    memory_inside_a_call "read": "memory";
    memory_by_random_bytes "random": "memory";
    memory_by_a_family "family": "memory";
    memory_by_a_file "file": "memory";
    memory_by_output "output": "memory";
    memory_by_many_files "files": "memory" | "instructions";
    memory_by_pipes "pipes": "memory" | "exit 7";
    memory_by_sockets "sockets": "memory" | "exit 7";
    memory_by_signals "signals": "exit 7";
    memory_by_timers "timers": "exit 7";
    fork_bomb "forks": "exit 7" | "instructions" | "memory";
    many_children "children": "exit 7" | "instructions" | "memory";
    many_threads "threads": "exit 7" | "memory";
    many_arguments "arguments": "exit 7";
    one_long_argument "argument": "exit 7" | "memory";
    endless_loop "loop": "instructions";
    endless_calls "calls": "instructions";
    endless_sleep "sleeps": "deadlock";
    endless_exec "execs": "instructions";
    nobody_can_go_on "nobody": "deadlock";
    senseless_counts "counts": "exit 7";
    stack_overflow "overflow": "signal 11";
    stack_overflow_in_a_handler "handler": "instructions";
    code_on_the_stack "stack": "signal 11";
    code_nowhere "nowhere": "signal 11";
    address_of_no_kind "noncanonical": "signal 11";
    code_that_changes "own": "exit 7";
    code_that_may_not_change "text": "signal 11";
}

#[test]
fn what_a_child_could_not_do_is_told() {
    let program = compile("greedy", &scratch("child"));
    let mut machine =
        Machine::new(setup(&program, &["child"], Allow::Everything)).expect("the program starts");
    match machine.run(Limits { instructions: 300_000_000 }) {
        Ending::Unsupported(address) => {
            let text = machine.instruction_at(address).expect("the child has memory there");
            assert_eq!((address, text.as_str()), (0x1000_0000, "vbroadcastss ymm0,[rax]"));
        }
        // A processor without that instruction.
        Ending::Exited(7) => {}
        other => panic!("{other:?}"),
    }
}

// ---- nonsense -----------------------------------------------------------------------------------

/// Random system calls, for some time. In half of the runs the program may also harm itself.
fn random_calls(seeds: std::ops::Range<u64>) {
    let program = compile("calls", &scratch(&format!("calls{}", seeds.start)));
    let mut endings: BTreeMap<String, u32> = BTreeMap::new();
    for seed in seeds {
        let seed_text = seed.to_string();
        let words = [seed_text.as_str(), "all"];
        let words = if seed % 2 == 0 { &words[..1] } else { &words[..] };
        let mut machine =
            Machine::new(setup(&program, words, Allow::Everything)).expect("the program starts");
        let ending = machine.run(Limits { instructions: 3_000_000 });
        *endings.entry(told(ending)).or_insert(0) += 1;
        // Wherever it is, it can be copied, and the copy goes on in the same way.
        let mut copy = machine.snapshot();
        let more = Limits { instructions: 3_300_000 };
        let first = (machine.run(more), machine.kernel().executed());
        machine.restore(&mut copy);
        let second = (machine.run(more), machine.kernel().executed());
        assert_eq!(first, second, "seed {seed}");
    }
    println!("{endings:?}");
    assert!(endings.len() > 1, "the calls do not do much: {endings:?}");
}

#[test]
fn random_calls_0() {
    random_calls(0..60);
}

#[test]
fn random_calls_1() {
    random_calls(1000..1060);
}

/// Values that are likely to hurt, or anything.
fn odd(random: &mut ChaCha8Rng) -> u64 {
    let edges =
        [0, 1, 0xfff, 0x1000, 0x1001, 1 << 31, u64::MAX, u64::MAX - 0xfff, 1 << 47, 1 << 63];
    match random.gen_range(0..4) {
        0 => *edges.choose(random).expect("some"),
        1 => edges.choose(random).expect("some").wrapping_sub(random.gen_range(0..64)),
        2 => 1 << random.gen_range(0..64),
        _ => random.r#gen::<u64>() >> random.gen_range(0..64),
    }
}

/// Damages the headers of an ELF file.
fn damage(file: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut file = file.to_vec();
    let entries = usize::from(u16::from_le_bytes([file[56], file[57]]));
    let table = u64::from_le_bytes(file[32..40].try_into().expect("8 bytes")) as usize;
    let headers = table + entries * 56;
    for _ in 0..random.gen_range(1..4) {
        match random.gen_range(0..6) {
            // A bit of the headers, or of anything.
            0 => file[random.gen_range(0..headers)] ^= 1 << random.gen_range(0..8),
            1 => {
                let at = random.gen_range(0..file.len());
                file[at] = random.r#gen();
            }
            // A field of the file's header.
            2 => {
                let (at, size) = *[(16, 2), (18, 2), (24, 8), (32, 8), (54, 2), (56, 2)]
                    .choose(random)
                    .expect("some");
                file[at..at + size].copy_from_slice(&odd(random).to_le_bytes()[..size]);
            }
            // A field of a segment; sometimes moved by whole pages, which is accepted more often.
            3 | 4 => {
                let entry = table + random.gen_range(0..entries) * 56;
                let (at, size) =
                    *[(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8)]
                        .choose(random)
                        .expect("some");
                let field = entry + at..entry + at + size;
                let old = file[field.clone()].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
                let new = if random.r#gen() {
                    odd(random)
                } else {
                    old.wrapping_add(odd(random) & !0xfff)
                };
                file[field].copy_from_slice(&new.to_le_bytes()[..size]);
            }
            _ => file.truncate(random.gen_range(1..=headers.max(2) * 2).min(file.len())),
        }
        if file.len() < headers {
            break;
        }
    }
    file
}

/// Runs damaged copies of a program.
fn damaged(name: &str, original: &Path, tries: u32) {
    let place = scratch(name);
    let program = place.join("program");
    let file = fs::read(original).expect("readable");
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut endings: BTreeMap<String, u32> = BTreeMap::new();
    let before = resident();
    for _ in 0..tries {
        // A fresh file each time: an old machine may still read the last one.
        let _ = fs::remove_file(&program);
        fs::write(&program, damage(&file, &mut random)).expect("writable");
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("it is ours");
        let ending = match Machine::new(setup(&program, &[], Allow::Everything)) {
            Err(errno) => format!("{errno:?}"),
            Ok(mut machine) => told(machine.run(Limits { instructions: 200_000 })),
        };
        *endings.entry(ending).or_insert(0) += 1;
    }
    let taken = resident().saturating_sub(before);
    println!("{endings:?}, {} MB of the host", taken >> 20);
    assert!(taken < 4 * MEMORY, "{taken} bytes of the host's memory");
    // The damage is neither harmless nor always fatal.
    for some in ["ENOEXEC", "signal 11", "exit 0"] {
        assert!(endings.contains_key(some), "{endings:?}");
    }
}

#[test]
fn damaged_dynamic_programs() {
    damaged("dynamic", Path::new("/bin/true"), 2000);
}

#[test]
fn damaged_static_programs() {
    let place = scratch("small");
    let (source, program) = (place.join("small.s"), place.join("small"));
    let text = ".globl _start\n.data\nx: .quad 1\n.bss\ny: .skip 9000\n.text\n_start: mov x(%rip), %rax\n\
                mov %rax, y+8000(%rip)\nmov $60, %eax\nxor %edi, %edi\nsyscall\n";
    fs::write(&source, text).expect("writable");
    let flags = ["-nostdlib", "-static", "-o"].map(OsStr::new);
    gcc(&[&flags[..], &[program.as_os_str(), source.as_os_str()]].concat());
    damaged("static", &program, 4000);
}
