//! Conditions as binary decision diagrams over the bits of the input: fields with arithmetic and
//! comparisons, text by tables, anything whose diagram is small in some order of the bits.
//!
//! What always holds: count, samples and marginals are exact. Several orders are tried, first with
//! little work each, then with more; the order that came furthest gets what is left. A diagram
//! that would be too large is no answer: the stage declines.

mod algebra;
mod encoding;
mod graph;
mod order;

use std::sync::Arc;

use biodivine_lib_bdd::Bdd;
use stunt_circuit::{Algebra, Blaster};
use stunt_terms::Term;

use self::algebra::{Bit, Diagrams, TooLarge};
use self::encoding::Code;
use self::graph::Graph;
use self::order::{Order, orders};
use crate::budget::Budget;
use crate::space::{Problem, Space};

/// The library numbers variables with 16 bits.
const MOST_VARIABLES: usize = 60_000;

/// The solutions, if their diagram is small enough in some order.
pub fn solve(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    let codes: Vec<Code> = problem.domains.iter().map(Code::new).collect();
    if codes.iter().map(|code| code.kept().count()).sum::<usize>() > MOST_VARIABLES {
        return None;
    }
    let orders = orders(problem, &codes);
    let (bdd, order) = search(problem, budget, &codes, orders)?;
    Some(Arc::new(Graph::new(bdd, order, codes)))
}

/// Tries the orders; gives the diagram with the first that suffices.
fn search(
    problem: &Problem<'_>,
    budget: &Budget,
    codes: &[Code],
    mut orders: Vec<Order>,
) -> Option<(Bdd, Order)> {
    let mut left = budget.node_work;
    // An eighth of all work is for a first look at every order, half for a second one.
    for share in [8, 2] {
        let mut reached: Vec<(usize, Order)> = Vec::with_capacity(orders.len());
        let work = budget.node_work / (share * orders.len().max(1));
        for order in orders {
            let mut attempt = Attempt::new(problem, codes, &order, budget.nodes, work.min(left));
            let result = attempt.run();
            left -= work.min(left) - attempt.work_left();
            match result {
                Ok(bdd) => return Some((bdd, order)),
                Err(TooLarge) => reached.push((attempt.done, order)),
            }
        }
        // Stable: where two came equally far, the likelier one stays in front.
        reached.sort_by_key(|&(done, _)| std::cmp::Reverse(done));
        orders = reached.into_iter().map(|(_, order)| order).collect();
    }
    let order = orders.into_iter().next()?;
    let bdd = Attempt::new(problem, codes, &order, budget.nodes, left).run().ok()?;
    Some((bdd, order))
}

/// The construction of the diagram in one order.
struct Attempt<'a> {
    problem: &'a Problem<'a>,
    codes: &'a [Code],
    order: &'a Order,
    blaster: Blaster<Diagrams>,
    /// How many literals were built and how many diagrams joined.
    done: usize,
}

impl<'a> Attempt<'a> {
    fn new(
        problem: &'a Problem<'a>,
        codes: &'a [Code],
        order: &'a Order,
        nodes: usize,
        work: usize,
    ) -> Attempt<'a> {
        let algebra = Diagrams::new(order.len() as u16, nodes, work);
        Attempt { problem, codes, order, blaster: Blaster::new(algebra), done: 0 }
    }

    fn work_left(&self) -> usize {
        self.blaster.algebra.work_left()
    }

    /// The conjunction of all literals and domains.
    fn run(&mut self) -> Result<Bdd, TooLarge> {
        let constraints = self.define_bytes()?;
        let mut parts: Vec<Bit> = Vec::new();
        let mut used = vec![false; self.codes.len()];
        for literal in self.cheap_first() {
            let mut part = self.blaster.truth(self.problem.pool, literal)?;
            for byte in self.problem.pool.support(literal).iter() {
                let Ok(position) = self.problem.bytes.binary_search(&byte) else { continue };
                if !std::mem::replace(&mut used[position], true) {
                    part = self.blaster.algebra.and(&part, &constraints[position])?;
                }
            }
            if self.blaster.algebra.known(&part) == Some(false) {
                return Ok(part.into_bdd());
            }
            parts.push(part);
            self.done += 1;
        }
        parts.extend(constraints.into_iter().zip(used).filter(|(_, used)| !used).map(|(c, _)| c));
        Ok(self.all(parts)?.into_bdd())
    }

    /// The conjunction of diagrams: neighbours in the order are joined first, pair by pair, so that
    /// every level of joins goes over the whole order once, however many diagrams there are.
    fn all(&mut self, mut parts: Vec<Bit>) -> Result<Bit, TooLarge> {
        let algebra = &mut self.blaster.algebra;
        parts.sort_by_key(Bit::first_variable);
        while parts.len() > 1 {
            let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
            for pair in parts.chunks(2) {
                let both = match pair {
                    [a, b] => algebra.and(a, b)?,
                    _ => pair[0].clone(),
                };
                if algebra.known(&both) == Some(false) {
                    return Ok(both);
                }
                joined.push(both);
                self.done += pair.len() - 1;
            }
            parts = joined;
        }
        Ok(parts.pop().unwrap_or_else(|| algebra.constant(true)))
    }

    /// The literals over few bytes first; among those, the older terms.
    fn cheap_first(&self) -> Vec<Term> {
        let mut literals = self.problem.literals.to_vec();
        literals.sort_by_key(|&literal| (self.problem.pool.support(literal).len(), literal));
        literals
    }

    /// Tells the algebra what the bits of every byte are; gives the constraint of each byte.
    fn define_bytes(&mut self) -> Result<Vec<Bit>, TooLarge> {
        let mut levels: Vec<Vec<(u16, u8)>> = vec![Vec::new(); self.codes.len()];
        for (level, &(position, bit)) in self.order.iter().enumerate() {
            levels[position as usize].push((level as u16, bit));
        }
        let algebra = &mut self.blaster.algebra;
        let mut constraints = Vec::with_capacity(self.codes.len());
        for ((&byte, code), levels) in self.problem.bytes.iter().zip(self.codes).zip(levels) {
            let (variables, kept): (Vec<u16>, Vec<u8>) = levels.iter().copied().unzip();
            let values = code.values(&kept);
            let mut bits = Vec::with_capacity(8);
            for bit in 0..8 {
                bits.push(match levels.iter().find(|&&(_, kept)| kept == bit) {
                    Some(&(level, _)) => algebra.function(&[level], &[Some(false), Some(true)])?,
                    None => {
                        let column: Vec<Option<bool>> =
                            values.iter().map(|value| value.map(|v| v >> bit & 1 == 1)).collect();
                        algebra.function(&variables, &column)?
                    }
                });
            }
            let bits =
                <[Bit; 8]>::try_from(bits).unwrap_or_else(|_| unreachable!("a byte has 8 bits"));
            algebra.define(byte, bits);
            constraints.push(if code.needs_constraint() {
                let allowed: Vec<Option<bool>> = values.iter().map(|v| Some(v.is_some())).collect();
                algebra.function(&variables, &allowed)?
            } else {
                algebra.constant(true)
            });
        }
        Ok(constraints)
    }
}
