//! What of the original's content stands in a double, and how much of it is too much.
//!
//! A small share of a large document is still a page of somebody's text. So words and numbers of the original that
//! stand in the double are counted and listed, for the owner alone. Words that the program itself has are anybody's.

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
    let mut public = Vocabulary::default();
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
    if remains.count() < FEW || remains.percent() <= f64::from(most) {
        return None;
    }
    let some = remains.words.iter().chain(&remains.numbers).take(MOST_SAID);
    let some: Vec<_> = some.map(|word| visible(word)).collect();
    Some(Refusal::TooMuchRemains {
        share: remains.percent(),
        most,
        count: remains.count(),
        of: remains.of_words + remains.of_numbers,
        some: some.join(", "),
        cut: found.is_shorter,
    })
}
