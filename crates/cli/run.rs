//! `stunt run`: runs a program in the machine.
//!
//! Output and exit status are the program's own. What stunt has to say, statistics and the account
//! of a failure, comes after it, on standard error.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use stunt_machine::Machine;
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Allow, Config, Stream};
use stunt_machine::linux::{Ending, Kernel, LimitReached, Limits, Setup, Signal, signal_name};
use stunt_subject::{MissingCall, missing_calls, of_instruction};
use stunt_unwind::stack::Symbols;

use crate::outcome::Outcome;

/// Where the loader and the libraries of dynamic programs are.
const SYSTEM: [&str; 8] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/locale",
    "/etc/ld.so.cache",
    "/etc/localtime",
];

/// Flags of `stunt run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print what the run took: instructions, time, system calls that are missing
    #[arg(long)]
    stats: bool,
    /// Let the program read only what is under this path; may be given several times. The program
    /// itself and the system's libraries are always readable
    #[arg(long, value_name = "PATH")]
    allow: Vec<PathBuf>,
    /// How much memory each process may use, such as 512M or 2G
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = size)]
    memory: u64,
    /// Stop after so many instructions
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    instructions: u64,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// A number with K, M or G; none if it is too large for a number of bytes.
pub fn bytes(text: &str) -> Result<Option<u64>, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| "a size is a number with K, M or G".to_owned())?;
    Ok(number.checked_mul(1 << unit))
}

/// How much memory a program gets.
pub fn size(text: &str) -> Result<u64, String> {
    bytes(text)?
        .filter(|&bytes| bytes >= 1 << 20)
        .ok_or_else(|| "a program needs 1M at least".to_owned())
}

/// Runs the program.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let program = find(&arguments.command[0])?;
    let setup = setup(arguments, &program)?;
    let begun = Instant::now();
    let mut machine = Machine::new(setup).map_err(|errno| refusal(&program, errno))?;
    let limits = Limits { instructions: arguments.instructions };
    let ending = machine.run_watched(limits, &mut |kernel| show(kernel));
    let seconds = begun.elapsed().as_secs_f64();
    show(machine.kernel());
    if arguments.stats {
        statistics(&mut machine, seconds);
    }
    conclude(&mut machine, ending)
}

/// Where the program is: a path, or a name that is looked up as a shell does.
fn find(name: &OsString) -> Result<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| {
        file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    });
    found.with_context(|| {
        format!("there is no program {} in PATH; give its path", name.to_string_lossy())
    })
}

fn setup(arguments: &Arguments, program: &Path) -> Result<Setup> {
    let mut bytes = Vec::new();
    let stdin = stream(&io::stdin())?;
    if stdin != Stream::Null && !io::stdin().is_terminal() {
        io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    }
    let cwd = std::env::current_dir().context("there is no current directory")?;
    let allow = if arguments.allow.is_empty() {
        Allow::Everything
    } else {
        let own = [std::path::absolute(program)?];
        let given =
            arguments.allow.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>()?;
        let system = SYSTEM.iter().map(PathBuf::from);
        Allow::under(given.into_iter().chain(system).chain(own))
    };
    let environment =
        std::env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
    Ok(Setup {
        files: Config {
            allow,
            user: stunt_subject::user()?,
            cwd: cwd.into_os_string().into_vec(),
            scratch: vec![b"/tmp".to_vec()],
            streams: [stdin, stream(&io::stdout())?, stream(&io::stderr())?],
            stdin: Arc::from(bytes),
            seed: 0,
            ..Config::default()
        },
        program: program.as_os_str().as_bytes().to_vec(),
        arguments: arguments.command.iter().map(|word| word.as_bytes().to_vec()).collect(),
        environment: environment.collect(),
        memory: arguments.memory,
    })
}

/// What a standard stream is, so that the program sees the same kind.
fn stream(handle: &impl AsFd) -> Result<Stream> {
    let file = File::from(handle.as_fd().try_clone_to_owned()?);
    let data = file.metadata()?;
    Ok(if data.is_file() {
        Stream::File
    } else if data.file_type().is_char_device() && data.rdev() == 0x103 {
        Stream::Null
    } else {
        Stream::Pipe
    })
}

/// A sentence for a program that cannot be started.
fn refusal(program: &Path, errno: Errno) -> anyhow::Error {
    let name = program.display();
    match errno {
        Errno::ENOENT if program.exists() => anyhow!(
            "{name} needs a dynamic loader or an interpreter that is not there; install it, or allow its path"
        ),
        Errno::ENOENT => anyhow!("there is no {name}; check the path"),
        Errno::EACCES => anyhow!("{name} may not be executed; check its permissions (chmod +x)"),
        Errno::ENOEXEC => match foreign(program) {
            Some(what) => anyhow!("{name} is {what}; stunt runs x86-64 Linux programs"),
            None => anyhow!("{name} is not a program; stunt runs ELF files and #! scripts"),
        },
        _ => anyhow!("{name} cannot be started: {}", errno.text()),
    }
}

/// What an ELF file is for, if it is not for this machine.
fn foreign(program: &Path) -> Option<String> {
    let mut head = [0; 20];
    File::open(program).ok()?.read_exact(&mut head).ok()?;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let machine = u16::from_le_bytes([head[18], head[19]]);
    Some(match (head[4], machine) {
        (_, 3) => "a 32-bit x86 program".to_owned(),
        (_, 40) => "a program for ARM".to_owned(),
        (_, 183) => "a program for AArch64".to_owned(),
        (_, 243) => "a program for RISC-V".to_owned(),
        (1, 62) => "an x32 program".to_owned(),
        (2, 62) => "an x86-64 ELF file that is not a program, or a damaged one".to_owned(),
        (_, other) => format!("a program for another processor (ELF machine {other})"),
    })
}

/// Passes on what the program has written.
fn show(kernel: &mut Kernel) {
    let (out, error) = (kernel.files().drain(1), kernel.files().drain(2));
    // A reader that has gone is the reader's business.
    if !out.is_empty() {
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(&out).and_then(|()| stdout.flush());
    }
    if !error.is_empty() {
        let _ = io::stderr().lock().write_all(&error);
    }
}

fn statistics(machine: &mut Machine, seconds: f64) {
    let kernel = machine.kernel();
    let executed = kernel.executed();
    eprintln!("instructions: {executed}");
    eprintln!("seconds: {seconds:.3}");
    eprintln!("instructions per second: {:.0}", executed as f64 / seconds);
    for MissingCall { name, count, place } in missing_calls(machine) {
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        eprintln!("missing system call: {name} ({times}, answered ENOSYS; first at {place})");
    }
}

fn conclude(machine: &mut Machine, ending: Ending) -> Result<Outcome> {
    match ending {
        Ending::Exited(code) => Ok(Outcome::Program(code)),
        Ending::Killed(signal) => {
            eprintln!("stunt: the program was killed by {}", account(&signal));
            let symbols = Symbols::new(Box::new(|path| std::fs::read(path).ok().map(Arc::from)));
            if let Some(stack) = machine.call_stack(&symbols) {
                eprint!("{stack}");
            }
            Ok(Outcome::Program(128 + signal.number as u8))
        }
        Ending::Idle => {
            eprintln!("stunt: stopped: the program waits for connections");
            Ok(Outcome::Limit)
        }
        Ending::Limit(limit) => {
            eprintln!(
                "stunt: {}",
                match limit {
                    LimitReached::Instructions =>
                        "stopped: all instructions are used up (--instructions)",
                    LimitReached::Memory => "stopped: all memory is used up (--memory)",
                    LimitReached::Deadlock => "stopped: every thread waits for another one",
                }
            );
            Ok(Outcome::Limit)
        }
        Ending::Unsupported(address) => {
            let what = machine.instruction_at(address).unwrap_or_else(|| "unknown".to_owned());
            let place = of_instruction(machine, address);
            eprintln!(
                "stunt: the machine does not have the instruction `{what}` (at {place}). This \
                 is not a failure of the program: it cannot be run here."
            );
            Ok(Outcome::Unsupported)
        }
    }
}

/// A signal in words.
fn account(signal: &Signal) -> String {
    let name = signal_name(signal.number);
    let why = match (name, signal.code) {
        ("SIGSEGV", 1) => format!("nothing is mapped at address {:#x}", signal.value),
        ("SIGSEGV", 2) => format!("address {:#x} is protected", signal.value),
        ("SIGSEGV", 0x80) => "a bad address or a forbidden instruction".to_owned(),
        ("SIGBUS", 2) => format!("address {:#x} is behind the end of a mapped file", signal.value),
        ("SIGFPE", 1) => "an integer division by zero or out of range".to_owned(),
        ("SIGILL", _) => format!("an invalid instruction at {:#x}", signal.value),
        (_, -6 | 0) => "sent by a process".to_owned(),
        _ => return name.to_owned(),
    };
    format!("{name}: {why}")
}
