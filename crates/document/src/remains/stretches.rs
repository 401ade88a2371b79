//! Stretches of bytes that two contents have in common, wherever they stand.

use std::ops::Range;

use rustc_hash::FxHashSet;

/// The shortest stretch that counts: shorter ones come by chance, or are anybody's.
const WINDOW: usize = 8;
/// A window with fewer different bytes than this is filler: blanks, zeros, rules of dashes.
const DIFFERENT: usize = 4;

/// All windows of some contents that are not filler.
pub(super) type Windows = FxHashSet<u64>;

pub(super) fn windows_of(layers: &[Vec<u8>]) -> Windows {
    layers.iter().flat_map(|layer| layer.windows(WINDOW).filter_map(code)).collect()
}

/// A window as a number, unless it is filler.
fn code(window: &[u8]) -> Option<u64> {
    let mut seen = [0u64; 4];
    for &byte in window {
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    let different: u32 = seen.iter().map(|part| part.count_ones()).sum();
    (different as usize >= DIFFERENT).then(|| number(window))
}

fn number(window: &[u8]) -> u64 {
    window.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Where windows that are known lie, joined; each once, wherever it comes first. The known ones that are found are
/// known no longer.
pub(super) fn known_in(layer: &[u8], known: &mut Windows) -> Vec<Range<usize>> {
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for (at, window) in layer.windows(WINDOW).enumerate() {
        // What is known is not filler.
        if known.is_empty() || !known.remove(&number(window)) {
            continue;
        }
        match stretches.last_mut() {
            Some(last) if at <= last.end => last.end = at + WINDOW,
            _ => stretches.push(at..at + WINDOW),
        }
    }
    stretches
}
