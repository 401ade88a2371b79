//! Where the debugging information of a stripped file may be: in a file of its own.
//!
//! Two ways are known, as in gdb: by build identity under `/usr/lib/debug/.build-id`, and by the
//! name in `.gnu_debuglink`, beside the file or under `/usr/lib/debug`. A found file counts only if
//! it belongs: same identity, or, if one of both has none, the checksum of the link. Reading files
//! is left to a function of the caller, who decides what may be read.

use std::sync::Arc;

use super::bytes::Bytes;
use super::image::Image;

/// Reads a file by its path, or gives nothing.
pub type ReadFile = dyn Fn(&str) -> Option<Arc<[u8]>> + Send;

/// The same, for files that may be mapped.
pub(super) type OpenFile = dyn Fn(&str) -> Option<Bytes> + Send;

/// Finds the separate debugging information of a file.
pub(super) fn find(image: &Image, path: &str, read: &OpenFile) -> Option<Image> {
    if let Some(identity) = image.build_id() {
        let hex = identity.to_string();
        if let Some((first, rest)) = hex.split_at_checked(2) {
            let path = format!("/usr/lib/debug/.build-id/{first}/{rest}.debug");
            let found = read(&path).and_then(|bytes| Image::parse(&bytes));
            if let Some(found) = found.filter(|found| found.build_id() == Some(identity)) {
                return Some(found);
            }
        }
    }
    let (name, checksum) = link(image.contents(b".gnu_debuglink"))?;
    let folder = path.rfind('/').map_or("", |end| &path[..end]);
    let candidates = [
        format!("{folder}/{name}"),
        format!("{folder}/.debug/{name}"),
        format!("/usr/lib/debug{folder}/{name}"),
    ];
    candidates.iter().filter(|candidate| *candidate != path).find_map(|candidate| {
        let bytes = read(candidate)?;
        let found = Image::parse(&bytes)?;
        let belongs = match (image.build_id(), found.build_id()) {
            (Some(wanted), Some(found)) => wanted == found,
            _ => crc32(&bytes) == checksum,
        };
        belongs.then_some(found)
    })
}

/// The name and the checksum of a `.gnu_debuglink`. A name with a slash in it is no name.
fn link(section: &[u8]) -> Option<(&str, u32)> {
    let end = section.iter().position(|&byte| byte == 0)?;
    let name = std::str::from_utf8(&section[..end]).ok()?;
    let at = (end + 1).next_multiple_of(4);
    let checksum = section.get(at..at + 4)?.try_into().ok()?;
    (!name.is_empty() && !name.contains('/')).then_some((name, u32::from_le_bytes(checksum)))
}

/// The checksum of zlib and Ethernet.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(!0u32, |crc, &byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_has_its_well_known_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn links_are_read_with_care() {
        assert_eq!(link(b"a.debug\0\x04\x03\x02\x01"), Some(("a.debug", 0x0102_0304)));
        assert_eq!(link(b"ab\0\0\x04\x03\x02"), None);
        assert_eq!(link(b"../x\0\0\0\0\x04\x03\x02\x01"), None);
        assert_eq!(link(b"no end"), None);
        assert_eq!(link(b""), None);
    }
}
