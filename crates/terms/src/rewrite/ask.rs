//! Questions about terms whose answers are tests: is it in an interval, are two equal, is one below
//! the other.
//!
//! One question leads to others, about operands and theirs, as deep as a term is: a sum of truth values
//! over a whole file, a choice for every cell of a table. So a rule does not ask; it says in a [`Step`]
//! what is to be asked and how the answers are joined, and [`Pool::answer`] keeps what is open in a
//! vector. Always: no rule walks down a term on the call stack; a question that was met in a long walk
//! is not walked again.

use super::Rule;
use super::interval::Interval;
use crate::pool::Pool;
use crate::term::{Op, Sort, Term};

/// A walk of so many steps is long: from there on, answers are remembered. Most have a handful.
const LONG: usize = 32;
/// The most answers that are remembered; then all are forgotten.
const MOST_REMEMBERED: usize = 1 << 20;
/// To join two answers is to build a term, which may ask again. Such walks within walks are bounded:
/// beyond this, a test stays as it was asked.
const MOST_WALKS: u8 = 8;

/// Something to be found out.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ask {
    /// Nothing: this is the answer.
    Is(Term),
    /// Whether a bit vector is in an interval.
    In(Term, Interval),
    /// Whether two bit vectors are equal.
    Equal(Term, Term),
    /// Whether the first is below the second, without signs.
    Below(Term, Term),
}

/// How two answers are joined.
#[derive(Clone, Copy)]
pub(super) enum How {
    And,
    Or,
    /// The first where a condition holds, else the second.
    Ite(Term),
    /// The same, where intervals of one term are merged.
    Cases(Term),
}

/// What a question comes to.
pub(super) enum Step {
    /// The answer.
    Is(Term),
    /// It has the answer of another question, or the opposite one.
    Other { rule: Option<Rule>, ask: Ask, negated: bool },
    /// Two answers, joined.
    Join { rule: Rule, how: How, of: [Ask; 2] },
    /// All of several.
    All { rule: Rule, of: Vec<Ask> },
}

impl Step {
    /// By this rule, it has the answer of another question.
    pub(super) fn same(rule: Rule, ask: Ask) -> Step {
        Step::Other { rule: Some(rule), ask, negated: false }
    }

    /// By this rule, it has the opposite answer of another question.
    pub(super) fn not(rule: Rule, ask: Ask) -> Step {
        Step::Other { rule: Some(rule), ask, negated: true }
    }
}

/// What is done with the next answer.
enum Open {
    /// It is turned round.
    Not,
    /// It is the first of two.
    First(Rule, How, Ask),
    /// It is the second of two.
    Second(Rule, How, Term),
    /// It is one of several; those after it, the last first, and what was found before.
    OneOf(Rule, Vec<Ask>, Term),
    /// It is the answer to this question.
    Remember(Ask),
}

impl Pool {
    /// The answer to a question, in normal form.
    pub(super) fn answer(&mut self, ask: Ask) -> Term {
        if self.walks == MOST_WALKS {
            return self.as_asked(ask);
        }
        self.walks += 1;
        let answer = self.walk(ask);
        self.walks -= 1;
        answer
    }

    fn walk(&mut self, mut ask: Ask) -> Term {
        let mut open: Vec<Open> = Vec::new();
        let mut steps = 0;
        'ask: loop {
            let mut answer = match self.remembered_step(ask, steps) {
                Step::Is(answer) => answer,
                Step::Other { rule, ask: other, negated } => {
                    if let Some(rule) = rule {
                        self.rules.add(rule);
                    }
                    if negated {
                        open.push(Open::Not);
                    }
                    ask = other;
                    steps += 1;
                    continue 'ask;
                }
                Step::Join { rule, how, of: [first, second] } => {
                    if steps >= LONG {
                        open.push(Open::Remember(ask));
                    }
                    open.push(Open::First(rule, how, second));
                    ask = first;
                    steps += 1;
                    continue 'ask;
                }
                Step::All { rule, mut of } => {
                    of.reverse();
                    let truth = self.boolean(true);
                    match of.pop() {
                        Some(first) => {
                            open.push(Open::OneOf(rule, of, truth));
                            ask = first;
                            steps += 1;
                            continue 'ask;
                        }
                        None => self.by(rule, truth),
                    }
                }
            };
            loop {
                answer = match open.pop() {
                    None => return answer,
                    Some(Open::Not) => self.not(answer),
                    Some(Open::First(rule, how, second)) => {
                        open.push(Open::Second(rule, how, answer));
                        ask = second;
                        continue 'ask;
                    }
                    Some(Open::Second(rule, how, first)) => {
                        let joined = self.joined(how, first, answer);
                        self.by(rule, joined)
                    }
                    Some(Open::OneOf(rule, mut rest, before)) => {
                        let all = self.and(before, answer);
                        if let Some(next) = rest.pop() {
                            open.push(Open::OneOf(rule, rest, all));
                            ask = next;
                            continue 'ask;
                        }
                        self.by(rule, all)
                    }
                    Some(Open::Remember(ask)) => {
                        if self.answers.len() >= MOST_REMEMBERED {
                            self.answers.clear();
                        }
                        self.answers.insert(ask, answer);
                        answer
                    }
                };
            }
        }
    }

    /// The next step, or the answer that was found in a long walk before.
    fn remembered_step(&mut self, ask: Ask, steps: usize) -> Step {
        if steps >= LONG
            && let Some(&known) = self.answers.get(&ask)
        {
            return Step::Is(known);
        }
        match ask {
            Ask::Is(answer) => Step::Is(answer),
            Ask::In(term, interval) => self.interval_step(term, interval),
            Ask::Equal(a, b) => self.equality_step(a, b),
            Ask::Below(a, b) => self.order_step(a, b),
        }
    }

    fn joined(&mut self, how: How, first: Term, second: Term) -> Term {
        match how {
            How::And => self.and(first, second),
            How::Or => self.or(first, second),
            How::Ite(condition) => self.ite(condition, first, second),
            How::Cases(condition) => self.by_cases(condition, first, second),
        }
    }

    /// The test as it was asked, without a look at operands: right, but not in normal form.
    fn as_asked(&mut self, ask: Ask) -> Term {
        let (a, b) = match ask {
            Ask::Is(answer) => return answer,
            Ask::In(term, interval) => {
                return match self.as_const(term) {
                    Some(value) => self.boolean(interval.contains(self.width(term), value)),
                    None => self.interval_literal(term, interval),
                };
            }
            Ask::Equal(a, b) => self.ordered(a, b),
            Ask::Below(a, b) => (a, b),
        };
        if a == b {
            return self.boolean(matches!(ask, Ask::Equal(..)));
        }
        if self.as_const(a).is_none() && self.as_const(b).is_none() {
            let equal = matches!(ask, Ask::Equal(..));
            return self.intern(Sort::Bool, if equal { Op::Eq(a, b) } else { Op::Ult(a, b) });
        }
        // With a constant it is a question about one term.
        let step = match ask {
            Ask::Equal(..) => self.equality_step(a, b),
            _ => self.order_step(a, b),
        };
        match step {
            Step::Other { ask, .. } => self.as_asked(ask),
            Step::Is(answer) => answer,
            Step::Join { .. } | Step::All { .. } => unreachable!("one term is in an interval"),
        }
    }
}
