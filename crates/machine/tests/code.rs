//! Memory for compiled code: none of it can be written and executed at once, while a program runs whose
//! blocks are compiled, linked, thrown away and compiled anew.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use stunt_machine::Machine;
use stunt_machine::linux::{
    Ending, LimitReached, Limits, Setup,
    fs::{Allow, Config, Stream},
};

/// Runs loops, and code that it writes and changes by itself.
const SOURCE: &str = r#"
#include <string.h>
#include <sys/mman.h>
int main(void) {
  unsigned char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned sum = 0;
  for (unsigned round = 0; round < 3000; round++) {
    unsigned char add[] = {0x8d, 0x47, round, 0xc3};   /* lea eax, [rdi + round]; ret */
    memcpy(code, add, sizeof add);
    for (int again = 0; again < 200; again++) sum = ((unsigned (*)(unsigned))code)(sum);
  }
  return sum % 251;
}
"#;

/// Lines of this process's mappings that are writable and executable.
fn both() -> Vec<String> {
    let maps = fs::read_to_string("/proc/self/maps").expect("the kernel tells");
    let is_both = |line: &&str| {
        let mode = line.split(' ').nth(1).unwrap_or_default().as_bytes();
        mode.get(1) == Some(&b'w') && mode.get(2) == Some(&b'x')
    };
    maps.lines().filter(is_both).map(str::to_owned).collect()
}

fn program(place: &Path) -> Vec<u8> {
    let (source, program) = (place.join("busy.c"), place.join("busy"));
    fs::write(&source, SOURCE).expect("writable");
    let flags = ["-O1", "-w", "-static", "-o"].map(OsStr::new);
    let words = [&flags[..], &[program.as_os_str(), source.as_os_str()]].concat();
    assert!(Command::new("gcc").args(words).status().expect("gcc runs").success());
    program.as_os_str().as_bytes().to_vec()
}

#[test]
fn attack_code_of_the_machine_is_overwritten_where_it_runs() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("code");
    fs::create_dir_all(&place).expect("a folder");
    let program = program(&place);
    let files = Config {
        allow: Allow::Everything,
        cwd: b"/tmp".to_vec(),
        streams: [Stream::Null, Stream::Pipe, Stream::Pipe],
        ..Config::default()
    };
    let setup = Setup {
        files,
        program: program.clone(),
        arguments: vec![program],
        environment: Vec::new(),
        memory: 64 << 20,
    };
    let mut machine = Machine::new(setup).expect("the program starts");
    let (over, looks) = (AtomicBool::new(false), AtomicU64::new(0));
    let found = thread::scope(|scope| {
        // Somebody who looks all the time, and not only when the machine rests.
        let watcher = scope.spawn(|| {
            let mut found = Vec::new();
            while !over.load(Ordering::Acquire) && found.is_empty() {
                found = both();
                looks.fetch_add(1, Ordering::Relaxed);
            }
            found
        });
        let mut limit = 0;
        let ending = loop {
            limit += 100_000;
            match machine.run(Limits { instructions: limit }) {
                Ending::Limit(LimitReached::Instructions) => assert_eq!(both(), [""; 0]),
                ending => break ending,
            }
        };
        over.store(true, Ordering::Release);
        assert!(matches!(ending, Ending::Exited(_)), "{ending:?}");
        watcher.join().expect("it only reads")
    });
    assert_eq!(found, [""; 0]);
    assert!(looks.into_inner() > 0);
    // There was compiled code to be looked at.
    let executed = machine.kernel().executed();
    assert!(executed > 1_000_000, "{executed}");
    let maps = fs::read_to_string("/proc/self/maps").expect("the kernel tells");
    let shared = |line: &str| line.contains(" r-xs ") && line.contains("/dev/zero");
    assert!(maps.lines().any(shared), "{maps}");
}
