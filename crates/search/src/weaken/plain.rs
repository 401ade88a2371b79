//! What a double is drawn from: a plain part of what the failure needs.
//!
//! A condition says what the failure needs; `leak` counts how much that is. The double need not be any of the inputs
//! that satisfy it: of all that fail, those that a person can read and that are cheap to describe are as good. So
//! bytes that may be nearly anything are drawn from letters and digits, or from text, if nothing that is needed stands
//! against it, and a byte that may be one of a few odd values is the plainest of them. What comes out is one more set,
//! by itself in the words of `stunt-belief`, and its own share of failing runs is measured.
//!
//! Such a double is drawn only if it tells hardly more than one of the whole ([`WORTH`]); and `leak` is then never less
//! than what the description tells. So both figures hold for what was really drawn.
//!
//! What always holds: which part it is depends on the condition and on what is public, never on the original's values
//! of bytes that the condition lets go; and on runs, of which those that decide are others than those that measure.

use std::rc::Rc;

use stunt_belief::Class;
use stunt_leakage::HALF;
use stunt_models::ByteSet;
use stunt_reduce::Broken;
use stunt_terms::{Assignment, InputByte};

use super::confidence::Share;
use super::drawn::{byte_set, drawn_from, values};
use super::layout::Layout;
use super::parts::{Draws, Item, Part, Weak};
use super::search::Search;

/// So many runs tell whether a plain part does as well,
const TRIED: usize = 48;
/// or so many of a slow program.
const TRIED_IN_A_HURRY: usize = 12;
/// It may fail less often than the whole, by this factor: it is worth half a bit to be readable.
const AS_OFTEN: f64 = 0.7;
/// It may tell more than the whole by so many bits: that is what it is worth to read a double,
const WORTH: f64 = 6.0;
/// and by no more than this share of the input's.
const WORTH_SHARE: f64 = 0.01;
/// Bytes that depend on each other for so many bits are tied.
const TIED: f64 = 8.0;
/// A solution that fails is looked for so often.
const MOST_SOLUTIONS: usize = 8;
/// A source of more bytes stays as it is.
const MOST_BYTES: usize = 1 << 20;
/// A byte that may have as many values says nothing about what the input is.
const FREE: u32 = 96;

/// Whether doubles are drawn so that a person can read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Readable {
    /// Where what is needed is text.
    #[default]
    Text,
    /// Wherever runs still fail then.
    Always,
    /// Never: every input that satisfies the condition has the same chance.
    Never,
}

/// A part of a condition's inputs.
pub(super) struct Plain {
    pub(super) weak: Weak,
    pub(super) layout: Option<Rc<Layout>>,
}

impl Search<'_> {
    /// The plainest part that fails as often, if there is one.
    pub(super) fn plain(&mut self, readable: Readable) -> Result<Option<Plain>, Broken> {
        let left_out = readable == Readable::Never || self.is_left_out("readable");
        if left_out || self.parts.hidden.len() > MOST_BYTES {
            return Ok(None);
        }
        let text = self.texts(readable);
        let classes: &[Class] = match text.contains(&true) {
            true => &[Class::Alphanumeric, Class::Text, Class::Ascii, Class::Any],
            false => &[Class::Any],
        };
        let runs = if self.in_a_hurry() { TRIED_IN_A_HURRY } else { TRIED };
        let whole = Plain { weak: self.weak.clone(), layout: self.layout.clone() };
        let described = self.price_of(&whole);
        let extra = self.layout.as_ref().map_or(0, |layout| layout.extra());
        let worth = WORTH.min(WORTH_SHARE * 8.0 * (self.parts.hidden.len() + extra) as f64);
        let most = described.unwrap_or(f64::INFINITY).min(self.bits() + HALF) + worth;
        let fixed = self.a_solution()?;
        for &class in classes {
            let of_source: Vec<Class> =
                text.iter().map(|&is_text| if is_text { class } else { Class::Any }).collect();
            let ways = [self.part_of(&of_source, None), self.part_of(&of_source, fixed.as_ref())];
            let priced =
                ways.into_iter().flatten().filter_map(|it| Some((self.price_of(&it)?, it)));
            let Some((price, plain)) = priced.min_by(|one, two| one.0.total_cmp(&two.0)) else {
                continue;
            };
            if price > most {
                continue;
            }
            let layout = plain.layout.clone();
            let tried = self.sample(&plain.weak, layout.as_deref(), Draws::Fresh, runs)?;
            let mut share = Share::default();
            share.add(&tried.unwrap_or_default());
            if share.hits > 0 && share.value() >= AS_OFTEN * self.share.value() {
                return Ok(Some(plain));
            }
        }
        Ok(None)
    }

    /// What it costs to describe a part.
    fn price_of(&self, plain: &Plain) -> Option<f64> {
        let from = drawn_from(&self.parts, &plain.weak, plain.layout.as_deref());
        Some((self.limits.price)(&from)? + from.joined)
    }

    /// A solution that fails, drawn at random, if there are bytes that depend on each other: what they may be can be
    /// dearer to say than what they are.
    fn a_solution(&mut self) -> Result<Option<Assignment>, Broken> {
        if !self.weak.parts.iter().any(|part| is_tied(part)) {
            return Ok(None);
        }
        for _ in 0..MOST_SOLUTIONS {
            let weak = self.weak.clone();
            let Some(values) = self.parts.draw(&weak, Draws::Fresh, self.rng) else { break };
            let mut input = self.parts.input(&values);
            if let Some(layout) = self.layout.clone() {
                layout.arrange(&mut input, self.rng);
            }
            if self.run(&[input])? == [true] {
                return Ok(Some(values));
            }
        }
        Ok(None)
    }

    /// Of which sources all that is needed, and all that is public, may be text.
    fn texts(&self, readable: Readable) -> Vec<bool> {
        let original = self.parts.original;
        if readable == Readable::Always {
            return vec![true; original.sources()];
        }
        let of_text = byte_set(Class::Text.values());
        let is_text = |(source, bytes): (usize, Vec<u8>)| {
            let mut public = (0..bytes.len()).filter(|&at| !original.hides(source, at));
            public.all(|at| of_text.contains(bytes[at]))
        };
        let mut text: Vec<bool> = original.reveal().into_iter().enumerate().map(is_text).collect();
        for part in &self.weak.parts {
            for &byte in &part.bytes {
                let values = part.values(byte);
                if values.len() < FREE && values.intersect(&of_text).is_empty() {
                    text[usize::from(byte.source)] = false;
                }
            }
        }
        text
    }

    /// The part in which what is free in a source is of a class, and bytes that are tied to each other are those of a
    /// solution, if there is one. `None` if it is the whole.
    fn part_of(&mut self, classes: &[Class], fixed: Option<&Assignment>) -> Option<Plain> {
        let sets: Vec<ByteSet> = classes.iter().map(|class| byte_set(class.values())).collect();
        let mut is_free = vec![Vec::new(); self.parts.original.sources()];
        for &byte in &self.parts.hidden {
            let source: &mut Vec<bool> = &mut is_free[usize::from(byte.source)];
            source.resize(source.len().max(byte.offset as usize + 1), false);
            source[byte.offset as usize] = true;
        }
        let mut chosen: Vec<(InputByte, ByteSet)> = Vec::new();
        for part in &self.weak.parts {
            for byte in &part.bytes {
                is_free[usize::from(byte.source)][byte.offset as usize] = false;
            }
            if let Some(fixed) = fixed.filter(|_| is_tied(part)) {
                let values = part.bytes.iter().map(|&byte| (byte, fixed.get(byte)));
                chosen.extend(values.map(|(byte, it)| (byte, ByteSet::range(it, it))));
            }
            let Some((byte, values)) = part.single() else { continue };
            let plain = plainest(values, sets[usize::from(byte.source)]);
            if plain != values {
                chosen.push((byte, plain));
            }
        }
        let free = self.parts.hidden.iter().copied().filter(|it| {
            let source = usize::from(it.source);
            classes[source] != Class::Any && is_free[source][it.offset as usize]
        });
        chosen.extend(free.map(|byte| (byte, sets[usize::from(byte.source)])));
        let refilled = self.layout.as_ref().is_some_and(|it| classes[it.source()] != Class::Any);
        if chosen.is_empty() && !refilled {
            return None;
        }
        let with: Vec<Item> = chosen
            .into_iter()
            .map(|(byte, values)| {
                let literal = super::classes::literal(self.parts.pool, byte, values);
                self.parts.add(literal, 0)
            })
            .collect();
        let weak = self.parts.changed(&self.weak.clone(), &[], &with);
        let layout = self.layout.as_ref().map(|layout| {
            let mut asked = vec![ByteSet::ALL; self.parts.length(layout.source())];
            for part in &weak.parts {
                let own = |byte: &&InputByte| usize::from(byte.source) == layout.source();
                for &byte in part.bytes.iter().filter(own) {
                    asked[byte.offset as usize] = part.values(byte);
                }
            }
            Rc::new(layout.refilled(classes[layout.source()], asked))
        });
        if layout.as_ref().is_some_and(|it| it.gain() == f64::NEG_INFINITY) {
            return None;
        }
        Some(Plain { weak, layout })
    }
}

/// Whether bytes depend on each other so much that it is dear to say.
fn is_tied(part: &Part) -> bool {
    part.single().is_none() && part.tied() >= TIED
}

/// What stays of a byte's values: those of a class, if all of that or a smaller class is there; else the plainest one.
fn plainest(all: ByteSet, class: ByteSet) -> ByteSet {
    let within = all.intersect(&class);
    if within == class {
        return class;
    }
    let said = values(all);
    let is_free = class == ByteSet::ALL && all.len() >= FREE;
    if is_free || said.single().is_some() || said.either_case().is_some() {
        return all;
    }
    let left = if within.is_empty() { said } else { values(within) };
    let smaller = Class::ALL.into_iter().filter(|it| it.values().is_in(left));
    if let Some(largest) = smaller.max_by_key(|it| it.values().len()) {
        return byte_set(largest.values());
    }
    // The first of the likeliest in the code: never one that the original chose.
    let best = left.iter().max_by_key(|&it| (stunt_belief::weights::byte(it), u8::MAX - it));
    best.map_or(all, |value| ByteSet::range(value, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plainest() {
        let alphanumeric = byte_set(Class::Alphanumeric.values());
        let not = |text: &[u8]| ByteSet::filter(|value| !text.contains(&value));
        let of = |text: &[u8]| ByteSet::filter(|value| text.contains(&value));
        assert_eq!(plainest(ByteSet::ALL, alphanumeric), alphanumeric);
        assert_eq!(plainest(not(b";\n"), alphanumeric), alphanumeric);
        assert_eq!(plainest(ByteSet::range(b'0', b'9'), alphanumeric), ByteSet::range(b'0', b'9'));
        // One letter in either case is cheap to say, and one value is what it is.
        assert_eq!(plainest(of(b"xX"), alphanumeric), of(b"xX"));
        assert_eq!(plainest(of(b"%"), alphanumeric), of(b"%"));
        // Odd values: the likeliest in the code, and a class where there is one.
        assert_eq!(plainest(of(b"#,~"), alphanumeric), of(b","));
        assert_eq!(plainest(of(b"0123456789#"), alphanumeric), ByteSet::range(b'0', b'9'));
        assert_eq!(plainest(of(b"\x90\x91"), ByteSet::ALL), of(b"\x90"));
        // What may be nearly anything is no odd value, and stays readable.
        assert_eq!(plainest(not(b"a"), ByteSet::ALL), not(b"a"));
        assert!(plainest(not(b"a"), alphanumeric).iter().all(|it| it.is_ascii_alphanumeric()));
    }
}
