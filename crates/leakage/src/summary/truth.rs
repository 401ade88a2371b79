//! The summary of a Bool term: how likely it is true and false when the input is random.
//!
//! Two kinds of statements are kept apart. `most` holds always: no more than this part of all
//! inputs makes the term true (false). `loss` holds *if* some input makes the term true (false):
//! then a part of at least `2^-loss` does. Path conditions are satisfiable, because the original
//! input satisfies them, so the second kind is what a leak is computed from; but below a
//! disjunction it is not known which side is satisfiable, and only such rules are used there as
//! hold for either.

use super::values::Joint;
use crate::rounding::{loss_minus, loss_of, plus, times, up};

/// What is known of a truth value. Index 0 is for false, 1 for true.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// If some input gives this value, a part of at least `2^-loss` of all inputs does.
    pub loss: [f64; 2],
    /// At most this part of all inputs gives this value.
    pub most: [f64; 2],
}

const FALSE: usize = 0;
const TRUE: usize = 1;

impl Truth {
    /// A constant.
    pub fn constant(value: bool) -> Truth {
        let mut most = [1.0; 2];
        most[usize::from(!value)] = 0.0;
        Truth { loss: [0.0; 2], most }
    }

    /// A truth value of which nothing is known; an input has at least the probability `2^-size`.
    pub fn unknown(size: f64) -> Truth {
        Truth { loss: [size; 2], most: [1.0; 2] }
    }

    /// It is true for `holds` of `total` equally likely inputs.
    pub fn counted(holds: usize, total: usize) -> Truth {
        let part = |n: usize| if n == total { 1.0 } else { up(n as f64 / total as f64).min(1.0) };
        let loss = |n: usize| up((total as f64 / n.max(1) as f64).log2());
        let fails = total - holds;
        Truth { loss: [loss(fails), loss(holds)], most: [part(fails), part(holds)] }
            .settled(f64::INFINITY)
    }

    /// Depends on held bytes only: it is either, for all inputs.
    #[must_use]
    pub fn held(&self) -> Truth {
        let most = self.most.map(|part| if part == 0.0 { 0.0 } else { 1.0 });
        Truth { loss: [0.0; 2], most }
    }

    /// The opposite.
    #[must_use]
    pub fn negated(self) -> Truth {
        Truth {
            loss: [self.loss[TRUE], self.loss[FALSE]],
            most: [self.most[TRUE], self.most[FALSE]],
        }
    }

    /// Lets the statements learn from each other.
    #[must_use]
    pub(crate) fn settled(mut self, size: f64) -> Truth {
        for value in [FALSE, TRUE] {
            let otherwise = loss_of(self.most[1 - value]);
            self.loss[value] = self.loss[value].min(size).min(otherwise).max(0.0);
        }
        self
    }

    /// Both hold.
    #[must_use]
    pub(crate) fn and(self, other: Truth, joint: Joint) -> Truth {
        let (a, b) = (self, other);
        let (loss_true, most_true) = if joint.independent {
            (a.loss[TRUE] + b.loss[TRUE], times(a.most[TRUE], b.most[TRUE]))
        } else {
            // What the one accepts, less all that the other rejects.
            let less_b = loss_minus(a.loss[TRUE], b.most[FALSE]);
            let less_a = loss_minus(b.loss[TRUE], a.most[FALSE]);
            (less_a.min(less_b), a.most[TRUE].min(b.most[TRUE]))
        };
        // If the conjunction fails somewhere, one of the two does; which one is not known.
        let loss_false = a.loss[FALSE].max(b.loss[FALSE]);
        let rejected = plus(a.most[FALSE], b.most[FALSE]);
        Truth { loss: [loss_false, loss_true], most: [rejected, most_true] }.settled(joint.size)
    }

    /// One holds, or both.
    #[must_use]
    pub(crate) fn or(self, other: Truth, joint: Joint) -> Truth {
        self.negated().and(other.negated(), joint).negated()
    }

    /// The value of `then` where this holds, and of `other` elsewhere. The two joints are with
    /// this one's bytes; `size` is of all three.
    #[must_use]
    pub(crate) fn ite(self, then: (Truth, Joint), other: (Truth, Joint), size: f64) -> Truth {
        let yes = self.and(then.0, then.1);
        let no = self.negated().and(other.0, other.1);
        let whole = Joint { independent: false, size };
        let mut result = yes.or(no, whole);
        // False is likewise: this and not `then`, or not this and not `other`.
        let yes = self.and(then.0.negated(), then.1);
        let no = self.negated().and(other.0.negated(), other.1);
        let opposite = yes.or(no, whole).negated();
        for value in [FALSE, TRUE] {
            result.loss[value] = result.loss[value].min(opposite.loss[value]);
            result.most[value] = result.most[value].min(opposite.most[value]);
        }
        result.settled(size)
    }
}
