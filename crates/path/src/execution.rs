//! A program under way that stops at every test of its input, can be forked, and can be sent on
//! with another input that agrees with all it has found out so far.
//!
//! What searches know of a program. What always holds: the input bound to an execution satisfies
//! every test that was passed; binding another one that does the same leaves the passed tests as
//! they are. Terms belong to one pool, which all forks share and the caller keeps. This file must
//! not know how a program is run: the machine is one, a graph written down in a test is another.

use stunt_terms::{Assignment, Pool};

use crate::{Failure, Test};

/// Where a test stands on a path: a digest of the module, the place in it, the call stack, and how
/// often that test was met there before. Two paths that meet the same test again re-join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u64);

/// A test with its outcome: a node of the graph of all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// Which test.
    pub place: Place,
    /// How it came out: 0 or 1 for a branch, else a digest of what was found.
    pub outcome: u64,
}

/// A test that the program is about to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Junction {
    /// Which test, and how it comes out with the input that is bound.
    pub node: Node,
    /// The condition of that outcome. Any other outcome has its negation.
    pub test: Test,
    /// Whether it may be sent another way. A pin may not: the machine cannot go on otherwise.
    pub open: bool,
}

/// Where an execution stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Before a test.
    Test(Junction),
    /// At its end; with the failure, if it failed.
    Ended(Option<Failure>),
    /// It cannot go on: why, in a few words without any value of the input.
    Lost(String),
}

/// A program under way.
pub trait Execution: Sized {
    /// Where it stands, with the input that is bound.
    fn stop(&self) -> &Stop;

    /// Makes the test that it stands before, with the outcome that it shows, and runs to the next
    /// stop. Nothing happens at an end.
    fn advance(&mut self, pool: &mut Pool);

    /// Another execution that stands where this one does. Costs what changes afterwards.
    fn fork(&mut self) -> Self;

    /// Goes on with another input, which must satisfy all tests that were passed; the test that it
    /// stands before may come out otherwise then, and [`Execution::stop`] says how.
    fn bind(&mut self, pool: &mut Pool, input: &Assignment);
}
