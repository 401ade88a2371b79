//! Lets the pieces of a condition move, as far as the program finds them elsewhere.
//!
//! Last of all, when it is known what is needed: every stretch of bytes that nothing is asked of may become
//! longer or shorter, and between any two that are needed there may be more, as long as that surely lowers
//! the figure. The longest free stretch gives what the others take.

use std::ops::Range;
use std::rc::Rc;

use stunt_models::ByteSet;

use super::super::layout::{Cut, Layout};
use super::super::oracle::Broken;
use super::{Best, LEAST_GAIN, Search, Verdict};

/// How long a gap may become, one after the other: what does not do with a few bytes more will not with many.
const LONGEST: [usize; 4] = [4, 16, 64, MOST_TAKEN];
/// So many bytes of the longest free stretch are given to others at most.
const MOST_TAKEN: usize = 1024;
/// Between bytes that are needed, gaps are tried at no more places than this.
const MOST_PLACES: usize = 64;
/// The least share of failing runs, of that at the beginning.
const FLOOR: f64 = 0.1;
/// The runs after which a try is given up.
const PATIENCE: u32 = 96;
/// What a gap must bring in the end, of what it promises. Where there must be none, the runs that draw
/// none fail as before: that is as many as it promises, and without a bar it would take all patience to see
/// that nothing is gained.
const WANTED: f64 = 0.5;
/// This comes on top of what the other tries may take: one part in so many of the runs, and of the time.
const ON_TOP: (u64, u32) = (5, 8);

impl Search<'_> {
    /// Looks for gaps that may be longer or shorter.
    pub(super) fn moves(&mut self) -> Result<(), Broken> {
        let Some(ground) = Ground::of(self) else { return Ok(()) };
        self.limits.runs = self.runs + self.limits.runs / ON_TOP.0;
        self.limits.time = self.begun.elapsed() + self.limits.time / ON_TOP.1;
        let mut cuts = vec![ground.slack.clone()];
        let mut best = self.best();
        let places = ground.places();
        // Twice: a few runs may be bad luck, and what is refused at once costs little.
        for place in places.iter().chain(&places) {
            self.widen(&ground, place, &mut cuts, &mut best)?;
        }
        Ok(())
    }

    /// Lets the gap at a place become as long as it may.
    fn widen(
        &mut self,
        ground: &Ground,
        place: &Range<usize>,
        cuts: &mut Vec<Cut>,
        best: &mut Best,
    ) -> Result<(), Broken> {
        let mut known = cuts.iter().find(|cut| cut.place == *place).map_or(0, |cut| cut.most);
        let mut too_long = None;
        while !self.over() {
            let most = match too_long {
                None => LONGEST.into_iter().find(|&most| most > known),
                // Once between what will do and what will not.
                Some(too_long) => Some(known.isqrt() * usize::isqrt(too_long)),
            };
            let Some(most) = most.filter(|&most| most > known) else { break };
            let mut wider = cuts.clone();
            wider.retain(|cut| cut.place != *place);
            let (least, most) = (place.len().min(1), most.max(place.len()));
            wider.push(Cut { place: place.clone(), least, most });
            wider.sort_by_key(|cut| cut.place.start);
            let layout = ground.layout(&wider);
            let gain = layout.gain() - self.layout.as_ref().map_or(0.0, |it| it.gain());
            if gain < LEAST_GAIN {
                break;
            }
            let weak = self.weak.clone();
            let better = self.better(gain, WANTED * gain, &weak, Some(&layout), FLOOR, PATIENCE)?;
            let mut kept = false;
            if let Verdict::Better(share) = better {
                self.layout = Some(Rc::new(layout));
                self.accept(share);
                kept = self.keep(best)?;
            }
            if kept {
                (*cuts, known) = (wider, most);
            }
            if too_long.is_some() || (!kept && known == 0) {
                break;
            }
            too_long = (!kept).then_some(most);
        }
        Ok(())
    }
}

/// A source whose bytes may move, and what is known of them.
struct Ground {
    source: usize,
    /// What each byte may be; none if nothing is asked of it.
    asked: Vec<Option<ByteSet>>,
    /// The longest free stretch, or the end of it.
    slack: Cut,
}

impl Ground {
    /// The source with the longest free stretch, of those that are hidden wholly.
    fn of(search: &Search<'_>) -> Option<Ground> {
        let hidden = &search.parts.hidden;
        let last = hidden.last()?;
        (0..=usize::from(last.source))
            .filter_map(|source| {
                let own = hidden.iter().filter(|byte| usize::from(byte.source) == source);
                let length = own.clone().count();
                if length == 0 || length != search.parts.length(source) {
                    return None;
                }
                let mut asked = vec![None; length];
                for part in &search.weak.parts {
                    for &byte in part.bytes.iter().filter(|it| usize::from(it.source) == source) {
                        asked[byte.offset as usize] = Some(part.values(byte));
                    }
                }
                let longest = free(&asked).into_iter().max_by_key(|run| (run.len(), run.end))?;
                let start = longest.end - longest.len().min(MOST_TAKEN);
                let slack = Cut { place: start..longest.end, least: 0, most: usize::MAX };
                Some(Ground { source, asked, slack })
            })
            .max_by_key(|ground| ground.slack.place.len())
    }

    /// Where gaps may be, the likelier places first: other free stretches, between bytes of which something
    /// is asked, and within words.
    fn places(&self) -> Vec<Range<usize>> {
        let asked = |at: usize| self.asked.get(at).is_some_and(Option::is_some);
        let mut places = free(&self.asked);
        places.retain(|run| run.end != self.slack.place.end);
        let between = (0..=self.asked.len()).filter(|&at| {
            let starts = at == 0 || asked(at - 1);
            starts && (asked(at) || at == self.asked.len())
        });
        let (within, beside): (Vec<usize>, Vec<usize>) =
            between.partition(|&at| at > 0 && self.is_word(at - 1) && self.is_word(at));
        places.extend(beside.into_iter().chain(within).take(MOST_PLACES).map(|at| at..at));
        places
    }

    /// Whether a byte must be a letter or a digit.
    fn is_word(&self, at: usize) -> bool {
        let asked = self.asked.get(at).copied().flatten();
        asked.is_some_and(|values| values.iter().all(|value| value.is_ascii_alphanumeric()))
    }

    fn layout(&self, cuts: &[Cut]) -> Layout {
        let values = |at: usize| self.asked[at].unwrap_or(ByteSet::ALL);
        Layout::new(self.source, self.asked.len(), cuts, values)
    }
}

/// The stretches of bytes that nothing is asked of.
fn free(asked: &[Option<ByteSet>]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..asked.len()).filter(|&at| asked[at].is_none()) {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    runs
}
