//! A stopped process as `/proc` shows it: memory, mapped files, what signals do to it.
//!
//! Everything here may fail because the process died a moment ago; then the answer is the poorer
//! one, and the next wait tells what happened.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use stunt_unwind::stack::{Mapping, Registers};

/// The number of the entry of the auxiliary vector that tells where a program begins.
const AT_ENTRY: u64 = 9;

/// The memory of a process with its present program.
pub struct Memory(File);

impl Memory {
    /// Opens it. A process that becomes another program has other memory then.
    pub fn of(pid: i32) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).map(Self)
    }

    /// Fills bytes; `false` if not all can be read.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        i64::try_from(address).is_ok() && self.0.read_exact_at(bytes, address).is_ok()
    }

    /// As many bytes from an address on as can be read.
    pub fn read_up_to(&self, address: u64, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let mut count = 0;
        // A read ends early where the mapping does, and fails behind it.
        while count < most
            && let Some(from) = address.checked_add(count as u64)
            && i64::try_from(from).is_ok()
            && let Ok(more) = self.0.read_at(&mut bytes[count..], from)
            && more > 0
        {
            count += more;
        }
        bytes.truncate(count);
        bytes
    }

    /// Writes bytes, also where the program itself could not.
    pub fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, address)
    }
}

/// Where the program begins, behind its dynamic linker.
pub fn entry(pid: i32) -> Option<u64> {
    let vector = fs::read(format!("/proc/{pid}/auxv")).ok()?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let mut entries = vector.chunks_exact(16).map(|it| (word(&it[..8]), word(&it[8..])));
    entries.find_map(|(kind, value)| (kind == AT_ENTRY).then_some(value))
}

/// The files that are mapped with code, and how.
pub fn mapped_files(pid: i32) -> Vec<(String, Vec<Mapping>)> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut files: BTreeMap<&str, Vec<Mapping>> = BTreeMap::new();
    for (path, mapping) in maps.lines().filter_map(mapping) {
        files.entry(path).or_default().push(mapping);
    }
    let files = files.into_iter().filter(|(_, all)| all.iter().any(|it| it.executable));
    files.map(|(path, mappings)| (path.to_owned(), mappings)).collect()
}

/// Memory that is a process's own: what it can write, and what it may have written and closed since.
pub fn own_memory(pid: i32) -> Vec<Range<u64>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let own = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (range, mode, name) = (fields.next()?, fields.next()?, fields.nth(3));
        let (start, end) = range.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let is_own = mode.starts_with("rw") || (mode.starts_with('r') && name.is_none());
        (is_own && mode.ends_with('p')).then_some(number(start)?..number(end)?)
    };
    maps.lines().filter_map(own).collect()
}

/// A line of `/proc/PID/maps`, if a file is mapped there.
fn mapping(line: &str) -> Option<(&str, Mapping)> {
    let path = &line[line.find('/')?..];
    let mut fields = line.split_ascii_whitespace();
    let (range, mode, offset) = (fields.next()?, fields.next()?, fields.next()?);
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    let addresses = number(start)?..number(end)?;
    Some((path, Mapping { addresses, offset: number(offset)?, executable: mode.contains('x') }))
}

/// What a signal does to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is handled, ignored, or nothing comes of it.
    GoesOn,
    /// The process stops until it is told to go on.
    Stops,
    /// The process dies.
    Dies,
}

/// What a signal that is about to be delivered does to a process.
pub fn effect(pid: i32, signal: i32) -> Effect {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let holds = |key: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(key));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.unwrap_or(0) >> (signal - 1) & 1 == 1
    };
    if holds("SigCgt:") || holds("SigIgn:") {
        return Effect::GoesOn;
    }
    match signal {
        libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT => Effect::GoesOn,
        libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => Effect::Stops,
        _ => Effect::Dies,
    }
}

/// The process that a thread belongs to.
pub fn process_of(thread: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Registers as the kernel gives them, in the form in which stacks are walked.
pub fn for_walk(r: &libc::user_regs_struct) -> Registers {
    let general = [
        r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12,
        r.r13, r.r14, r.r15,
    ];
    Registers::new(&general, r.rip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let line = "7f00-7f10 r-xp 00001000 fe:00 12345      /opt/a b/libx.so.1";
        let (path, found) = mapping(line).expect("a file");
        assert_eq!(path, "/opt/a b/libx.so.1");
        assert_eq!(found, Mapping { addresses: 0x7f00..0x7f10, offset: 0x1000, executable: true });
        assert_eq!(mapping("7f00-7f10 rw-p 00000000 00:00 0 [heap]"), None);
        assert_eq!(mapping("7f00-7f10 rw-p 00000000 00:00 0"), None);
        assert_eq!(mapping("/"), None);
    }

    #[test]
    fn our_own_process() {
        let pid = std::process::id().cast_signed();
        assert_eq!(process_of(pid), Some(pid));
        assert!(entry(pid).is_some());
        assert!(mapped_files(pid).iter().any(|(path, _)| path.contains("libc.so")));
        assert_eq!(effect(pid, libc::SIGCHLD), Effect::GoesOn);
        assert_eq!(effect(pid, libc::SIGKILL), Effect::Dies);
        let (memory, value) = (Memory::of(pid).expect("memory"), 0x1234_5678_9abc_def0_u64);
        let (address, mut bytes) = (&raw const value as u64, [0; 8]);
        assert!(memory.read(address, &mut bytes));
        assert_eq!(u64::from_le_bytes(bytes), value);
        assert!(!memory.read(0, &mut bytes) && !memory.read(u64::MAX - 3, &mut bytes));
        assert!(memory.read_up_to(0, 16).is_empty());
        assert_eq!(memory.read_up_to(address, 8), bytes);
        let own = own_memory(pid);
        assert!(own.iter().any(|range| range.contains(&address)));
        assert!(!own.iter().any(|range| range.contains(&(our_own_process as *const () as u64))));
    }
}
