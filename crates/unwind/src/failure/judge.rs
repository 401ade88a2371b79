//! Whether a run failed, and which of its stacks tells the failure.
//!
//! A run that a signal ended failed where it ended; but an exception that nobody caught ends in
//! `abort`, and a panic in an ordinary exit, far from where they were thrown. So whoever runs a
//! program keeps the stack of the last throw ([`throw_points`](super::throw_points)) of each thread,
//! and gives both stacks. This file must not know how they were got.

use stunt_path::{Failure, FailureKind, Frame, Location, Role};

use super::identify::{Ended, identify, public_path};
use super::library::{is_by_module, is_throw, is_unhandled};
use super::site::PanicSite;
use crate::stack::{self, CallStack};

/// The exit status of a Rust program whose main thread panicked.
const PANICKED: u8 = 101;

/// The number of `SIGABRT`.
const ABORT: u8 = 6;

/// How far from the stack pointer a fault may be that is one of the stack: as far as a function's
/// variables reach.
const NEAR: u64 = 16 << 20;

/// So many frames lead from a panic to the throw at most, inlined ones among them.
const HEAD: usize = 16;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It exited with this status.
    Exit(u8),
    /// A signal killed it.
    Signal {
        /// The signal's number.
        number: u8,
        /// Whether the stack was used up ([`at_stack_end`]).
        overflow: bool,
    },
}

/// What is known about the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// How it ended.
    pub status: Status,
    /// The thread that got the fatal signal, if one did, at that moment.
    pub death: Option<Scene<'a>>,
    /// The last throw: of that thread, or of the first thread if the run exited.
    pub thrown: Option<Scene<'a>>,
    /// The throws that led to it, the first of them first.
    pub causes: &'a [Scene<'a>],
    /// Panics of other threads that may have led to it, in no order.
    pub beside: &'a [Scene<'a>],
}

impl<'a> Evidence<'a> {
    /// Nothing was thrown.
    #[must_use]
    pub fn of_death(status: Status, death: Option<Scene<'a>>) -> Self {
        Self { status, death, thrown: None, causes: &[], beside: &[] }
    }
}

/// A thread at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Its stack.
    pub stack: &'a CallStack,
    /// Where it says that it panics ([`panic_site`](super::panic_site)), if it does. To be looked for
    /// at throws and aborts.
    pub site: Option<&'a PanicSite>,
}

impl Scene<'_> {
    fn identify(self, ended: Ended) -> Failure {
        let mut failure = identify(ended, self.stack);
        if let Some(site) = self.site.filter(|_| failure.kind == FailureKind::Panic) {
            add_site(&mut failure, site);
        }
        failure
    }
}

/// The failure of a run; nothing if it did not fail.
///
/// Of what was thrown, the first throw tells most: its frames come first. Those of the others count, too.
#[must_use]
pub fn judge(evidence: Evidence<'_>) -> Option<Failure> {
    let last = last(evidence)?;
    let ended = match last.kind {
        FailureKind::Panic => Ended::Panic,
        FailureKind::Exception => Ended::Exception,
        _ => return Some(last),
    };
    let frames = |scene: &Scene<'_>| scene.identify(ended).frames;
    let mut beside: Vec<Vec<Frame>> = evidence.beside.iter().map(frames).collect();
    // Which of the threads was the first is chance.
    beside.sort_by_key(|frames| identity(frames));
    beside.dedup_by_key(|frames| identity(frames));
    let causes = evidence.causes.iter().map(frames);
    let frames = causes.chain(beside).chain([last.frames]).flatten().collect();
    Some(Failure { kind: last.kind, frames })
}

/// What counts of some frames.
fn identity(frames: &[Frame]) -> Vec<(String, u64)> {
    let counting = frames.iter().filter(|it| matches!(it.role, Role::Site | Role::Counts));
    let place = |frame: &Frame| {
        let (module, offset) = frame.place();
        (module.to_owned(), offset)
    };
    counting.map(place).collect()
}

/// The failure, by the last that was thrown.
fn last(evidence: Evidence<'_>) -> Option<Failure> {
    match (evidence.status, evidence.death) {
        (Status::Exit(PANICKED), _) => {
            // A C++ program may have a status 101 of its own.
            let thrown = evidence.thrown.filter(|it| !has(it.stack, is_throw));
            thrown.map(|thrown| thrown.identify(Ended::Panic))
        }
        (Status::Exit(_), _) => None,
        (Status::Signal { number, overflow: true }, Some(death)) => {
            Some(death.identify(Ended::Overflow { number }))
        }
        (Status::Signal { number: ABORT, .. }, Some(death)) => {
            Some(aborted(death, evidence.thrown))
        }
        (Status::Signal { number, .. }, Some(death)) => {
            Some(death.identify(Ended::Signal { number }))
        }
        // Nothing stops at `SIGKILL`; there is no stack then.
        (Status::Signal { number, .. }, None) => {
            let kind = FailureKind::Signal(number);
            Some(Failure { kind, frames: Vec::new() })
        }
    }
}

/// An abort: of the C++ runtime, for want of a handler, or another.
fn aborted(death: Scene<'_>, thrown: Option<Scene<'_>>) -> Failure {
    let stack = death.stack;
    // Landing pads run after the throwing frames are gone: who aborts below a throw was called by it.
    if has(stack, is_throw) {
        return death.identify(Ended::Exception);
    }
    // The stack was unwound in part before it turned out that nobody catches.
    if let Some(thrown) = thrown.filter(|_| has(stack, is_unhandled)) {
        return thrown.identify(Ended::Exception);
    }
    // Without names, its description is all that tells a panic that aborts from other aborts.
    let own = |frame: &&stack::Frame| !is_by_module(frame);
    let nameless = stack.frames.iter().find(own).is_some_and(|frame| frame.symbol.is_none());
    if nameless && death.site.is_some() {
        return death.identify(Ended::Panic);
    }
    death.identify(Ended::Signal { number: ABORT })
}

/// Whether a stack at a throw tells that the panic is a new one, and not one that is thrown again.
#[must_use]
pub fn is_new_panic(stack: &CallStack) -> bool {
    let names = stack.frames.iter().filter_map(|frame| frame.symbol.as_ref());
    // What leads to a throw is before the program's own.
    let mut way = names.map(|it| it.name.as_str()).take(HEAD);
    way.find(|name| name.contains("panic_with_hook") || name.contains("panic_without_hook"))
        .is_some_and(|name| name.contains("panic_with_hook"))
}

/// Puts the place where a panic says to be before the calls.
fn add_site(failure: &mut Failure, site: &PanicSite) {
    let same = failure.frames.iter().find(|frame| *frame.module == *site.module);
    let build_id = same.and_then(|frame| frame.build_id.clone());
    let location = Location { file: public_path(&site.file), line: site.line };
    let frame = Frame {
        module: site.module.to_string(),
        build_id,
        offset: site.offset,
        symbol: None,
        location: Some(location),
        role: Role::Site,
    };
    failure.frames.insert(0, frame);
}

fn has(stack: &CallStack, wanted: impl Fn(&str) -> bool) -> bool {
    stack.frames.iter().filter_map(|frame| frame.symbol.as_ref()).any(|it| wanted(&it.name))
}

/// Whether a fault means that the stack is used up: it is near the stack pointer, below which
/// nothing can be read. `readable` tells whether the byte at an address can be.
pub fn at_stack_end(fault: u64, stack_pointer: u64, readable: impl FnOnce(u64) -> bool) -> bool {
    fault.abs_diff(stack_pointer) <= NEAR && !readable(stack_pointer.wrapping_sub(8))
}
