//! Functions that are known by what they do, where nothing has a name: a program that was linked
//! statically and stripped brings its own comparisons of strings along.
//!
//! Whatever is called somewhere in the code is called aside, on small texts, in a copy of the process; a
//! function that answers as `strcmp` does on all of them is taken for it. As with names, that is a guess,
//! and the double is run natively in the end.

use std::collections::BTreeSet;
use std::ops::Range;

use super::hooks::{Comparison, Hook};

/// The comparisons, in the order of the answers below.
const KINDS: [Comparison; 5] = [
    Comparison { terminated: false, limited: true, folded: false },
    Comparison { terminated: true, limited: false, folded: false },
    Comparison { terminated: true, limited: true, folded: false },
    Comparison { terminated: true, limited: false, folded: true },
    Comparison { terminated: true, limited: true, folded: true },
];

/// Two texts, a number of bytes, and the sign of the answer that each kind gives.
type Question = (&'static [u8], &'static [u8], u64, [i32; 5]);

/// What tells the kinds apart, from each other and from everything else. Most functions fail the first
/// two.
const QUESTIONS: [Question; 11] = [
    (b"stunt\0", b"stunt\0", 6, [0; 5]),
    (b"stunt\0", b"stuns\0", 6, [1; 5]),
    (b"stuns\0", b"stunt\0", 6, [-1; 5]),
    (b"abcd\0", b"abce\0", 3, [0, -1, 0, -1, 0]),
    (b"ab\0xy\0", b"ab\0yx\0", 5, [-1, 0, 0, 0, 0]),
    (b"aBc\0", b"abc\0", 4, [-1, -1, -1, 0, 0]),
    (b"\xe9\0", b"a\0", 2, [1; 5]),
    (b"a10\0", b"a9\0\0", 3, [-1; 5]),
    (b"a\0", b"a \0", 2, [-1; 5]),
    (b"abc\0", b"abd\0", 0, [0, -1, 0, -1, 0]),
    (
        b"the double of a text that is longer than a few words, and than most lines\0",
        b"the double of a text that is longer than a few words, and than most lions\0",
        73,
        [-1; 5],
    ),
];

/// The comparisons among functions that may begin at some addresses. `call` gives the answer of a function
/// to two texts and a number, if it has one.
pub(crate) fn comparisons(
    functions: impl IntoIterator<Item = u64>,
    mut call: impl FnMut(u64, &[u8], &[u8], u64) -> Option<i32>,
) -> Vec<(u64, Hook)> {
    let mut found = Vec::new();
    for function in functions {
        let mut open = [true; KINDS.len()];
        for (a, b, count, answers) in QUESTIONS {
            let answer = call(function, a, b, count).map(i32::signum);
            for (open, wanted) in open.iter_mut().zip(answers) {
                *open &= answer == Some(wanted);
            }
            if !open.contains(&true) {
                break;
            }
        }
        let kind = open.iter().position(|&open| open).map(|at| KINDS[at]);
        found.extend(kind.map(|kind| (function, Hook::Compare(kind))));
    }
    found
}

/// Where functions may begin: whatever is called directly in some code, within it.
pub(crate) fn called(code: &[(u64, Vec<u8>)]) -> BTreeSet<u64> {
    const CALL: u8 = 0xe8;
    let ranges: Vec<Range<u64>> =
        code.iter().map(|(start, bytes)| *start..*start + bytes.len() as u64).collect();
    let mut targets = BTreeSet::new();
    for (start, bytes) in code {
        for (at, window) in bytes.windows(5).enumerate().filter(|(_, window)| window[0] == CALL) {
            let far = i32::from_le_bytes([window[1], window[2], window[3], window[4]]);
            let target = (start + at as u64 + 5).wrapping_add_signed(i64::from(far));
            if ranges.iter().any(|range| range.contains(&target)) {
                targets.insert(target);
            }
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> &[u8] {
        &bytes[..bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len())]
    }

    fn sign(a: &[u8], b: &[u8]) -> Option<i32> {
        Some(7 * a.cmp(b) as i32)
    }

    #[test]
    fn comparisons_are_told_apart() {
        let cut = |bytes: &[u8], count: u64| bytes[..bytes.len().min(count as usize)].to_vec();
        let call = |function: u64, a: &[u8], b: &[u8], count: u64| match function {
            0 => sign(&cut(a, count), &cut(b, count)),
            1 => sign(text(a), text(b)),
            2 => sign(&cut(text(a), count), &cut(text(b), count)),
            3 => sign(&text(a).to_ascii_lowercase(), &text(b).to_ascii_lowercase()),
            4 => sign(
                &cut(&text(a).to_ascii_lowercase(), count),
                &cut(&text(b).to_ascii_lowercase(), count),
            ),
            5 => Some(0),
            6 => Some(a.len() as i32 - b.len() as i32),
            // Bytes with a sign; only whether they are equal; backwards.
            7 => {
                let signed = |bytes: &[u8]| bytes.iter().map(|&it| it as i8).collect::<Vec<_>>();
                Some(signed(text(a)).cmp(&signed(text(b))) as i32)
            }
            8 => Some(i32::from(text(a) != text(b))),
            9 => sign(text(b), text(a)),
            _ => None,
        };
        let found = comparisons(0..11, call);
        let wanted: Vec<(u64, Hook)> =
            KINDS.iter().enumerate().map(|(at, kind)| (at as u64, Hook::Compare(*kind))).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn calls_within_the_code_are_found() {
        let mut bytes = vec![0x90; 32];
        bytes[0..5].copy_from_slice(&[0xe8, 11, 0, 0, 0]);
        bytes[8..13].copy_from_slice(&[0xe8, 0xf3, 0xff, 0xff, 0xff]);
        bytes[20..25].copy_from_slice(&[0xe8, 0, 0, 0, 0x40]);
        assert_eq!(called(&[(0x1000, bytes)]), BTreeSet::from([0x1000, 0x1010]));
        assert!(called(&[(0x1000, vec![0xe8])]).is_empty());
    }
}
