//! Expressions over a few bits, built and compared with their meaning under every assignment.
//!
//! A [`Sample`] is an expression with its reference values for all assignments and the term that
//! the constructors made of it. Each new sample is compared in full; each new term's facts,
//! support and normal form are checked. Failures are collected, so that one run names them all.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use stunt_terms::smtlib::print_term;
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Sort, Term};

use super::normal_form::{broken_rule, rebuilt};
use super::reference::{Expr, Kind, apply, construct, make, result};

/// An expression, its values, and its term.
#[derive(Clone)]
pub struct Sample {
    pub sort: Sort,
    pub term: Term,
    values: Rc<[u16]>,
    expr: Rc<Expr>,
}

/// Failures by kind: how many, and the first few.
#[derive(Default)]
pub struct Report {
    failures: BTreeMap<String, (u64, Vec<String>)>,
    /// How many comparisons of values were made.
    pub compared: u64,
    /// How often each rule was applied.
    pub rules: BTreeMap<&'static str, u64>,
}

impl Report {
    pub fn fail(&mut self, kind: &str, example: impl FnOnce() -> String) {
        let entry = self.failures.entry(kind.to_owned()).or_default();
        entry.0 += 1;
        // Prefer short examples.
        if entry.1.len() < 3 {
            entry.1.push(example());
        } else if entry.0 < 1000 {
            let next = example();
            if let Some(longest) = entry.1.iter_mut().max_by_key(|text| text.len())
                && next.len() < longest.len()
            {
                *longest = next;
            }
        }
    }

    /// Adds how often rules were applied in a pool.
    pub fn note_rules(&mut self, pool: &Pool) {
        for (rule, _, count) in pool.rule_counts().iter() {
            *self.rules.entry(rule).or_default() += count;
        }
    }

    /// The kinds of failures.
    pub fn kinds(&self) -> Vec<&str> {
        self.failures.keys().map(String::as_str).collect()
    }

    /// Takes over another report.
    pub fn absorb(&mut self, other: Report) {
        for (kind, (count, examples)) in other.failures {
            let entry = self.failures.entry(kind).or_default();
            entry.0 += count;
            entry.1.extend(examples);
        }
        self.compared += other.compared;
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
    }

    /// Panics with all failures, if there are any.
    pub fn finish(&self) {
        let mut text = String::new();
        for (kind, (count, examples)) in &self.failures {
            let _ = write!(text, "\n{kind} ({count} times)");
            for example in examples.iter().take(4) {
                let _ = write!(text, "\n    {example}");
            }
        }
        assert!(text.is_empty(), "{text}");
        assert!(self.compared > 0, "nothing was compared");
    }
}

/// Where samples are made: a pool, and one evaluator for each assignment.
pub struct Lab {
    pub pool: Pool,
    pub report: Report,
    /// The bits of each byte that vary: how many, from which on.
    variables: Vec<(u8, u8)>,
    assignments: Vec<Assignment>,
    evaluators: Vec<Evaluator>,
    known: Vec<Option<Rc<[u16]>>>,
    meanings: FxHashMap<(Kind, u8, u8), Rc<[u16]>>,
}

impl Lab {
    /// A lab in which byte `i` varies in the given bits (how many, from which on).
    pub fn new(variables: &[(u8, u8)]) -> Lab {
        let total: u8 = variables.iter().map(|&(bits, _)| bits).sum();
        let assignments: Vec<Assignment> = (0..1u32 << total)
            .map(|mut number| {
                let mut bytes = Vec::new();
                for &(bits, from) in variables {
                    bytes.push(((number & ((1 << bits) - 1)) << from) as u8);
                    number >>= bits;
                }
                Assignment::from_bytes(bytes)
            })
            .collect();
        let mut lab = Lab {
            pool: Pool::new(),
            report: Report::default(),
            variables: variables.to_vec(),
            assignments,
            evaluators: Vec::new(),
            known: Vec::new(),
            meanings: FxHashMap::default(),
        };
        lab.clear();
        lab
    }

    /// Forgets all samples and terms; they must not be used again.
    pub fn clear(&mut self) {
        self.report.note_rules(&self.pool);
        self.pool = Pool::new();
        self.evaluators = self.assignments.iter().map(|_| Evaluator::new()).collect();
        self.known.clear();
    }

    /// The report, with the rules applied so far.
    pub fn into_report(mut self) -> Report {
        self.report.note_rules(&self.pool);
        self.report
    }

    /// The varying bits of a byte.
    pub fn variable(&mut self, number: usize) -> Sample {
        let (bits, from) = self.variables[number];
        let below: u8 = self.variables[..number].iter().map(|&(bits, _)| bits).sum();
        let values: Rc<[u16]> =
            (0..self.assignments.len()).map(|i| (i >> below & ((1 << bits) - 1)) as u16).collect();
        let byte = make(Kind::Byte(number as u32), &[]);
        let expr =
            if bits == 8 { byte } else { make(Kind::Extract(from + bits - 1, from), &[&byte]) };
        let term = self.pool.byte(InputByte::new(0, number as u32));
        let term = self.pool.extract(from + bits - 1, from, term);
        self.check(Sample { sort: Sort::Bits(bits), term, values, expr })
    }

    pub fn constant(&mut self, width: u8, value: u16) -> Sample {
        self.apply(Kind::Const(width, u128::from(value)), &[])
    }

    /// The operator on samples, checked.
    pub fn apply(&mut self, kind: Kind, args: &[&Sample]) -> Sample {
        self.apply_as(kind, kind, args)
    }

    /// A sample with the meaning of one operator and the term of another, which had better agree.
    pub fn apply_as(&mut self, kind: Kind, made: Kind, args: &[&Sample]) -> Sample {
        let sorts: Vec<Sort> = args.iter().map(|arg| arg.sort).collect();
        let values: Rc<[u16]> = match *args {
            [a] => {
                let meaning = self.meaning(kind, &sorts);
                a.values.iter().map(|&x| meaning[usize::from(x)]).collect()
            }
            [a, b] if a.sort.bits() + b.sort.bits() <= 16 => {
                let meaning = self.meaning(kind, &sorts);
                let low = b.sort.bits();
                let pairs = a.values.iter().zip(b.values.iter());
                pairs.map(|(&x, &y)| meaning[usize::from(x) << low | usize::from(y)]).collect()
            }
            _ => (0..self.assignments.len())
                .map(|i| {
                    let values: Vec<u128> =
                        args.iter().map(|arg| u128::from(arg.values[i])).collect();
                    apply(kind, &sorts, &values) as u16
                })
                .collect(),
        };
        let terms: Vec<Term> = args.iter().map(|arg| arg.term).collect();
        let term = construct(&mut self.pool, made, &terms);
        let exprs: Vec<&Rc<Expr>> = args.iter().map(|arg| &arg.expr).collect();
        self.check(Sample { sort: result(kind, &sorts), term, values, expr: make(kind, &exprs) })
    }

    /// All values of a unary or binary operator.
    fn meaning(&mut self, kind: Kind, sorts: &[Sort]) -> Rc<[u16]> {
        let low = sorts.get(1).map_or(0, |sort| sort.bits());
        // A Bool and one bit are told apart by the operator.
        let key = (kind, sorts[0].bits(), low);
        let meaning = self.meanings.entry(key).or_insert_with(|| {
            (0..1u128 << (sorts[0].bits() + low))
                .map(|pair| match sorts.len() {
                    1 => apply(kind, sorts, &[pair]) as u16,
                    _ => apply(kind, sorts, &[pair >> low, pair & ((1 << low) - 1)]) as u16,
                })
                .collect()
        });
        Rc::clone(meaning)
    }

    fn check(&mut self, sample: Sample) -> Sample {
        let actual = self.values(sample.term);
        self.report.compared += actual.len() as u64;
        if self.pool.sort(sample.term) != sample.sort {
            let pool = &self.pool;
            self.report.fail("wrong sort", || {
                format!("{} => {}", sample.expr, print_term(pool, sample.term))
            });
        } else if actual != sample.values {
            let pool = &self.pool;
            let at = (0..actual.len()).find(|&i| actual[i] != sample.values[i]).unwrap_or(0);
            let bytes = self.assignments[at].source(0).to_vec();
            self.report.fail("WRONG VALUE", || {
                let after = print_term(pool, sample.term);
                format!(
                    "{} => {after} at {bytes:x?}: {} not {}",
                    sample.expr, actual[at], sample.values[at]
                )
            });
        }
        sample
    }

    /// The values of a term for all assignments; its facts, support and form are checked once.
    fn values(&mut self, term: Term) -> Rc<[u16]> {
        if let Some(Some(values)) = self.known.get(term.index()) {
            return Rc::clone(values);
        }
        let pool = &self.pool;
        let values: Rc<[u16]> = self
            .evaluators
            .iter_mut()
            .zip(&self.assignments)
            .map(|(evaluator, assignment)| evaluator.eval(pool, term, assignment) as u16)
            .collect();
        let facts = pool.facts(term);
        for &value in values.iter() {
            let v = u128::from(value);
            if v & facts.zeros != 0
                || v & facts.ones != facts.ones
                || v < facts.min
                || v > facts.max
            {
                self.report.fail("a fact does not hold", || {
                    format!("{} is {v:#x}, but {facts:x?}", print_term(pool, term))
                });
                break;
            }
        }
        let mut below = 0;
        for (number, &(bits, _)) in self.variables.iter().enumerate() {
            let varying = ((1usize << bits) - 1) << below;
            below += bits;
            let matters = (0..values.len()).any(|i| values[i] != values[i & !varying]);
            if matters && !pool.support(term).contains(InputByte::new(0, number as u32)) {
                self.report.fail("a byte is missing in the support", || print_term(pool, term));
            }
        }
        if let Some(rule) = broken_rule(pool, term) {
            self.report
                .fail(&format!("not in normal form, rule {rule}"), || print_term(pool, term));
        }
        if self.known.len() <= term.index() {
            self.known.resize(term.index() + 1, None);
        }
        self.known[term.index()] = Some(Rc::clone(&values));
        for operand in self.pool.op(term).operands() {
            self.values(operand);
        }
        let again = rebuilt(&mut self.pool, term);
        if again != term {
            let pool = &self.pool;
            self.report.fail("a term is not rebuilt as itself", || {
                format!("{} => {}", print_term(pool, term), print_term(pool, again))
            });
        }
        values
    }
}
