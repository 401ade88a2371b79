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

use crate::stack::{Memory, Module};

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

/// The location of the panic whose throw or abort a thread is at, by its stack pointer.
pub fn panic_site(
    stack_pointer: u64,
    memory: &mut Memory<'_>,
    modules: &[Module],
) -> Option<PanicSite> {
    let stack = stack_pointer..stack_pointer.checked_add(MESSAGE)?;
    let mut words = Vec::with_capacity(WORDS);
    let mut at = stack_pointer.checked_next_multiple_of(8)?;
    // As much as there is, in pieces, since the stack may end before.
    const PIECE: usize = 64;
    let mut piece = [0; PIECE * 8];
    while words.len() < WORDS && memory(at, &mut piece) {
        let read = piece.chunks_exact(8);
        words.extend(read.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))));
        at = at.checked_add(piece.len() as u64)?;
    }
    let on_stack = |word: u64| word.is_multiple_of(8) && stack.contains(&word);
    let data = |word: u64| word.is_multiple_of(8) && word > 0xffff && !stack.contains(&word);
    // Whether it may be caught, and whether it is to be silent: two bytes that are 0 or 1.
    let flags = |word: u64| word.to_le_bytes()[..2].iter().all(|&flag| flag <= 1);
    let before_flags = || words.windows(3).filter(|words| flags(words[2]));
    let info = before_flags().find_map(|words| match (words[0], words[1]) {
        (message, at) if on_stack(message) && data(at) => read_location(at, memory, modules),
        (at, message) if on_stack(message) && data(at) => read_location(at, memory, modules),
        _ => None,
    });
    info.or_else(|| {
        let mut hooks = before_flags().filter(|words| data(words[0]) && data(words[1]));
        hooks.find_map(|words| read_location(words[1], memory, modules))
    })
}

/// The description at an address, if it is one: a text that names a Rust file, a line, a column.
fn read_location(address: u64, memory: &mut Memory<'_>, modules: &[Module]) -> Option<PanicSite> {
    let mut bytes = [0; 24];
    if !memory(address, &mut bytes) {
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
    if !memory(name, &mut text) {
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
