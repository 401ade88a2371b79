//! Equations turned round until bytes stand alone on one side: `x + b = t` says `b = t - x`.
//!
//! All steps are modulo a power of two, which is what makes them one to one: sums, differences, exclusive
//! ors, complements. Zeros in front of the bytes are left out where the other side is never too large for them.
//!
//! What always holds: a solution of the turned equation is one of the equation and the other way round. The
//! value does not depend on the bytes that it is for.

use rustc_hash::FxHashMap;
use stunt_terms::{InputByte, Op, Pool, Program, Term, mask};

/// So many places of an equation are looked at: a sum over a long record has many.
const MOST_PLACES: usize = 1 << 12;
/// So many bytes or rows of bytes are tried.
const MOST_ROWS: usize = 64;

/// What bytes are equal to: a term, and what is done to its value.
pub(super) struct Value {
    /// The term, then one for each step that has one.
    terms: Vec<Term>,
    steps: Vec<Step>,
    /// In bits.
    width: u8,
}

/// What is done to the value of the other side.
#[derive(Clone, Copy)]
enum Step {
    Plus(Term),
    Minus(Term),
    /// It is taken away from a term.
    From(Term),
    Xor(Term),
    Not,
    Neg,
}

impl Step {
    fn term(self) -> Option<Term> {
        match self {
            Step::Plus(term) | Step::Minus(term) | Step::From(term) | Step::Xor(term) => Some(term),
            Step::Not | Step::Neg => None,
        }
    }
}

impl Value {
    /// The bytes that it depends on, in order.
    pub(super) fn support(&self, pool: &Pool) -> Vec<InputByte> {
        if let &[term] = &self.terms[..] {
            return pool.support(term).iter().collect();
        }
        let all = self.terms.iter().flat_map(|&term| pool.support(term).iter());
        let mut all: Vec<InputByte> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The term, if it is nothing else.
    pub(super) fn plain(&self) -> Option<Term> {
        self.steps.is_empty().then_some(self.terms[0])
    }

    /// Works out what the value is made of.
    pub(super) fn program(&self, pool: &Pool, inputs: &[InputByte]) -> Program {
        Program::compile(pool, &self.terms, inputs)
    }

    /// The value, from what the program says.
    pub(super) fn of(&self, worked_out: &[u128]) -> u128 {
        let (mut value, mut terms) = (worked_out[0], worked_out[1..].iter());
        let mut next = || terms.next().copied().unwrap_or_default();
        for step in &self.steps {
            value = match step {
                Step::Plus(_) => value.wrapping_add(next()),
                Step::Minus(_) => value.wrapping_sub(next()),
                Step::From(_) => next().wrapping_sub(value),
                Step::Xor(_) => value ^ next(),
                Step::Not => !value,
                Step::Neg => value.wrapping_neg(),
            };
        }
        value & mask(self.width)
    }
}

/// A place in the equation: what stands there is equal to the other side after some steps.
struct Place {
    term: Term,
    /// Modulo so many bits.
    width: u8,
    /// The step that led here, and the place that it was made from.
    before: Option<(Step, usize)>,
}

/// Solves `side = other` for bytes in a row that are alone: the first for which `accept` has an answer.
pub(super) fn solved_for_bytes<F>(
    pool: &Pool,
    side: Term,
    other: Term,
    is_alone: &dyn Fn(InputByte) -> bool,
    accept: &mut dyn FnMut(Vec<InputByte>, Value) -> Option<F>,
) -> Option<F> {
    let mut places = vec![Place { term: side, width: pool.width(side), before: None }];
    let (mut at, mut rows) = (0, 0);
    while at < places.len() && places.len() < MOST_PLACES && rows < MOST_ROWS {
        let Place { term, width, before } = places[at];
        let from = |step| Some((step, at));
        match pool.op(term) {
            Op::Byte(_) | Op::Concat(..) => {
                if let Some(bytes) = bytes_in_a_row(pool, term)
                    && pool.width(term) == width
                    && bytes.iter().all(|&byte| is_alone(byte))
                {
                    rows += 1;
                    let value = value(&places, at, other);
                    let depends = |&byte: &InputByte| {
                        value.terms.iter().any(|&term| pool.support(term).contains(byte))
                    };
                    if !bytes.iter().any(depends)
                        && let Some(found) = accept(bytes, value)
                    {
                        return Some(found);
                    }
                }
            }
            Op::ZeroExtend(inner) => {
                let narrow = pool.width(inner);
                let is_never_more = || before.is_none() && most(pool, other) <= mask(narrow);
                if narrow >= width || is_never_more() {
                    places.push(Place { term: inner, width: width.min(narrow), before });
                }
            }
            Op::Extract { lo: 0, arg } => places.push(Place { term: arg, width, before }),
            Op::Add(a, b) => {
                places.push(Place { term: a, width, before: from(Step::Minus(b)) });
                places.push(Place { term: b, width, before: from(Step::Minus(a)) });
            }
            Op::Sub(a, b) => {
                places.push(Place { term: a, width, before: from(Step::Plus(b)) });
                places.push(Place { term: b, width, before: from(Step::From(a)) });
            }
            Op::Xor(a, b) => {
                places.push(Place { term: a, width, before: from(Step::Xor(b)) });
                places.push(Place { term: b, width, before: from(Step::Xor(a)) });
            }
            Op::Not(a) => places.push(Place { term: a, width, before: from(Step::Not) }),
            Op::Neg(a) => places.push(Place { term: a, width, before: from(Step::Neg) }),
            _ => {}
        }
        at += 1;
    }
    None
}

/// What stands at a place is equal to this.
fn value(places: &[Place], at: usize, other: Term) -> Value {
    let mut steps = Vec::new();
    let mut before = places[at].before;
    while let Some((step, place)) = before {
        steps.push(step);
        before = places[place].before;
    }
    steps.reverse();
    let terms = std::iter::once(other).chain(steps.iter().filter_map(|step| step.term()));
    Value { terms: terms.collect(), steps, width: places[at].width }
}

/// The different bytes of which a term is the concatenation, the highest first.
fn bytes_in_a_row(pool: &Pool, term: Term) -> Option<Vec<InputByte>> {
    let mut bytes = Vec::new();
    let mut rest = term;
    loop {
        let (first, more) = match pool.op(rest) {
            Op::Concat(first, more) => (first, Some(more)),
            _ => (rest, None),
        };
        let Op::Byte(byte) = pool.op(first) else { return None };
        if bytes.contains(&byte) {
            return None;
        }
        bytes.push(byte);
        match more {
            Some(more) => rest = more,
            None => return Some(bytes),
        }
    }
}

/// A number that a term is never above, by its shape.
fn most(pool: &Pool, term: Term) -> u128 {
    let mut known: FxHashMap<Term, u128> = FxHashMap::default();
    let mut open = vec![term];
    while let Some(&next) = open.last() {
        if known.contains_key(&next) {
            open.pop();
            continue;
        }
        let missing = pool.operands(next).find(|operand| !known.contains_key(operand));
        if let Some(missing) = missing {
            open.push(missing);
            continue;
        }
        let all = mask(pool.width(next));
        let of = |term: Term| known[&term];
        let most = match pool.op(next) {
            Op::Const(value) => value,
            Op::And(a, b) => of(a).min(of(b)),
            Op::Or(a, b) | Op::Xor(a, b) => mask((128 - (of(a) | of(b)).leading_zeros()) as u8),
            Op::Add(a, b) => of(a).saturating_add(of(b)),
            Op::Mul(a, b) => of(a).saturating_mul(of(b)),
            Op::URem(a, _) | Op::LShr(a, _) | Op::ZeroExtend(a) => of(a),
            Op::Extract { lo: 0, arg } => of(arg),
            Op::Concat(a, b) => {
                let width = pool.width(b);
                of(a) << width | mask(width)
            }
            Op::Ite(_, a, b) => of(a).max(of(b)),
            Op::Table(table, _) => {
                let entries = &pool.table_data(table).entries;
                entries.iter().copied().max().map_or(0, u128::from)
            }
            _ => all,
        };
        // What is more than all bits may have come round.
        known.insert(next, if most > all { all } else { most });
        open.pop();
    }
    known[&term]
}
