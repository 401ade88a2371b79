//! A small program as an execution: what a search sees of a machine, without one.
//!
//! Every step runs the program from its start, with terms, and halts it one test later. What always
//! holds: the tests that were passed come out the same in every such run, because the input that is
//! bound satisfies them. This file must not know which way is worth trying.

use stunt_path::{Execution, Failure, Stop, Test};
use stunt_terms::{Assignment, Pool};

use crate::programs::Program;
use crate::run::{End, Run};

/// The failure of every program here.
pub fn failure() -> Failure {
    Failure::stated("bug")
}

/// A program under way.
pub struct Walk {
    program: &'static Program,
    input: Vec<u8>,
    passed: usize,
    stop: Stop,
}

impl Walk {
    /// At the first test, bound to an input.
    pub fn new(program: &'static Program, pool: &mut Pool, input: &[u8]) -> Self {
        let mut walk = Self { program, input: input.to_vec(), passed: 0, stop: Stop::Ended(None) };
        walk.look(pool);
        walk
    }

    fn look(&mut self, pool: &mut Pool) {
        let mut run = Run::symbolic(&self.input, pool, self.passed);
        let end = self.program.follow(&mut run);
        self.stop = match (end, run.halted()) {
            (Err(_), Some(junction)) => Stop::Test(junction),
            (Err(_), None) => Stop::Lost("halted without a test".into()),
            (Ok(End::Fails), _) => Stop::Ended(Some(failure())),
            (Ok(End::Well), _) => Stop::Ended(None),
        };
    }

    /// All tests of the path that the input takes, from here on.
    pub fn tests(mut self, pool: &mut Pool) -> Vec<Test> {
        let mut tests = Vec::new();
        while let Stop::Test(junction) = &self.stop {
            tests.push(junction.test);
            self.advance(pool);
        }
        tests
    }
}

impl Execution for Walk {
    fn stop(&self) -> &Stop {
        &self.stop
    }

    fn advance(&mut self, pool: &mut Pool) {
        if matches!(self.stop, Stop::Test(_)) {
            self.passed += 1;
            self.look(pool);
        }
    }

    fn fork(&mut self) -> Self {
        let (input, stop) = (self.input.clone(), self.stop.clone());
        Self { program: self.program, input, passed: self.passed, stop }
    }

    fn bind(&mut self, pool: &mut Pool, input: &Assignment) {
        let bytes = input.source(0);
        for (own, at) in self.input.iter_mut().zip(0..) {
            *own = bytes.get(at).copied().unwrap_or(0);
        }
        self.look(pool);
    }
}
