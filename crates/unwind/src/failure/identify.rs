//! The part of each frame of a stack in the identity of its failure.
//!
//! Always holds: at least one frame counts if there is a frame at all; those that count were found
//! with certainty (a frame behind one that was searched for never counts), except the one behind a
//! jump to nowhere, which is found no other way.

use stunt_path::{Failure, FailureKind, Frame, Location, Role};

use super::library::{is_by_module, is_by_name, is_c_by_name, is_c_library, is_panic};
use super::recursion::{repeating, without_rounds};
use crate::stack::{self, CallStack, End, Kind, Trust};

/// How many frames count: the failing one and its callers. One is not enough, because it may be a
/// helper that fails for everybody. Fuzzers at large have sorted crashes by three for years. Every
/// further one makes the identity say more about the way there, and the double has to take it.
const DEPTH: usize = 3;

/// How many frames of a panic count in a program without names, since most of them are the way from
/// the panic to the throw.
const DEPTH_UNNAMED: usize = 12;

/// How many more frames of an abort count in a static program without names: so many may be the C
/// library's own, from `free` or `assert` to the signal, and nothing tells them from the program's.
const DEPTH_STATIC: usize = 6;

/// Frames among which the handler of a signal is looked for.
const HANDLER: usize = 16;

/// How a run ended, as far as its last stack is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// A fatal signal; the stack is that of the thread that got it.
    Signal {
        /// Its number.
        number: u8,
    },
    /// A fatal signal because the stack was used up.
    Overflow {
        /// The signal's number.
        number: u8,
    },
    /// A Rust panic; the stack is that of the throw.
    Panic,
    /// A C++ exception that nobody catches; the stack is that of the throw.
    Exception,
}

/// The identity of a failure from the stack that tells it.
#[must_use]
pub fn identify(ended: Ended, stack: &CallStack) -> Failure {
    let mut roles = by_library(stack);
    if endless(ended, stack) && mark_circle(stack, &mut roles) {
        return failure(FailureKind::StackOverflow, stack, &roles);
    }
    let kind = match ended {
        Ended::Panic => FailureKind::Panic,
        Ended::Exception => FailureKind::Exception,
        Ended::Signal { number } | Ended::Overflow { number } if number != ABORT => {
            FailureKind::Signal(number)
        }
        Ended::Signal { .. } | Ended::Overflow { .. } if panicked(stack, &roles) => {
            FailureKind::Panic
        }
        Ended::Signal { .. } | Ended::Overflow { .. } => FailureKind::Abort,
    };
    without_start(stack, &mut roles);
    without_doubtful(stack, &mut roles);
    mark_rounds(stack, &mut roles);
    limit(&kind, stack, &mut roles);
    failure(kind, stack, &roles)
}

/// The number of `SIGABRT`.
const ABORT: u8 = 6;

/// Takes out libraries; what stays counts for now.
fn by_library(stack: &CallStack) -> Vec<Role> {
    let linked_statically = linked_statically(stack);
    let mut at_head = true;
    let role = |frame: &stack::Frame| match frame.kind {
        Kind::Inlined if is_by_name(frame) => Role::Library,
        Kind::Inlined => Role::Inlined,
        Kind::Signal => Role::Library,
        Kind::Call if is_by_module(frame) || is_by_name(frame) => Role::Library,
        Kind::Call if at_head && linked_statically && is_c_by_name(frame) => Role::Library,
        Kind::Call => {
            at_head = false;
            Role::Counts
        }
    };
    let mut roles: Vec<Role> = stack.frames.iter().map(role).collect();
    if !roles.contains(&Role::Counts) {
        // The program's own may be inside of a library's function, as that of a thread is in what begins
        // threads.
        let mut own = false;
        for (role, frame) in roles.iter_mut().zip(&stack.frames) {
            own |= *role == Role::Inlined;
            if frame.kind != Kind::Inlined && std::mem::take(&mut own) {
                *role = Role::Counts;
            }
        }
    }
    if !roles.contains(&Role::Counts) {
        // All of it is library: better that than nothing.
        for (role, frame) in roles.iter_mut().zip(&stack.frames) {
            if frame.kind == Kind::Call {
                *role = Role::Counts;
            }
        }
    }
    roles
}

/// Whether there is no C library beside the program.
fn linked_statically(stack: &CallStack) -> bool {
    let in_c_library =
        |frame: &stack::Frame| frame.module.as_ref().is_some_and(|it| is_c_library(&it.name));
    !stack.frames.iter().any(in_c_library)
}

/// Whether the run may have ended for want of stack.
fn endless(ended: Ended, stack: &CallStack) -> bool {
    match ended {
        Ended::Overflow { .. } => true,
        // Rust's handler of the fault tells it and aborts.
        Ended::Signal { number: ABORT } => {
            let handler = stack.frames.iter().take(HANDLER);
            let Some(signal) = handler.clone().position(|frame| frame.kind == Kind::Signal) else {
                return false;
            };
            let named = |frame: &stack::Frame| frame.symbol.is_some();
            let of_rust = |frame: &stack::Frame| {
                frame.symbol.as_ref().is_some_and(|it| it.name.contains("stack_overflow"))
            };
            // Without names, a deep stack below a handler that aborts has to be enough.
            let own = |frame: &&stack::Frame| !is_by_module(frame);
            let nameless = !handler.take(signal).filter(own).any(named);
            stack.frames[..signal].iter().any(of_rust) || (nameless && stack.gap.is_some())
        }
        Ended::Signal { .. } | Ended::Panic | Ended::Exception => false,
    }
}

/// Lets only the calls count that go round; `false` if none do.
fn mark_circle(stack: &CallStack, roles: &mut [Role]) -> bool {
    let last = |frame: &stack::Frame| frame.kind == Kind::Signal;
    let inside = stack.frames.iter().take(HANDLER).rposition(last).map_or(0, |at| at + 1);
    let calls: Vec<usize> = counting(roles).into_iter().filter(|&at| at >= inside).collect();
    let places: Vec<_> = calls.iter().map(|&at| place(&stack.frames[at])).collect();
    let repeating = repeating(&places);
    if !repeating.contains(&true) {
        return false;
    }
    for at in counting(roles) {
        roles[at] = Role::Beyond;
    }
    for (&at, repeats) in calls.iter().zip(repeating) {
        if repeats {
            roles[at] = Role::Counts;
        } else if stack.gap.is_none_or(|gap| at < gap.before) {
            roles[at] = Role::Repeated;
        }
    }
    true
}

/// Whether the way to the end led through Rust's panics.
fn panicked(stack: &CallStack, roles: &[Role]) -> bool {
    let head = stack.frames.iter().zip(roles).take_while(|(_, role)| **role != Role::Counts);
    head.filter_map(|(frame, _)| frame.symbol.as_ref()).any(|symbol| is_panic(&symbol.name))
}

/// Takes out what calls `main`.
fn without_start(stack: &CallStack, roles: &mut [Role]) {
    let is_main = |frame: &stack::Frame| {
        frame.kind == Kind::Call && frame.symbol.as_ref().is_some_and(|it| it.name == "main")
    };
    let outer = match stack.frames.iter().position(is_main) {
        Some(main) => main + 1,
        // Without names: the C library calls `main`, and the program's start calls the library.
        None if stack.end == End::Outermost && stack.frames.len() > 1 => {
            let start = stack.frames.len() - 1;
            let caller = stack.frames[start - 1].module.as_ref();
            if !caller.is_some_and(|it| is_c_library(&it.name)) {
                return;
            }
            start
        }
        None => return,
    };
    let counts_inside = roles[..outer].contains(&Role::Counts);
    for role in &mut roles[outer..] {
        if *role == Role::Counts && counts_inside {
            *role = Role::Beyond;
        }
    }
}

/// Takes out what was not found with certainty.
fn without_doubtful(stack: &CallStack, roles: &mut [Role]) {
    let (mut certain, mut anchored) = (true, false);
    for (frame, role) in stack.frames.iter().zip(roles) {
        certain &= matches!(frame.trust, Trust::Context | Trust::Cfi);
        if *role != Role::Counts {
            continue;
        }
        if !certain && anchored {
            *role = Role::Beyond;
        }
        anchored |= frame.module.is_some();
    }
}

/// Takes out the rounds of recursions.
fn mark_rounds(stack: &CallStack, roles: &mut [Role]) {
    let calls = counting(roles);
    let functions: Vec<_> = calls.iter().map(|&at| function(&stack.frames[at])).collect();
    for (&at, stays) in calls.iter().zip(without_rounds(&functions)) {
        if !stays {
            roles[at] = Role::Repeated;
        }
    }
}

/// Takes out what is too far from the failure.
fn limit(kind: &FailureKind, stack: &CallStack, roles: &mut [Role]) {
    let calls = counting(roles);
    let nameless = calls.first().is_some_and(|&at| stack.frames[at].symbol.is_none());
    let depth = match kind {
        FailureKind::Panic if nameless => DEPTH_UNNAMED,
        FailureKind::Abort if nameless && linked_statically(stack) => DEPTH + DEPTH_STATIC,
        _ => DEPTH,
    };
    for &at in calls.iter().skip(depth) {
        roles[at] = Role::Beyond;
    }
}

/// The indices of the frames that count.
fn counting(roles: &[Role]) -> Vec<usize> {
    (0..roles.len()).filter(|&at| roles[at] == Role::Counts).collect()
}

/// Where a frame is; nothing if in no module, and never the address then.
fn place(frame: &stack::Frame) -> Option<(&str, u64)> {
    frame.module.as_ref().map(|module| (&*module.name, module.offset))
}

/// Which function a frame is in, as well as it is known.
fn function(frame: &stack::Frame) -> Option<(&str, u64)> {
    frame.module.as_ref().map(|module| {
        let start = frame.symbol.as_ref().map(|it| module.offset.wrapping_sub(it.offset));
        (&*module.name, module.function.or(start).unwrap_or(module.offset))
    })
}

fn failure(kind: FailureKind, stack: &CallStack, roles: &[Role]) -> Failure {
    let frames = stack.frames.iter().zip(roles).map(|(frame, &role)| {
        let module = frame.module.as_ref();
        let build_id = module.and_then(|module| module.build_id.as_ref());
        Frame {
            module: module.map(|module| module.name.to_string()).unwrap_or_default(),
            build_id: build_id.map(ToString::to_string),
            offset: module.map_or(0, |module| module.offset),
            symbol: frame.symbol.as_ref().map(|symbol| symbol.name.clone()),
            location: frame
                .location
                .as_ref()
                .map(|it| Location { file: public_path(&it.file), line: it.line }),
            role,
        }
    });
    Failure { kind, frames: frames.collect() }
}

/// A source file's path without what names a host or a user: what follows the folder of a package
/// registry or of the compiler's own sources, relative paths as they are, else the file alone.
pub(super) fn public_path(path: &str) -> String {
    let tail = |path: &str| path.split_once('/').map(|(_, rest)| rest.to_owned());
    let shown = match path.split_once("/registry/src/") {
        Some((_, rest)) => tail(rest),
        None => path.strip_prefix("/rustc/").and_then(tail),
    };
    let relative = !path.starts_with('/') && !path.starts_with('~') && !path.contains("../");
    let file = || path.rsplit('/').next().unwrap_or(path).to_owned();
    let shown = shown.unwrap_or_else(|| if relative { path.to_owned() } else { file() });
    shown.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_name_users() {
        for (path, shown) in [
            (
                "/home/ada/.cargo/registry/src/index.crates.io-19/url-2.1.1/src/lib.rs",
                "url-2.1.1/src/lib.rs",
            ),
            ("/rustc/5980761/library/core/src/str/mod.rs", "library/core/src/str/mod.rs"),
            ("/home/ada/work/main.c", "main.c"),
            ("src/main.rs", "src/main.rs"),
            ("../ada/main.c", "main.c"),
            ("main.c", "main.c"),
        ] {
            assert_eq!(public_path(path), shown);
        }
    }
}
