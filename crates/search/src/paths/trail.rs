//! The tests that were passed on the way to some point, as a list that shares its beginning.
//!
//! A search keeps thousands of points whose ways are mostly the same. What always holds: a clone
//! costs a reference count, whatever the length; dropping a list of any length uses no stack.

use std::sync::Arc;

use stunt_path::{Junction, Node, Test};

/// A test that was passed, with its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Which test, and how it came out.
    pub node: Node,
    /// The condition of that outcome.
    pub test: Test,
}

impl From<Junction> for Step {
    fn from(junction: Junction) -> Step {
        Step { node: junction.node, test: junction.test }
    }
}

struct Link {
    step: Step,
    before: Option<Arc<Link>>,
}

impl Drop for Link {
    fn drop(&mut self) {
        // One after the other: a list of a million links must not drop recursively.
        let mut next = self.before.take();
        while let Some(link) = next {
            next = Arc::into_inner(link).and_then(|mut link| link.before.take());
        }
    }
}

/// The tests from the start of the program to some point.
#[derive(Clone, Default)]
pub(crate) struct Trail {
    last: Option<Arc<Link>>,
    len: usize,
}

impl Trail {
    /// How many tests there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The last test with its outcome: the node that this point is.
    pub fn node(&self) -> Option<Node> {
        self.last.as_ref().map(|link| link.step.node)
    }

    /// Adds a test at the end.
    pub fn push(&mut self, step: Step) {
        self.last = Some(Arc::new(Link { step, before: self.last.take() }));
        self.len += 1;
    }

    /// All tests, from the first on.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::with_capacity(self.len);
        let mut next = self.last.as_ref();
        while let Some(link) = next {
            steps.push(link.step);
            next = link.before.as_ref();
        }
        steps.reverse();
        steps
    }

    /// Whether both are the same tests with the same outcomes.
    pub fn same(&self, other: &Trail) -> bool {
        let (mut a, mut b) = (self.last.as_ref(), other.last.as_ref());
        if self.len != other.len {
            return false;
        }
        while let (Some(one), Some(two)) = (a, b) {
            if Arc::ptr_eq(one, two) {
                return true;
            }
            if one.step.node != two.step.node {
                return false;
            }
            (a, b) = (one.before.as_ref(), two.before.as_ref());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use stunt_path::{Place, TestKind};
    use stunt_terms::Pool;

    use super::*;

    fn step(pool: &mut Pool, number: u64) -> Step {
        let test = Test { condition: pool.boolean(true), address: number, kind: TestKind::Branch };
        Step { node: Node { place: Place(number), outcome: 1 }, test }
    }

    #[test]
    fn beginnings_are_shared_and_long_lists_drop() {
        let mut pool = Pool::new();
        let mut trail = Trail::default();
        for number in 0..1_000_000 {
            trail.push(step(&mut pool, number));
        }
        let mut other = trail.clone();
        assert!(trail.same(&other));
        other.push(step(&mut pool, 7));
        trail.push(step(&mut pool, 8));
        assert!(!trail.same(&other));
        assert_eq!(trail.len(), 1_000_001);
        assert_eq!(trail.node().map(|node| node.place), Some(Place(8)));
        let steps = other.steps();
        assert_eq!(steps.len(), other.len());
        assert_eq!(steps[3].node.place, Place(3));
        assert_eq!(steps[1_000_000].node.place, Place(7));
        drop(trail);
        drop(other);
    }

    #[test]
    fn lists_are_compared_by_nodes() {
        let mut pool = Pool::new();
        let (mut one, mut two) = (Trail::default(), Trail::default());
        assert!(one.same(&two));
        for number in [1, 2, 3] {
            one.push(step(&mut pool, number));
            two.push(step(&mut pool, number));
        }
        assert!(one.same(&two));
        two.push(step(&mut pool, 4));
        assert!(!one.same(&two));
    }
}
