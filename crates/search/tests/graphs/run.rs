//! A strategy run on a program, with everything that a caller has to provide.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_path::Failure;
use stunt_search::paths::{
    Astray, Found, Limits, Manner, ReapOptions, ReapRmOptions, RespaOptions, Task, mpp, reap,
    reap_rm, respa,
};
use stunt_search::{PathCondition, castro};
use stunt_terms::{Pool, Term};

use crate::graph::{Concrete, Graph, Walk, original};

/// A strategy with its options.
#[derive(Clone, Copy, Debug)]
pub enum Strategy {
    Mpp,
    Reap(ReapOptions),
    ReapRm(ReapRmOptions),
    Respa(RespaOptions),
}

impl Strategy {
    /// All of them, as usual.
    pub fn all() -> [Strategy; 5] {
        [
            Strategy::Mpp,
            Strategy::Reap(ReapOptions::new(Manner::RandomWalk)),
            Strategy::Reap(ReapOptions::new(Manner::AdaptiveGreedy)),
            Strategy::ReapRm(ReapRmOptions::default()),
            Strategy::Respa(RespaOptions { record: true, ..RespaOptions::default() }),
        ]
    }
}

/// Whether doubles drawn from the chosen path fail, as a caller would draw them.
pub fn doubles_fail(pool: &mut Pool, graph: &Rc<Graph>, found: &Found, draws: u64) -> bool {
    let witness = original(found.chosen().witness().source(0));
    let tests = found.chosen().tests();
    let bytes = witness.len_of(0) as u32;
    (0..draws).all(|seed| {
        let mut condition = PathCondition::new(pool, &tests, &witness);
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let double = castro(&mut condition, &witness, rng).expect("the path has inputs");
        assert!(double.not_uniform.is_none());
        Concrete::new(graph, pool, bytes).fails(&double.bytes[0], "bug")
    })
}

/// One run.
pub struct Run<'a> {
    pub graph: &'a Rc<Graph>,
    pub input: &'a [u8],
    pub seed: u64,
    pub nodes: u64,
    /// What holds of every input, beside the tests.
    pub given: &'a [Term],
}

impl<'a> Run<'a> {
    pub fn new(graph: &'a Rc<Graph>, input: &'a [u8]) -> Run<'a> {
        Run { graph, input, seed: 1, nodes: u64::MAX, given: &[] }
    }

    /// Looks for other paths to the failure named `bug`.
    pub fn search(&self, pool: &mut Pool, strategy: Strategy) -> Result<Found, Astray> {
        let cancel = AtomicBool::new(false);
        let start = Walk::new(self.graph, pool, self.input);
        let (original, target) = (original(self.input), Failure::stated("bug"));
        let task = Task {
            pool,
            original: &original,
            target: &target,
            given: self.given,
            limits: Limits {
                nodes: self.nodes,
                time: Duration::from_secs(600),
                clock: &Instant::now,
                cancel: &cancel,
            },
            rng: &mut ChaCha8Rng::seed_from_u64(self.seed),
            progress: &mut |_| {},
            pause: &mut |_| {},
        };
        match strategy {
            Strategy::Mpp => mpp(start, task),
            Strategy::Reap(options) => reap(start, task, &options),
            Strategy::ReapRm(options) => reap_rm(start, task, &options),
            Strategy::Respa(options) => respa(start, task, &options),
        }
    }

    /// The same with a pool of its own, for a program that fails.
    pub fn found(&self, strategy: Strategy) -> Found {
        self.search(&mut Pool::new(), strategy).expect("the original leads to the failure")
    }
}
