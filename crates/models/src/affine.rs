//! Conditions that are linear equations over GF(2): checksums by CRC, parities, xor sums, Gray
//! codes, equal fields.
//!
//! What always holds: that a bit is affine is proved from the operators, never guessed from
//! samples. A component is accepted only if its domains are affine and each of its literals is a
//! set of equations, or (for a few of them) excludes one; then count and marginals come from
//! Gaussian elimination, exactly. A sample costs a pass or a few over the equations, so a solver
//! may take one as its model. This stage knows no other way: anything else is declined.

mod excluding;
mod forms;
mod subspace;
mod system;

use std::sync::Arc;

use stunt_circuit::{Algebra, Blaster};
use stunt_terms::{Op, Pool, Table, Term};

use self::excluding::Excluding;
use self::forms::{Form, Forms, OutOfWork, WIDEST_INDEX};
use self::subspace::{Parity, equations};
use self::system::{Equation, Solutions};
use crate::budget::Budget;
use crate::byteset::ByteSet;
use crate::space::{Problem, Space};

/// The most words that elimination may touch.
const MOST_ELIMINATION: usize = 1 << 30;
/// The most words that the equations may take.
const MOST_WORDS: usize = 1 << 24;

/// Literals that exclude: inclusion and exclusion solves two to this many systems.
const MOST_EXCLUSIONS: usize = 4;

/// The solutions, if the literals and the domains are affine.
pub fn solve(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    // Domains first: they are quick to check, and most components are declined for them.
    let of_domain = |domain: &ByteSet| equations(8, domain.iter().map(u32::from));
    let domains: Vec<Vec<Parity>> = problem.domains.iter().map(of_domain).collect::<Option<_>>()?;
    let forms = Forms::new(problem.bytes, operations(budget));
    let mut reader = Reader { pool: problem.pool, blaster: Blaster::new(forms) };
    let mut zeros: Vec<Form> = Vec::new();
    let mut excluded: Vec<Vec<Form>> = Vec::new();
    for &literal in problem.literals {
        match reader.zeros(literal, true).ok()? {
            Some(more) => zeros.extend(more),
            // Not a set of equations; perhaps its negation is one, which is then excluded.
            None => excluded.push(reader.zeros(literal, false).ok()??),
        }
        if excluded.len() > MOST_EXCLUSIONS {
            return None;
        }
    }
    let forms = reader.blaster.algebra;
    if !affordable(&forms, &domains, &zeros, &excluded) {
        return None;
    }
    let mut system = domain_equations(&forms, &domains);
    system.extend(form_equations(&forms, &zeros));
    let bytes = problem.bytes.len();
    if excluded.is_empty() {
        return Some(Arc::new(Solutions::new(bytes, system)));
    }
    let excluded = excluded.iter().map(|zeros| form_equations(&forms, zeros).collect()).collect();
    Some(Arc::new(Excluding::new(bytes, &system, excluded)?))
}

/// Operations on forms are much cheaper than those on diagrams, but they take memory too.
fn operations(budget: &Budget) -> usize {
    budget.node_work.saturating_mul(8).min(1 << 25)
}

/// Whether the systems are small enough to be stored and solved.
fn affordable(
    forms: &Forms,
    domains: &[Vec<Parity>],
    zeros: &[Form],
    excluded: &[Vec<Form>],
) -> bool {
    let words = forms.inputs().div_ceil(64);
    let lengths = domains.iter().map(Vec::len).chain(excluded.iter().map(Vec::len));
    let equations = lengths.sum::<usize>() + zeros.len();
    let stored = equations.saturating_mul(words) << excluded.len();
    let touched = stored.saturating_mul(equations.min(forms.inputs()));
    stored <= MOST_WORDS && touched <= MOST_ELIMINATION
}

fn domain_equations(forms: &Forms, domains: &[Vec<Parity>]) -> Vec<Equation> {
    let words = forms.inputs().div_ceil(64);
    let mut equations = Vec::new();
    for (position, domain) in domains.iter().enumerate() {
        for &(mask, value) in domain {
            let mut row = vec![0; words];
            row[position / 8] = u64::from(mask) << (position % 8 * 8);
            equations.push(Equation { row, value });
        }
    }
    equations
}

/// The equations that say that forms are zero.
fn form_equations(forms: &Forms, zeros: &[Form]) -> impl Iterator<Item = Equation> {
    let rows = forms.rows(zeros).into_iter();
    rows.zip(zeros).map(|(row, form)| Equation { row, value: form.constant() })
}

/// Reads literals as sets of forms that are zero.
struct Reader<'a> {
    pool: &'a Pool,
    blaster: Blaster<Forms>,
}

impl Reader<'_> {
    /// The forms that are all zero exactly if the literal has that truth value, if it is a set of
    /// equations.
    fn zeros(&mut self, literal: Term, truth: bool) -> Result<Option<Vec<Form>>, OutOfWork> {
        let mut zeros = Vec::new();
        let mut pending = vec![(literal, truth)];
        while let Some((term, truth)) = pending.pop() {
            match (self.pool.op(term), truth) {
                (Op::Not(a), _) => pending.push((a, !truth)),
                (Op::And(a, b), true) | (Op::Or(a, b), false) => {
                    pending.push((b, truth));
                    pending.push((a, truth));
                }
                _ => {
                    let more = self.atom(term, truth)?;
                    match more {
                        Some(more) if more.iter().all(|form| form.is_affine()) => {
                            zeros.extend(more);
                        }
                        _ => return Ok(None),
                    }
                }
            }
        }
        Ok(Some(zeros))
    }

    /// The same for a literal that is no conjunction; the forms need not be affine.
    fn atom(&mut self, atom: Term, truth: bool) -> Result<Option<Vec<Form>>, OutOfWork> {
        match self.pool.op(atom) {
            Op::Eq(a, b) => {
                let differences = self.differences(a, b)?;
                let zeros = if truth { Some(differences) } else { self.some_is_set(&differences) };
                if zeros.as_ref().is_some_and(|zeros| zeros.iter().all(|zero| zero.is_affine())) {
                    return Ok(zeros);
                }
                match (self.pool.op(a), self.pool.as_const(b)) {
                    (Op::Table(table, index), Some(value)) => {
                        self.table_read(self.pool.table_data(table), index, value, truth)
                    }
                    _ => Ok(zeros),
                }
            }
            Op::Ult(a, b) => match self.pool.as_const(b) {
                Some(bound) => self.interval(atom, (a, 0, bound), truth),
                None => self.bit(atom, truth),
            },
            Op::Slt(a, b) => match self.pool.as_const(b) {
                Some(bound) => {
                    // From the least number on, as unsigned ones.
                    let least = 1 << (self.pool.width(a) - 1);
                    self.interval(atom, (a, least, bound ^ least), truth)
                }
                None => self.bit(atom, truth),
            },
            _ => self.bit(atom, truth),
        }
    }

    /// A term within an interval (its start, its length), or outside of it. An interval whose
    /// length is a power of two, at a multiple of it, is the numbers with given high bits; any
    /// other is left to the operators.
    fn interval(
        &mut self,
        atom: Term,
        (a, start, length): (Term, u128, u128),
        truth: bool,
    ) -> Result<Option<Vec<Form>>, OutOfWork> {
        let all = self.pool.sort(a).mask();
        // `x + c` is within an interval if `x` is in the one that starts by `c` earlier.
        let (x, offset) = match self.pool.op(a) {
            Op::Add(x, c) => self.pool.as_const(c).map_or((a, 0), |c| (x, c)),
            _ => (a, 0),
        };
        let start = start.wrapping_sub(offset) & all;
        let (start, length) = if truth {
            (start, length)
        } else {
            (start.wrapping_add(length) & all, (all - length).wrapping_add(1))
        };
        if !length.is_power_of_two() || start % length != 0 {
            return self.bit(atom, truth);
        }
        let bits = self.blaster.bits(self.pool, x)?;
        let algebra = &mut self.blaster.algebra;
        let high = bits.iter().enumerate().skip(length.trailing_zeros() as usize);
        let zero = |(i, bit): (usize, &Form)| {
            if start >> i & 1 == 1 { algebra.not(bit) } else { *bit }
        };
        Ok(Some(high.map(zero).collect()))
    }

    /// Whether a table read gives `value`, or not, as equations of its index: the places where it
    /// does may be an affine subspace although the table is not an affine function.
    fn table_read(
        &mut self,
        table: &Table,
        index: Term,
        value: u128,
        truth: bool,
    ) -> Result<Option<Vec<Form>>, OutOfWork> {
        let bits = self.blaster.bits(self.pool, index)?;
        let algebra = &mut self.blaster.algebra;
        let mut base = 0u128;
        let mut symbolic: Vec<(usize, Form)> = Vec::new();
        for (i, bit) in bits.iter().enumerate() {
            match algebra.known(bit) {
                Some(known) => base |= u128::from(known) << i,
                None => symbolic.push((i, *bit)),
            }
        }
        if symbolic.len() > WIDEST_INDEX {
            return Ok(None);
        }
        let read = |choice: u32| {
            let places = symbolic.iter().enumerate();
            let at = places.fold(base, |at, (j, &(i, _))| at | u128::from(choice >> j & 1) << i);
            u128::from(table.read(at))
        };
        let members =
            (0..1u32 << symbolic.len()).filter(|&choice| (read(choice) == value) == truth);
        let Some(equations) = equations(symbolic.len() as u32, members) else {
            return Ok(None);
        };
        let mut zeros = Vec::with_capacity(equations.len());
        for (mask, parity) in equations {
            let mut sum = algebra.constant(parity);
            for (_, &(_, form)) in symbolic.iter().enumerate().filter(|(j, _)| mask >> j & 1 == 1) {
                sum = algebra.xor(&sum, &form)?;
            }
            zeros.push(sum);
        }
        Ok(Some(zeros))
    }

    fn bit(&mut self, atom: Term, truth: bool) -> Result<Option<Vec<Form>>, OutOfWork> {
        let bit = self.blaster.truth(self.pool, atom)?;
        Ok(Some(vec![if truth { self.blaster.algebra.not(&bit) } else { bit }]))
    }

    /// The bits in which two terms differ.
    fn differences(&mut self, a: Term, b: Term) -> Result<Vec<Form>, OutOfWork> {
        let a = self.blaster.bits(self.pool, a)?;
        let b = self.blaster.bits(self.pool, b)?;
        a.iter().zip(b.iter()).map(|(a, b)| self.blaster.algebra.xor(a, b)).collect()
    }

    /// That some bit is set is one equation if it can be one bit only.
    fn some_is_set(&mut self, bits: &[Form]) -> Option<Vec<Form>> {
        let algebra = &mut self.blaster.algebra;
        if bits.iter().any(|bit| algebra.known(bit) == Some(true)) {
            return Some(Vec::new());
        }
        let mut open = bits.iter().filter(|bit| algebra.known(bit).is_none());
        match (open.next(), open.next()) {
            (None, _) => Some(vec![algebra.constant(true)]),
            (Some(bit), None) => Some(vec![algebra.not(bit)]),
            (Some(_), Some(_)) => None,
        }
    }
}
