//! Layer 3b: literals over two bytes as relations.
//!
//! A literal over two bytes allows, for each value of one byte, a set of values of the other. The
//! relation is worked out once per literal and kept. Domains are narrowed until every value of a
//! byte has a partner in every relation (arc consistency). That decides parts of two bytes, and
//! parts whose relations form a tree; for the others the narrowed domains are passed on.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use stunt_models::ByteSet;
use stunt_terms::{InputByte, Pool, Term};

use super::product::Bench;
use super::{Outcome, Part};

/// The most relations that are kept, of 8 KiB each.
const MOST_KEPT: usize = 2048;
/// Parts with more literals over two bytes are left to search.
const MOST_LITERALS: usize = 48;
/// A relation has 256 rows of 256 cases, four words each.
const WORDS: usize = 1024;

/// For each value of the lower byte the values of the higher one, as in [`ByteSet::words`].
type Rows = [[u64; 4]; 256];

/// Relations by literal; `None` for a literal that is too large to be tabulated.
#[derive(Default)]
pub(crate) struct Relations {
    known: FxHashMap<Term, Option<Rc<Rows>>>,
}

impl Relations {
    fn of(&mut self, pool: &Pool, bench: &mut Bench, literal: Term) -> Option<Rc<Rows>> {
        if let Some(known) = self.known.get(&literal) {
            return known.clone();
        }
        if self.known.len() >= MOST_KEPT {
            self.known.clear();
        }
        let rows = tabulate(pool, bench, literal).map(Rc::new);
        self.known.insert(literal, rows.clone());
        rows
    }
}

fn tabulate(pool: &Pool, bench: &mut Bench, literal: Term) -> Option<Rows> {
    const COLUMNS: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    let mut bytes = pool.support(literal).iter();
    let (low, high) = (bytes.next()?, bytes.next()?);
    let mut sliced = bench.evaluator(pool, std::iter::once(literal), WORDS)?;
    for bit in 0..8 {
        if let Some(wire) = sliced.input_mut(high, bit) {
            for (i, word) in wire.iter_mut().enumerate() {
                *word = match COLUMNS.get(usize::from(bit)) {
                    Some(&column) => column,
                    None => u64::from((i % 4) >> (bit - 6) & 1 == 1) * u64::MAX,
                };
            }
        }
        if let Some(wire) = sliced.input_mut(low, bit) {
            for (i, word) in wire.iter_mut().enumerate() {
                *word = u64::from((i / 4) >> bit & 1 == 1) * u64::MAX;
            }
        }
    }
    sliced.evaluate_from(0);
    let words: Vec<u64> = sliced.output(0).collect();
    let mut rows = [[0; 4]; 256];
    for (row, words) in rows.iter_mut().zip(words.chunks_exact(4)) {
        row.copy_from_slice(words);
    }
    Some(rows)
}

/// All that is required of two bytes together.
struct Link {
    low: usize,
    high: usize,
    rows: Rc<Rows>,
}

/// Narrows the part's domains, and decides it where that is enough.
pub(crate) fn propagate(
    pool: &Pool,
    relations: &mut Relations,
    bench: &mut Bench,
    part: &mut Part,
) -> Option<Outcome> {
    let over_two = |literal: &Term| pool.support(*literal).len() == 2;
    let count = part.literals.iter().copied().filter(over_two).count();
    if !(1..=MOST_LITERALS).contains(&count) {
        return None;
    }
    let mut links: Vec<Link> = Vec::new();
    let mut complete = count == part.literals.len();
    for literal in part.literals.iter().copied().filter(over_two) {
        let Some(rows) = relations.of(pool, bench, literal) else {
            complete = false;
            continue;
        };
        let mut places = pool.support(literal).iter().map(|byte| place(part, byte));
        let (low, high) = (places.next().flatten()?, places.next().flatten()?);
        match links.iter_mut().find(|link| (link.low, link.high) == (low, high)) {
            None => links.push(Link { low, high, rows }),
            Some(link) => {
                let both = std::array::from_fn(|i| common(link.rows[i], rows[i]));
                link.rows = Rc::new(both);
            }
        }
    }
    if links.is_empty() {
        return None;
    }
    let mut again = true;
    while again {
        again = false;
        for link in &links {
            let old = (part.domains[link.low].1, part.domains[link.high].1);
            let new = narrow(&link.rows, old.0, old.1);
            if new.0.is_empty() || new.1.is_empty() {
                return Some(Outcome::Unsat);
            }
            (part.domains[link.low].1, part.domains[link.high].1) = new;
            again |= new != old && links.len() > 1;
        }
    }
    // A component is connected, so with one link less than bytes the links are a tree.
    (complete && links.len() + 1 == part.domains.len()).then(|| Outcome::Sat(pick(&links, part)))
}

fn place(part: &Part, byte: InputByte) -> Option<usize> {
    part.domains.binary_search_by_key(&byte, |&(byte, _)| byte).ok()
}

fn common(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|i| a[i] & b[i])
}

fn has(words: [u64; 4], value: u8) -> bool {
    words[usize::from(value >> 6)] >> (value & 63) & 1 == 1
}

/// The values that have partners.
fn narrow(rows: &Rows, low: ByteSet, high: ByteSet) -> (ByteSet, ByteSet) {
    let (mut new_low, mut new_high) = (ByteSet::NONE, [0; 4]);
    for value in low.iter() {
        let partners = common(rows[usize::from(value)], high.words());
        if partners != [0; 4] {
            new_low.insert(value);
            new_high = std::array::from_fn(|i| new_high[i] | partners[i]);
        }
    }
    (new_low, if new_high == high.words() { high } else { ByteSet::filter(|v| has(new_high, v)) })
}

/// Values along a tree of links: each byte's value has a partner in each of its links.
fn pick(links: &[Link], part: &Part) -> Vec<(InputByte, u8)> {
    let mut chosen: Vec<Option<u8>> = vec![None; part.domains.len()];
    let mut pending = vec![0];
    chosen[0] = part.domains[0].1.nth(0);
    while let Some(at) = pending.pop() {
        let value = chosen[at].expect("a pending byte has a value");
        for link in links.iter().filter(|link| link.low == at || link.high == at) {
            let other = if link.low == at { link.high } else { link.low };
            if chosen[other].is_some() {
                continue;
            }
            let domain = part.domains[other].1;
            let partners = ByteSet::filter(|v| {
                let (low, high) = if link.low == at { (value, v) } else { (v, value) };
                domain.contains(v) && has(link.rows[usize::from(low)], high)
            });
            chosen[other] = partners.nth(0);
            pending.push(other);
        }
    }
    let values = part.domains.iter().zip(&chosen);
    values.map(|(&(byte, _), value)| (byte, value.expect("a tree reaches all"))).collect()
}
