//! Calls of functions that are known by name: comparisons and searches in one piece, output without a look.
//!
//! A comparison tells its caller a sign. Element by element it would tell where the difference is;
//! as one term it tells only what the caller asks of the result: that all bytes are equal, or that
//! some are not (Camouflage's array inequality).

use stunt_terms::Term;

use crate::{
    code::{Code, slots},
    cpu::Cpu,
    memory::AddressSpace,
};

use super::{
    Symbolic,
    hooks::{Answer, Comparison, Output, Target, return_address},
    session::Ignored,
    words::Word,
};

/// The most bytes that are compared as one term.
const MOST_COMPARED: u64 = 4096;
/// The most letters that a search looks at, each as often as it could.
const MOST_SEARCHED: u64 = 1 << 15;

/// The bytes of one side: values, and what they stand for.
struct Side {
    values: Vec<u8>,
    terms: Vec<Option<Term>>,
}

impl Symbolic {
    /// Does a comparison as a whole, and returns from it; gives whether it did.
    pub(super) fn compare(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        how: Comparison,
    ) -> bool {
        let arguments = [slots::RDI, slots::RSI, slots::RDX];
        let used = if how.limited { 3 } else { 2 };
        if !self.relax.comparisons
            || arguments[..used].iter().any(|&slot| cpu.shadow.set().has(slot))
        {
            return false;
        }
        let limit = if how.limited { cpu.get(slots::RDX) } else { MOST_COMPARED };
        let sides = [cpu.get(slots::RDI), cpu.get(slots::RSI)];
        let Some(length) = extent(space, sides, how, limit) else { return false };
        if !sides.iter().any(|&at| space.marked(at, length)) {
            return false;
        }
        let Some([a, b]) = self.sides(space, sides, length, how.folded) else { return false };
        let Some(to) = return_address(cpu, space) else { return false };

        let (mut result, mut equal) = (0i64, self.pool.boolean(true));
        let (mut less, mut ended) = (self.pool.boolean(false), false);
        // The first difference decides, so the terms are made from the last byte on.
        for k in (0..length as usize).rev() {
            let (x, y) = (self.byte(&a, k), self.byte(&b, k));
            let (same, below) = (self.pool.eq(x, y), self.pool.ult(x, y));
            equal = self.pool.and(same, equal);
            let later = self.pool.and(same, less);
            less = self.pool.or(below, later);
        }
        for k in 0..length as usize {
            if !ended && a.values[k] != b.values[k] {
                result = i64::from(a.values[k]) - i64::from(b.values[k]);
                ended = true;
            }
        }
        if self.keeps_tests() {
            // The value, too, must be one that another input with the same tests has.
            result = result.signum();
        }
        // Whoever asks for more than the sign asks for something that no standard promises.
        let negative = if result < 0 { result } else { -1 };
        let positive = if result > 0 { result } else { 1 };
        let [negative, positive, zero] =
            [negative, positive, 0].map(|v| self.pool.constant(64, u128::from(v as u32)));
        let differ = self.pool.ite(less, negative, positive);
        let term = self.pool.ite(equal, zero, differ);

        let word = self.wide(term);
        self.return_with(cpu, to, u64::from(result as u32), Some(word));
        true
    }

    /// Returns from a function that was done as a whole: its value, and what that stands for.
    pub(super) fn return_with(&mut self, cpu: &mut Cpu, to: u64, value: u64, term: Option<Word>) {
        cpu.set(slots::RAX, value);
        self.put(cpu, slots::RAX, term);
        cpu.set(slots::RIP, to);
        cpu.set(slots::RSP, cpu.get(slots::RSP).wrapping_add(8));
        cpu.executed += 1;
    }

    /// Does a search for a word that does not depend on the input, in a string whose end does not either,
    /// as a whole, and returns from it; gives whether it did.
    pub(super) fn search(&mut self, cpu: &mut Cpu, space: &mut AddressSpace) -> bool {
        let [at, word_at] = [slots::RDI, slots::RSI].map(|slot| cpu.get(slot));
        let followed = [slots::RDI, slots::RSI].iter().any(|&slot| cpu.shadow.set().has(slot));
        if !self.relax.comparisons || followed {
            return false;
        }
        let Ok(word) = space.read_string(word_at, MOST_COMPARED as usize) else { return false };
        let Ok(text) = space.read_string(at, MOST_COMPARED as usize) else { return false };
        let (length, sought) = (text.len() as u64, word.len() as u64);
        // Nothing is found at once, and what is longer than the string, nowhere.
        let plain = sought > 0 && sought <= length && length < MOST_COMPARED;
        if !plain || length * sought > MOST_SEARCHED || space.marked(word_at, sought + 1) {
            return false;
        }
        if !space.marked(at, length) || space.marked(at + length, 1) {
            return false;
        }
        let Some(to) = return_address(cpu, space) else { return false };
        let terms = (0..length).map(|k| self.read_term(space, at + k, 1)).collect();
        let text = Side { values: text, terms };
        let (nothing, end) = (self.pool.constant(64, 0), self.pool.constant(8, 0));
        let mut answer = nothing;
        // The first place decides, so the terms are made from the last one on.
        for k in (0..=text.values.len() - word.len()).rev() {
            let mut is_here = self.pool.boolean(true);
            for (behind, &letter) in word.iter().enumerate().rev() {
                let (have, wanted) =
                    (self.byte(&text, k + behind), self.pool.constant(8, u128::from(letter)));
                let same = self.pool.eq(have, wanted);
                is_here = self.pool.and(same, is_here);
            }
            let first = self.byte(&text, k);
            let ends = self.pool.eq(first, end);
            let later = self.pool.ite(ends, nothing, answer);
            let here = self.pool.constant(64, u128::from(at + k as u64));
            answer = self.pool.ite(is_here, here, later);
        }
        let answer = self.wide(answer);
        let found = text.values.windows(word.len()).position(|part| part == word);
        self.return_with(cpu, to, found.map_or(0, |k| at + k as u64), Some(answer));
        true
    }

    /// A call that writes output, if it need not be followed: nobody reads what it writes again, and
    /// what it tells its caller is known.
    pub(super) fn output(
        &mut self,
        cpu: &Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        output: Output,
    ) -> Option<Ignored> {
        let unread = match output.to {
            Target::Descriptor => true,
            Target::Standard => self.has_standard(space),
            Target::Channel => {
                let channel = cpu.get(slots::RDI);
                !cpu.shadow.set().has(slots::RDI) && self.is_standard_channel(space, channel)
            }
            Target::Number(slot) => matches!(cpu.get(slot), 1 | 2) && !cpu.shadow.set().has(slot),
            Target::Stream(slot) => self.is_standard(cpu.get(slot)) && !cpu.shadow.set().has(slot),
        };
        if !unread || !self.quiet {
            return None;
        }
        let to = return_address(cpu, space)?;
        let answer = match output.answer {
            Answer::Success => None,
            Answer::Count if self.is_answer_read(space, code, to) => return None,
            Answer::Count => None,
            Answer::Same(slot) => cpu.shadow.get(slot),
            Answer::Character(slot) => cpu.shadow.get(slot).map(|word| {
                let low = self.pool.extract(7, 0, word.term());
                self.wide(low)
            }),
        };
        Some(Ignored { to, above: cpu.get(slots::RSP), answer })
    }

    fn byte(&mut self, side: &Side, k: usize) -> Term {
        match side.terms[k] {
            Some(term) => term,
            None => self.pool.constant(8, u128::from(side.values[k])),
        }
    }

    fn sides(
        &mut self,
        space: &mut AddressSpace,
        sides: [u64; 2],
        length: u64,
        folded: bool,
    ) -> Option<[Side; 2]> {
        let lower: Vec<u64> =
            (0..=255u8).map(|byte| u64::from(byte.to_ascii_lowercase())).collect();
        let table = folded.then(|| self.pool.add_table(8, lower));
        let mut read = |at: u64| {
            let mut values = vec![0; length as usize];
            space.read(at, &mut values).ok()?;
            let mut terms: Vec<Option<Term>> =
                (0..length).map(|k| self.read_term(space, at.wrapping_add(k), 1)).collect();
            if let Some(table) = table {
                values.iter_mut().for_each(|value| *value = value.to_ascii_lowercase());
                for term in terms.iter_mut().flatten() {
                    *term = self.pool.table(table, *term);
                }
            }
            Some(Side { values, terms })
        };
        Some([read(sides[0])?, read(sides[1])?])
    }
}

/// How many bytes decide a comparison, whatever the marked ones are. A string that does not depend
/// on the input ends it for both; where both do, there is no telling.
fn extent(space: &mut AddressSpace, sides: [u64; 2], how: Comparison, limit: u64) -> Option<u64> {
    if !how.terminated {
        return (limit <= MOST_COMPARED).then_some(limit);
    }
    let most = limit.min(MOST_COMPARED);
    let mut ends = sides.iter().filter_map(|&at| {
        let text = space.read_string(at, most as usize).ok()?;
        let length = (text.len() as u64 + 1).min(most);
        (!space.marked(at, length)).then_some(length)
    });
    ends.next()
}
