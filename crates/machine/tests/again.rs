//! Many inputs, one start: a run that goes on before the first read is the one that a fresh machine
//! makes, to the instruction.
//!
//! A program that reads its input in every way there is, is run on inputs of equal and of other
//! lengths; output, ending, failure and the number of instructions are those of fresh machines.

use std::{
    fs, os::unix::ffi::OsStrExt as _, path::Path, process::Command, sync::Arc, time::Duration,
};

use stunt_machine::{
    Again, Machine,
    linux::{
        Input, Kernel, Limits, Setup, Signal,
        fs::{Allow, Config, Stream, User},
    },
    symbolic::{Relaxations, Symbolic},
};
use stunt_path::{Ending, Failure, FailureKind, Private, Run, Source};
use stunt_unwind::stack::Symbols;

const LIMITS: Limits = Limits { instructions: 100_000_000 };

/// Reads in the way that its first argument says, prints a sum, and fails if the sum is right.
const READER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
  static char buffer[4096];
  char how = argv[1][0];
  const char *bytes = buffer;
  long length;
  struct stat known = {0};
  int file = how == 'i' ? 0 : open(argv[2], O_RDONLY);
  /* A while passes between the look at the file and its bytes. */
  fstat(file, &known);
  for (volatile int i = 0; i < 100000; i++) {}
  if (how == 'm') {
    bytes = mmap(0, known.st_size + 1, PROT_READ, MAP_PRIVATE, file, 0);
    for (volatile int i = 0; i < 100000; i++) {}
    length = known.st_size;
  } else if (how == 's') {
    int pipes[2];
    pipe(pipes);
    length = sendfile(pipes[1], file, 0, 4096);
    for (volatile int i = 0; i < 100000; i++) {}
    length = read(pipes[0], buffer, length);
  } else {
    length = read(file, buffer, sizeof buffer);
  }
  char *copy = malloc(8);
  unsigned sum = 0;
  for (long i = 0; i < length; i++) {
    sum += (unsigned char)bytes[i];
    if (how == 'h' && i < 12) copy[i] = bytes[i];
  }
  printf("%ld of %ld: %u\n", length, (long)known.st_size, sum);
  fflush(stdout);
  if (sum % 5 == 0) abort();
  return sum % 7;
}
"#;

/// All that can be seen of a run that is over.
#[derive(PartialEq, Eq, Debug)]
struct End {
    ending: Ending,
    failure: Option<Failure>,
    /// What killed it, with the address.
    signal: Option<Signal>,
    executed: u64,
    output: Private,
}

/// The program before its first instruction, and its input.
fn machine(program: &Path, how: &str, file: &Path, bytes: &[u8], checked: bool) -> Machine {
    fs::write(file, bytes).expect("a file can be written");
    let own = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let setup = Setup {
        files: Config {
            allow: Allow::Everything,
            user: User::default(),
            cwd: b"/tmp".to_vec(),
            streams: [Stream::File, Stream::Pipe, Stream::Pipe],
            stdin: Arc::from(bytes),
            ..Config::default()
        },
        program: own(program),
        arguments: vec![own(program), how.as_bytes().to_vec(), own(file)],
        environment: Vec::new(),
        memory: 512 << 20,
    };
    let place = if how == "i" { Source::StandardInput } else { Source::File(own(file)) };
    let mut symbolic = Symbolic::new(Relaxations::NONE);
    if checked {
        symbolic.check_memory();
    }
    let mut machine = Machine::new(setup).expect("the program starts");
    let inputs = [Input { place, public: Vec::new() }];
    machine.follow(&inputs, symbolic).expect("the input is there");
    machine
}

fn seen(run: Run, kernel: &mut Kernel) -> End {
    End {
        ending: run.ending,
        failure: run.failure,
        signal: kernel.crash().map(|crash| crash.signal),
        executed: kernel.executed(),
        output: run.stdout,
    }
}

#[test]
fn runs_from_before_the_first_read_are_fresh_runs() {
    let folder = std::env::temp_dir().join(format!("stunt-again-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let (source, program) = (folder.join("reader.c"), folder.join("reader"));
    fs::write(&source, READER).expect("a file can be written");
    let built = Command::new("gcc").args(["-O1", "-w", "-o"]).args([&program, &source]).status();
    assert!(built.expect("gcc is there").success());
    let file = folder.join("input");
    for (how, checked) in
        [("r", false), ("i", false), ("m", false), ("s", false), ("h", true), ("m", true)]
    {
        let symbols = Arc::new(Symbols::of_host());
        let first = machine(&program, how, &file, b"another one", checked);
        let mut again = Again::new(first, Arc::clone(&symbols)).expect("a file can be replaced");
        let (mut failures, mut prepared) = (Vec::new(), 0);
        for (number, input) in
            ["abcdefg", "abcdefh", "", "abcdefghijklmno", "zzzzzzz", "abcdefg", "aaaaaaa"]
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .enumerate()
        {
            let inputs = vec![input.clone()];
            if number == 1 {
                again.go_on_before_input(&inputs, LIMITS);
            }
            prepared += usize::from(again.is_prepared(&inputs));
            let got = seen(again.run(&inputs, LIMITS), again.kernel());
            let mut fresh = machine(&program, how, &file, &input, checked);
            let ending = fresh.run(LIMITS);
            let left = fresh.left(ending, &symbols, Duration::ZERO);
            let wanted = seen(left, fresh.kernel());
            assert_eq!(got, wanted, "{how} on {input:?}");
            failures.extend(got.failure.map(|failure| failure.kind));
        }
        assert_eq!(prepared, 4, "{how}: all of seven letters after the first");
        let invalid = failures.contains(&FailureKind::InvalidAccess);
        assert_eq!(invalid, how == "h", "{how}: {failures:?}");
        assert!(how == "h" || failures.contains(&FailureKind::Abort), "{how}: {failures:?}");
    }
    fs::remove_dir_all(&folder).expect("the folder is ours");
}

/// Works for a while before it looks at its input, and again if that begins with an x.
const SLOW: &str = r#"
#include <stdio.h>
int main(int argc, char **argv) {
  for (volatile long i = 0; i < 3000000; i++) {}
  FILE *file = fopen(argv[2], "rb");
  int first = fgetc(file);
  for (volatile long i = 0; first == 'x' && i < 3000000; i++) {}
  return first;
}
"#;

#[test]
fn what_takes_too_long_is_given_up_and_leaves_nothing_behind() {
    let folder = std::env::temp_dir().join(format!("stunt-slow-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let (source, program) = (folder.join("slow.c"), folder.join("slow"));
    fs::write(&source, SLOW).expect("a file can be written");
    let built = Command::new("gcc").args(["-O1", "-w", "-o"]).args([&program, &source]).status();
    assert!(built.expect("gcc is there").success());
    let file = folder.join("input");
    let first = machine(&program, "r", &file, b"x", false);
    let mut again = Again::new(first, Arc::new(Symbols::of_host())).expect("it can be replaced");
    let (long, short) = (vec![b"x".to_vec()], vec![b"a".to_vec()]);
    assert!(again.run_unless(&long, LIMITS, &|| true).is_none());
    assert!(!again.go_on_before_look(&long, LIMITS, &|| true) && !again.is_early());
    assert_eq!(again.executed_before(&long), 0);
    let ending = |run: Run| run.ending;
    assert_eq!(ending(again.run(&long, LIMITS)), Ending::Exit(b'x'));
    let executed = again.kernel().executed();
    assert!(again.go_on_before_look(&long, LIMITS, &|| false) && again.is_early());
    assert!((3_000_000..executed).contains(&again.executed_before(&long)));
    assert!(again.run_unless(&long, LIMITS, &|| true).is_none());
    assert_eq!(ending(again.run(&short, LIMITS)), Ending::Exit(b'a'));
    let run = again.run_unless(&long, LIMITS, &|| false).expect("nothing is over");
    assert_eq!((run.ending, again.kernel().executed()), (Ending::Exit(b'x'), executed));
    fs::remove_dir_all(&folder).expect("the folder is ours");
}
