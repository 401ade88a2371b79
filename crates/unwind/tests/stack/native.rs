//! Native programs for comparison: compiled, run under `ptrace` and stopped where they would die.
//!
//! A stopped program gives what the walker needs: registers, memory and modules, all from the
//! host's kernel and from no code of this crate.
#![allow(unsafe_code)] // `ptrace` has no safe interface; each call names why it is sound.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;

use stunt_unwind::stack::{CallStack, Mapping, Module, Registers, Symbols, Thread};

/// Where the sources are.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stack/programs").join(name)
}

/// Compiles a program with the compiler that its ending asks for.
pub fn compile(name: &str, test: &str, flags: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stack");
    fs::create_dir_all(&folder).expect("a folder for programs");
    let program = folder.join(format!("{}-{test}", name.replace('.', "-")));
    let compiler = match name.rsplit('.').next() {
        Some("c") => "gcc",
        Some("cpp") => "g++",
        Some("rs") => "rustc",
        _ => panic!("no compiler for {name}"),
    };
    let status =
        Command::new(compiler).arg(source(name)).args(flags).arg("-o").arg(&program).status();
    assert!(status.is_ok_and(|status| status.success()), "{compiler} {name} {flags:?}");
    program
}

/// A program that is stopped.
pub struct Stopped {
    child: Child,
    memory: File,
}

impl Stopped {
    /// Starts a program; it is stopped before its first instruction.
    pub fn start(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.stdout(std::process::Stdio::null());
        Self::start_command(command)
    }

    /// Starts a command; it is stopped before its first instruction.
    fn start_command(mut command: Command) -> Self {
        // SAFETY: only system calls that may follow a fork, with constant arguments.
        unsafe {
            command.pre_exec(|| {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                let stack = libc::rlimit { rlim_cur: 8 << 20, rlim_max: 8 << 20 };
                libc::setrlimit(libc::RLIMIT_STACK, &raw const stack);
                let core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &raw const core);
                Ok(())
            });
        }
        let child = command.spawn().expect("program starts");
        let memory = File::open(format!("/proc/{}/mem", child.id())).expect("its memory");
        let stopped = Self { child, memory };
        assert_eq!(stopped.wait(), libc::SIGTRAP, "the stop after exec");
        stopped
    }

    /// Runs a program up to the signal that would end it.
    pub fn at_death(program: &Path) -> Self {
        Self::start(program).until_death()
    }

    /// Runs a command up to the signal that would end it.
    #[allow(dead_code, reason = "the comparison of crashes uses it")]
    pub fn at_death_of(command: Command) -> Self {
        Self::start_command(command).until_death()
    }

    fn until_death(self) -> Self {
        let stopped = self;
        let mut signal = 0;
        loop {
            stopped.resume(libc::PTRACE_CONT, signal);
            signal = stopped.wait();
            if !stopped.catches(signal) {
                return stopped;
            }
        }
    }

    /// Executes one instruction.
    pub fn step(&self) {
        self.resume(libc::PTRACE_SINGLESTEP, 0);
        assert_eq!(self.wait(), libc::SIGTRAP, "the stop after one instruction");
    }

    fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    fn resume(&self, how: libc::c_uint, signal: i32) {
        // SAFETY: the child is stopped and ours; these requests read and write no memory of ours.
        let result = unsafe { libc::ptrace(how, self.pid(), 0, signal) };
        assert_eq!(result, 0, "the program goes on");
    }

    fn wait(&self) -> i32 {
        let mut status = 0;
        // SAFETY: `status` is ours and lives as long as the call.
        let pid = unsafe { libc::waitpid(self.pid(), &raw mut status, 0) };
        assert_eq!(pid, self.pid());
        assert!(libc::WIFSTOPPED(status), "the program ended: {status:#x}");
        libc::WSTOPSIG(status)
    }

    /// Whether the program goes on after a signal: it has a handler, or nothing happens.
    fn catches(&self, signal: i32) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("status");
        let holds = |key: &str| {
            let mask = status.lines().find_map(|line| line.strip_prefix(key)).expect("a mask");
            let mask = u64::from_str_radix(mask.trim(), 16).expect("a number");
            mask >> (signal - 1) & 1 == 1
        };
        let harmless = [libc::SIGCHLD, libc::SIGURG, libc::SIGWINCH, libc::SIGCONT];
        holds("SigCgt:") || holds("SigIgn:") || harmless.contains(&signal)
    }

    /// The registers, as the kernel gives them.
    pub fn raw_registers(&self) -> libc::user_regs_struct {
        // SAFETY: all of the structure is integers, for which zero is a value.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes exactly this structure, which is ours.
        let result =
            unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.pid(), 0, &raw mut registers) };
        assert_eq!(result, 0, "registers");
        registers
    }

    fn walked_registers(&self) -> Registers {
        let r = self.raw_registers();
        let general = [
            r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11,
            r.r12, r.r13, r.r14, r.r15,
        ];
        Registers::new(&general, r.rip)
    }

    /// Reads memory.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        address <= i64::MAX as u64 && self.memory.read_exact_at(bytes, address).is_ok()
    }

    /// The mapped files.
    pub fn modules(&self) -> Vec<Module> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.pid())).expect("maps");
        let mut files: BTreeMap<String, Vec<Mapping>> = BTreeMap::new();
        for line in maps.lines() {
            let mut fields = line.split_whitespace();
            let mut field = || fields.next().unwrap_or_default();
            let (range, mode, offset) = (field(), field(), field());
            let path = fields.nth(2).unwrap_or_default();
            if !path.starts_with('/') {
                continue;
            }
            let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
            let (start, end) = range.split_once('-').expect("a range");
            files.entry(path.into()).or_default().push(Mapping {
                addresses: number(start)..number(end),
                offset: number(offset),
                executable: mode.contains('x'),
            });
        }
        files
            .iter()
            .filter_map(|(path, mappings)| {
                let bytes: Arc<[u8]> = fs::read(path).ok()?.into();
                Module::from_mappings(path, &bytes, mappings)
            })
            .collect()
    }

    /// The call stack.
    pub fn call_stack(&self, symbols: &Symbols) -> CallStack {
        symbols.call_stack(&mut &*self, &self.modules())
    }
}

impl Thread for &Stopped {
    fn registers(&self) -> Registers {
        self.walked_registers()
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        Stopped::read(self, address, bytes)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A store that may read separate debugging information from anywhere.
pub fn symbols() -> Symbols {
    Symbols::new(Box::new(|path| fs::read(path).ok().map(Into::into)))
}

/// Compiles and runs a program up to its end, and walks its stack.
pub fn stack_of(name: &str, test: &str, flags: &[&str]) -> CallStack {
    Stopped::at_death(&compile(name, test, flags)).call_stack(&symbols())
}
