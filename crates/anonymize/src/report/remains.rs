//! What of the original's content stands in a double, and how much of it is too much.
//!
//! A small share of a large document is still a page of somebody's text. So words and numbers of the original that
//! stand in the double are counted and listed, for the owner alone. Words that the program itself has, and those that
//! every document of a known format has, are anybody's.

use std::fs::{self, File};
use std::io::Read;

use stunt_document::{Contents, Remains, Vocabulary};
use stunt_report::visible;

use crate::crash::Crash;
use crate::refusal::Refusal;
use crate::search::Found;
use crate::target::Target;

/// The largest share of the original's words and numbers that a double may have, in percent, if nothing is said.
pub const USUAL_REMAINS: u8 = 10;
/// Fewer words and numbers than this are never too many: what the failure needs of a small input is a large share.
const FEW: usize = 12;
/// More than this are too many, however large the original is, if nothing is said: they are some people's names and
/// numbers. Who accepts more percent accepts more of them in proportion.
const MANY: usize = 24;
/// So much of the program, and of each file that its arguments name, is looked through for words.
const MOST_LOOKED_THROUGH: u64 = 32 << 20;
/// So many of the words are said where a double is refused.
const MOST_SAID: usize = 8;

/// What of the original stands in a double.
pub(super) fn remains(crash: &Crash<'_>, found: &Found) -> Remains {
    let double = &found.drawn.double.bytes;
    if let Some((known, remains)) = &*crash.remaining.borrow()
        && known == double
    {
        return remains.clone();
    }
    let remains = crash.contents.get_or_init(|| contents(crash)).in_others(double);
    *crash.remaining.borrow_mut() = Some((double.clone(), remains.clone()));
    remains
}

fn contents(crash: &Crash<'_>) -> Contents {
    let mut public = Vocabulary::of_formats();
    for path in crash.job.subject.program_files() {
        let is_file = fs::metadata(&path).is_ok_and(|data| data.is_file());
        let Ok(file) = File::open(&path) else { continue };
        let mut bytes = Vec::new();
        if is_file && file.take(MOST_LOOKED_THROUGH).read_to_end(&mut bytes).is_ok() {
            public.add(&bytes);
        }
    }
    Contents::of(&crash.original().reveal(), &public)
}

/// Whether too much of the original's content stands in a double.
pub(super) fn too_much_remains(crash: &Crash<'_>, found: &Found) -> Option<Refusal> {
    let most = crash.job.options.accept_remains;
    if most >= 100 {
        return None;
    }
    let remains = remains(crash, found);
    if !is_too_much(remains.count(), remains.percent(), most) {
        return None;
    }
    let some = remains.words.iter().chain(&remains.numbers).take(MOST_SAID);
    let some: Vec<_> = some.map(|word| visible(word)).collect();
    Some(Refusal::TooMuchRemains {
        share: remains.percent(),
        most,
        most_words: most_words(most),
        count: remains.count(),
        of: remains.of_words + remains.of_numbers,
        some: some.join(", "),
        cut: found.is_shorter,
    })
}

/// Whether so many words and numbers, which are such a share of all in percent, are too much.
fn is_too_much(count: usize, share: f64, most: u8) -> bool {
    count > most_words(most) || (count >= FEW && share > f64::from(most))
}

/// How many may remain of however large an original.
fn most_words(most: u8) -> usize {
    MANY * usize::from(most) / usize::from(USUAL_REMAINS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_share_of_a_large_original_is_too_much_as_well() {
        let usual = USUAL_REMAINS;
        // What the failure needs of a small input is a large share.
        assert!(!is_too_much(FEW - 1, 90.0, usual));
        assert!(is_too_much(FEW, 10.1, usual) && !is_too_much(FEW, 10.0, usual));
        // Eight people of a thousand are eight people.
        assert!(is_too_much(MANY + 1, 0.1, usual) && !is_too_much(MANY, 0.1, usual));
        assert!(!is_too_much(2 * MANY, 0.1, 2 * usual));
        assert!(is_too_much(1, 0.1, 0));
    }
}
