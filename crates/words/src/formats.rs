//! Words that writers of common formats always write, whatever is in the document.
//!
//! They stand in `formats.txt`, which is public and changes with [`crate::VERSION`] only.

/// All of them.
pub(crate) fn words() -> Vec<Vec<u8>> {
    let lines = include_str!("formats.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with("# ")).map(unescaped).collect()
}

/// A line without its escapes: `\xNN`, `\n` and `\r`. What is none stands for itself.
fn unescaped(line: &str) -> Vec<u8> {
    let (bytes, mut word, mut at) = (line.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let (value, length) = match &bytes[at..] {
            [b'\\', b'n', ..] => (b'\n', 2),
            [b'\\', b'r', ..] => (b'\r', 2),
            [b'\\', b'x', high, low, ..] => match byte(&[*high, *low]) {
                Some(value) => (value, 4),
                None => (b'\\', 1),
            },
            rest => (rest[0], 1),
        };
        word.push(value);
        at += length;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_words() {
        assert_eq!(unescaped(r"PK\x03\x04a\n"), b"PK\x03\x04a\n");
        assert_eq!(unescaped(r"\q\x"), br"\q\x");
        let words = words();
        assert!(words.len() > 200 && words.iter().all(|word| (2..=96).contains(&word.len())));
        assert!(words.contains(&b"xl/worksheets/sheet1.xml".to_vec()));
        let mut once = words.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), words.len(), "each stands there once");
    }
}
