//! What is asked and what is answered.
//!
//! A question is about a condition `C` and a Bool term `q`, both over the bytes of an input `I`:
//!
//! | question | formula |
//! |---|---|
//! | `satisfiable(C, q)` | exists I: C(I) and q(I); with such an I |
//! | `may_be_true(C, q)` | exists I: C(I) and q(I) |
//! | `must_be_true(C, q)` | for all I: C(I) implies q(I) |
//! | `only_value(C, t, H)` | for all I: C(I) implies t(I) = t(H) |
//! | `model(C)` | exists I: C(I); with such an I |
//!
//! A [`Model`] may tell of a private input, so its values are never printed.

use std::fmt;
use std::time::Duration;

use stunt_terms::{Assignment, InputByte};

/// Values for the bytes that a question concerns.
///
/// Laid over the hint that came with the question, it satisfies condition and question; without a
/// hint, over anything.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// Each byte once, in order.
    values: Vec<(InputByte, u8)>,
}

impl Model {
    pub(crate) fn from_values(mut values: Vec<(InputByte, u8)>) -> Model {
        values.sort_unstable();
        debug_assert!(values.windows(2).all(|pair| pair[0].0 < pair[1].0), "each byte once");
        Model { values }
    }

    /// How many bytes have a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no byte has a value: the hint is a model as it is.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of a byte, if the model has one.
    pub fn get(&self, byte: InputByte) -> Option<u8> {
        let at = self.values.binary_search_by_key(&byte, |&(byte, _)| byte).ok()?;
        Some(self.values[at].1)
    }

    /// The bytes with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (InputByte, u8)> + '_ {
        self.values.iter().copied()
    }

    /// The assignment with this model's values in place of its own.
    #[must_use]
    pub fn overlay(&self, under: &Assignment) -> Assignment {
        let mut assignment = under.clone();
        self.write_to(&mut assignment);
        assignment
    }

    /// Writes this model's values into the assignment.
    pub fn write_to(&self, assignment: &mut Assignment) {
        for &(byte, value) in &self.values {
            assignment.set(byte, value);
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({} bytes)", self.values.len())
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Why {
    /// The search met more conflicts than the budget allows.
    Conflicts,
    /// The search took longer than the budget allows.
    Time,
    /// The question's circuit has more gates than the solver takes.
    TooLarge,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Conflicts => "the search met more conflicts than its budget allows",
            Why::Time => "the search took longer than its budget allows",
            Why::TooLarge => "the question's circuit is larger than the solver takes",
        })
    }
}

/// The answer to `satisfiable`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is such an input, and this is one.
    Sat(Model),
    /// There is none.
    Unsat,
    /// It was not found out.
    Unknown(Why),
}

/// The answer to a yes-or-no question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// It was not found out.
    Unknown(Why),
}

impl Answer {
    /// Whether there is such an input.
    pub fn truth(&self) -> Truth {
        match self {
            Answer::Sat(_) => Truth::Yes,
            Answer::Unsat => Truth::No,
            Answer::Unknown(why) => Truth::Unknown(*why),
        }
    }

    /// The model, if there is one.
    pub fn model(self) -> Option<Model> {
        match self {
            Answer::Sat(model) => Some(model),
            Answer::Unsat | Answer::Unknown(_) => None,
        }
    }
}

impl std::ops::Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            Truth::Unknown(why) => Truth::Unknown(why),
        }
    }
}

/// How much searching one question may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The most conflicts of the SAT solver.
    pub conflicts: u32,
    /// The longest time. Answers within it do not depend on the machine's speed.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { conflicts: 500_000, time: Duration::from_secs(10) }
    }
}
