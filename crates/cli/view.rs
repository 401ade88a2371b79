//! Bytes as people look at them.
//!
//! Only for data that is meant to be seen: a double, or the built-in example. There is no way
//! from here to an original input of a user.

/// How many bytes a row of text shows; the leak graph has rows of the same length.
pub const ROW: usize = 64;

/// The bytes as rows of text; a byte that is not a printable ASCII character is a dot.
pub fn printable(bytes: &[u8]) -> Vec<String> {
    let visible = |&byte: &u8| match byte {
        b' '..=b'~' => char::from(byte),
        _ => '.',
    };
    bytes.chunks(ROW).map(|row| row.iter().map(visible).collect()).collect()
}

/// The bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_dots() {
        assert_eq!(printable(b"a\n~\x7f\x80 "), ["a.~.. "]);
        let lengths: Vec<usize> = printable(&[b'x'; ROW + 1]).iter().map(String::len).collect();
        assert_eq!(lengths, [ROW, 1]);
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }
}
