//! Which system calls stop a program that is recorded, as a program for the kernel (seccomp).
//!
//! Calls that open, accept, connect, receive or duplicate stop it; reading does only from
//! descriptors whose numbers are named: standard input, and numbers that sockets and pipes were
//! found to have ([`more`]). So reading from files costs nothing but a look at a number.
//!
//! Always holds: no call is denied or changed. Calls of other architectures do not stop.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_TRACE, c_long, sock_filter,
};

/// `AUDIT_ARCH_X86_64`.
const X86_64: u32 = 0xc000_003e;
/// The bit that calls with 32-bit addresses have in their number.
const X32: u32 = 0x4000_0000;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Calls that always stop.
const ALWAYS: [c_long; 12] = [
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_io_uring_setup,
];

/// Calls that read from the descriptor that is their first argument.
pub const READS: [c_long; 5] =
    [libc::SYS_read, libc::SYS_readv, libc::SYS_pread64, libc::SYS_preadv, libc::SYS_preadv2];

/// Calls that move bytes without showing them, and which argument is the source.
pub const MOVES: [(c_long, u32); 3] =
    [(libc::SYS_splice, 0), (libc::SYS_sendfile, 1), (libc::SYS_tee, 0)];

/// Calls that write to the descriptor that is their first argument.
pub const WRITES: [c_long; 2] = [libc::SYS_write, libc::SYS_writev];

/// Which standard streams are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// Standard input.
    pub stdin: bool,
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

/// A program for the kernel in the making.
struct Assembly(Vec<sock_filter>);

impl Assembly {
    fn new() -> Self {
        let mut assembly = Self(Vec::new());
        assembly.load(ARCHITECTURE);
        assembly.unless_equal_then_allow(X86_64);
        assembly.load(NUMBER);
        // Not at least this: go on behind the answer.
        assembly.push(BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32);
        assembly.answer(SECCOMP_RET_ALLOW);
        assembly
    }

    fn push(&mut self, code: u32, jt: u8, jf: u8, k: u32) {
        self.0.push(sock_filter { code: code as u16, jt, jf, k });
    }

    fn load(&mut self, offset: u32) {
        self.push(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
    }

    fn answer(&mut self, answer: u32) {
        self.push(BPF_RET | BPF_K, 0, 0, answer);
    }

    fn unless_equal_then_allow(&mut self, value: u32) {
        self.push(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
        self.answer(SECCOMP_RET_ALLOW);
    }

    /// This call stops.
    fn stop_at(&mut self, call: c_long) {
        self.push(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call as u32);
        self.answer(SECCOMP_RET_TRACE);
    }

    /// This call stops if an argument is one of these numbers, else it is allowed.
    fn stop_if(&mut self, call: c_long, index: u32, values: &[u32]) {
        // The jump goes over one load, two instructions for each number, and the answer.
        let over = u8::try_from(2 + 2 * values.len()).expect("few numbers");
        self.push(BPF_JMP | BPF_JEQ | BPF_K, 0, over, call as u32);
        self.load(argument(index));
        for &value in values {
            self.push(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
            self.answer(SECCOMP_RET_TRACE);
        }
        self.answer(SECCOMP_RET_ALLOW);
    }

    /// This call stops if an argument is at least this number, else it is allowed.
    fn stop_from(&mut self, call: c_long, index: u32, least: u32) {
        self.push(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, call as u32);
        self.load(argument(index));
        self.push(BPF_JMP | BPF_JGE | BPF_K, 0, 1, least);
        self.answer(SECCOMP_RET_TRACE);
        self.answer(SECCOMP_RET_ALLOW);
    }

    fn finish(mut self) -> Vec<sock_filter> {
        self.answer(SECCOMP_RET_ALLOW);
        self.0
    }
}

/// The filter that a program begins with.
pub fn first(streams: Streams) -> Vec<sock_filter> {
    let mut assembly = Assembly::new();
    if streams.stdin {
        for call in READS {
            assembly.stop_if(call, 0, &[0]);
        }
        for (call, source) in MOVES {
            assembly.stop_if(call, source, &[0]);
        }
    }
    let outputs: Vec<u32> = [(streams.stdout, 1), (streams.stderr, 2)]
        .into_iter()
        .filter_map(|(wanted, number)| wanted.then_some(number))
        .collect();
    if !outputs.is_empty() {
        for call in WRITES {
            assembly.stop_if(call, 0, &outputs);
        }
    }
    for call in ALWAYS {
        assembly.stop_at(call);
    }
    assembly.stop_at(libc::SYS_dup2);
    let duplicate = [libc::F_DUPFD as u32, libc::F_DUPFD_CLOEXEC as u32];
    assembly.stop_if(libc::SYS_fcntl, 1, &duplicate);
    assembly.finish()
}

/// Which further descriptors are read from with a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// The one with this number.
    One(i32),
    /// All but the standard streams.
    All,
}

/// A filter beside those that a program has.
pub fn more(which: More) -> Vec<sock_filter> {
    let mut assembly = Assembly::new();
    let all = READS.map(|call| (call, 0)).into_iter().chain(MOVES);
    for (call, index) in all {
        match which {
            More::One(number) => assembly.stop_if(call, index, &[number.cast_unsigned()]),
            More::All => assembly.stop_from(call, index, 3),
        }
    }
    assembly.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would answer, by running the program.
    fn run(filter: &[sock_filter], architecture: u32, call: c_long, arguments: [u64; 6]) -> u32 {
        let mut data = Vec::new();
        data.extend((call as u32).to_le_bytes());
        data.extend(architecture.to_le_bytes());
        data.extend(0u64.to_le_bytes());
        data.extend(arguments.iter().flat_map(|it| it.to_le_bytes()));
        let (mut at, mut value) = (0, 0);
        loop {
            let step = filter[at];
            at += 1;
            let jump = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
            match u32::from(step.code) {
                code if code == BPF_LD | BPF_W | BPF_ABS => {
                    let from = step.k as usize;
                    value = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
                }
                code if code == BPF_JMP | BPF_JEQ | BPF_K => at += jump(value == step.k),
                code if code == BPF_JMP | BPF_JGE | BPF_K => at += jump(value >= step.k),
                code if code == BPF_RET | BPF_K => return step.k,
                other => panic!("an instruction {other:#x} that is not used here"),
            }
        }
    }

    fn stops(filter: &[sock_filter], call: c_long, arguments: [u64; 6]) -> bool {
        run(filter, X86_64, call, arguments) == SECCOMP_RET_TRACE
    }

    #[test]
    fn only_input_calls_stop() {
        let filter = first(Streams { stdin: true, ..Streams::default() });
        let on = |descriptor: u64| [descriptor, 0, 0, 0, 0, 0];
        for call in ALWAYS {
            assert!(stops(&filter, call, on(7)), "{call}");
            // Not those of other architectures, whose numbers mean other calls.
            assert_eq!(run(&filter, 0x4000_0003, call, on(7)), SECCOMP_RET_ALLOW);
            assert!(!stops(&filter, call | c_long::from(X32), on(7)));
        }
        for call in READS {
            assert!(stops(&filter, call, on(0)) && !stops(&filter, call, on(3)), "{call}");
        }
        assert!(stops(&filter, libc::SYS_sendfile, [1, 0, 0, 0, 0, 0]));
        assert!(!stops(&filter, libc::SYS_sendfile, [0, 3, 0, 0, 0, 0]));
        for call in [libc::SYS_write, libc::SYS_close, libc::SYS_mmap, libc::SYS_futex] {
            assert!(!stops(&filter, call, on(0)) && !stops(&filter, call, on(1)), "{call}");
        }
        let fcntl = |command: i32| [5, command as u64, 0, 0, 0, 0];
        assert!(stops(&filter, libc::SYS_fcntl, fcntl(libc::F_DUPFD_CLOEXEC)));
        assert!(!stops(&filter, libc::SYS_fcntl, fcntl(libc::F_GETFL)));
        assert!(stops(&filter, libc::SYS_dup2, on(5)));
    }

    #[test]
    fn outputs_stop_when_asked_for() {
        let filter = first(Streams { stderr: true, ..Streams::default() });
        let on = |descriptor: u64| [descriptor, 0, 0, 0, 0, 0];
        assert!(stops(&filter, libc::SYS_writev, on(2)));
        assert!(!stops(&filter, libc::SYS_write, on(1)));
        assert!(!stops(&filter, libc::SYS_read, on(0)));
    }

    #[test]
    fn further_descriptors() {
        let on = |descriptor: u64| [descriptor, 0, 0, 0, 0, 0];
        let one = more(More::One(9));
        assert!(stops(&one, libc::SYS_read, on(9)) && !stops(&one, libc::SYS_read, on(8)));
        let all = more(More::All);
        assert!(stops(&all, libc::SYS_readv, on(3)) && !stops(&all, libc::SYS_readv, on(2)));
        assert!(!stops(&all, libc::SYS_openat, on(3)));
    }
}
