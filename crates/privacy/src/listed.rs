//! All inputs on which a small program fails, and the paths that they take, found by trying.

use rustc_hash::FxHashMap;

use crate::programs::Program;
use crate::run::Route;

/// A program with the list of its failing inputs.
pub struct Listed {
    /// The program.
    pub program: &'static Program,
    /// The inputs on which it fails, in order.
    pub failing: Vec<Vec<u8>>,
    /// For each path, by its number, the numbers of the inputs that take it.
    pub paths: Vec<Vec<u32>>,
    numbers: FxHashMap<Vec<u8>, u32>,
    path_of: Vec<u32>,
}

impl Listed {
    /// Tries all inputs over the alphabets of a program; any other ends well, by its first tests. A byte
    /// without an alphabet takes all values: at most two may.
    pub fn new(program: &'static Program) -> Self {
        let every: Vec<u8> = (0..=255).collect();
        let alphabets: Vec<&[u8]> =
            program.alphabets.iter().map(|alphabet| alphabet.unwrap_or(&every)).collect();
        let all: usize = alphabets.iter().map(|alphabet| alphabet.len()).product();
        let (mut failing, mut path_of, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        let (mut numbers, mut known) = (FxHashMap::default(), FxHashMap::<Route, u32>::default());
        for number in 0..all {
            let (mut rest, mut input) = (number, vec![0; alphabets.len()]);
            for (byte, alphabet) in input.iter_mut().zip(&alphabets).rev() {
                *byte = alphabet[rest % alphabet.len()];
                rest /= alphabet.len();
            }
            let (fails, route) = program.run(&input);
            if !fails {
                continue;
            }
            let next = paths.len() as u32;
            let path = *known.entry(route).or_insert(next);
            if path == next {
                paths.push(Vec::new());
            }
            let own = failing.len() as u32;
            paths[path as usize].push(own);
            path_of.push(path);
            numbers.insert(input.clone(), own);
            failing.push(input);
        }
        Self { program, failing, paths, numbers, path_of }
    }

    /// The number of an input, if the program fails on it.
    pub fn number(&self, input: &[u8]) -> Option<u32> {
        self.numbers.get(input).copied()
    }

    /// The path that a failing input takes.
    pub fn path_of(&self, number: u32) -> u32 {
        self.path_of[number as usize]
    }

    /// What nobody can hide: that the program fails. In bits, of all inputs of the length.
    pub fn floor(&self) -> f64 {
        8.0 * self.program.len() as f64 - (self.failing.len() as f64).log2()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use stunt_terms::{Assignment, Evaluator, Pool};

    use super::*;
    use crate::programs::small;
    use crate::walk::Walk;

    #[test]
    fn one_definition_gives_the_same_path_as_values_and_as_terms() {
        for program in small() {
            let listed = Listed::new(program);
            for path in &listed.paths {
                let mut pool = Pool::new();
                let input = &listed.failing[path[0] as usize];
                let tests = Walk::new(program, &mut pool, input).tests(&mut pool);
                let solves = |input: &Vec<u8>| {
                    let (values, mut evaluator) =
                        (Assignment::from_bytes(input.clone()), Evaluator::new());
                    tests.iter().all(|test| evaluator.holds(&pool, test.condition, &values))
                };
                let solutions: Vec<u32> = (0..listed.failing.len() as u32)
                    .filter(|&at| solves(&listed.failing[at as usize]))
                    .collect();
                assert_eq!(&solutions, path, "{}", program.name);
            }
        }
    }

    #[test]
    fn there_are_enough_programs_and_each_is_worth_listing() {
        let names: BTreeSet<&str> = small().map(|program| program.name).collect();
        assert!(names.len() >= 12 && names.len() == small().count());
        for program in small() {
            let listed = Listed::new(program);
            assert!((8..=600).contains(&listed.failing.len()), "{}", program.name);
            assert!((2..=5).contains(&program.len()), "{}", program.name);
            assert_eq!(listed.paths.iter().map(Vec::len).sum::<usize>(), listed.failing.len());
        }
        let count = |name: &str| {
            let program = crate::programs::named(name).expect("there is one");
            Listed::new(program).failing.len()
        };
        // Counted by hand.
        assert_eq!(count("compare"), 28);
        assert_eq!(count("case"), 32);
        assert_eq!(count("fold"), 32);
        assert_eq!(count("loop"), 54);
        assert_eq!(count("tlv"), 196);
        assert_eq!(count("http"), 196);
        assert_eq!(count("score"), 15);
        assert_eq!(count("find"), 56);
        assert_eq!(count("card"), 49);
    }
}
