//! A stopped process as `/proc` shows it: what is mapped, and where its program begins.
//!
//! Everything here may fail because the process died a moment ago; then the answer is the poorer
//! one, and the next wait tells what happened.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;

use stunt_unwind::stack::{Mapping, Registers};

use crate::texts::Executed;

/// What a process executes.
pub fn executed(pid: i32) -> Option<Executed> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = words.strip_suffix(b"\0").unwrap_or(&words);
    let words = words.split(|&byte| byte == 0).map(|word| OsString::from_vec(word.to_vec()));
    Some(Executed {
        program: fs::read_link(format!("/proc/{pid}/exe")).ok()?,
        words: words.collect(),
        folder: fs::read_link(format!("/proc/{pid}/cwd")).ok()?,
    })
}

/// The number of the entry of the auxiliary vector that tells where a program begins.
const AT_ENTRY: u64 = 9;

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
        assert!(entry(pid).is_some());
        assert!(mapped_files(pid).iter().any(|(path, _)| path.contains("libc.so")));
        let value = 0x1234_5678_9abc_def0_u64;
        let address = &raw const value as u64;
        let own = own_memory(pid);
        assert!(own.iter().any(|range| range.contains(&address)));
        assert!(!own.iter().any(|range| range.contains(&(our_own_process as *const () as u64))));
    }
}
