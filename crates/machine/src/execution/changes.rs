//! In which bytes two inputs differ.

use stunt_terms::{Assignment, InputByte, Support};

/// Where two texts differ; what is beyond the end of one is zero. A search binds thousands of inputs
/// that differ in a few bytes of many, so most is compared in large pieces.
fn differing(old: &[u8], new: &[u8]) -> Vec<u32> {
    const PIECE: usize = 1024;
    let (short, long) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let mut offsets = Vec::new();
    for (number, (a, b)) in short.chunks(PIECE).zip(long.chunks(PIECE)).enumerate() {
        if a != &b[..a.len()] {
            let differs = (a.iter().zip(b).zip(0..)).filter(|((a, b), _)| a != b);
            offsets.extend(differs.map(|(_, at): (_, usize)| (number * PIECE + at) as u32));
        }
    }
    let rest = long.iter().enumerate().skip(short.len());
    offsets.extend(rest.filter(|(_, byte)| **byte != 0).map(|(at, _)| at as u32));
    offsets
}

/// The bytes in which two inputs differ.
pub(super) fn changes(old: &Assignment, new: &Assignment) -> Support {
    let mut parts = Vec::new();
    for source in 0..old.source_count().max(new.source_count()) as u16 {
        let offsets = differing(old.source(source), new.source(source)).into_iter();
        parts.extend(offsets.map(|offset| Support::of(InputByte::new(source, offset))));
    }
    // In pairs, so that no union is made again and again.
    while parts.len() > 1 {
        parts =
            parts.chunks(2).map(|pair| pair[0].union(pair.last().expect("it has one"))).collect();
    }
    parts.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::differing;

    #[test]
    fn texts_differ_where_their_bytes_do() {
        for (one, two) in [(0, 0), (5, 5), (1023, 1030), (1024, 1024), (5000, 3000), (4096, 0)] {
            let mut a: Vec<u8> = (0..one).map(|at| (at % 251) as u8).collect();
            let b: Vec<u8> = (0..two).map(|at| (at % 251) as u8).collect();
            for at in [0, 1, 1022, 1023, 1024, 2047, 4095] {
                if let Some(byte) = a.get_mut(at) {
                    *byte ^= 1;
                }
            }
            let get = |text: &[u8], at: usize| text.get(at).copied().unwrap_or(0);
            let plain: Vec<u32> = (0..one.max(two))
                .filter(|&at| get(&a, at) != get(&b, at))
                .map(|at| at as u32)
                .collect();
            assert_eq!(differing(&a, &b), plain, "{one} and {two} bytes");
            assert_eq!(differing(&b, &a), plain, "{two} and {one} bytes");
        }
    }
}
