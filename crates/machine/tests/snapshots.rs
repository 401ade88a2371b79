//! Snapshots: what goes on from a copy is what would have gone on without it, to the bit.
//!
//! Real programs are stopped at several places, copied, and run to the end from each copy, more
//! than once and on more than one thread. Copies are small: their memory is measured.

use std::{
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
};

use stunt_machine::{
    Machine, Snapshot,
    linux::{
        Ending, LimitReached, Limits, Setup,
        fs::{Allow, Config, Stream, User},
    },
};

/// All that can be seen of a run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    ending: Ending,
    executed: u64,
    output: Vec<u8>,
    errors: Vec<u8>,
}

const NO_LIMIT: Limits = Limits { instructions: u64::MAX };

fn machine(program: &Path, words: &[&str], stdin: &[u8]) -> Machine {
    let files = Config {
        allow: Allow::Everything,
        user: User::default(),
        cwd: b"/tmp".to_vec(),
        scratch: vec![b"/tmp".to_vec()],
        streams: [Stream::File, Stream::Pipe, Stream::Pipe],
        stdin: Arc::from(stdin),
        seed: 5,
        ..Config::default()
    };
    let path = program.as_os_str().as_bytes().to_vec();
    let rest = words.iter().map(|word| word.as_bytes().to_vec());
    let setup = Setup {
        files,
        program: path.clone(),
        arguments: std::iter::once(path).chain(rest).collect(),
        environment: vec![b"LC_ALL=C".to_vec(), b"PATH=/usr/bin:/bin".to_vec()],
        memory: 512 << 20,
    };
    Machine::new(setup).expect("the program starts")
}

fn finish(machine: &mut Machine) -> End {
    let ending = machine.run(NO_LIMIT);
    let kernel = machine.kernel();
    End {
        ending,
        executed: kernel.executed(),
        output: kernel.files().drain(1),
        errors: kernel.files().drain(2),
    }
}

/// Stops at `places` places on the way, copies, and compares what comes of the copies.
fn compare(program: &str, words: &[&str], stdin: &[u8], places: u64) {
    let program = Path::new(program);
    let straight = finish(&mut machine(program, words, stdin));
    assert_eq!(straight.ending, Ending::Exited(0), "{:?}", straight.errors.len());
    assert!(!straight.output.is_empty());

    let mut original = machine(program, words, stdin);
    let mut copies: Vec<Snapshot> = vec![original.snapshot()];
    for place in 1..=places {
        // Uneven steps, so that blocks are cut at odd places.
        let instructions = straight.executed * place / (places + 1) + place % 7;
        let ending = original.run(Limits { instructions });
        assert_eq!(ending, Ending::Limit(LimitReached::Instructions));
        copies.push(original.snapshot());
    }
    let expected = straight;
    assert_eq!(stopped_alike(&finish(&mut original), &expected), Ok(()));
    for copy in &mut copies {
        for _ in 0..2 {
            // Once with all blocks decoded and compiled, once from nothing.
            original.restore(copy);
            assert_eq!(stopped_alike(&finish(&mut original), &expected), Ok(()));
        }
    }
    // On threads of their own, all at once.
    let ends: Vec<End> = thread::scope(|scope| {
        let runs: Vec<_> = copies
            .iter_mut()
            .take(4)
            .map(|copy| {
                let mut fresh = machine(Path::new("/bin/true"), &[], b"");
                fresh.restore(copy);
                scope.spawn(move || finish(&mut fresh))
            })
            .collect();
        runs.into_iter().map(|run| run.join().expect("no panic")).collect()
    });
    for end in ends {
        assert_eq!(stopped_alike(&end, &expected), Ok(()));
    }
}

/// What differs, in words that tell nothing of the content.
fn stopped_alike(left: &End, right: &End) -> Result<(), String> {
    if left.ending != right.ending {
        return Err(format!("{:?} and {:?}", left.ending, right.ending));
    }
    if left.output != right.output || left.errors != right.errors {
        return Err("the output differs".to_owned());
    }
    if left.executed != right.executed {
        return Err(format!("{} and {} instructions", left.executed, right.executed));
    }
    Ok(())
}

#[test]
fn sort() {
    let lines: Vec<String> =
        (0..4000u32).map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761))).collect();
    compare("/usr/bin/sort", &["-n", "-u"], lines.concat().as_bytes(), 9);
}

#[test]
fn awk() {
    let lines: String = (0..500).map(|n| format!("{n} {} word{}\n", n * n, n % 13)).collect();
    let script = "{ sum[$3] += $2 } END { for (w in sum) print w, sum[w], sqrt(sum[w]) }";
    compare("/usr/bin/awk", &[script], lines.as_bytes(), 7);
}

#[test]
fn a_shell_with_children() {
    let script = "for i in 1 2 3 4 5; do echo $i | tr 1-5 a-e | sed s/^/line-/; done > /tmp/f; \
                  sort -r /tmp/f; sleep 1; date +%S; wc -c < /tmp/f";
    compare("/bin/sh", &["-c", script], b"", 11);
}

#[test]
fn threads() {
    let program = compile(
        "threads",
        "#include <pthread.h>\n#include <sched.h>\n#include <stdio.h>\n\
         static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static long sum;\n\
         static void *work(void *p) { for (int i = 0; i < 300000; i++) {\n\
           if (i % 500 == 0) sched_yield();\n\
           if (i % 100 == 0) { pthread_mutex_lock(&m); sum = sum * 31 + (long)p; pthread_mutex_unlock(&m); } } return p; }\n\
         int main(void) { pthread_t t[4];\n\
           for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);\n\
           for (int i = 0; i < 4; i++) pthread_join(t[i], 0);\n\
           printf(\"%lx\\n\", sum); return 0; }\n",
    );
    compare(program.to_str().expect("a plain path"), &[], b"", 60);
}

fn compile(name: &str, source: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snapshots");
    fs::create_dir_all(&place).expect("a scratch directory");
    let (text, program) = (place.join(format!("{name}.c")), place.join(name));
    fs::write(&text, source).expect("writable");
    let status = Command::new("gcc")
        .args(["-O1", "-w", "-pthread", "-o"])
        .arg(&program)
        .arg(&text)
        .status()
        .expect("gcc runs");
    assert!(status.success());
    program
}

/// The memory of this process, in bytes.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = text.split(' ').nth(1).and_then(|word| word.parse::<u64>().ok());
    pages.expect("the second number") * 4096
}

/// A program that has touched 50 MB and goes on writing here and there.
const LARGE: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    int main(void) { long size = 50 << 20; unsigned char *p = malloc(size); memset(p, 1, size);\n\
      unsigned long at = 1, sum = 0;\n\
      for (int i = 0; i < 4000000; i++) { at = at * 6364136223846793005ul + 1442695040888963407ul;\n\
        if (i % 1000 == 0) p[(at >> 20) % size] += i; sum += p[(at >> 30) % 4096] + (at >> 60); }\n\
      printf(\"%lu\\n\", sum); return 0; }\n";

#[test]
fn thousands_of_copies_are_small() {
    const COPIES: u64 = 2000;
    let program = compile("large", LARGE);
    let mut original = machine(&program, &[], b"");
    let end = finish(&mut original).executed;
    let mut original = machine(&program, &[], b"");
    // Behind the touching, which is a small part of the run.
    let start = end / 2;
    assert_eq!(
        original.run(Limits { instructions: start }),
        Ending::Limit(LimitReached::Instructions)
    );
    let before = resident();
    let mut copies = Vec::new();
    for copy in 0..COPIES {
        copies.push(original.snapshot());
        let instructions = start + (end - start) * copy / (COPIES + 1);
        original.run(Limits { instructions });
    }
    let each = resident().saturating_sub(before) / COPIES;
    println!("{each} bytes each");
    assert!(each < 64 << 10, "a copy takes {each} bytes");
    let expected = finish(&mut original);
    assert_eq!(expected.ending, Ending::Exited(0));
    for copy in copies.iter_mut().step_by(400) {
        original.restore(copy);
        assert_eq!(stopped_alike(&finish(&mut original), &expected), Ok(()));
    }
}

#[test]
fn copies_do_not_use_up_the_memory_of_the_program() {
    // Each copy makes later stores copy pages. That must not count as memory of the program.
    let program = compile("large", LARGE);
    let files = Config { allow: Allow::Everything, cwd: b"/tmp".to_vec(), ..Config::default() };
    let path = program.as_os_str().as_bytes().to_vec();
    let setup = Setup {
        files,
        program: path.clone(),
        arguments: vec![path],
        environment: Vec::new(),
        memory: 54 << 20,
    };
    let mut machine = Machine::new(setup).expect("the program starts");
    let mut instructions = 0;
    let ending = loop {
        instructions += 100_000;
        let copy = machine.snapshot();
        match machine.run(Limits { instructions }) {
            Ending::Limit(LimitReached::Instructions) => drop(copy),
            ending => break ending,
        }
    };
    assert_eq!(ending, Ending::Exited(0));
}
