//! The libraries that a program names, and those that these name: found by their names alone, as the loader would,
//! but without a run, since which libraries a run loads may depend on its input.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use object::elf::{self, FileHeader64};
use object::endian::Endianness;
use object::read::elf::{Dyn, FileHeader};

/// Where libraries are, if a program does not say where.
const FOLDERS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Libraries of nearly every program.
const COMMON: [&str; 8] =
    ["libc.", "libm.", "libstdc++.", "libgcc_s.", "libpthread.", "libdl.", "librt.", "ld-linux"];

/// No more are looked at.
const MOST: usize = 64;

/// All libraries of a program, in the order of their names, and whether nearly every program has it.
pub(crate) fn of(program: &Path) -> Vec<(PathBuf, bool)> {
    let (mut known, mut open) = (BTreeSet::new(), vec![program.to_owned()]);
    while let Some(file) = open.pop() {
        let Ok(bytes) = fs::read(&file) else { continue };
        let (names, folders) = needed(&bytes, &file).unwrap_or_default();
        for name in names {
            let fixed = FOLDERS.iter().map(PathBuf::from);
            let place = folders.iter().cloned().chain(fixed).map(|it| it.join(&name));
            let Some(found) = place.into_iter().find(|it| it.is_file()) else { continue };
            if known.len() < MOST && known.insert((name, found.clone())) {
                open.push(found);
            }
        }
    }
    let is_common = |name: &str| COMMON.iter().any(|begin| name.starts_with(begin));
    known.into_iter().map(|(name, file)| (file, is_common(&name))).collect()
}

/// The names that a file needs, and the folders that it names.
fn needed(bytes: &[u8], file: &Path) -> Option<(Vec<String>, Vec<PathBuf>)> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    let (dynamic, link) = sections.dynamic(endian, bytes).ok()??;
    let strings = sections.strings(endian, bytes, link).ok()?;
    let text = |at: u64| {
        let text = strings.get(u32::try_from(at).ok()?).ok()?;
        String::from_utf8(text.to_vec()).ok()
    };
    let folder = file.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let (mut names, mut folders) = (Vec::new(), Vec::new());
    for entry in dynamic {
        let value = entry.d_val(endian);
        match entry.d_tag(endian) {
            elf::DT_NEEDED => names.extend(text(value)),
            elf::DT_RUNPATH | elf::DT_RPATH => {
                let path = text(value).unwrap_or_default();
                let path = path.replace("$ORIGIN", &folder).replace("${ORIGIN}", &folder);
                folders.extend(path.split(':').map(PathBuf::from));
            }
            _ => {}
        }
    }
    Some((names, folders))
}
