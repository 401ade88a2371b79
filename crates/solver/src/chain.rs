//! The solver: layers in order, the cheapest first.
//!
//! A question ends at the first layer that knows the answer. Every model satisfies what was
//! asked; in debug builds every model is evaluated to make sure. The solver belongs to one pool.

use std::time::Instant;

use stunt_models::{Condition, Masks};
use stunt_terms::{Assignment, Evaluator, Pool, Term};

use crate::layer::cache::Cache;
use crate::layer::cross::CrossCheck;
use crate::layer::independent::{Open, Opener};
use crate::layer::pairs::{self, Relations};
use crate::layer::product::{self, Bench};
use crate::layer::recent::Recent;
use crate::layer::sat::{self, Engines};
use crate::layer::sheet::Sheet;
use crate::layer::{Outcome, Part, Scratch, Values, bounds, check, counted, hint, repair};
use crate::query::{Answer, Budget, Model, Truth, Why};
use crate::statistics::{Layer, Statistics};

/// How many conflicts a first search may meet before the counting stages are asked.
const QUICK_CONFLICTS: u32 = 2_000;

/// Answers questions about terms of one pool.
pub struct Solver {
    /// What one search may cost. A question about several parts may cost it for each.
    pub budget: Budget,
    /// Whether every model is evaluated; on in debug builds.
    pub check_models: bool,
    /// Whether values are repaired, and bounds compared, before anything is searched. Without it
    /// more questions reach the layers behind, which tests want.
    pub shortcuts: bool,
    /// Masks of one-byte tests; conditions of the same pool may be built with them.
    pub masks: Masks,
    cross: Option<CrossCheck>,
    statistics: Statistics,
    opener: Opener,
    pub(crate) scratch: Scratch,
    cache: Cache,
    recent: Recent,
    relations: Relations,
    bench: Bench,
    pub(crate) engines: Engines,
}

impl Solver {
    /// A solver that has seen no terms.
    pub fn new(budget: Budget) -> Solver {
        Solver {
            budget,
            check_models: cfg!(debug_assertions),
            shortcuts: true,
            masks: Masks::new(),
            cross: None,
            statistics: Statistics::default(),
            opener: Opener::default(),
            scratch: Scratch::new(),
            cache: Cache::default(),
            recent: Recent::default(),
            relations: Relations::default(),
            bench: Bench::new(),
            engines: Engines::default(),
        }
    }

    /// `exists I: C(I) and q(I)`, with such an `I`.
    ///
    /// The hint, if there is one, satisfies `C`; that is the caller's promise, and lets the
    /// solver look only at what the question touches. The model holds for the bytes that were
    /// looked at, and is to be laid over the hint.
    pub fn satisfiable(
        &mut self,
        pool: &Pool,
        condition: &Condition,
        hint: Option<&Assignment>,
        question: Term,
    ) -> Answer {
        self.satisfiable_all(pool, condition, hint, &[question])
    }

    /// `exists I: C(I) and q(I) for all questions q`, with such an `I`; otherwise as `satisfiable`.
    pub fn satisfiable_all(
        &mut self,
        pool: &Pool,
        condition: &Condition,
        hint: Option<&Assignment>,
        questions: &[Term],
    ) -> Answer {
        let answer = self.ask(pool, condition, hint, questions);
        if let Some(cross) = &mut self.cross {
            cross.compare(pool, condition, questions, answer.truth());
        }
        answer
    }

    /// The layers for a whole question.
    fn ask(
        &mut self,
        pool: &Pool,
        condition: &Condition,
        hint: Option<&Assignment>,
        questions: &[Term],
    ) -> Answer {
        if condition.is_contradiction() {
            return Answer::Unsat;
        }
        let (masks, evaluator) = (&mut self.masks, &mut self.scratch.evaluator);
        if let Some(hint) = hint
            && let Some(answer) = hint::answer(pool, masks, evaluator, condition, hint, questions)
        {
            self.statistics.count(Layer::Hint);
            return answer;
        }
        match self.opener.open(pool, masks, condition, hint.is_some(), questions) {
            Open::Contradiction => {
                self.statistics.count(Layer::Domains);
                Answer::Unsat
            }
            Open::Parts(free, parts) => self.ask_parts(pool, free, parts),
        }
    }

    /// All of the parts, each for itself, beside bytes that have a value already.
    fn ask_parts(&mut self, pool: &Pool, free: Values, parts: Vec<Part>) -> Answer {
        let (mut values, mut unknown) = (free, None);
        for _ in &values {
            self.statistics.count(Layer::Domains);
        }
        for part in parts {
            match self.part(pool, part) {
                Outcome::Sat(found) if values.is_empty() => values = found,
                Outcome::Sat(found) => values.extend(found),
                Outcome::Unsat => return Answer::Unsat,
                Outcome::Unknown(why) => unknown = Some(why),
            }
        }
        match unknown {
            None => Answer::Sat(Model::from_values(values)),
            Some(why) => Answer::Unknown(why),
        }
    }

    /// The layers for one part.
    pub(crate) fn part(&mut self, pool: &Pool, part: Part) -> Outcome {
        if let ([(byte, domain)], []) = (&part.domains[..], &part.literals[..]) {
            self.statistics.count(Layer::Domains);
            return domain
                .nth(0)
                .map_or(Outcome::Unsat, |value| Outcome::Sat(vec![(*byte, value)]));
        }
        let fingerprint = part.fingerprint();
        if let Some(outcome) = self.cache.find(fingerprint, &part) {
            self.statistics.count(Layer::Cache);
            return outcome;
        }
        let (layer, outcome) = self.search(pool, fingerprint, &part);
        self.statistics.count(layer);
        if let Outcome::Sat(values) = &outcome {
            if self.check_models {
                check::check(pool, &mut self.scratch, &part, values, layer.name());
            }
            self.recent.keep(values);
            self.scratch.assign(values);
        }
        self.cache.keep(fingerprint, part, &outcome);
        outcome
    }

    /// The layers that look for a model.
    fn search(&mut self, pool: &Pool, seed: u64, part: &Part) -> (Layer, Outcome) {
        let mut sheet = Sheet::new(pool, &mut self.scratch.marks, part);
        if let Some(values) = self.recent.find(&mut sheet, part) {
            return (Layer::Recent, Outcome::Sat(values));
        }
        if self.shortcuts
            && let Some(found) = self.shortcut(pool, &mut sheet, seed, part)
        {
            return found;
        }
        let part = &mut part.clone();
        if let Some(outcome) = pairs::propagate(pool, &mut self.relations, &mut self.bench, part) {
            return (Layer::Pairs, outcome);
        }
        if let Some(outcome) = product::search(pool, &mut self.bench, part) {
            return (Layer::Product, outcome);
        }
        let started = Instant::now();
        let quick = Budget { conflicts: self.budget.conflicts.min(QUICK_CONFLICTS), ..self.budget };
        let first = sat::search(pool, &mut self.engines, part, &quick);
        if !matches!(first, Outcome::Unknown(_)) {
            return (Layer::Sat, first);
        }
        if let Some(outcome) = counted::search(pool, part) {
            return (Layer::Counted, outcome);
        }
        let rest = self.budget.time.saturating_sub(started.elapsed());
        match first {
            Outcome::Unknown(Why::Conflicts) if self.budget.conflicts > QUICK_CONFLICTS => {
                let budget = Budget { time: rest, ..self.budget };
                (Layer::Sat, sat::search(pool, &mut self.engines, part, &budget))
            }
            _ => (Layer::Sat, first),
        }
    }

    /// Most contradictions are a matter of size, and most models are a few repairs away.
    fn shortcut(
        &mut self,
        pool: &Pool,
        sheet: &mut Sheet<'_>,
        seed: u64,
        part: &Part,
    ) -> Option<(Layer, Outcome)> {
        let Some(ranges) = bounds::ranges(pool, sheet, part) else {
            return Some((Layer::Bounds, Outcome::Unsat));
        };
        let values = repair::search(sheet, part, &ranges, &self.scratch.assignment, seed)?;
        Some((Layer::Repair, Outcome::Sat(values)))
    }

    /// `exists I: C(I) and q(I)`.
    pub fn may_be_true(
        &mut self,
        pool: &Pool,
        condition: &Condition,
        hint: Option<&Assignment>,
        question: Term,
    ) -> Truth {
        self.satisfiable(pool, condition, hint, question).truth()
    }

    /// `for all I: C(I) implies q(I)`.
    pub fn must_be_true(
        &mut self,
        pool: &mut Pool,
        condition: &Condition,
        hint: Option<&Assignment>,
        question: Term,
    ) -> Truth {
        let otherwise = pool.not(question);
        !self.may_be_true(pool, condition, hint, otherwise)
    }

    /// `for all I: C(I) implies t(I) = t(H)`, where `H` is the hint.
    pub fn only_value(
        &mut self,
        pool: &mut Pool,
        condition: &Condition,
        hint: &Assignment,
        term: Term,
    ) -> Truth {
        let value = Evaluator::new().eval(pool, term, hint);
        let value = pool.constant_of(pool.sort(term), value);
        let same = pool.eq(term, value);
        self.must_be_true(pool, condition, Some(hint), same)
    }

    /// `exists I: C(I)`, with such an `I`: values for all bytes that `C` constrains.
    pub fn model(&mut self, pool: &Pool, condition: &Condition) -> Answer {
        if condition.is_contradiction() {
            return Answer::Unsat;
        }
        match self.opener.open(pool, &mut self.masks, condition, false, &[]) {
            Open::Contradiction => Answer::Unsat,
            Open::Parts(free, parts) => self.ask_parts(pool, free, parts),
        }
    }

    /// Compares every verdict of `satisfiable` with another solver's from now on.
    pub fn cross_check_with(&mut self, other: CrossCheck) {
        self.cross = Some(other);
    }

    /// The other solver, if there is one.
    pub fn cross_check(&self) -> Option<&CrossCheck> {
        self.cross.as_ref()
    }

    /// Which layers answered.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}

impl std::fmt::Debug for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Solver({})", self.statistics)
    }
}
