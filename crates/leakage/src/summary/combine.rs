//! The bound for a whole component, from the bounds of its literals.
//!
//! Castro's section 6.2: literals over disjoint bytes multiply, and of literals that share bytes
//! `max(1, a1 + a2 - N)` inputs are accepted by both. The second rule is useless when two literals
//! accept few inputs each (an equation and a range, say), so there is a third:
//!
//! **Holding bytes.** Some input `x` satisfies the component. Fix the bytes of a set `H` to the
//! values that they have in `x`. The literals, as conditions on the other bytes, are still
//! satisfied by `x`, so a bound for them in that smaller space, on the ground that they are
//! satisfiable, counts inputs that satisfy the component. Of all values of `H` that one
//! alone is worth a part of `1 / |H|`. So the loss is at most `log2 |H|` plus the loss of the literals
//! with `H` held at values of which nothing needs to be known. Holding the bytes that
//! literals share makes them independent; literals all of whose bytes are held cost nothing.
//!
//! The best of the rules wins; no rule looks at the original input.

use rustc_hash::FxHashMap;
use stunt_models::{ByteSet, Problem};
use stunt_terms::{Pool, Term};

use super::space::InputSpace;
use super::truth::Truth;
use super::{Leaves, Summaries};
use crate::ledger::byte_loss;
use crate::rounding::{loss_minus, plus, up};

/// The most bytes that literals have in all, each counted as often as a literal has it: they are written
/// down for every round. Of what has more, the bound is that it may reveal everything.
const MOST_PLACES: usize = 1 << 24;

/// How much work a bound may take. Less work gives a weaker bound, never a wrong one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most summaries of terms to compute after the first round.
    pub summaries: usize,
    /// How many times, one after the other, bytes are held.
    pub rounds: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { summaries: 1_000_000, rounds: 24 }
    }
}

/// An upper bound on `-log2` of the part of all `256^n` inputs that satisfy the problem, given that
/// at least one does.
///
/// # Panics
/// If a literal depends on bytes that are not the problem's.
pub fn bound(problem: &Problem<'_>, limits: &Limits) -> f64 {
    let everything = 8.0 * problem.bytes.len() as f64;
    let places = problem.literals.iter().map(|&literal| problem.pool.support(literal).len());
    if places.sum::<usize>() > MOST_PLACES {
        return everything;
    }
    let domains: f64 = problem.domains.iter().map(|&domain| byte_loss(domain)).sum();
    let space = InputSpace::new(problem.bytes, problem.domains.iter().map(ByteSet::len));
    let leaves = Leaves::of(problem, &problem.pool.reachable(problem.literals));
    let mut search = Search { pool: problem.pool, leaves, left: limits.summaries };
    let literals = search.solve(problem.literals, &space, limits.rounds);
    (up(domains) + literals).min(everything)
}

struct Search<'a> {
    pool: &'a Pool,
    leaves: Leaves,
    /// How many more summaries may be computed.
    left: usize,
}

/// A literal that still depends on something.
struct Member {
    literal: Term,
    truth: Truth,
    /// The positions of its free bytes.
    free: Vec<usize>,
}

impl Search<'_> {
    /// A bound on the loss of the literals together, in the space.
    fn solve(&mut self, literals: &[Term], space: &InputSpace, rounds: usize) -> f64 {
        let terms = self.pool.reachable(literals);
        let summaries = Summaries::of(self.pool, space, &self.leaves, &terms);
        let members = literals
            .iter()
            .map(|&literal| Member {
                literal,
                truth: summaries.truth(literal),
                free: space.free(self.pool.support(literal)).collect(),
            })
            // Without free bytes a literal is what it is for the input that satisfies all.
            .filter(|member| !member.free.is_empty());
        let groups = grouped(members.collect());
        self.left = self.left.saturating_sub(terms.len());
        groups.iter().map(|group| self.group(group, space, rounds)).sum()
    }

    /// A bound on the loss of literals that share bytes.
    fn group(&mut self, group: &[Member], space: &InputSpace, rounds: usize) -> f64 {
        let simple = together(group, space);
        if rounds == 0 || self.left == 0 {
            return simple;
        }
        let mut held = self.to_hold(group, space);
        held.sort_unstable();
        held.dedup();
        let cost: f64 = up(held.iter().map(|&position| space.size_at(position)).sum());
        if held.is_empty() || cost >= simple {
            return simple;
        }
        let mut smaller = space.clone();
        smaller.hold(&held);
        let literals: Vec<Term> = group.iter().map(|member| member.literal).collect();
        simple.min(cost + self.solve(&literals, &smaller, rounds - 1))
    }

    /// Which bytes to hold: of the literal with the fewest bytes those that others have too; of a
    /// lone literal those that both sides of its outermost operator with common bytes have.
    fn to_hold(&self, group: &[Member], space: &InputSpace) -> Vec<usize> {
        if let [member] = group {
            let dependent =
                self.pool.reachable(&[member.literal]).into_iter().rev().find(|&term| {
                    let operands: Vec<Term> = self.pool.op(term).operands().collect();
                    pairs(&operands).any(|(a, b)| self.meet(space, a, b))
                });
            let Some(term) = dependent else { return Vec::new() };
            let operands: Vec<Term> = self.pool.op(term).operands().collect();
            return pairs(&operands)
                .flat_map(|(a, b)| {
                    let other = self.pool.support(b);
                    let both: Vec<usize> = space
                        .free(self.pool.support(a))
                        .filter(|&position| other.contains(space.byte_at(position)))
                        .collect();
                    both
                })
                .collect();
        }
        let mut users: FxHashMap<usize, usize> = FxHashMap::default();
        for position in group.iter().flat_map(|member| &member.free) {
            *users.entry(*position).or_default() += 1;
        }
        let fewest = group.iter().min_by_key(|member| member.free.len()).expect("not empty");
        fewest.free.iter().copied().filter(|position| users[position] > 1).collect()
    }

    fn meet(&self, space: &InputSpace, a: Term, b: Term) -> bool {
        space.share(self.pool.support(a), self.pool.support(b))
    }
}

fn pairs(operands: &[Term]) -> impl Iterator<Item = (Term, Term)> + '_ {
    (0..operands.len()).flat_map(move |i| (0..i).map(move |j| (operands[j], operands[i])))
}

/// Splits literals so that literals of different groups share no free byte.
fn grouped(members: Vec<Member>) -> Vec<Vec<Member>> {
    // Union-find over the members, joined through the last member that had a byte.
    let mut parent: Vec<usize> = (0..members.len()).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    let mut owner: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, member) in members.iter().enumerate() {
        for &position in &member.free {
            if let Some(other) = owner.insert(position, at) {
                let (a, b) = (root(&mut parent, at), root(&mut parent, other));
                parent[a] = b;
            }
        }
    }
    let mut groups: FxHashMap<usize, Vec<Member>> = FxHashMap::default();
    for (at, member) in members.into_iter().enumerate() {
        groups.entry(root(&mut parent, at)).or_default().push(member);
    }
    groups.into_values().collect()
}

/// Literals that share bytes, without holding any: one accepts a part, the others reject at most
/// what they reject; and one input is always left.
fn together(group: &[Member], space: &InputSpace) -> f64 {
    let mut bytes: Vec<usize> = group.iter().flat_map(|m| m.free.iter().copied()).collect();
    bytes.sort_unstable();
    bytes.dedup();
    let size = up(bytes.iter().map(|&position| space.size_at(position)).sum::<f64>());
    let hardest = (0..group.len())
        .max_by(|&a, &b| group[a].truth.most[0].total_cmp(&group[b].truth.most[0]))
        .expect("a group has a literal");
    let rejected = (0..group.len())
        .filter(|&at| at != hardest)
        .fold(0.0, |sum, at| plus(sum, group[at].truth.most[0]));
    size.min(loss_minus(group[hardest].truth.loss[1], rejected))
}
