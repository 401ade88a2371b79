//! Programs written down as graphs, and their execution: what a search sees of a machine, without one.
//!
//! A site is a test, a switch, a pin, or an end. Its condition is a closure that builds a term. What
//! always holds, and is asserted: an execution is only ever bound to inputs that satisfy what it has
//! passed.

use std::collections::BTreeMap;
use std::rc::Rc;

use stunt_path::{Execution, Failure, Junction, Node, Original, Pin, Place, Stop, Test, TestKind};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Program, Term};

/// Builds a term.
pub type Build = Box<dyn Fn(&mut Pool) -> Term>;

/// A site of a program. Targets are numbers of sites.
pub enum Site {
    /// A test of a Bool term.
    Test { place: u64, condition: Build, yes: usize, no: usize },
    /// A jump by the value of an 8-bit term: the first case that lists it, else the last target.
    Switch { place: u64, value: Build, cases: Vec<(Vec<u8>, usize)>, otherwise: usize },
    /// An 8-bit value that is fixed to what it is.
    Pin { place: u64, value: Build, next: usize },
    /// A failure, by its name.
    Fail(&'static str),
    /// The program ends well.
    Exit,
    /// It cannot be followed any further.
    Stuck,
}

/// A program. It starts at site 0.
pub struct Graph {
    pub sites: Vec<Site>,
    /// Whether a place may be met more than once: rounds are counted then.
    pub loops: bool,
    /// Whether bindings are checked.
    pub checked: bool,
}

impl Graph {
    pub fn new(sites: Vec<Site>) -> Rc<Graph> {
        Rc::new(Graph { sites, loops: true, checked: true })
    }
}

/// A program under way.
pub struct Walk {
    graph: Rc<Graph>,
    at: usize,
    input: Assignment,
    rounds: BTreeMap<u64, u64>,
    passed: Vec<Term>,
    stop: Stop,
    next: usize,
}

impl Walk {
    /// At the first stop, bound to an input.
    pub fn new(graph: &Rc<Graph>, pool: &mut Pool, input: &[u8]) -> Walk {
        let mut walk = Walk {
            graph: Rc::clone(graph),
            at: 0,
            input: Assignment::from_bytes(input),
            rounds: BTreeMap::new(),
            passed: Vec::new(),
            stop: Stop::Ended(None),
            next: 0,
        };
        walk.look(pool);
        walk
    }

    /// Finds out where it stands.
    fn look(&mut self, pool: &mut Pool) {
        let graph = Rc::clone(&self.graph);
        let (place, outcome, condition, kind, next) = match &graph.sites[self.at] {
            Site::Test { place, condition, yes, no } => {
                let term = condition(pool);
                let holds = Evaluator::new().holds(pool, term, &self.input);
                let term = if holds { term } else { pool.not(term) };
                (place, u64::from(holds), term, TestKind::Branch, if holds { *yes } else { *no })
            }
            Site::Switch { place, value, cases, otherwise } => {
                let term = value(pool);
                let actual = Evaluator::new().eval(pool, term, &self.input) as u8;
                let known = cases.iter().position(|(values, _)| values.contains(&actual));
                let listed = |pool: &mut Pool, values: &[u8]| {
                    let equal: Vec<Term> = values
                        .iter()
                        .map(|&value| {
                            let value = pool.constant(8, u128::from(value));
                            pool.eq(term, value)
                        })
                        .collect();
                    pool.or_all(equal)
                };
                match known {
                    Some(case) => {
                        let earlier = |value: &u8| {
                            cases[..case].iter().any(|(values, _)| values.contains(value))
                        };
                        let mut own = cases[case].0.clone();
                        own.retain(|value| !earlier(value));
                        let condition = listed(pool, &own);
                        (place, case as u64 + 1, condition, TestKind::Jump, cases[case].1)
                    }
                    None => {
                        let all: Vec<u8> =
                            cases.iter().flat_map(|(values, _)| values.clone()).collect();
                        let any = listed(pool, &all);
                        (place, 0, pool.not(any), TestKind::Jump, *otherwise)
                    }
                }
            }
            Site::Pin { place, value, next } => {
                let term = value(pool);
                let actual = Evaluator::new().eval(pool, term, &self.input);
                let constant = pool.constant(8, actual);
                (place, actual as u64, pool.eq(term, constant), TestKind::Pin(Pin::Count), *next)
            }
            Site::Fail(name) => {
                self.stop = Stop::Ended(Some(Failure::stated(name)));
                return;
            }
            Site::Exit => {
                self.stop = Stop::Ended(None);
                return;
            }
            Site::Stuck => {
                self.stop = Stop::Lost("an unknown operation".into());
                return;
            }
        };
        let round = self.rounds.get(place).copied().unwrap_or(0);
        self.next = next;
        self.stop = Stop::Test(Junction {
            node: Node { place: Place(place * 1_000_000 + round), outcome },
            test: Test { condition, address: *place, kind },
            open: !matches!(kind, TestKind::Pin(_)),
        });
    }
}

impl Execution for Walk {
    fn stop(&self) -> &Stop {
        &self.stop
    }

    fn advance(&mut self, pool: &mut Pool) {
        let Stop::Test(junction) = &self.stop else { return };
        if self.graph.checked {
            self.passed.push(junction.test.condition);
        }
        if self.graph.loops {
            *self.rounds.entry(junction.test.address).or_default() += 1;
        }
        self.at = self.next;
        self.look(pool);
    }

    fn fork(&mut self) -> Walk {
        Walk {
            graph: Rc::clone(&self.graph),
            at: self.at,
            input: self.input.clone(),
            rounds: self.rounds.clone(),
            passed: self.passed.clone(),
            stop: self.stop.clone(),
            next: self.next,
        }
    }

    fn bind(&mut self, pool: &mut Pool, input: &Assignment) {
        let mut evaluator = Evaluator::new();
        for &test in &self.passed {
            assert!(evaluator.holds(pool, test, input), "bound to an input of another path");
        }
        self.input = input.clone();
        self.look(pool);
    }
}

/// A program as its inputs see it: run without any search, or terms that are built again and again.
pub struct Concrete {
    graph: Rc<Graph>,
    values: Program,
}

impl Concrete {
    /// Of a program over so many bytes.
    pub fn new(graph: &Rc<Graph>, pool: &mut Pool, bytes: u32) -> Concrete {
        let terms: Vec<Term> = graph
            .sites
            .iter()
            .map(|site| match site {
                Site::Test { condition: term, .. }
                | Site::Switch { value: term, .. }
                | Site::Pin { value: term, .. } => term(pool),
                Site::Fail(_) | Site::Exit | Site::Stuck => pool.boolean(true),
            })
            .collect();
        let inputs: Vec<InputByte> = (0..bytes).map(|offset| InputByte::new(0, offset)).collect();
        Concrete { graph: Rc::clone(graph), values: Program::compile(pool, &terms, &inputs) }
    }

    /// Whether it fails as named.
    pub fn fails(&mut self, input: &[u8], name: &str) -> bool {
        let values = self.values.run_one(input);
        let mut at = 0;
        loop {
            at = match &self.graph.sites[at] {
                Site::Test { yes, no, .. } => {
                    if values[at] != 0 {
                        *yes
                    } else {
                        *no
                    }
                }
                Site::Switch { cases, otherwise, .. } => cases
                    .iter()
                    .find(|(listed, _)| listed.contains(&(values[at] as u8)))
                    .map_or(*otherwise, |(_, target)| *target),
                Site::Pin { next, .. } => *next,
                Site::Fail(own) => return *own == name,
                Site::Exit | Site::Stuck => return false,
            };
        }
    }
}

/// An original with one source.
pub fn original(input: &[u8]) -> Original {
    let mut original = Original::new();
    original.push(input.to_vec(), vec![]);
    original
}

/// `input[offset] == value`.
pub fn is(offset: u32, value: u8) -> Build {
    Box::new(move |pool| {
        let (byte, value) = (pool.input(0, offset), pool.constant(8, u128::from(value)));
        pool.eq(byte, value)
    })
}

/// `input[offset] < value`.
pub fn below(offset: u32, value: u8) -> Build {
    Box::new(move |pool| {
        let (byte, value) = (pool.input(0, offset), pool.constant(8, u128::from(value)));
        pool.ult(byte, value)
    })
}

/// `input[offset]`.
pub fn byte(offset: u32) -> Build {
    Box::new(move |pool| pool.input(0, offset))
}

/// A test whose place is its number.
pub fn test(number: usize, condition: Build, yes: usize, no: usize) -> Site {
    Site::Test { place: number as u64, condition, yes, no }
}
