//! The identity that a linker gave a program, from the program's file.
//!
//! Whatever the file says, nothing is read beyond its end.

/// The kind of a program header that points to notes, and the kind of a note with the identity.
const NOTES: u32 = 4;
const BUILD_ID: u32 = 3;

/// The identity in hexadecimal digits.
pub fn build_id(file: &[u8]) -> Option<String> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (start, size, count) = (long(file, 32)?, half(file, 54)?, half(file, 56)?);
    for index in 0..u64::from(count) {
        let header = usize::try_from(start.checked_add(index * u64::from(size))?).ok()?;
        if word(file, header)? != NOTES {
            continue;
        }
        let (from, length) = (long(file, header + 8)?, long(file, header + 32)?);
        let end = usize::try_from(from.checked_add(length)?).ok()?;
        let mut at = usize::try_from(from).ok()?;
        while at + 12 <= end {
            let (name, data) = (word(file, at)? as usize, word(file, at + 4)? as usize);
            let kind = word(file, at + 8)?;
            let data_at = at + 12 + name.next_multiple_of(4);
            let bytes = file.get(data_at..data_at.checked_add(data)?)?;
            if kind == BUILD_ID && file.get(at + 12..at + 16)? == b"GNU\0" {
                return Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
            }
            at = data_at + data.next_multiple_of(4);
        }
    }
    None
}

fn bytes<const N: usize>(file: &[u8], at: usize) -> Option<[u8; N]> {
    file.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn half(file: &[u8], at: usize) -> Option<u16> {
    bytes(file, at).map(u16::from_le_bytes)
}

fn word(file: &[u8], at: usize) -> Option<u32> {
    bytes(file, at).map(u32::from_le_bytes)
}

fn long(file: &[u8], at: usize) -> Option<u64> {
    bytes(file, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C library always has one; `file` and `readelf` tell the same.
    #[test]
    fn the_identity_is_found_and_nonsense_is_not() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let path = maps.lines().find_map(|line| {
            line.find('/').map(|at| &line[at..]).filter(|it| it.contains("libc.so"))
        });
        let file = std::fs::read(path.expect("a C library")).unwrap();
        let id = build_id(&file).expect("an identity");
        assert!(id.len() == 40 && id.bytes().all(|it| it.is_ascii_hexdigit()), "{id}");
        // Cut anywhere, it is found or not, and nothing else happens.
        for length in (0..2000.min(file.len())).chain([file.len() - 1]) {
            let _ = build_id(&file[..length]);
        }
        assert_eq!(build_id(b"\x7fELF"), None);
    }
}
