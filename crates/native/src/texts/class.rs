//! Constants of Java classes, from folders, from jars, and from the class library's one file.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Executed;

/// The largest class that is read, in bytes.
const LARGEST: u64 = 4 << 20;
/// What a class begins with.
pub const MAGIC: &[u8] = b"\xca\xfe\xba\xbe";

/// The bytes of a class of a Java program, by its path within the jars or folders.
pub fn find(executed: &Executed, class: &Path) -> Option<Vec<u8>> {
    if !executed.program.file_name()?.as_bytes().starts_with(b"java") {
        return None;
    }
    class_path(executed).iter().find_map(|place| {
        if place.is_dir() {
            return fs::read(place.join(class)).ok();
        }
        let mut jar = zip::ZipArchive::new(File::open(place).ok()?).ok()?;
        let entry = jar.by_name(class.to_str()?).ok()?;
        let mut bytes = Vec::new();
        entry.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    })
}

/// Where a Java program's classes are.
fn class_path(executed: &Executed) -> Vec<PathBuf> {
    let words = &executed.words;
    let after = |names: &[&str]| {
        let at = words.iter().position(|word| names.iter().any(|name| word == name))?;
        words.get(at + 1)
    };
    if let Some(jar) = after(&["-jar"]) {
        return vec![executed.folder.join(jar)];
    }
    let Some(path) = after(&["-cp", "-classpath", "--class-path"]) else {
        return vec![executed.folder.clone()];
    };
    let places = path.as_bytes().split(|&byte| byte == b':');
    let mut all = Vec::new();
    for place in places.map(|it| Path::new(OsStr::from_bytes(it))) {
        if place.file_name() == Some(OsStr::new("*")) {
            let folder = executed.folder.join(place.parent().unwrap_or(place));
            let jars = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
            all.extend(jars.filter(|it| it.extension() == Some(OsStr::new("jar"))));
        } else {
            all.push(executed.folder.join(place));
        }
    }
    all
}

/// The texts that code of a class uses as such.
pub fn constants(bytes: &[u8]) -> Vec<String> {
    pool(bytes).unwrap_or_default()
}

fn pool(bytes: &[u8]) -> Option<Vec<String>> {
    if bytes.get(..4)? != MAGIC {
        return None;
    }
    let half = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let count = usize::from(half(8)?);
    let mut texts: Vec<Option<&[u8]>> = vec![None; count];
    let mut used = Vec::new();
    let (mut at, mut number) = (10, 1);
    while number < count {
        let tag = *bytes.get(at)?;
        at += 1;
        at += match tag {
            1 => {
                let length = usize::from(half(at)?);
                texts[number] = bytes.get(at + 2..at + 2 + length);
                2 + length
            }
            8 => {
                used.push(usize::from(half(at)?));
                2
            }
            7 | 16 | 19 | 20 => 2,
            15 => 3,
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 4,
            5 | 6 => {
                number += 1;
                8
            }
            _ => return None,
        };
        number += 1;
    }
    let text = |at: &usize| {
        let bytes = texts.get(*at).copied().flatten()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    Some(used.iter().filter_map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool() {
        let mut class = [MAGIC, &[0, 0, 0, 61, 0, 6]].concat();
        class.extend(*b"\x01\x00\x05bad \x01");
        class.extend(*b"\x05\0\0\0\0\0\0\0\0");
        class.extend(*b"\x01\x00\x04name");
        class.extend(*b"\x08\x00\x01");
        assert_eq!(constants(&class), ["bad \u{1}"]);
        for cut in 0..class.len() {
            assert!(constants(&class[..cut]).is_empty());
        }
    }
}
