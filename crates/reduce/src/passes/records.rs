//! What can be cut out of files that are no text: a number before as many bytes is what most of them
//! are made of.

use crate::edit::Edit;
use crate::pass::{Pass, in_order};

/// A number, as many bytes, and what may belong to them.
pub(crate) struct Records;

impl Pass for Records {
    fn family(&self) -> &'static str {
        "records"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        in_order(records(bytes))
    }
}

/// The last or the first bytes of a record, with its number.
pub(crate) struct Counted;

impl Pass for Counted {
    fn family(&self) -> &'static str {
        "records"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        in_order(counted(bytes))
    }
}

/// A number in a file that counts bytes behind it.
pub(crate) struct Count {
    at: usize,
    width: usize,
    value: usize,
    little_endian: bool,
}

impl Count {
    /// Where it ends.
    fn end(&self) -> usize {
        self.at + self.width
    }

    /// Another number, written as this one is.
    pub(crate) fn bytes(&self, value: usize) -> Vec<u8> {
        let mut bytes = value.to_be_bytes()[size_of::<usize>() - self.width..].to_vec();
        if self.little_endian {
            bytes.reverse();
        }
        bytes
    }
}

/// All numbers that may count bytes.
fn counts(bytes: &[u8]) -> impl Iterator<Item = Count> {
    (0..bytes.len()).flat_map(move |at| {
        [(1, false), (2, false), (2, true), (4, false), (4, true)].into_iter().filter_map(
            move |(width, little_endian)| {
                let field = bytes.get(at..at + width)?;
                let add = |value: usize, byte: &u8| value << 8 | usize::from(*byte);
                let value = match little_endian {
                    false => field.iter().fold(0, add),
                    true => field.iter().rev().fold(0, add),
                };
                let fits = (1..=bytes.len() - at - width).contains(&value);
                fits.then_some(Count { at, width, value, little_endian })
            },
        )
    })
}

/// The bytes that may stand between a number and what it counts, and behind that: a type of four
/// letters, a sum.
fn extras(count: &Count) -> &'static [usize] {
    match count.width {
        4 => &[8, 4, 0],
        2 => &[2, 0],
        _ => &[1, 0],
    }
}

fn records(bytes: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for count in counts(bytes) {
        for extra in extras(&count) {
            let end = count.end() + count.value + extra;
            if end <= bytes.len() {
                edits.push(Edit::cut(count.at..end));
                // A type of one byte may stand before the number.
                if count.at > 0 && *extra == 0 {
                    edits.push(Edit::cut(count.at - 1..end));
                }
            }
        }
    }
    edits.dedup();
    edits
}

fn counted(bytes: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for count in counts(bytes) {
        let end = count.end() + count.value;
        let mut less = count.value;
        while less > 0 {
            let number = count.bytes(count.value - less);
            edits.push(Edit::counted(end - less..end, count.at, number.clone()));
            if less < count.value {
                edits.push(Edit::counted(count.end()..count.end() + less, count.at, number));
            }
            less /= 2;
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(edits: fn(&[u8]) -> Vec<Edit>, bytes: &[u8]) -> Vec<String> {
        let left = edits(bytes).into_iter().map(|edit| edit.apply(bytes));
        left.map(|left| String::from_utf8_lossy(&left).into_owned()).collect()
    }

    #[test]
    fn records_go_with_their_number() {
        let chunk = b"12\0\0\0\x03texTabcSUM!34";
        assert!(after(records, chunk).contains(&"1234".to_owned()));
        assert!(after(records, b"-T\x02ab-").contains(&"--".to_owned()));
        let shorter = after(counted, b"\x04abcd-");
        assert_eq!(shorter, ["\0-", "\x02ab-", "\x02cd-", "\x03abc-", "\x03bcd-"]);
        assert!(after(counted, b"\x04\0abcd").contains(&"\x02\0ab".to_owned()));
    }
}
