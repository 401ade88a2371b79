//! Lengths in front of as many bytes, in data of which nothing else is known.
//!
//! A guess says where the length is in the head of a record, how it is written, and what it counts. A guess
//! is believed if records follow one another to the very end of the data, at least three of them, or two
//! with a length of more than a byte. What is in a record is tried in the same way.

use std::ops::Range;

use super::build::Builder;
use super::lengths::{Coding, Length, Measure};
use super::{Layout, Role};

/// The longest head of a file that is skipped, and of what is inside a record.
const HEAD: usize = 32;
const INNER_HEAD: usize = 4;
/// How deep records are looked for in one another.
const DEEPEST: usize = 8;
/// How many ranges are tried at most.
const TRIES: usize = 5_000;
/// So many empty records in a row are zeros and no records.
const EMPTY: usize = 8;

/// How a record may look: some bytes, the length, some bytes, the payload, some bytes.
#[derive(Clone, Copy)]
struct Guess {
    before: usize,
    coding: Coding,
    after: usize,
    behind: usize,
    /// The length counts the whole record, not the payload alone.
    whole: bool,
}

impl Guess {
    fn width(self) -> usize {
        match self.coding {
            Coding::Big(width) | Coding::Little(width) => usize::from(width),
            _ => 1,
        }
    }

    fn around(self) -> usize {
        self.before + self.width() + self.after + self.behind
    }

    /// The length of the payload of the record at a place.
    fn payload(self, bytes: &[u8], at: usize) -> Option<usize> {
        let from = at + self.before;
        let digits = bytes.get(from..from + self.width())?;
        let join = |number: usize, &digit: &u8| number << 8 | usize::from(digit);
        let stated = match self.coding {
            Coding::Little(_) => digits.iter().rev().fold(0, join),
            _ => digits.iter().fold(0, join),
        };
        if self.whole { stated.checked_sub(self.around()) } else { Some(stated) }
    }

    /// How many records there are from here to the very end, if they end there.
    fn count(self, bytes: &[u8], mut at: usize) -> Option<usize> {
        let (mut count, mut empty) = (0, 0);
        while at < bytes.len() {
            let payload = self.payload(bytes, at)?;
            empty = if payload == 0 { empty + 1 } else { 0 };
            at = at.checked_add(self.around())?.checked_add(payload)?;
            if at > bytes.len() || empty > EMPTY {
                return None;
            }
            count += 1;
        }
        Some(count)
    }
}

fn guesses() -> impl Iterator<Item = Guess> {
    const CODINGS: [Coding; 5] =
        [Coding::Big(4), Coding::Little(4), Coding::Big(2), Coding::Little(2), Coding::Big(1)];
    let shapes = [0, 1, 2, 3, 4].map(|before| (before, 0, 0)).into_iter();
    let shapes = shapes.chain([(0, 1, 0), (0, 2, 0), (0, 4, 0), (0, 4, 4), (4, 4, 0)]);
    shapes.flat_map(|(before, after, behind)| {
        CODINGS.into_iter().flat_map(move |coding| {
            [false, true].map(|whole| Guess { before, coding, after, behind, whole })
        })
    })
}

/// The guess that finds most records, and where they begin.
fn best(bytes: &[u8], head: usize) -> Option<(Guess, usize)> {
    let mut found: Option<(usize, Guess, usize)> = None;
    for start in 0..=head.min(bytes.len()) {
        for guess in guesses() {
            let Some(count) = guess.count(bytes, start) else { continue };
            let enough = if guess.width() > 1 && start == 0 { 2 } else { 3 };
            let more = found.is_none_or(|(most, ..)| count > most);
            if count >= enough && more {
                found = Some((count, guess, start));
            }
        }
        // A head is guessed only where there is no other way.
        if found.is_some() {
            break;
        }
    }
    found.map(|(_, guess, start)| (guess, start))
}

/// Records that are being read.
struct Level {
    guess: Guess,
    rest: Range<usize>,
}

pub(super) fn read(bytes: &[u8], deepest: usize) -> Option<Builder> {
    let (guess, start) = best(bytes, HEAD)?;
    let mut builder = Builder::new(Layout::Records, deepest);
    let mut levels = vec![Level { guess, rest: start..bytes.len() }];
    let mut tries = 0;
    while let Some(level) = levels.last_mut() {
        let (guess, at) = (level.guess, level.rest.start);
        if level.rest.is_empty() {
            let end = level.rest.end;
            levels.pop();
            if let Some(outer) = levels.last() {
                builder.close(end);
                builder.close(end + outer.guess.behind);
            }
            continue;
        }
        let length = guess.payload(bytes, at)?;
        let field = at + guess.before..at + guess.before + guess.width();
        let from = field.end + guess.after;
        let payload = from..from + length;
        level.rest.start = payload.end + guess.behind;
        builder.open(Role::Record, at);
        let number = builder.open(Role::Payload, payload.start);
        let measure = Measure::Bytes(if guess.whole { guess.around() } else { 0 });
        builder.length(number, Length { at: field, coding: guess.coding, measure });
        tries += 1;
        let inside = &bytes[payload.clone()];
        let worth = levels.len() < DEEPEST && tries < TRIES && inside.len() >= 8;
        match best(inside, INNER_HEAD).filter(|_| worth && !super::is_text(inside)) {
            Some((guess, start)) => {
                levels.push(Level { guess, rest: payload.start + start..payload.end });
            }
            None => {
                builder.close(payload.end);
                builder.close(payload.end + guess.behind);
            }
        }
    }
    Some(builder)
}
