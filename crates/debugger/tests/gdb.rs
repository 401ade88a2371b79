//! The real gdb, in batch mode, on a run in the machine: what a person would type, and what it says.

mod support;

use std::{
    os::unix::net::UnixListener,
    path::Path,
    process::{Command, Stdio},
};

use stunt_debugger::{Halt, Helper, Session, Start, TimeTravel};
use support::{Program, patient};

/// A helper with one command, to see that it is asked.
struct Echo;

impl Helper for Echo {
    fn command(&mut self, words: &[&str], travel: &mut TimeTravel) -> Option<String> {
        let (&name, rest) = words.split_first()?;
        let here = travel.position();
        (name == "echo").then(|| format!("{} at {here}\n", rest.join("+")))
    }

    fn commands(&self) -> &'static str {
        "echo\n"
    }
}

/// What gdb prints that is given these commands; at the end of the run, or at its start.
fn gdb(program: &Program, at_end: bool, commands: &[&str]) -> String {
    let mut travel = program.travel();
    let mut halt = Halt::Reached;
    if at_end {
        travel.goto_end(&mut patient());
        halt = travel.forward(None, &mut patient());
    }
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("gdb-{}-{number}", std::process::id());
    let socket = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).expect("a socket");
    // What it says goes to one place, in order.
    let mut command = Command::new("sh");
    command.args(["-c", "exec gdb \"$@\" 2>&1", "gdb", "-q", "-nx", "--batch"]);
    let first = [
        "set debuginfod enabled off".to_owned(),
        "set width 0".to_owned(),
        "set sysroot /".to_owned(),
        format!("target remote {}", socket.display()),
    ];
    for text in first.iter().map(String::as_str).chain(commands.iter().copied()) {
        command.args(["-ex", text]);
    }
    let child = command
        .arg(program.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gdb is there");
    let (line, _) = listener.accept().expect("it connects");
    Session::new(&mut travel, &mut Echo, Start { halt }).talk(line).expect("it talks");
    let output = child.wait_with_output().expect("it ends");
    let _ = std::fs::remove_file(&socket);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The texts are there, one after the other.
#[track_caller]
fn says(said: &str, texts: &[&str]) {
    let mut rest = said;
    for text in texts {
        let at = rest.find(text).unwrap_or_else(|| panic!("no {text:?} in {rest}\n\n{said}"));
        rest = &rest[at + text.len()..];
    }
}

/// The functions of a backtrace, innermost first.
fn functions(said: &str) -> Vec<String> {
    let frames = said.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let text = line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
        let text = text.split_once(" in ").map_or(text.clone(), |(_, text)| text.to_owned());
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    frames.map(name).collect()
}

#[test]
fn gdb_stands_at_the_crash_and_goes_back_to_its_cause() {
    let program = Program::build("story");
    let said = gdb(
        &program,
        true,
        &[
            "backtrace",
            "p $_siginfo.si_signo",
            "p *divisor",
            "watch -l *divisor",
            "reverse-continue",
            "backtrace",
            "continue",
            "info threads",
            "monitor when",
            "monitor echo a b",
            "monitor nothing",
            "continue",
            "continue",
            "monitor goto start",
        ],
    );
    says(
        &said,
        &[
            "in fail (divisor=",
            "#1 ",
            "main () at ",
            "$1 = 8",
            "$2 = 0",
            "Hardware watchpoint 1",
            "Old value = 0",
            "New value = 12",
            "#0  spoil (where=",
            "main () at ",
            "Old value = 12",
            "New value = 0",
            "* 1    Thread ",
            "Instruction ",
            "a+b at ",
            "There is no such command",
            "SIGFPE, Arithmetic exception.",
            "No more reverse-execution history.",
            "Instruction 0 of ",
        ],
    );
    // As gdb says of a native run.
    let native = Command::new("gdb")
        .args(["-q", "-nx", "--batch", "-ex", "set debuginfod enabled off"])
        .args(["-ex", "handle SIGSEGV SIGALRM nostop noprint pass"])
        .args(["-ex", "set startup-with-shell off", "-ex", "run < /dev/null", "-ex", "backtrace"])
        .arg(program.path())
        .output()
        .expect("gdb is there");
    let native = functions(&String::from_utf8_lossy(&native.stdout));
    let here = gdb(&program, true, &["backtrace"]);
    let mut here = functions(&here);
    // The stop itself is shown as a frame without a number.
    here.retain(|name| !name.is_empty());
    if native.len() > 1 {
        assert_eq!(here, native);
    }
}

#[test]
fn gdb_steps_over_calls_in_both_directions() {
    let program = Program::build("story");
    let said = gdb(
        &program,
        false,
        &[
            "handle SIGSEGV nostop noprint pass",
            "break copy",
            "break mean",
            "continue",
            "finish",
            "reverse-step",
            "reverse-finish",
            "reverse-stepi",
            "stepi",
            "continue",
            "p n",
            "up",
            "delete",
            "finish",
            "reverse-next",
            "info registers rip xmm0 eflags fs_base",
            "p counter",
            "reverse-continue",
        ],
    );
    says(
        &said,
        &[
            "Breakpoint 1, copy (",
            "main () at ",
            "in copy (to=",
            "Breakpoint 1, copy (",
            "in main () at ",
            "Breakpoint 1, copy (",
            "Breakpoint 2, mean (n=",
            "$1 = 50",
            "rip",
            "xmm0",
            "v4_float",
            "eflags",
            "IF",
            "fs_base",
            "$2 = 60",
            "No more reverse-execution history.",
        ],
    );
}

#[test]
fn gdb_sees_threads() {
    let program = Program::build("story");
    let said = gdb(
        &program,
        false,
        &[
            "break work",
            "continue",
            "info threads",
            "backtrace 1",
            "continue",
            "info threads",
            "thread apply all backtrace 1",
            "delete",
            "break usleep",
            "reverse-continue",
        ],
    );
    says(
        &said,
        &[
            "hit Breakpoint 1, work (by=0x1)",
            "Thread 1000",
            "Thread 1001",
            "#0  work (by=0x1)",
            "hit Breakpoint 1, work (by=0x2)",
            "Thread 1000",
            "Thread 1001",
            "Thread 1002",
            "Thread 1002",
            "#0  work (by=0x2)",
            "Thread 1000",
        ],
    );
}

#[test]
fn gdb_changes_what_comes_after() {
    let program = Program::build("story");
    let said = gdb(
        &program,
        false,
        &[
            "handle SIGSEGV nostop noprint pass",
            "break fail",
            "continue",
            "monitor when",
            "p *divisor = 25",
            "finish",
            "reverse-finish",
            "monitor goto start",
            "maintenance flush register-cache",
            "continue",
            "p *divisor",
            "continue",
        ],
    );
    says(
        &said,
        &[
            "Breakpoint 1, fail (divisor=",
            "$1 = 25",
            "Value returned is $2 = 4",
            "Breakpoint 1, fail (divisor=",
            "$3 = 25",
            "No more reverse-execution history.",
        ],
    );
}
