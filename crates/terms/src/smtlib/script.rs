//! What a script says: its assertions, scopes and questions, and the constants it declares.

use crate::term::{InputByte, Sort, Term};

/// A constant that a script declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name, without bars.
    pub name: String,
    /// Its sort as declared.
    pub sort: Sort,
    /// What it became.
    pub term: Term,
    /// The input bytes that it consists of, the lowest bits first.
    pub bytes: Vec<InputByte>,
}

/// One thing that a script does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Asserts a Bool term.
    Assert(Term),
    /// Enters that many scopes.
    Push(usize),
    /// Leaves that many scopes.
    Pop(usize),
    /// Asks whether the assertions so far, and the given ones, hold together.
    CheckSat {
        /// Assumptions of this question only.
        assuming: Vec<Term>,
    },
}

/// What a script says.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Script {
    /// Its assertions, scopes and questions, in order.
    pub steps: Vec<Step>,
    /// The constants it declares, in order.
    pub symbols: Vec<Symbol>,
}

impl Script {
    /// The assertions in force at the end.
    pub fn assertions(&self) -> Vec<Term> {
        let mut live = Vec::new();
        let mut scopes = Vec::new();
        for step in &self.steps {
            match *step {
                Step::Assert(term) => live.push(term),
                Step::Push(count) => scopes.extend(std::iter::repeat_n(live.len(), count)),
                Step::Pop(count) => {
                    for _ in 0..count {
                        live.truncate(scopes.pop().unwrap_or(0));
                    }
                }
                Step::CheckSat { .. } => {}
            }
        }
        live
    }
}
