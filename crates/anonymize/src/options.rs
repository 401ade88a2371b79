//! How a double is to be found, and what it may take.

use std::time::Duration;

use stunt_machine::symbolic::Relaxations;
use stunt_search::weaken::Readable;
use stunt_subject::FailsIf;

use crate::report::{USUAL_REMAINS, USUAL_SHARE, USUAL_SHARE_CUT};
use crate::telling::Wishes;

/// How the double is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// The condition of the path, weakened as far as real runs allow.
    Weaken,
    /// A random solution of the relaxed path condition.
    Relaxed,
    /// A random solution of the path condition as it is (Castro et al.).
    Castro,
    /// The solution of the relaxed path condition that differs most (Camouflage).
    Camouflage,
    /// All paths to the failure.
    Mpp,
    /// Another path by a bounded random walk (REAP).
    ReapBrw,
    /// Another path by bounded, adaptive and greedy detours (REAP).
    ReapBag,
    /// Another path by detours that share few bytes with the original (the earlier REAP).
    ReapRm,
    /// Another path by searches for the least leaking one (RESPA).
    Respa,
    /// Weakening without a path.
    Blackbox,
}

impl Method {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Method; 10] = [
        Method::Weaken,
        Method::Relaxed,
        Method::Castro,
        Method::Camouflage,
        Method::Mpp,
        Method::ReapBrw,
        Method::ReapBag,
        Method::ReapRm,
        Method::Respa,
        Method::Blackbox,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Weaken => "weaken",
            Method::Relaxed => "relaxed",
            Method::Castro => "castro",
            Method::Camouflage => "camouflage",
            Method::Mpp => "mpp",
            Method::ReapBrw => "reap-brw",
            Method::ReapBag => "reap-bag",
            Method::ReapRm => "reap-rm",
            Method::Respa => "respa",
            Method::Blackbox => "blackbox",
        }
    }

    /// Whether it weakens by runs, and so may change the input's length, and can do without a path.
    pub fn weakens(self) -> bool {
        matches!(self, Method::Weaken | Method::Blackbox)
    }
}

/// A relaxation of the path condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relaxation {
    /// Comparisons of strings and memory.
    Comparisons,
    /// Conditions of several clauses.
    Clauses,
    /// Jumps through tables.
    Switches,
    /// Reads from constant tables, and accesses to one of a few places.
    Reads,
}

/// How long a double is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resize {
    /// Short, or filled up to the original's length, whichever reveals less.
    Auto,
    /// Short.
    Always,
    /// It has the length of the original.
    Never,
}

/// What searches over paths may take.
#[derive(Clone, Copy, Debug)]
pub struct PathSearch {
    /// The most tests that are made.
    pub nodes: u64,
    /// The most tests of a detour.
    pub max_detour: usize,
    /// How often a detour is tried.
    pub attempts: u32,
    /// The most tests at which an attempt leaves the path.
    pub detours: Option<usize>,
    /// How far from the path to look, in tests.
    pub radius: Option<usize>,
    /// Start from the original's own path, whatever other inputs there are.
    pub as_is: bool,
    /// Random delays, up to so much each.
    pub hide_time: Option<Duration>,
}

impl Default for PathSearch {
    fn default() -> Self {
        Self {
            nodes: 100_000_000,
            max_detour: 32,
            attempts: 200,
            detours: None,
            radius: None,
            as_is: false,
            hide_time: None,
        }
    }
}

/// What is asked of a job.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the double is found.
    pub method: Method,
    /// Relaxations that are left out.
    pub no_relax: Vec<Relaxation>,
    /// Stop at the first invalid access to memory.
    pub check_memory: bool,
    /// What counts as the failure, if that is said.
    pub fails_if: Option<FailsIf>,
    /// How long a search may take, if that is said.
    pub time: Option<Duration>,
    /// How many runs weakening may make.
    pub effort: u64,
    /// What searches over paths may take.
    pub paths: PathSearch,
    /// Equal paths give equal doubles.
    pub canonical: bool,
    /// How long the double is.
    pub resize: Resize,
    /// Whether the double is drawn so that a person can read it.
    pub readable: Readable,
    /// Families of passes and moves that are left out ([`parts`]).
    pub without: Vec<String>,
    /// How often the double must fail natively.
    pub runs: u32,
    /// The most that a double may tell of the original, in percent.
    pub max_share: u8,
    /// The same for a double whose search the user has cut short.
    pub max_share_cut: u8,
    /// The most of the original's words and numbers that may stand in a double, in percent.
    pub accept_remains: u8,
    /// Make a double although harmless inputs fail in the same way.
    pub even_if_any_input_fails: bool,
    /// Repeats a run; without it the randomness is fresh.
    pub seed: Option<u64>,
    /// What is told of the program's arguments.
    pub tell: Wishes,
    /// Public documents, of which a double may have stretches for little.
    pub examples: Vec<Vec<u8>>,
}

impl Options {
    /// What is usually asked.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            no_relax: Vec::new(),
            check_memory: false,
            fails_if: None,
            time: None,
            effort: 12_000,
            paths: PathSearch::default(),
            canonical: false,
            resize: Resize::Auto,
            readable: Readable::Text,
            without: Vec::new(),
            runs: 3,
            max_share: USUAL_SHARE,
            max_share_cut: USUAL_SHARE_CUT,
            accept_remains: USUAL_REMAINS,
            even_if_any_input_fails: false,
            seed: None,
            tell: Wishes::default(),
            examples: Vec::new(),
        }
    }

    /// Whether the double may be shorter. Methods that keep to a path keep to a length.
    pub(crate) fn resize(&self) -> Resize {
        if self.method.weakens() && !self.canonical { self.resize } else { Resize::Never }
    }

    /// What of a path condition is relaxed.
    pub(crate) fn relaxations(&self) -> Relaxations {
        let mut relax = match self.method {
            Method::Castro => Relaxations::NONE,
            Method::Weaken | Method::Relaxed | Method::Camouflage | Method::Blackbox => {
                Relaxations::ALL
            }
            // Clauses take back tests that were made, which a walk over paths cannot.
            Method::Mpp | Method::ReapBrw | Method::ReapBag | Method::ReapRm | Method::Respa => {
                Relaxations::STEPWISE
            }
        };
        for without in &self.no_relax {
            match without {
                Relaxation::Comparisons => relax.comparisons = false,
                Relaxation::Clauses => relax.clauses = false,
                Relaxation::Switches => relax.switches = false,
                Relaxation::Reads => relax.reads = false,
            }
        }
        relax
    }
}

/// What a search can do without, and what each is for.
pub fn parts() -> impl Iterator<Item = (&'static str, &'static str)> {
    stunt_reduce::FAMILIES.into_iter().chain(stunt_search::weaken::MOVES)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn what_can_be_left_out_has_one_name_each() {
        let mut names: Vec<&str> = parts().map(|(name, _)| name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(!names.contains(&"list"));
    }
}
