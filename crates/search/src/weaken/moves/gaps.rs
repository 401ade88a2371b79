//! Lets the pieces of a condition move, as far as the program finds them elsewhere.
//!
//! Last of all, when it is known what is needed. An input that was made shorter may be as long as the original
//! again, if anything may stand at some place of it: such a double owes less for its length. Then every stretch
//! of bytes that nothing is asked of may become longer or shorter, and between any two that are needed there may
//! be more, as long as that surely lowers the figure. The longest free stretch gives what the others take.

use std::ops::Range;
use std::rc::Rc;

use stunt_models::ByteSet;
use stunt_reduce::Broken;

use super::Move;
use crate::weaken::confidence::Share;
use crate::weaken::layout::{Cut, Layout};
use crate::weaken::parts::Draws;
use crate::weaken::search::{DOUBT, FIRST_BATCH, LEAST_GAIN, LEAST_SHARE, Room, Search, Verdict};

/// So many bytes of the longest free stretch are given to others at most.
const MOST_TAKEN: usize = 1024;
/// Between bytes that are needed, gaps are tried at no more places than this.
const MOST_PLACES: usize = 64;
/// The least share of failing runs, of that at the beginning.
const FLOOR: f64 = 0.1;
/// The runs after which a try is given up.
const PATIENCE: u32 = 192;
/// A length will do if at least this part of the runs fails that fail now: a longer gap may be one that
/// begins with lines which are of no interest to anyone.
const ENOUGH: f64 = 0.2;
/// A length that would do is missed with this probability.
const MISSED: f64 = 0.02;
/// One byte more mostly does or does not: then so many would fail.
const ENOUGH_AT_FIRST: f64 = 0.5;
/// A gap that promises less than this, in bits, is not tried.
const PROMISE: f64 = 0.5;
/// A byte of which so many bits are asked is needed; beside two that are hardly looked at there is no gap.
const NEEDED: f64 = 1.0;
/// A byte that may have more values than this does not end anything,
const MOST_ENDS: u32 = 8;
/// and no more than so many kinds of ends are tried.
const MOST_TRIED: usize = 4;
/// So many runs tell how often an input fails that is filled up at some place.
const FILLED: usize = 16;
/// This comes on top of what the other tries may take: one part in so many of the runs, and of the time.
const ON_TOP: (u64, u32) = (3, 5);

/// Lets what is needed stand elsewhere.
pub(crate) struct Gaps;

impl Move for Gaps {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn make(&self, search: &mut Search<'_>) -> Result<(), Broken> {
        search.move_pieces()
    }
}

impl Search<'_> {
    /// Looks for gaps that may be longer or shorter.
    fn move_pieces(&mut self) -> Result<(), Broken> {
        // Later tries take fewer runs then.
        self.narrow()?;
        self.limits.runs = self.runs + self.limits.runs / ON_TOP.0;
        self.limits.time = self.begun.elapsed() + self.limits.time / ON_TOP.1;
        let Some(ground) = self.ground()? else { return Ok(()) };
        let mut cuts = vec![ground.slack.clone()];
        let places = ground.places();
        // Twice: a few runs may be bad luck, and what is refused at once costs little. Then behind what ends
        // something elsewhere.
        for place in places.iter().chain(&places) {
            self.widen(&ground, place, None, &mut cuts)?;
        }
        let open: Vec<&Range<usize>> = places
            .iter()
            .filter(|place| place.is_empty() && cuts.iter().all(|cut| cut.place != **place))
            .collect();
        for place in open {
            for &ends_with in &ground.ends {
                if self.widen(&ground, place, Some(ends_with), &mut cuts)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Where pieces may move: in an input that is as long as the original, if that is better.
    fn ground(&mut self) -> Result<Option<Ground>, Broken> {
        if let Some(room) = self.limits.lengths.room
            && let Some(mut ground) = Ground::within(self, room)
            && self.fill_up(&mut ground)?
        {
            return Ok(Some(ground));
        }
        Ok(Ground::of(self))
    }

    /// Looks for the place at which an input is best filled up to the length of the original, and goes over to
    /// that. Whether there is one.
    fn fill_up(&mut self, ground: &mut Ground) -> Result<bool, Broken> {
        let saved = self.limits.lengths.short - self.limits.lengths.full;
        let without_end = ground.places().into_iter().map(|place| (place, None));
        let behind: Vec<(Range<usize>, Option<ByteSet>)> = ground
            .places()
            .into_iter()
            .filter(Range::is_empty)
            .flat_map(|place| ground.ends.iter().map(move |&end| (place.clone(), Some(end))))
            .collect();
        let mut best: Option<(f64, Share, Layout, Cut)> = None;
        for (place, ends_with) in without_end.chain(behind) {
            if self.over() {
                break;
            }
            let length = place.len() + ground.extra;
            let layout = ground.layout(&[Cut {
                place: place.clone(),
                least: length,
                most: length,
                ends_with,
            }]);
            let gain = saved + layout.gain();
            let least = best.as_ref().map_or(LEAST_GAIN, |(cost, ..)| *cost + LEAST_GAIN);
            // Of few places one does, and that gains most: none is missed by bad luck.
            let enough = if ends_with.is_none() { ENOUGH } else { ENOUGH_AT_FIRST };
            if gain < least || !self.will_do(&layout, enough)? {
                continue;
            }
            let Some(results) =
                self.sample(&self.weak.clone(), Some(&layout), Draws::Again, FILLED)?
            else {
                continue;
            };
            let mut share = Share::default();
            share.add(&results);
            let gained = gain + share.at_least(DOUBT).log2() - self.share.at_least(DOUBT).log2();
            if gained >= least && share.value() >= LEAST_SHARE * self.first {
                let cut = Cut { place, least: 0, most: usize::MAX, ends_with };
                best = Some((gained, share, layout, cut));
                // Nothing can be better.
                if share.hits == share.runs && ends_with.is_none() {
                    break;
                }
            }
        }
        let Some((_, share, layout, cut)) = best else { return Ok(false) };
        ground.slack = cut;
        self.layout = Some(Rc::new(layout));
        self.accept(share);
        Ok(true)
    }

    /// Lets the gap at a place become as long as it may. Whether that is longer than it was.
    fn widen(
        &mut self,
        ground: &Ground,
        place: &Range<usize>,
        ends_with: Option<ByteSet>,
        cuts: &mut Vec<Cut>,
    ) -> Result<bool, Broken> {
        if self.over() {
            return Ok(false);
        }
        let mut others = cuts.clone();
        others.retain(|cut| cut.place != *place);
        let known = cuts.iter().find(|cut| cut.place == *place).map_or(place.len(), |cut| cut.most);
        let with = |least: usize, most: usize| {
            let mut cuts = others.clone();
            cuts.push(Cut { place: place.clone(), least, most, ends_with });
            cuts.sort_by_key(|cut| cut.place.start);
            cuts
        };
        let now = self.layout.as_ref().map_or(0.0, |it| it.gain());
        // Beside another gap there is little to be had.
        if ground.layout(&with(0, usize::MAX)).gain() - now < PROMISE {
            return Ok(false);
        }
        let exactly = |length: usize| ground.layout(&with(length, length));
        let end = place.len() + ground.slack.place.len() + ground.extra;
        let Some(mut most) = self.longest(known, end, exactly)? else { return Ok(false) };
        let weak = self.weak.clone();
        // What is drawn now stays, so nothing is lost whatever a longer gap brings; but where few of the
        // lengths do, too few runs may fail.
        while most > known && !self.over() {
            let wider = with(place.len().min(1), most);
            let layout = ground.layout(&wider);
            let gain = layout.gain() - now;
            if gain < LEAST_GAIN {
                break;
            }
            let better = self.better(gain, &weak, Some(&layout), FLOOR, PATIENCE)?;
            if let Verdict::Better(share) = better {
                self.layout = Some(Rc::new(layout));
                *cuts = wider;
                self.accept(share);
                return Ok(true);
            }
            most /= 2;
        }
        Ok(false)
    }

    /// The longest gap that will do, up to some length, if one longer than what is known does.
    fn longest(
        &mut self,
        known: usize,
        end: usize,
        exactly: impl Fn(usize) -> Layout,
    ) -> Result<Option<usize>, Broken> {
        if known >= end || !self.will_do(&exactly(known + 1), ENOUGH_AT_FIRST)? {
            return Ok(None);
        }
        let (mut does, mut does_not) = (known + 1, end + 1);
        while does + 1 < does_not && !self.over() {
            // Twice as long until that is too long, then in the middle of what does and what does not.
            let next = if does_not > end { (2 * does).min(end) } else { does.midpoint(does_not) };
            if self.will_do(&exactly(next), ENOUGH)? {
                does = next;
            } else {
                does_not = next;
            }
        }
        Ok(Some(does))
    }

    /// Whether enough runs fail in a layout, of those that fail now.
    fn will_do(&mut self, layout: &Layout, enough: f64) -> Result<bool, Broken> {
        if layout.gain() == f64::NEG_INFINITY {
            return Ok(false);
        }
        let miss = 1.0 - (enough * self.share.value()).clamp(0.02, 0.9);
        let most = (MISSED.ln() / miss.ln()).ceil() as usize;
        let weak = self.weak.clone();
        let mut runs = 0;
        while runs < most && !self.over() {
            let batch = FIRST_BATCH.min(most - runs);
            let Some(results) = self.sample(&weak, Some(layout), Draws::Again, batch)? else {
                return Ok(false);
            };
            if results.contains(&true) {
                return Ok(true);
            }
            runs += batch;
        }
        Ok(false)
    }
}

/// A source whose bytes may move, and what is known of them.
struct Ground {
    source: usize,
    /// What each byte may be; none if nothing is asked of it.
    asked: Vec<Option<ByteSet>>,
    /// The longest free stretch, or the end of it; or where the input is filled up.
    slack: Cut,
    /// By how many bytes an input is longer than this one.
    extra: usize,
    /// What ends something in it, as it seems: marks and spaces that are needed, the more frequent first.
    ends: Vec<ByteSet>,
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
                let asked = asked(search, source);
                let longest = free(&asked).into_iter().max_by_key(|run| (run.len(), run.end))?;
                let start = longest.end - longest.len().min(MOST_TAKEN);
                let place = start..longest.end;
                let slack = Cut { place, least: 0, most: usize::MAX, ends_with: None };
                let ends = ends(&asked);
                Some(Ground { source, asked, slack, extra: 0, ends })
            })
            .max_by_key(|ground| ground.slack.place.len())
    }

    /// A source that may be as long as it was in the original. It is not yet known where it can be filled up.
    fn within(search: &Search<'_>, room: Room) -> Option<Ground> {
        let extra = room.length.checked_sub(search.parts.length(room.source))?;
        let asked = asked(search, room.source);
        let end = asked.len();
        let slack = Cut { place: end + 1..end + 1, least: 0, most: usize::MAX, ends_with: None };
        let ends = ends(&asked);
        (extra > 0).then_some(Ground { source: room.source, asked, slack, extra, ends })
    }

    /// Where gaps may be, the likelier places first: other free stretches, between bytes of which something
    /// is asked, and within words.
    fn places(&self) -> Vec<Range<usize>> {
        let bits = |at: usize| match self.asked.get(at).copied().flatten() {
            Some(values) => 8.0 - f64::from(values.len()).log2(),
            None => 0.0,
        };
        let mut places = free(&self.asked);
        places.retain(|run| run.end != self.slack.place.end);
        places.sort_by_key(|run| std::cmp::Reverse(run.len()));
        let between = (0..=self.asked.len()).filter(|&at| {
            let before = if at > 0 { bits(at - 1) } else { NEEDED };
            let behind = if at < self.asked.len() { bits(at) } else { NEEDED };
            before.max(behind) >= NEEDED && before.min(behind) > 0.0
        });
        let between = between.filter(|&at| self.slack.place != (at..at));
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
        let asked = self.asked.iter().map(|values| values.unwrap_or(ByteSet::ALL)).collect();
        Layout::new(self.source, asked, self.extra, cuts)
    }
}

/// What the bytes of a source may be; none where nothing is asked.
fn asked(search: &Search<'_>, source: usize) -> Vec<Option<ByteSet>> {
    let mut asked = vec![None; search.parts.length(source)];
    for part in &search.weak.parts {
        for &byte in part.bytes.iter().filter(|it| usize::from(it.source) == source) {
            asked[byte.offset as usize] = Some(part.values(byte));
        }
    }
    asked
}

/// What needed bytes may be that are no part of words.
fn ends(asked: &[Option<ByteSet>]) -> Vec<ByteSet> {
    let mut ends: Vec<(usize, ByteSet)> = Vec::new();
    for values in asked.iter().flatten().filter(|values| values.len() <= MOST_ENDS) {
        if values.iter().all(|value| value.is_ascii_punctuation() || value.is_ascii_whitespace()) {
            match ends.iter_mut().find(|(_, known)| known == values) {
                Some((count, _)) => *count += 1,
                None => ends.push((1, *values)),
            }
        }
    }
    ends.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    ends.truncate(MOST_TRIED);
    ends.into_iter().map(|(_, values)| values).collect()
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
