//! Padding: a short input that fails, made as long as the original again.
//!
//! What is left of an input when everything is gone that the failure does not need has few bytes that a
//! path looks at. Filled up at one place with what the program takes for nothing in particular (the inside
//! of a text, a name, white space), it is an input of the original's length whose path says less than
//! any that comes from blanking the original, field by field. Where the filling goes is found by
//! running the program: the more kinds of filler will do at a place, the less the program looks there.

use crate::blank::Filler;
use crate::oracle::{Broken, Oracle};
use crate::passes::units::tokens;

/// What is tried, the freest first.
const FILLERS: [Filler; 7] = [
    Filler::Text,
    Filler::OtherText,
    Filler::Byte(b'a'),
    Filler::Byte(b'0'),
    Filler::Byte(b' '),
    Filler::Byte(b'\n'),
    Filler::Byte(0),
];

/// Fills up a source of an input on which the program fails, within so many runs. Gives those that fail too, with the ones
/// before others that are likely to say less; nothing if the source is as long already.
///
/// # Errors
/// The program cannot be run.
pub fn pad(
    short: &[Vec<u8>],
    source: usize,
    length: usize,
    oracle: &mut dyn Oracle,
    mut runs: u64,
    over: &dyn Fn() -> bool,
) -> Result<Vec<Vec<Vec<u8>>>, Broken> {
    let Some(missing) = length.checked_sub(short[source].len()).filter(|&it| it > 0) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<(usize, Vec<Vec<u8>>)> = Vec::new();
    for place in tokens(&short[source]) {
        let Some(left) = runs.checked_sub(FILLERS.len() as u64).filter(|_| !over()) else { break };
        runs = left;
        let filled = |filler: &Filler| {
            let filling = (place..place + missing).map(|at| filler.at((source, at)));
            let mut input = short.to_vec();
            input[source].splice(place..place, filling);
            input
        };
        let mut inputs: Vec<Vec<Vec<u8>>> = FILLERS.iter().map(filled).collect();
        let fails = oracle.fails(&inputs)?;
        if let Some(first) = fails.iter().position(|&fails| fails) {
            let kinds = fails.iter().filter(|&&fails| fails).count();
            found.push((kinds, inputs.swap_remove(first)));
        }
    }
    found.sort_by_key(|(kinds, _)| usize::MAX - kinds);
    Ok(found.into_iter().map(|(_, input)| input).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_is_what_the_program_does_not_look_at() {
        // Anything between quotes; white space around.
        let mut oracle = |input: &[Vec<u8>]| {
            let Some(text) = std::str::from_utf8(&input[0]).ok().map(str::trim) else {
                return false;
            };
            let inner = text.strip_prefix("x\"").and_then(|text| text.strip_suffix('"'));
            inner.is_some_and(|inner| !inner.contains('"'))
        };
        let short = [b"x\"\"".to_vec()];
        let found = pad(&short, 0, 40, &mut oracle, 100, &|| false).expect("it cannot break");
        assert!(found.iter().all(|input| input[0].len() == 40 && oracle(input)));
        assert!(found[0][0].starts_with(b"x\"") && found[0][0].ends_with(b"\""));
        assert_eq!(found.len(), 3, "within, before and behind");
        assert!(
            pad(&short, 0, 3, &mut oracle, 100, &|| false).expect("it cannot break").is_empty()
        );
    }
}
