//! What a literal adds to the leak of a prefix: a quick guess, for comparing prefixes.
//!
//! A search looks at thousands of prefixes, each with one literal more than another. Counting the
//! part that a literal touches takes a thousand times longer than walking to it, once that part has
//! more than a few bytes. So a prefix has a *price*: for literals over one byte, what they take from
//! its values, which is exact; for others, the share of random values that satisfy them, where each
//! byte has the values that are left of it. Figures that leave the search are counted, not guessed.
//!
//! What always holds: a price never shrinks when a literal is added. It depends on the literals alone,
//! not on an input, nor on chance: the values are the same pseudo-random ones every time.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_leakage::{Accounts, Ledger};
use stunt_models::Condition;
use stunt_terms::{Assignment, Evaluator, InputByte, Op, Pool, Term};

/// How many random values are tried for a literal over a few bytes, and for others.
const TRIES: (u32, u32) = (64, 16);
/// A few bytes.
const FEW: usize = 8;

/// Guesses prices.
#[derive(Default)]
pub(crate) struct Prices {
    evaluator: Evaluator,
    values: Assignment,
}

impl Prices {
    /// Adds a literal to a condition. Gives what it adds to the price; infinite if nothing is left.
    pub fn push(
        &mut self,
        pool: &Pool,
        accounts: &mut Accounts,
        ledger: &mut Ledger,
        literal: Term,
    ) -> f64 {
        let support = pool.support(literal);
        // A conjunction over single bytes falls apart when it is pushed.
        let narrows = support.single().is_some() || matches!(pool.op(literal), Op::And(..));
        let mut price = 0.0;
        if narrows {
            let sizes = |condition: &Condition| -> Vec<f64> {
                let size = |byte: InputByte| f64::from(condition.domain(byte).len());
                support.iter().map(size).collect()
            };
            let before = sizes(ledger.condition());
            ledger.push(pool, accounts, literal);
            let after = sizes(ledger.condition());
            price = before.iter().zip(&after).map(|(before, after)| (before / after).log2()).sum();
        } else {
            let known = ledger.condition().len();
            let condition = ledger.condition().clone();
            ledger.push(pool, accounts, literal);
            if ledger.condition().len() > known {
                price = self.guess(pool, &condition, literal);
            }
        }
        if ledger.condition().is_contradiction() { f64::INFINITY } else { price }
    }

    /// `-log2` of the share of values that satisfy a literal, among those that a condition leaves of
    /// each byte by itself.
    fn guess(&mut self, pool: &Pool, condition: &Condition, literal: Term) -> f64 {
        let support = pool.support(literal);
        let few = support.len() <= FEW;
        let tries = if few { TRIES.0 } else { TRIES.1 };
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let domains: Vec<_> = support.iter().map(|byte| (byte, condition.domain(byte))).collect();
        let mut hits = 0;
        for _ in 0..tries {
            for &(byte, domain) in &domains {
                let at = rng.gen_range(0..domain.len().max(1));
                self.values.set(byte, domain.nth(at).unwrap_or(0));
            }
            self.evaluator.reset();
            hits += u32::from(self.evaluator.holds(pool, literal, &self.values));
        }
        if hits > 0 {
            return (f64::from(tries) / f64::from(hits)).log2();
        }
        let rare = f64::from(2 * tries).log2();
        match pool.op(literal) {
            // Of two terms that are equal each bit is told.
            Op::Eq(a, _) if !pool.is_bool(a) => f64::from(pool.width(a)).max(rare),
            _ => rare,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(build: impl FnOnce(&mut Pool) -> Vec<Term>) -> Vec<f64> {
        let mut pool = Pool::new();
        let literals = build(&mut pool);
        let (mut prices, mut accounts) = (Prices::default(), Accounts::default());
        let mut ledger = Ledger::new();
        let push = |literal| prices.push(&pool, &mut accounts, &mut ledger, literal);
        literals.into_iter().map(push).collect()
    }

    #[test]
    fn single_bytes_are_exact() {
        let prices = price(|pool| {
            let byte = pool.input(0, 0);
            let (limit, half, seven) =
                (pool.constant(8, 128), pool.constant(8, 64), pool.constant(8, 200));
            let other = pool.input(0, 1);
            let (one, two) = (pool.ult(byte, limit), pool.ult(byte, half));
            let (three, four) = (pool.eq(other, seven), pool.eq(byte, seven));
            let both = pool.and(two, three);
            vec![one, two, one, both, four]
        });
        assert_eq!(prices[..4], [1.0, 1.0, 0.0, 8.0]);
        assert_eq!(prices[4], f64::INFINITY);
    }

    #[test]
    fn several_bytes_are_near_the_truth_and_never_for_free_twice() {
        let prices = price(|pool| {
            let (a, b) = (pool.input(0, 0), pool.input(0, 1));
            let less = pool.ult(a, b);
            let word = pool.concat(a, b);
            let value = pool.constant(16, 0x1234);
            let (c, d) = (pool.input(0, 2), pool.input(0, 3));
            let sum = pool.add(c, d);
            let zero = pool.constant(8, 0);
            let (equal, none) = (pool.eq(word, value), pool.eq(sum, zero));
            vec![less, less, none, equal]
        });
        assert!((0.5..1.5).contains(&prices[0]), "{prices:?}");
        assert_eq!(prices[1], 0.0);
        assert!((6.0..10.0).contains(&prices[2]), "{prices:?}");
        assert!(prices[3] > 6.0, "{prices:?}");
    }
}
