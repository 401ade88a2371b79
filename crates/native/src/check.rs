//! Whether a file is a program that can be run here, and if not, what it is.
//!
//! Reads the first bytes of the file and its permissions, and runs nothing. Errors are sentences
//! for the user.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use object::elf;

use crate::error::Error;

/// Bytes that are looked at; the kernel reads as many of a script's first line.
const HEAD: u64 = 256;

/// The path of a program: as given if there is a slash in it, else from the folders in `path`, the
/// value of the variable `PATH`.
///
/// # Errors
/// [`Error::NotInPath`] if no folder has an executable file of this name.
pub fn find(program: &OsStr, path: &OsStr) -> Result<PathBuf, Error> {
    if program.as_bytes().contains(&b'/') {
        return Ok(program.into());
    }
    let executable = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    let mut candidates = std::env::split_paths(path).map(|folder| folder.join(program));
    let not_there = || Error::NotInPath { name: program.to_string_lossy().into_owned() };
    candidates.find(executable).ok_or_else(not_there)
}

/// Whether this is a program for x86-64 Linux that may be run.
///
/// # Errors
/// Says what is in the way.
pub fn check(path: &Path) -> Result<(), Error> {
    match kind(path)? {
        Kind::Program => Ok(()),
        Kind::Script(interpreter) => Err(Error::Script { path: path.into(), interpreter }),
    }
}

/// What can be run.
pub enum Kind {
    /// A program for x86-64 Linux.
    Program,
    /// A script, whose first line names this interpreter.
    Script(String),
}

/// Whether this is a program for x86-64 Linux or a script that may be run, and which.
///
/// # Errors
/// Says what is in the way.
pub fn kind(path: &Path) -> Result<Kind, Error> {
    let path_of = || path.to_path_buf();
    let metadata = fs::metadata(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Error::NotFound { path: path_of() },
        _ => Error::Unreadable { path: path_of(), source },
    })?;
    if !metadata.is_file() {
        return Err(Error::NotFile { path: path_of() });
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|source| Error::Unreadable { path: path_of(), source })?;
    let script = interpreter(&head);
    if let Some(what) = other_format(&head).filter(|_| script.is_none()) {
        return Err(Error::OtherFormat { path: path_of(), what: what.into() });
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        // Whoever cannot run a script has that to hear first.
        return Err(match script {
            Some(interpreter) => Error::Script { path: path_of(), interpreter },
            None => Error::NotExecutable { path: path_of() },
        });
    }
    Ok(script.map_or(Kind::Program, Kind::Script))
}

/// The interpreter that a script's first line names; with `env`, the program that it looks for.
fn interpreter(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(b"#!")?;
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or(line);
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or("an interpreter without a name");
    let shown = if program.ends_with("/env") {
        words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or(program)
    } else {
        program
    };
    Some(shown.chars().filter(|c| !c.is_control()).collect())
}

/// What the file is, if it is no program for x86-64 Linux.
fn other_format(head: &[u8]) -> Option<&'static str> {
    let Some(rest) = head.strip_prefix(b"\x7fELF") else {
        return Some(match head {
            [] => "empty",
            [b'M', b'Z', ..] => "a program for Windows",
            [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] => "a program for macOS",
            [0xca, 0xfe, 0xba, 0xbe, ..] => "a Java class or a program for macOS",
            [0, b'a', b's', b'm', ..] => "a WebAssembly module",
            [b'P', b'K', 3, 4, ..] => "a ZIP archive",
            [b'!', b'<', b'a', b'r', ..] => "an archive of object files",
            _ if head.iter().all(|&byte| byte == b'\t' || byte == b'\n' || byte >= b' ') => {
                "a text file"
            }
            _ => "no program that stunt knows",
        });
    };
    let half = |at: usize| Some(u16::from_le_bytes([*rest.get(at)?, *rest.get(at + 1)?]));
    // Positions in the header, less the four bytes of its mark.
    let (class, order) = (rest.first(), rest.get(1));
    let (Some(kind), Some(machine)) = (half(12), half(14)) else {
        return Some("the beginning of an ELF file");
    };
    if order != Some(&elf::ELFDATA2LSB.0) {
        return Some("an ELF file for a big-endian processor");
    }
    if class != Some(&elf::ELFCLASS64.0) {
        return Some(if machine == elf::EM_386.0 {
            "an ELF program for 32-bit x86"
        } else if machine == elf::EM_X86_64.0 {
            "an ELF program for x86-64 with 32-bit addresses (x32)"
        } else {
            "an ELF file for a 32-bit processor"
        });
    }
    if machine != elf::EM_X86_64.0 {
        return Some(if machine == elf::EM_AARCH64.0 {
            "an ELF program for AArch64"
        } else if machine == elf::EM_RISCV.0 {
            "an ELF program for RISC-V"
        } else {
            "an ELF file for another processor"
        });
    }
    if kind == elf::ET_REL.0 {
        return Some("an object file, which has to be linked first");
    }
    (kind == elf::ET_CORE.0).then_some("a core file, which is what a crash leaves, not a program")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(class: u8, order: u8, kind: u16, machine: u16) -> Vec<u8> {
        let mut head = vec![0x7f, b'E', b'L', b'F', class, order, 1, 0];
        head.resize(16, 0);
        head.extend(kind.to_le_bytes());
        head.extend(machine.to_le_bytes());
        head
    }

    #[test]
    fn formats_are_named() {
        assert_eq!(other_format(&header(2, 1, 2, 62)), None);
        assert_eq!(other_format(&header(2, 1, 3, 62)), None);
        for (head, word) in [
            (header(1, 1, 2, 3), "32-bit x86"),
            (header(1, 1, 2, 62), "x32"),
            (header(1, 1, 2, 40), "32-bit processor"),
            (header(2, 1, 3, 183), "AArch64"),
            (header(2, 1, 3, 243), "RISC-V"),
            (header(2, 2, 3, 22), "big-endian"),
            (header(2, 1, 1, 62), "object file"),
            (header(2, 1, 4, 62), "core file"),
            (b"MZ\x90\0".to_vec(), "Windows"),
            (b"\0asm\x01".to_vec(), "WebAssembly"),
            (b"hello\n".to_vec(), "text"),
            (b"\x7fELF".to_vec(), "beginning"),
            (vec![], "empty"),
        ] {
            assert!(other_format(&head).is_some_and(|what| what.contains(word)), "{word}");
        }
    }

    #[test]
    fn scripts_name_their_interpreter() {
        let of = |line: &str| interpreter(line.as_bytes());
        assert_eq!(of("#!/bin/sh\necho"), Some("/bin/sh".into()));
        assert_eq!(of("#! /usr/bin/python3 -u\n"), Some("/usr/bin/python3".into()));
        assert_eq!(of("#!/usr/bin/env -S perl -w\n"), Some("perl".into()));
        assert_eq!(of("#!/usr/bin/env A=1 perl\n"), Some("perl".into()));
        assert_eq!(of("echo"), None);
        assert!(of("#!").is_some());
    }
}
