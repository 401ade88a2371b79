//! Symbol tables: which function an address is in.
//!
//! A symbol with a size covers exactly its addresses. One without (hand-written assembly) covers
//! what follows it up to the next symbol or the end of its section, and at most [`REACH`]. Of several symbols at one address
//! the choice is always the same: one that covers the address, global before weak before local,
//! then the name with fewer leading underscores, the shorter, the first in the alphabet.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use object::elf::{self, FileHeader64, SectionType};
use object::endian::LittleEndian as Little;
use object::read::SectionIndex;
use object::read::elf::{FileHeader, SectionHeader, Sym};

use smallvec::SmallVec;

use super::bytes::Bytes;
use super::image::{Image, within};

/// How far a symbol without a size reaches.
const REACH: u64 = 4096;

/// How many symbols before an address are looked at for one that covers it, since functions can be
/// nested (a local label with a size inside of a function).
const NESTED: usize = 16;

/// How often a table is searched from end to end before it is sorted: most are asked for a frame
/// or two.
const UNSORTED: u32 = 16;

/// The functions of one file.
#[derive(Default)]
pub(super) struct Symtab {
    /// Sorted by address once that pays.
    functions: Vec<Function>,
    /// How often it was asked.
    asked: u32,
    /// The names, each up to a zero.
    names: Names,
}

#[derive(Clone, Copy)]
struct Function {
    address: u64,
    size: u64,
    /// How far it goes if it has no size.
    reach: u16,
    preference: u8,
    /// Where its name begins.
    name: u32,
}

/// A string table: few of its names are ever looked at.
#[derive(Default)]
struct Names(Option<(Bytes, Range<usize>)>);

impl Names {
    /// Whether a name begins here that is not empty.
    fn has(&self, at: u32) -> bool {
        let Some((bytes, range)) = &self.0 else { return false };
        bytes[range.clone()].get(at as usize).is_some_and(|&byte| byte != 0)
    }

    fn get(&self, at: u32) -> &[u8] {
        let Some((bytes, range)) = &self.0 else { return &[] };
        let rest = bytes[range.clone()].get(at as usize..).unwrap_or_default();
        &rest[..rest.iter().position(|&byte| byte == 0).unwrap_or(0)]
    }
}

impl Symtab {
    /// Reads the functions of an image: of its full table if it has one, else of the table for
    /// dynamic linking.
    pub fn read(image: &Image) -> Self {
        let kind = if image.has(elf::SHT_SYMTAB) { elf::SHT_SYMTAB } else { elf::SHT_DYNSYM };
        read(image, kind).unwrap_or_default()
    }

    /// Whether there is no function at all.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The name of the function that an address of the file is in, and the function's address.
    pub fn find(&mut self, address: u64) -> Option<(Cow<'_, str>, u64)> {
        self.asked = self.asked.saturating_add(1);
        if self.asked == UNSORTED {
            let names = &self.names;
            self.functions.sort_unstable_by(|a, b| names.order(a, b));
            self.functions.dedup_by(|a, b| names.order(a, b).is_eq());
        }
        let before = if self.asked < UNSORTED {
            self.last_before(address)
        } else {
            let after = self.functions.partition_point(|function| function.address <= address);
            self.functions[after.saturating_sub(NESTED)..after].iter().copied().collect()
        };
        // With the best last among those of one address: the nearest and best comes first.
        let sized = before.iter().rev().find(|function| address - function.address < function.size);
        let found = sized.or_else(|| {
            before
                .last()
                .filter(|last| last.size == 0 && address - last.address < last.reach.into())
        })?;
        Some((String::from_utf8_lossy(self.names.get(found.name)), found.address))
    }

    /// The last functions up to an address, in order, of a table that is not sorted.
    fn last_before(&self, address: u64) -> SmallVec<[Function; NESTED]> {
        let mut last: SmallVec<[Function; NESTED]> = SmallVec::new();
        for function in self.functions.iter().filter(|function| function.address <= address) {
            let full = last.len() == NESTED;
            if full && function.address < last[0].address {
                continue;
            }
            if let Err(at) = last.binary_search_by(|it| self.names.order(it, function)) {
                if !full {
                    last.insert(at, *function);
                } else if at > 0 {
                    last[..at].rotate_left(1);
                    last[at - 1] = *function;
                }
            }
        }
        last
    }
}

impl Names {
    /// By address, the worst first. Names are looked at only where everything else is equal.
    fn order(&self, a: &Function, b: &Function) -> Ordering {
        let rest = |it: &Function| (it.size != 0, it.preference);
        a.address.cmp(&b.address).then_with(|| rest(a).cmp(&rest(b))).then_with(|| {
            let key = |it: &Function| {
                let name = self.get(it.name);
                let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
                (Reverse(underscores), Reverse(name.len()), Reverse(name))
            };
            key(a).cmp(&key(b))
        })
    }
}

fn read(image: &Image, kind: SectionType) -> Option<Symtab> {
    let data: &[u8] = image.bytes();
    let header = FileHeader64::<Little>::parse(data).ok()?;
    let sections = header.sections(Little, data).ok()?;
    let table = sections.symbols(Little, data, kind).ok()?;
    let strings = sections.section(table.string_section()).ok()?;
    let strings = within(data, strings.sh_offset(Little), strings.sh_size(Little))?;
    let names = Names(Some((image.bytes().clone(), strings)));
    let functions = table.iter().filter_map(|symbol| {
        let code = matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC);
        let name = symbol.st_name(Little);
        if !code || symbol.is_undefined(Little) || !names.has(name) {
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
        let reach = end.map_or(REACH, |end| end.saturating_sub(address).min(REACH)) as u16;
        Some(Function { address, reach, size: symbol.st_size(Little), preference, name })
    });
    let functions = functions.collect();
    Some(Symtab { functions, names, asked: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(functions: &[(u64, u64, u8, &str)]) -> Symtab {
        let mut names = vec![0];
        let functions = functions
            .iter()
            .map(|&(address, size, preference, name)| {
                let at = names.len() as u32;
                names.extend_from_slice(name.as_bytes());
                names.push(0);
                Function { address, size, reach: REACH as u16, preference, name: at }
            })
            .collect();
        let whole = 0..names.len();
        Symtab { functions, names: Names(Some((names.into(), whole))), asked: 0 }
    }

    #[test]
    fn the_choice_among_symbols() {
        let mut table = table(&[
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
        let places = [
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
        ];
        // As often as it takes to see both ways to search.
        for &(address, name) in places.iter().cycle().take(4 * places.len()) {
            let found = table.find(address);
            assert_eq!(found.as_ref().map(|it| (&*it.0, it.1)), name, "{address:#x}");
        }
    }

    #[test]
    fn both_ways_to_search_agree() {
        let file = std::fs::File::open("/lib/x86_64-linux-gnu/libc.so.6").expect("the C library");
        let image = Image::parse(&Bytes::map(&file).expect("a map")).expect("an ELF file");
        let mut sorted = Symtab::read(&image);
        sorted.asked = UNSORTED - 1;
        let mut found = 0;
        for k in 0..2000 {
            let address = 0x26000 + k * 683;
            let mut unsorted = Symtab { asked: 0, names: Names::default(), functions: Vec::new() };
            std::mem::swap(&mut unsorted.names, &mut sorted.names);
            std::mem::swap(&mut unsorted.functions, &mut sorted.functions);
            let one = unsorted.find(address).map(|(name, at)| (name.into_owned(), at));
            std::mem::swap(&mut unsorted.names, &mut sorted.names);
            std::mem::swap(&mut unsorted.functions, &mut sorted.functions);
            let other = sorted.find(address).map(|(name, at)| (name.into_owned(), at));
            assert_eq!(one, other, "{address:#x}");
            found += u32::from(one.is_some());
        }
        assert!(found > 500, "{found}");
    }
}
