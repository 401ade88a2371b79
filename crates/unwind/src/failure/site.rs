//! Where a Rust panic says that it is.
//!
//! Compilers merge the calls that panic: in one function, a dozen indexings can share one call, and
//! only what is passed to it tells them apart, a `core::panic::Location` in the program's data. Its
//! address is as good an identity as a return address, and it is there in stripped programs, too.
//!
//! It is found through what a panic puts on the stack on its way to the throw. A `PanicInfo` has a
//! reference to the message, which is on the stack as well, and one to the location; panics with a
//! plain text, as crates of older editions have them, have only the information for hooks: a payload
//! with its table of functions, and the location. What is taken for one must look like a location in
//! every part. Nothing of the message is read.

use std::fmt;
use std::sync::Arc;

use object::elf::{self, FileHeader64};
use object::endian::LittleEndian as Little;
use object::read::elf::{FileHeader, ProgramHeader};

use crate::stack::{Module, Thread};

/// Words of the stack that are looked at: more than lies between a throw or an abort and the panic.
const WORDS: usize = 2048;

/// How far behind the top of the stack a message may be.
const MESSAGE: u64 = 64 << 10;

/// Bytes of a file's name.
const NAME: u64 = 1024;

/// The location of a panic, as it is described in a module's data.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PanicSite {
    /// The name of the module that has the description.
    pub module: Arc<str>,
    /// Where it is there, before the bias.
    pub offset: u64,
    /// The source file, as the compiler recorded it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Debug for PanicSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The location of the panic whose throw or abort a thread is at.
pub fn panic_site(thread: &mut dyn Thread, modules: &[Module]) -> Option<PanicSite> {
    let stack_pointer = thread.registers().stack_pointer()?;
    let stack = stack_pointer..stack_pointer.checked_add(MESSAGE)?;
    let mut words = Vec::with_capacity(WORDS);
    let mut at = stack_pointer.checked_next_multiple_of(8)?;
    // As much as there is, in pieces, since the stack may end before.
    const PIECE: usize = 64;
    let mut piece = [0; PIECE * 8];
    while words.len() < WORDS && thread.read(at, &mut piece) {
        let read = piece.chunks_exact(8);
        words.extend(read.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))));
        at = at.checked_add(piece.len() as u64)?;
    }
    let on_stack = |word: u64| word.is_multiple_of(8) && stack.contains(&word);
    let data = |word: u64| word.is_multiple_of(8) && word > 0xffff && !stack.contains(&word);
    // Whether it may be caught, and whether it is to be silent: two bytes that are 0 or 1.
    let flags = |word: u64| word.to_le_bytes()[..2].iter().all(|&flag| flag <= 1);
    // What is nearest is the panic's own: callers have locations of calls that did not panic in their
    // frames, and by chance words around them that fit.
    words.windows(3).filter(|words| flags(words[2])).find_map(|words| {
        let at = match (words[0], words[1]) {
            (message, at) if on_stack(message) && data(at) => at,
            (at, message) if on_stack(message) && data(at) => at,
            (functions, at) if data(functions) && data(at) => at,
            _ => return None,
        };
        read_location(at, thread, modules)
    })
}

/// The description at an address, if it is one: a text that names a Rust file, a line, a column.
fn read_location(address: u64, thread: &mut dyn Thread, modules: &[Module]) -> Option<PanicSite> {
    let mut bytes = [0; 24];
    if !thread.read(address, &mut bytes) {
        return None;
    }
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let short = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (name, length, line, column) = (long(0), long(8), short(16), short(20));
    let plausible = (4..=NAME).contains(&length) && line > 0 && (1..1 << 16).contains(&column);
    if !plausible {
        return None;
    }
    let mut text = vec![0; length as usize];
    if !thread.read(name, &mut text) {
        return None;
    }
    // Some versions have a null behind the name, and count it.
    if text.last() == Some(&0) {
        text.pop();
    }
    let file = String::from_utf8(text).ok()?;
    if !file.ends_with(".rs") || file.chars().any(char::is_control) {
        return None;
    }
    let module = modules.iter().find(|module| {
        let in_file = |address: u64| address.wrapping_sub(module.bias);
        has_data(module, in_file(address)) && has_data(module, in_file(name))
    })?;
    let offset = address.wrapping_sub(module.bias);
    Some(PanicSite { module: module.name().into(), offset, file, line })
}

/// Whether an address of the file is in a segment that is loaded from it.
fn has_data(module: &Module, address: u64) -> bool {
    let Some(bytes) = module.bytes() else { return false };
    let data: &[u8] = &bytes;
    let Ok(header) = FileHeader64::<Little>::parse(data) else { return false };
    let Ok(programs) = header.program_headers(Little, data) else { return false };
    programs.iter().any(|program| {
        let into = address.checked_sub(program.p_vaddr(Little));
        program.p_type(Little) == elf::PT_LOAD
            && into.is_some_and(|into| into < program.p_filesz(Little))
    })
}

#[cfg(test)]
mod tests {
    use crate::held::Held;
    use crate::stack::{ModuleSource, Registers};

    use super::*;

    const STACK: u64 = 0x7000_0000;
    const DATA: u64 = 0x40_0000;

    /// A file with one segment, and a description of line 7 of `a.rs` at 0x400200 of it.
    fn file() -> Vec<u8> {
        let mut bytes = vec![0; 0x300];
        bytes[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
        bytes[16..20].copy_from_slice(&[2, 0, 62, 0]);
        // Program headers at 64, one of 56 bytes; the ELF header has 64.
        bytes[20] = 1;
        bytes[32] = 64;
        bytes[52] = 64;
        (bytes[54], bytes[56]) = (56, 1);
        bytes[64] = 1;
        bytes[80..88].copy_from_slice(&DATA.to_le_bytes());
        bytes[96..104].copy_from_slice(&0x300u64.to_le_bytes());
        bytes[104..112].copy_from_slice(&0x300u64.to_le_bytes());
        bytes[0x100..0x108].copy_from_slice(b"src/a.rs");
        bytes[0x200..0x208].copy_from_slice(&(DATA + 0x100).to_le_bytes());
        bytes[0x208..0x210].copy_from_slice(&8u64.to_le_bytes());
        (bytes[0x210], bytes[0x214]) = (7, 3);
        bytes
    }

    fn found(words: &[u64], file: &[u8]) -> Option<PanicSite> {
        let mut stack = vec![0u8; 0x1000];
        for (at, word) in words.iter().enumerate() {
            stack[0x100 + at * 8..0x108 + at * 8].copy_from_slice(&word.to_le_bytes());
        }
        let mut general = [0; 16];
        general[4] = STACK;
        let registers = Registers::new(&general, 0);
        let mut thread = Held { registers, memory: vec![(STACK, &stack), (DATA, file)] };
        let source = ModuleSource::Bytes(file.into());
        let module = Module { path: "/x/prog".into(), source, bias: 0, executable: Vec::new() };
        panic_site(&mut thread, &[module])
    }

    #[test]
    fn a_location_beside_a_message_is_found_in_either_order() {
        let file = file();
        let expected = PanicSite {
            module: "prog".into(),
            offset: DATA + 0x200,
            file: "src/a.rs".into(),
            line: 7,
        };
        let (message, location) = (STACK + 0x800, DATA + 0x200);
        for words in [
            &[message, location, 1][..],
            &[location, message, 0x4141_4141_0001],
            &[5, message, location, 0x0100],
            // For hooks: a payload, its functions, the location.
            &[message, DATA + 0x50, location, 0],
            &[1, DATA + 0x50, location, 0],
        ] {
            assert_eq!(found(words, &file).as_ref(), Some(&expected), "{words:x?}");
        }
    }

    #[test]
    fn the_nearest_location_counts_whatever_form_it_has() {
        let mut file = file();
        // Another description, of line 9, at 0x400220.
        file.copy_within(0x200..0x218, 0x220);
        file[0x230] = 9;
        let (message, panics, calls) = (STACK + 0x800, DATA + 0x200, DATA + 0x220);
        let words = [1, DATA + 0x50, panics, 0, 5, message, calls, 1];
        assert_eq!(found(&words, &file).map(|site| site.line), Some(7));
        let words = [5, message, panics, 1, 5, 1, DATA + 0x50, calls, 0];
        assert_eq!(found(&words, &file).map(|site| site.line), Some(7));
    }

    #[test]
    fn what_does_not_look_like_one_in_every_part_is_none() {
        let good = file();
        let (message, location) = (STACK + 0x800, DATA + 0x200);
        for words in [
            &[message, location, 2][..],
            &[message, location + 1, 1],
            &[message, DATA + 0x208, 1],
            &[message, 0, 1],
            &[message, u64::MAX - 7, 1],
            &[],
        ] {
            assert_eq!(found(words, &good), None, "{words:x?}");
        }
        // A name that is no Rust file's, too long, or elsewhere; no line; no column.
        for (at, byte) in
            [(0x107, b'c'), (0x100, 7), (0x20b, 1), (0x206, 1), (0x210, 0), (0x214, 0)]
        {
            let mut bad = file();
            bad[at] = byte;
            assert_eq!(found(&[message, location, 1], &bad), None, "{at:#x}");
        }
    }
}
