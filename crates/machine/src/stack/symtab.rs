//! Symbol tables: which function an address is in.
//!
//! A symbol with a size covers exactly its addresses. One without (hand-written assembly) covers
//! what follows it up to the next symbol or the end of its section, and at most [`REACH`]. Of several symbols at one address
//! the choice is always the same: one that covers the address, global before weak before local,
//! then the name with fewer leading underscores, the shorter, the first in the alphabet.

use std::cmp::Reverse;

use object::elf::{self, FileHeader64, SectionType};
use object::endian::LittleEndian as Little;
use object::read::SectionIndex;
use object::read::elf::{FileHeader, SectionHeader, Sym};

use super::image::Image;

/// How far a symbol without a size reaches.
const REACH: u64 = 4096;

/// How many symbols before an address are looked at for one that covers it, since functions can be
/// nested (a local label with a size inside of a function).
const NESTED: usize = 16;

/// The functions of one file, sorted by address.
#[derive(Default)]
pub(super) struct Symtab {
    functions: Vec<Function>,
}

struct Function {
    address: u64,
    size: u64,
    /// How far it goes if it has no size.
    reach: u64,
    preference: u8,
    name: Box<str>,
}

impl Symtab {
    /// Reads the functions of an image: of its full table if it has one, else of the table for
    /// dynamic linking.
    pub fn read(image: &Image) -> Self {
        let kind = if image.has(elf::SHT_SYMTAB) { elf::SHT_SYMTAB } else { elf::SHT_DYNSYM };
        let mut functions = read(image, kind).unwrap_or_default();
        functions.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
        functions.dedup_by(|a, b| order(a) == order(b));
        Self { functions }
    }

    /// Whether there is no function at all.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The name of the function that an address of the file is in, and the function's address.
    pub fn find(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let before = &self.functions[after.saturating_sub(NESTED)..after];
        // Sorted with the best last among those of one address: the nearest and best comes first.
        let sized = before.iter().rev().find(|function| address - function.address < function.size);
        let found = sized.or_else(|| {
            before.last().filter(|last| last.size == 0 && address - last.address < last.reach)
        })?;
        Some((&found.name, found.address))
    }
}

/// The sorting key: by address, the worst first.
fn order(function: &Function) -> impl Ord + '_ {
    let underscores = function.name.bytes().take_while(|&byte| byte == b'_').count();
    let name = (Reverse(underscores), Reverse(function.name.len()), Reverse(&*function.name));
    (function.address, function.size != 0, function.preference, name)
}

fn read(image: &Image, kind: SectionType) -> Option<Vec<Function>> {
    let data: &[u8] = image.bytes();
    let header = FileHeader64::<Little>::parse(data).ok()?;
    let sections = header.sections(Little, data).ok()?;
    let table = sections.symbols(Little, data, kind).ok()?;
    let functions = table.iter().filter_map(|symbol| {
        let code = matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC);
        let name = symbol.name(Little, table.strings()).ok()?;
        if !code || symbol.is_undefined(Little) || name.is_empty() {
            return None;
        }
        let preference = match symbol.st_bind() {
            elf::STB_GLOBAL => 2,
            elf::STB_WEAK => 1,
            _ => 0,
        };
        let address = symbol.st_value(Little);
        let section = symbol.st_shndx(Little).index().map(|index| SectionIndex(index.into()));
        let section = section.and_then(|index| sections.section(index).ok());
        let end = section.map(|it| it.sh_addr(Little).saturating_add(it.sh_size(Little)));
        let reach = end.map_or(REACH, |end| end.saturating_sub(address).min(REACH));
        Some(Function {
            address,
            reach,
            size: symbol.st_size(Little),
            preference,
            name: String::from_utf8_lossy(name).into(),
        })
    });
    Some(functions.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(functions: &[(u64, u64, u8, &str)]) -> Symtab {
        let mut functions: Vec<Function> = functions
            .iter()
            .map(|&(address, size, preference, name)| Function {
                address,
                size,
                reach: REACH,
                preference,
                name: name.into(),
            })
            .collect();
        functions.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
        Symtab { functions }
    }

    #[test]
    fn the_choice_among_symbols() {
        let table = table(&[
            (0x100, 0x80, 0, "outer"),
            (0x120, 0x10, 0, "inner"),
            (0x200, 0x10, 2, "__strong"),
            (0x200, 0x10, 1, "weak"),
            (0x200, 0x10, 0, "local"),
            (0x300, 0x10, 2, "__libc_thing"),
            (0x300, 0x10, 2, "thing"),
            (0x300, 0, 2, "unsized"),
            (0x400, 0, 0, "assembly"),
        ]);
        for (address, name) in [
            (0xff, None),
            (0x100, Some(("outer", 0x100))),
            (0x125, Some(("inner", 0x120))),
            (0x130, Some(("outer", 0x100))),
            (0x180, None),
            (0x20f, Some(("__strong", 0x200))),
            (0x300, Some(("thing", 0x300))),
            (0x400, Some(("assembly", 0x400))),
            (0x13ff, Some(("assembly", 0x400))),
            (0x1400, None),
            (u64::MAX, None),
        ] {
            assert_eq!(table.find(address), name, "{address:#x}");
        }
    }
}
