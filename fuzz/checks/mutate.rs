//! Seeds and small changes of them, always the same: so that what fuzz targets check is checked by the
//! ordinary tests, too, if not for as long.

use std::fs;
use std::path::Path;

/// The seeds of a target in `fuzz/seeds`, in order.
#[allow(dead_code)] // Some targets make theirs.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let listed = fs::read_dir(&folder).expect("the target has seeds");
    let mut paths: Vec<_> = listed.map(|entry| entry.expect("a seed").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// Checks each seed, and so many changes of it: bytes that are other ones, gone, twice there, or taken
/// from elsewhere in it, and numbers that are large.
pub fn with_changes(seeds: &[Vec<u8>], changes: u32, mut check: impl FnMut(&[u8])) {
    const NUMBERS: [&[u8]; 6] =
        [b"0", b"99999999999999999999", b"4294967296", b"-1", b"1e999", &[0xff; 8]];
    let mut state = 1_u64;
    let mut below = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most.max(1)
    };
    for seed in seeds {
        check(seed);
        for _ in 0..changes {
            let mut bytes = seed.clone();
            for _ in 0..=below(3) {
                let (at, length) = (below(bytes.len()), below(16));
                let to = (at + length).min(bytes.len());
                match below(5) {
                    0 if !bytes.is_empty() => bytes[at] ^= 1 << below(8),
                    1 => drop(bytes.drain(at..to)),
                    2 => {
                        let part = bytes[at..to].to_vec();
                        let place = below(bytes.len());
                        bytes.splice(place..place, part);
                    }
                    3 => bytes.truncate(at),
                    _ => drop(bytes.splice(at..to, NUMBERS[below(NUMBERS.len())].iter().copied())),
                }
            }
            check(&bytes);
        }
    }
}
