//! A program's run, on values and on terms at once: one definition of a program gives both.
//!
//! A program is a function that takes a [`Run`], computes with it, and asks it about every branch.
//! A run without a pool is concrete: values alone, at full speed. A run with one builds the term of
//! every value beside it, and can be halted before its n-th test, which is all that an execution
//! needs: it is run again from the start for every step, since the programs here are short.
//!
//! What always holds: under the run's own input, every term has the value that stands beside it.
//! Nothing here can print a value. This file must not know what a search does with a test.

use std::collections::BTreeMap;

use stunt_path::{Junction, Node, Pin, Place, Test, TestKind};
use stunt_terms::{Pool, Term};

/// Bits, as a number and as a term.
#[derive(Clone, Copy)]
pub struct Value {
    width: u8,
    number: u64,
    term: Option<Term>,
}

/// Something that holds or does not.
#[derive(Clone, Copy)]
pub struct Truth {
    holds: bool,
    term: Option<Term>,
}

/// The run was halted before a test.
pub struct Halt;

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In the failure.
    Fails,
    /// Well.
    Well,
}

/// What a program gives: an end, unless it was halted.
pub type Outcome = Result<End, Halt>;

/// The tests that a run made, by place, round and outcome: runs with the same ones took one path.
pub type Route = Vec<(u64, u64)>;

/// A run under way.
pub struct Run<'a> {
    input: &'a [u8],
    pool: Option<&'a mut Pool>,
    /// How many tests are made before it is halted.
    until: usize,
    rounds: BTreeMap<u64, u64>,
    route: Route,
    halted: Option<Junction>,
}

impl<'a> Run<'a> {
    /// On values alone, to the end.
    pub fn concrete(input: &'a [u8]) -> Self {
        Self::new(input, None, usize::MAX)
    }

    /// On terms, too; halted when so many tests were made.
    pub fn symbolic(input: &'a [u8], pool: &'a mut Pool, until: usize) -> Self {
        Self::new(input, Some(pool), until)
    }

    fn new(input: &'a [u8], pool: Option<&'a mut Pool>, until: usize) -> Self {
        Self { input, pool, until, rounds: BTreeMap::new(), route: Vec::new(), halted: None }
    }

    /// The tests made so far.
    pub fn route(self) -> Route {
        self.route
    }

    /// The test that it was halted before.
    pub fn halted(&self) -> Option<Junction> {
        self.halted
    }

    /// How many bytes the input has.
    pub fn len(&self) -> usize {
        self.input.len()
    }

    /// Whether the input has no byte.
    pub fn is_empty(&self) -> bool {
        self.input.is_empty()
    }

    /// A byte of the input; zero past its end.
    pub fn byte(&mut self, offset: usize) -> Value {
        let number = u64::from(self.input.get(offset).copied().unwrap_or(0));
        let term = self.pool.as_deref_mut().map(|pool| pool.input(0, offset as u32));
        Value { width: 8, number, term }
    }

    /// A number.
    pub fn number(&mut self, width: u8, number: u64) -> Value {
        let term = self.pool.as_deref_mut().map(|pool| pool.constant(width, u128::from(number)));
        Value { width, number, term }
    }

    fn both(
        &mut self,
        (a, b): (Value, Value),
        number: u64,
        build: fn(&mut Pool, Term, Term) -> Term,
    ) -> Value {
        debug_assert_eq!(a.width, b.width);
        let number = number & (u64::MAX >> (64 - a.width));
        let term = match (self.pool.as_deref_mut(), a.term, b.term) {
            (Some(pool), Some(a), Some(b)) => Some(build(pool, a, b)),
            _ => None,
        };
        Value { width: a.width, number, term }
    }

    /// The sum, cut to the width.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.both((a, b), a.number.wrapping_add(b.number), Pool::add)
    }

    /// The product, cut to the width.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.both((a, b), a.number.wrapping_mul(b.number), Pool::mul)
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.both((a, b), a.number ^ b.number, Pool::xor)
    }

    /// Bits that both have.
    pub fn mask(&mut self, a: Value, bits: u64) -> Value {
        let bits = self.number(a.width, bits);
        self.both((a, bits), a.number & bits.number, Pool::and)
    }

    /// With these bits set.
    pub fn with_bits(&mut self, a: Value, bits: u64) -> Value {
        let bits = self.number(a.width, bits);
        self.both((a, bits), a.number | bits.number, Pool::or)
    }

    /// More by a number, cut to the width.
    pub fn plus(&mut self, a: Value, number: u64) -> Value {
        let number = self.number(a.width, number);
        self.add(a, number)
    }

    /// A digit's value.
    pub fn digit(&mut self, a: Value) -> Value {
        self.plus(a, 0x100 - u64::from(b'0'))
    }

    /// The entry of a table, zero past its end.
    pub fn entry(&mut self, table: &[u8], index: Value) -> Value {
        let number = usize::try_from(index.number).ok().and_then(|at| table.get(at)).copied();
        let term = match (self.pool.as_deref_mut(), index.term) {
            (Some(pool), Some(index)) => {
                let entries: Vec<u64> = table.iter().map(|&entry| u64::from(entry)).collect();
                let table = pool.add_table(8, entries);
                Some(pool.table(table, index))
            }
            _ => None,
        };
        Value { width: 8, number: u64::from(number.unwrap_or(0)), term }
    }

    fn compare(
        &mut self,
        (a, b): (Value, Value),
        holds: bool,
        build: fn(&mut Pool, Term, Term) -> Term,
    ) -> Truth {
        let term = match (self.pool.as_deref_mut(), a.term, b.term) {
            (Some(pool), Some(a), Some(b)) => Some(build(pool, a, b)),
            _ => None,
        };
        Truth { holds, term }
    }

    /// Whether both are the same.
    pub fn same(&mut self, a: Value, b: Value) -> Truth {
        self.compare((a, b), a.number == b.number, Pool::eq)
    }

    /// Whether one is less than the other.
    pub fn less(&mut self, a: Value, b: Value) -> Truth {
        self.compare((a, b), a.number < b.number, Pool::ult)
    }

    /// Whether it is within bounds, both included.
    pub fn within(&mut self, a: Value, low: u64, high: u64) -> Truth {
        let (low, high) = (self.number(a.width, low), self.number(a.width, high));
        let above = self.compare((low, a), low.number <= a.number, Pool::ule);
        let below = self.compare((a, high), a.number <= high.number, Pool::ule);
        let term = match (self.pool.as_deref_mut(), above.term, below.term) {
            (Some(pool), Some(above), Some(below)) => Some(pool.and(above, below)),
            _ => None,
        };
        Truth { holds: above.holds && below.holds, term }
    }

    /// Whether it is one of these.
    pub fn among(&mut self, a: Value, values: &[u8]) -> Truth {
        let mut any = Truth { holds: false, term: None };
        if let Some(pool) = self.pool.as_deref_mut() {
            any.term = Some(pool.boolean(false));
        }
        let mut rest = values;
        while let Some(&first) = rest.first() {
            let run =
                (0..rest.len()).take_while(|&at| usize::from(rest[at]) == usize::from(first) + at);
            let length = run.count();
            let one = self.within(a, u64::from(first), u64::from(rest[length - 1]));
            let term = match (self.pool.as_deref_mut(), any.term, one.term) {
                (Some(pool), Some(any), Some(one)) => Some(pool.or(any, one)),
                _ => None,
            };
            any = Truth { holds: any.holds || one.holds, term };
            rest = &rest[length..];
        }
        any
    }

    /// A branch.
    ///
    /// # Errors
    /// The run is halted here.
    pub fn test(&mut self, place: u64, truth: Truth) -> Result<bool, Halt> {
        let term = match (self.pool.as_deref_mut(), truth.term) {
            (Some(pool), Some(term)) if truth.holds => Some((term, pool.as_const(term))),
            (Some(pool), Some(term)) => Some((pool.not(term), pool.as_const(term))),
            _ => None,
        };
        // What does not depend on the input is no test.
        if !matches!(term, Some((_, Some(_)))) {
            let condition = term.map(|(term, _)| term);
            self.pass(place, u64::from(truth.holds), condition, TestKind::Branch)?;
        }
        Ok(truth.holds)
    }

    /// A value fixed to what it is.
    ///
    /// # Errors
    /// The run is halted here.
    pub fn pin(&mut self, place: u64, a: Value) -> Result<u64, Halt> {
        let own = self.number(a.width, a.number);
        let condition = self.same(a, own).term;
        self.pass(place, a.number, condition, TestKind::Pin(Pin::StoreAddress))?;
        Ok(a.number)
    }

    fn pass(
        &mut self,
        place: u64,
        outcome: u64,
        condition: Option<Term>,
        kind: TestKind,
    ) -> Result<(), Halt> {
        let round = self.rounds.entry(place).or_default();
        let node = Node { place: Place(place * 1_000 + *round), outcome };
        *round += 1;
        if let Some(condition) = condition
            && self.route.len() == self.until
        {
            let open = !matches!(kind, TestKind::Pin(_));
            let test = Test { condition, address: place, kind };
            self.halted = Some(Junction { node, test, open });
            return Err(Halt);
        }
        self.route.push((node.place.0, outcome));
        Ok(())
    }

    /// Whether a byte has a value: a branch.
    ///
    /// # Errors
    /// The run is halted here.
    pub fn is(&mut self, place: u64, a: Value, value: u8) -> Result<bool, Halt> {
        let value = self.number(a.width, u64::from(value));
        let same = self.same(a, value);
        self.test(place, same)
    }

    /// Whether a value is below a number: a branch.
    ///
    /// # Errors
    /// The run is halted here.
    pub fn below(&mut self, place: u64, a: Value, number: u64) -> Result<bool, Halt> {
        let number = self.number(a.width, number);
        let less = self.less(a, number);
        self.test(place, less)
    }

    /// A letter in lower case, by a branch.
    ///
    /// # Errors
    /// The run is halted here.
    pub fn lower(&mut self, place: u64, a: Value) -> Result<Value, Halt> {
        let upper = self.within(a, u64::from(b'A'), u64::from(b'Z'));
        Ok(if self.test(place, upper)? { self.plus(a, 0x20) } else { a })
    }
}
