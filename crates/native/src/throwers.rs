//! Whether a file can be one that throws exceptions, without reading all of it.
//!
//! Functions that throw are in one library of most programs. To find that out about a file, its
//! table of symbols is enough; a file whose tables cannot be read may always throw.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The function by which exceptions are thrown.
const THROWS: &[u8] = b"\0_Unwind_RaiseException\0";

/// Types of sections: all symbols, and those for the dynamic linker.
const SYMBOLS: u32 = 2;
const DYNAMIC_SYMBOLS: u32 = 11;

/// The largest table that is read.
const LARGEST: u64 = 256 << 20;

/// What a table of symbols says about the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nothing,
    /// It is another file's.
    Imported,
    Defined,
}

/// Whether the file may have the function.
pub fn may_throw(path: &str) -> bool {
    // What is not a file of the host, or no program that we understand, is looked at in full.
    File::open(path).ok().and_then(|file| tables(&file)).unwrap_or(true)
}

/// The names of a program's symbols, table by table, each ended by a null; none if there is no program.
pub fn symbol_names(program: &Path) -> Vec<Vec<u8>> {
    let read_all = || {
        let file = File::open(program).ok()?;
        let header = read(&file, 0, 64)?;
        let (all, size) = sections(&file, &header)?;
        let all: Vec<&[u8]> = all.chunks_exact(size).collect();
        let mut names = Vec::new();
        for section in &all {
            if [Some(DYNAMIC_SYMBOLS), Some(SYMBOLS)].contains(&word(section, 4)) {
                let texts = all.get(usize::try_from(word(section, 40)?).ok()?)?;
                names.push(read(&file, long(texts, 24)?, long(texts, 32)?)?);
            }
        }
        Some(names)
    };
    read_all().unwrap_or_default()
}

/// The table of sections, and the size of an entry.
fn sections(file: &File, header: &[u8]) -> Option<(Vec<u8>, usize)> {
    if header.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (start, size, count) = (long(header, 40)?, half(header, 58)?, half(header, 60)?);
    if count == 0 || size < 64 {
        return None;
    }
    let all = read(file, start, u64::from(size) * u64::from(count))?;
    Some((all, usize::from(size)))
}

fn tables(file: &File) -> Option<bool> {
    let header = read(file, 0, 64)?;
    let (sections, size) = sections(file, &header)?;
    let all: Vec<&[u8]> = sections.chunks_exact(size).collect();
    let mut found = false;
    // The dynamic linker's table is small, and often answers for both.
    for wanted in [DYNAMIC_SYMBOLS, SYMBOLS] {
        for section in all.iter().filter(|it| word(it, 4) == Some(wanted)) {
            let texts = all.get(usize::try_from(word(section, 40)?).ok()?)?;
            match says(file, section, texts)? {
                Says::Nothing => {}
                Says::Imported => return Some(false),
                Says::Defined => found = true,
            }
        }
    }
    Some(found)
}

fn says(file: &File, symbols: &[u8], texts: &[u8]) -> Option<Says> {
    let table = |section: &[u8]| read(file, long(section, 24)?, long(section, 32)?);
    let names = table(texts)?;
    let Some(at) = names.windows(THROWS.len()).position(|it| it == THROWS) else {
        return Some(Says::Nothing);
    };
    let name = u32::try_from(at + 1).ok()?;
    let symbols = table(symbols)?;
    let symbol = symbols.chunks_exact(24).find(|it| word(it, 0) == Some(name));
    Some(match symbol.and_then(|it| half(it, 6)) {
        None => Says::Nothing,
        Some(0) => Says::Imported,
        Some(_) => Says::Defined,
    })
}

fn read(file: &File, at: u64, size: u64) -> Option<Vec<u8>> {
    if size > LARGEST {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use crate::process::mapped_files;

    /// What is found in a hurry is what is found by reading everything: in all that this process has.
    #[test]
    fn the_same_as_by_reading_everything() {
        let mapped = mapped_files(std::process::id().cast_signed());
        let files = Files::new();
        let mut throwing = 0;
        for file in mapped {
            let slowly = !files.modules(std::slice::from_ref(&file)).throw_points.is_empty();
            assert_eq!(may_throw(&file.0), slowly, "{}", file.0);
            throwing += usize::from(slowly);
        }
        assert_eq!(throwing, 1, "the library with the function");
        assert!(may_throw("/nowhere") && may_throw("/proc/self/maps"));
    }
}
