//! The stage for bytes that no literal connects: all combinations of their domains.

use std::sync::Arc;

use num_bigint::BigUint;
use rand::{Rng, RngCore};

use crate::byteset::ByteSet;
use crate::space::{Problem, Space};

/// All combinations of the domains; declines if there is a literal.
pub fn solve(problem: &Problem<'_>) -> Option<Arc<dyn Space>> {
    problem.literals.is_empty().then(|| Arc::new(Product::new(problem.domains)) as Arc<dyn Space>)
}

struct Product {
    domains: Vec<ByteSet>,
    count: BigUint,
}

impl Product {
    fn new(domains: &[ByteSet]) -> Product {
        let count = domains.iter().map(|domain| BigUint::from(domain.len())).product();
        Product { domains: domains.to_vec(), count }
    }
}

impl Space for Product {
    fn stage(&self) -> &'static str {
        "product"
    }

    fn count(&self) -> &BigUint {
        &self.count
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        for (value, domain) in out.iter_mut().zip(&self.domains) {
            *value = uniform(rng, domain);
        }
    }

    fn marginal(&self, position: usize) -> Vec<BigUint> {
        let domain = &self.domains[position];
        let each = &self.count / domain.len().max(1);
        spread(domain, &each)
    }
}

/// A value of the set, each with the same chance.
pub(crate) fn uniform(rng: &mut dyn RngCore, set: &ByteSet) -> u8 {
    set.nth(rng.gen_range(0..set.len())).expect("the rank is below the size")
}

/// 256 numbers: `each` at the values of the set, zero elsewhere.
pub(crate) fn spread(set: &ByteSet, each: &BigUint) -> Vec<BigUint> {
    (0..=255).map(|value| if set.contains(value) { each.clone() } else { BigUint::ZERO }).collect()
}
