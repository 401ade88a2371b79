//! What text is, and what the beginning of a known binary format looks like: for readers that must decide
//! whether something decoded makes sense.

/// How much of a long text is looked at.
const LOOK: usize = 4096;

/// Whether the bytes are text: UTF-8 or Latin letters, and hardly any control characters.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(LOOK)];
    let control = |&&b: &&u8| (b < 32 && !matches!(b, b'\t' | b'\n' | b'\r' | 12)) || b == 127;
    let high = |&&b: &&u8| b >= 128;
    if bytes.is_empty() || bytes.contains(&0) {
        return false;
    }
    if bytes.iter().filter(control).count() * 50 > bytes.len() {
        return false;
    }
    let utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // The look may end within a character.
        Err(error) => error.valid_up_to() + 4 > bytes.len() && bytes.len() == LOOK,
    };
    utf8 || bytes.iter().filter(high).count() * 5 < bytes.len()
}

/// Whether a format with a signature begins here.
pub(crate) fn is_known(bytes: &[u8]) -> bool {
    const SIGNATURES: &[&[u8]] = &[
        b"PK\x03\x04",
        b"\x1f\x8b\x08",
        b"\x89PNG",
        b"\xff\xd8\xff",
        b"%PDF-",
        b"GIF8",
        b"RIFF",
        b"BZh",
        b"\xfd7zXZ",
        b"\x28\xb5\x2f\xfd",
        b"II*\0",
        b"MM\0*",
        b"OggS",
        b"\x1a\x45\xdf\xa3",
        b"\xd0\xcf\x11\xe0",
        b"SQLite format 3\0",
        b"\x30\x82",
    ];
    SIGNATURES.iter().any(|signature| bytes.starts_with(signature))
}

/// Whether something that was decoded without being announced makes sense.
pub(crate) fn makes_sense(bytes: &[u8]) -> bool {
    is_text(bytes) || is_known(bytes)
}

/// The lines with their ends.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|&b| b == b'\n')
}

/// A line without its end.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
