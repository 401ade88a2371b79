//! The running leak of a condition, kept up to date literal by literal.
//!
//! Components share no byte, so their leaks add up, and a new literal changes only the components
//! that it touches. The total is kept in fixed point: taking a figure out again leaves no trace of
//! it, however long a search goes on. A [`Ledger`] is cheap to clone; what is expensive, counting,
//! is done by [`Accounts`], which all ledgers over one pool share.
//!
//! A figure is exact if a stage counted the component, and otherwise a bound that holds because the
//! component is satisfiable. Whoever extends a condition knows an input that satisfies it; a
//! ledger does not look for one.

use std::sync::Arc;

use imbl::{GenericHashMap, shared_ptr::DefaultSharedPtr};
use num_bigint::BigUint;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use stunt_models::{Budget, ByteSet, Component, Condition, Counter, Masks, Space};
use stunt_terms::{Pool, Term};

use crate::bits::Bits;
use crate::fraction::Fraction;
use crate::rounding::log2_ratio;
use crate::summary::{Limits, bound};

/// The memo of figures is emptied when its components have this many bytes and literals in all.
const MOST_REMEMBERED: usize = 1 << 22;

/// What one component reveals.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The bits; exact or a bound.
    pub bits: Bits,
    /// How many bytes the component has.
    pub bytes: usize,
    /// How many values of those bytes satisfy it, if that is known.
    pub count: Option<Arc<BigUint>>,
}

impl Figure {
    fn fraction(&self) -> Fraction {
        match &self.count {
            Some(count) => Fraction::exact((**count).clone(), 8 * self.bytes as u64),
            None => Fraction::AtLeast { loss: self.bits.upper() },
        }
    }
}

/// Counts components and remembers the figures. Belongs to one pool.
pub struct Accounts {
    /// What is known of terms over one byte.
    pub masks: Masks,
    /// Counts components.
    pub counter: Counter,
    /// The limits for bounds, where no count is found.
    pub limits: Limits,
    figures: FxHashMap<u128, (Arc<Component>, Figure)>,
    /// How many bytes and literals the components of the figures have.
    remembered: usize,
}

impl Accounts {
    /// Accounts that count within the budget.
    pub fn new(budget: Budget) -> Accounts {
        Accounts {
            masks: Masks::new(),
            counter: Counter::new(budget),
            limits: Limits::default(),
            figures: FxHashMap::default(),
            remembered: 0,
        }
    }

    /// The solutions of a component, if a stage finds them.
    pub fn space(&mut self, pool: &Pool, component: &Component) -> Option<Arc<dyn Space>> {
        self.counter.space(pool, component)
    }

    /// What a component reveals.
    pub fn figure(&mut self, pool: &Pool, component: &Arc<Component>) -> Figure {
        if let Some((_, domain)) = component.single() {
            let count = Some(Arc::new(BigUint::from(domain.len())));
            return Figure { bits: Bits::Exact(byte_loss(domain)), bytes: 1, count };
        }
        let key = component.fingerprint();
        if let Some((known, figure)) = self.figures.get(&key)
            && known.same_problem(component)
        {
            return figure.clone();
        }
        let figure = self.work_out(pool, component);
        self.remembered += component.size();
        if self.remembered > MOST_REMEMBERED {
            self.figures.clear();
            self.remembered = component.size();
        }
        self.figures.insert(key, (Arc::clone(component), figure.clone()));
        figure
    }

    fn work_out(&mut self, pool: &Pool, component: &Component) -> Figure {
        let bytes = component.len();
        match self.counter.space(pool, component) {
            Some(space) => {
                let all = BigUint::from(1u32) << (8 * bytes);
                let bits = Bits::Exact(log2_ratio(&all, space.count()));
                Figure { bits, bytes, count: Some(Arc::new(space.count().clone())) }
            }
            None => {
                let problem = component.as_problem();
                let bits = Bits::AtMost(bound(&problem.view(pool), &self.limits));
                Figure { bits, bytes, count: None }
            }
        }
    }
}

impl Default for Accounts {
    fn default() -> Accounts {
        Accounts::new(Budget::default())
    }
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Accounts({} figures)", self.figures.len())
    }
}

/// What a byte with this domain reveals: `log2(256 / n)`.
pub(crate) fn byte_loss(domain: ByteSet) -> f64 {
    let missing = f64::from(256 - domain.len()) / 256.0;
    match domain.len() {
        0 => f64::INFINITY,
        1..=127 => 8.0 - f64::from(domain.len()).log2(),
        _ => -(-missing).ln_1p() / std::f64::consts::LN_2,
    }
}

/// A number of bits in units of 2^-64: sums are exact.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Fixed(i128);

impl Fixed {
    const UNIT: f64 = (1u128 << 64) as f64;

    fn nearest(bits: f64) -> Fixed {
        Fixed((bits * Fixed::UNIT).round() as i128)
    }

    fn upward(bits: f64) -> Fixed {
        Fixed((bits * Fixed::UNIT).ceil() as i128)
    }

    fn get(self) -> f64 {
        self.0 as f64 / Fixed::UNIT
    }
}

/// Sums over components, from which any figure can be taken out again.
#[derive(Clone, Copy, Default)]
struct Totals {
    exact: Fixed,
    at_most: Fixed,
    /// How many components have a bound only.
    bounded: usize,
    /// How many components have no solution.
    impossible: usize,
}

impl Totals {
    fn change(&mut self, bits: Bits, sign: i128) {
        let step = |count: &mut usize| {
            *count = if sign > 0 { *count + 1 } else { *count - 1 };
        };
        match bits {
            Bits::Exact(f64::INFINITY) => step(&mut self.impossible),
            Bits::Exact(value) => self.exact.0 += sign * Fixed::nearest(value).0,
            Bits::AtMost(value) | Bits::Estimate { at_most: value, .. } => {
                self.at_most.0 += sign * Fixed::upward(value).0;
                step(&mut self.bounded);
            }
        }
    }

    fn bits(self) -> Bits {
        if self.impossible > 0 {
            Bits::Exact(f64::INFINITY)
        } else if self.bounded > 0 {
            Bits::AtMost(Fixed(self.exact.0 + self.at_most.0).get())
        } else {
            Bits::Exact(self.exact.get())
        }
    }
}

/// Figures by their component's fingerprint.
type Figures = GenericHashMap<u128, Bits, FxBuildHasher, DefaultSharedPtr>;

/// A condition with its leak.
#[derive(Clone, Default)]
pub struct Ledger {
    condition: Condition,
    totals: Totals,
    /// Of components with more than one byte that are in the totals.
    figures: Figures,
    /// Components that are not in the totals yet.
    pending: SmallVec<[Arc<Component>; 2]>,
}

impl Ledger {
    /// The ledger of the condition that always holds.
    pub fn new() -> Ledger {
        Ledger::default()
    }

    /// The condition.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// Adds a literal and gives the total.
    pub fn add(&mut self, pool: &Pool, accounts: &mut Accounts, literal: Term) -> Bits {
        self.push(pool, accounts, literal);
        self.total(pool, accounts)
    }

    /// Adds a literal without counting anything yet: for many literals of which only the last
    /// total is wanted.
    pub fn push(&mut self, pool: &Pool, accounts: &mut Accounts, literal: Term) {
        let change = self.condition.push(pool, &mut accounts.masks, literal);
        for component in change.removed {
            if let Some((_, domain)) = component.single() {
                self.totals.change(Bits::Exact(byte_loss(domain)), -1);
            } else if let Some(at) = self.pending.iter().position(|p| Arc::ptr_eq(p, &component)) {
                self.pending.swap_remove(at);
            } else {
                let bits = self.figures.remove(&component.fingerprint());
                self.totals.change(bits.expect("a component is pending or in the totals"), -1);
            }
        }
        for component in change.added {
            match component.single() {
                Some((_, domain)) => self.totals.change(Bits::Exact(byte_loss(domain)), 1),
                None => self.pending.push(component),
            }
        }
    }

    /// The leak of the whole condition: infinite if nothing satisfies it.
    pub fn total(&mut self, pool: &Pool, accounts: &mut Accounts) -> Bits {
        for component in std::mem::take(&mut self.pending) {
            let bits = accounts.figure(pool, &component).bits;
            self.totals.change(bits, 1);
            self.figures.insert(component.fingerprint(), bits);
        }
        if self.condition.is_contradiction() {
            return Bits::Exact(f64::INFINITY);
        }
        self.totals.bits()
    }

    /// The part of all inputs that satisfy the condition, as a rational number if every component
    /// was counted.
    pub fn fraction(&self, pool: &Pool, accounts: &mut Accounts) -> Fraction {
        if self.condition.is_contradiction() {
            return Fraction::empty();
        }
        let mut parts: Vec<Fraction> = Vec::with_capacity(self.condition.component_count());
        for component in self.condition.components() {
            parts.push(accounts.figure(pool, component).fraction());
        }
        // In pairs, so that large numbers meet large ones.
        while parts.len() > 1 {
            parts = parts
                .chunks(2)
                .map(|pair| pair.iter().skip(1).fold(pair[0].clone(), |a, b| a.and_independent(b)))
                .collect();
        }
        parts.pop().unwrap_or_else(Fraction::whole)
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ledger({:?})", self.condition)
    }
}
