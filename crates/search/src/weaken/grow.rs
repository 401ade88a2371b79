//! Growing: free stretches of an input swallow what lies between them.
//!
//! A comment, a string or a stretch of text is where a program looks at little: whatever is in there
//! is free. Blanking finds such places by chance. Here it is known which bytes the path leaves free,
//! and tried at the ends of each stretch whether it can go on: over the byte behind it (the end of a
//! comment's line), or up to a later stretch, the quotes and brackets between them included.
//!
//! Always: the input that comes back fails as the first one did, and has its length. Only the bytes
//! that are given change.

use stunt_terms::InputByte;

use super::blank::Filler;
use super::oracle::{AT_ONCE, Broken, Oracle};

/// A byte that reveals less than this is free: more than half of the letters, digits and marks that
/// text is made of fit.
const FREE: f64 = 2.0;
/// Swallowing less than this is not worth a run.
const LEAST_GAIN: f64 = 4.0;

/// A byte that may change.
#[derive(Clone, Copy)]
pub struct Place {
    /// Which byte it is.
    pub byte: InputByte,
    /// What the path of the input reveals about it.
    pub bits: f64,
}

/// Grows the free stretches of an input on which the program fails, within so many runs. None if
/// nothing grew.
///
/// # Errors
/// The program cannot be run.
pub fn grow(
    input: &[Vec<u8>],
    places: &[Place],
    oracle: &mut dyn Oracle,
    mut runs: u64,
    over: &dyn Fn() -> bool,
) -> Result<Option<Vec<Vec<u8>>>, Broken> {
    let mut best: Option<Vec<Vec<u8>>> = None;
    let stretches = stretches(places);
    let mut first = 0;
    while first < stretches.len() {
        let gaps = gaps(places, &stretches, first);
        let mut reached = first + 1;
        for batch in gaps.chunks(AT_ONCE) {
            if over() || runs < batch.len() as u64 {
                return Ok(best);
            }
            let from = best.as_deref().unwrap_or(input);
            let fill = |filler, gap| filled(from, places, gap, filler);
            let candidates: Vec<_> = batch.iter().map(|gap| fill(Filler::Text, gap)).collect();
            runs -= candidates.len() as u64;
            let results = oracle.fails(&candidates)?;
            if let Some(widest) = results.iter().position(|&fails| fails)
                && oracle.fails(&[fill(Filler::OtherText, &batch[widest])])?[0]
            {
                best = candidates.into_iter().nth(widest);
                reached = batch[widest].reaches;
                break;
            }
        }
        first = reached;
    }
    Ok(best)
}

/// What a stretch may swallow.
struct Gap {
    /// The places to fill.
    from: usize,
    to: usize,
    /// The stretch to go on with if that works.
    reaches: usize,
}

/// The gaps behind a stretch, the widest first; the byte behind it comes last.
fn gaps(places: &[Place], stretches: &[(usize, usize)], first: usize) -> Vec<Gap> {
    let (_, from) = stretches[first];
    let source = |at: usize| places[at].byte.source;
    let worth =
        |gap: &Gap| places[gap.from..gap.to].iter().map(|it| it.bits).sum::<f64>() >= LEAST_GAIN;
    let mut gaps = Vec::new();
    let mut far = stretches.len() - 1 - first;
    while far > 0 {
        let (to, _) = stretches[first + far];
        if source(to) == source(from - 1) {
            gaps.push(Gap { from, to, reaches: first + far });
        }
        far = far * 3 / 4;
    }
    if from < places.len() && source(from) == source(from - 1) {
        gaps.push(Gap { from, to: from + 1, reaches: first + 1 });
    }
    gaps.retain(worth);
    gaps
}

/// Where bytes are free one after the other: the first place, and the one behind the last.
fn stretches(places: &[Place]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (at, place) in places.iter().enumerate().filter(|(_, place)| place.bits < FREE) {
        match all.last_mut() {
            Some((_, end)) if *end == at && follows(places[at - 1].byte, place.byte) => *end += 1,
            _ => all.push((at, at + 1)),
        }
    }
    all
}

fn follows(before: InputByte, byte: InputByte) -> bool {
    byte.source == before.source && byte.offset == before.offset + 1
}

fn filled(input: &[Vec<u8>], places: &[Place], gap: &Gap, filler: Filler) -> Vec<Vec<u8>> {
    let mut filled = input.to_vec();
    for Place { byte, .. } in &places[gap.from..gap.to] {
        filled[usize::from(byte.source)][byte.offset as usize] = filler.at(*byte);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters are free, everything else is not.
    fn places(text: &[u8]) -> Vec<Place> {
        let bits = |byte: &u8| if byte.is_ascii_alphabetic() { 0.1 } else { 8.0 };
        (0..)
            .map(|offset| InputByte::new(0, offset))
            .zip(text.iter().map(bits))
            .map(place)
            .collect()
    }

    fn place((byte, bits): (InputByte, f64)) -> Place {
        Place { byte, bits }
    }

    fn grown(text: &[u8], mut fails: impl FnMut(&[Vec<u8>]) -> bool) -> Option<String> {
        let input = [text.to_vec()];
        let grown = grow(&input, &places(text), &mut fails, 1000, &|| false);
        let grown = grown.expect("the closure cannot break")?;
        assert_eq!(grown[0].len(), text.len());
        Some(String::from_utf8_lossy(&grown[0]).into_owned())
    }

    #[test]
    fn strings_swallow_what_is_between_them() {
        let even = |input: &[Vec<u8>]| {
            let text = &input[0];
            text.iter().filter(|&&byte| byte == b'"').count().is_multiple_of(2)
                && text.starts_with(b"\"")
                && text.ends_with(b"\"!")
        };
        let found = grown(br#""one", "two", 77, "three"!"#, even).unwrap_or_default();
        assert_eq!(found.matches(['"', ',']).count(), 2, "{found}");
        assert!(found.starts_with("\"one") && found.ends_with("three\"!"), "{found}");
    }

    #[test]
    fn a_comment_swallows_the_end_of_its_line() {
        let mut fails = |input: &[Vec<u8>]| {
            let text = String::from_utf8_lossy(&input[0]).into_owned();
            text.lines().any(|line| line == "!!") && text.lines().all(|line| line != "7")
                || text.contains("\n7\n")
        };
        let found = grown(b"x\n7\n!!", &mut fails);
        let found = found.unwrap_or_default();
        assert!(found.starts_with('x') && found.ends_with("7\n!!") && found.len() == 6, "{found}");
        assert_eq!(found.lines().count(), 2, "{found}");
    }

    #[test]
    fn nothing_grows_where_everything_is_needed() {
        let text = b"a,b;c";
        assert_eq!(grown(text, |input: &[Vec<u8>]| input[0] == text), None);
    }
}
