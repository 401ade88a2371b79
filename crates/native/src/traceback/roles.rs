//! From the calls of exceptions to the identity of a failure.
//!
//! The same rules as for native stacks: the innermost calls of the program's own code count, rounds
//! of a recursion once, the language's library not at all. The type counts as well. Exceptions that
//! caused another count in the same way: the first of them is often the real one.

use stunt_path::{Failure, FailureKind, Frame, Location, Role};
use stunt_unwind::failure::recursion::{repeating, without_rounds};

use super::{Call, Exception};
use crate::texts::{Passed, Texts};

/// How many calls of an exception count, as in native stacks.
pub(super) const DEPTH: usize = 3;

/// How many causes count.
const CAUSES: usize = 4;

/// The failure, if there is an exception.
pub fn failure(exceptions: &[Exception], texts: &Texts) -> Option<Failure> {
    let uncaught = exceptions.first()?;
    if let Some(endless) = exceptions.iter().find(|it| it.endless)
        && let Some(roles) = circle(&endless.calls)
    {
        let frames = endless.calls.iter().zip(roles).map(|(call, role)| frame(call, role));
        return Some(Failure { kind: FailureKind::StackOverflow, frames: frames.collect() });
    }
    let mut frames = vec![type_frame(uncaught, texts)];
    let roles = roles(&uncaught.calls, DEPTH);
    frames.extend(uncaught.calls.iter().zip(roles).map(|(call, role)| frame(call, role)));
    // The root is worth more than what lies between.
    let causes = &exceptions[1..];
    for cause in causes.iter().skip(causes.len().saturating_sub(CAUSES)) {
        frames.push(type_frame(cause, texts));
        let roles = self::roles(&cause.calls, DEPTH);
        frames.extend(cause.calls.iter().zip(roles).map(|(call, role)| frame(call, role)));
    }
    Some(Failure { kind: FailureKind::Exception, frames })
}

/// An exception's type: no call, but a part of the identity, as the fixed words of its message are.
fn type_frame(exception: &Exception, texts: &Texts) -> Frame {
    let calls = &exception.calls;
    let class =
        |call: &'_ Call| call.function.rfind('.').map(|end| call.function[..end].to_owned());
    let mut classes: Vec<String> = vec![exception.kind.clone()];
    classes.extend(calls.iter().filter(|call| !call.library).filter_map(class));
    let sources = calls.iter().map(|call| &*call.path).filter(|path| !path.is_empty()).collect();
    let classes = classes.iter().map(|it| &**it).collect();
    let words = texts.fixed(&exception.said, &Passed { sources, classes });
    Frame {
        module: exception.kind.clone(),
        build_id: None,
        offset: words.as_deref().map_or(0, digest),
        symbol: words,
        location: None,
        role: Role::Site,
    }
}

/// A number for a text (FNV-1a), the same on every host and never 0.
fn digest(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step).max(1)
}

fn frame(call: &Call, role: Role) -> Frame {
    Frame {
        module: call.file.clone(),
        build_id: None,
        // Of scripts that are one long line, the line would say nothing.
        offset: u64::from(call.column) << 32 | u64::from(call.line),
        symbol: Some(call.function.clone()),
        location: Some(Location { file: call.file.clone(), line: call.line }),
        role,
    }
}

/// The part of each call in the identity, of which this many count.
pub(super) fn roles(calls: &[Call], depth: usize) -> Vec<Role> {
    let own = |call: &Call| !call.library;
    // All of it is library: better that than nothing.
    let all = !calls.iter().any(own);
    let counting: Vec<usize> = (0..calls.len()).filter(|&at| all || own(&calls[at])).collect();
    let mut roles = vec![Role::Library; calls.len()];
    let functions: Vec<_> =
        counting.iter().map(|&at| (&calls[at].file, &calls[at].function)).collect();
    let mut left = depth;
    for (&at, stays) in counting.iter().zip(without_rounds(&functions)) {
        roles[at] = match (stays, left) {
            (false, _) => Role::Repeated,
            (true, 0) => Role::Beyond,
            (true, _) => {
                left -= 1;
                Role::Counts
            }
        };
    }
    roles
}

/// The roles in a recursion without end: calls that are there at least twice count, once each.
/// Where the stack ended is chance.
pub(super) fn circle(calls: &[Call]) -> Option<Vec<Role>> {
    let own = calls.iter().filter(|call| !call.library);
    let places: Vec<_> = own.map(|call| (&call.file, call.line, call.column)).collect();
    let repeat = repeating(&places);
    if !repeat.contains(&true) {
        return None;
    }
    let mut repeat = repeat.into_iter();
    let role = |call: &Call| match call.library {
        true => Role::Library,
        false if repeat.next() == Some(true) => Role::Counts,
        false => Role::Repeated,
    };
    Some(calls.iter().map(role).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(exceptions: &[Exception]) -> Option<Failure> {
        super::failure(exceptions, &Texts::default())
    }

    fn call(function: &str, line: u32) -> Call {
        let library = function.starts_with('_');
        Call {
            file: "x.py".into(),
            path: String::new(),
            line,
            column: 0,
            function: function.into(),
            library,
        }
    }

    fn exception(kind: &str, calls: &[(&str, u32)]) -> Exception {
        let calls = calls.iter().map(|(function, line)| call(function, *line)).collect();
        Exception { kind: kind.into(), calls, endless: false, said: String::new() }
    }

    fn identity(exceptions: &[Exception]) -> Vec<(String, u64)> {
        let failure = failure(exceptions).expect("a failure");
        failure.identity().into_iter().map(|(file, at)| (file.to_owned(), at)).collect()
    }

    #[test]
    fn the_innermost_own_calls_and_the_type_count() {
        let deep =
            exception("E", &[("_int", 1), ("f", 2), ("g", 3), ("_map", 4), ("h", 5), ("m", 6)]);
        let expected = [("E", 0), ("x.py", 2), ("x.py", 3), ("x.py", 5)];
        assert_eq!(identity(&[deep]), expected.map(|(file, at)| (file.to_owned(), at)));
        let library = exception("E", &[("_a", 1), ("_b", 2)]);
        assert_eq!(identity(&[library]).len(), 3);
        assert_eq!(identity(&[exception("E", &[])]).len(), 1);
        assert!(failure(&[]).is_none());
    }

    #[test]
    fn another_type_is_another_failure_at_another_place() {
        let [a, b, c] = [("A", 2), ("B", 2), ("A", 3)].map(|(kind, line)| {
            failure(&[exception(kind, &[("f", line), ("m", 9)])]).expect("one")
        });
        assert!(a != b && a != c && a.signature() != b.signature());
        assert!(!a.same_place(&b) && !a.same_place(&c));
        let d = failure(&[exception("A", &[("f", 2), ("m", 10)])]).expect("one");
        assert!(a != d && a.same_place(&d));
    }

    #[test]
    fn the_depth_of_a_recursion_does_not_matter() {
        let shallow = exception("E", &[("leaf", 1), ("value", 2), ("main", 9)]);
        let deep = exception(
            "E",
            &[
                ("leaf", 1),
                ("value", 2),
                ("object", 3),
                ("value", 4),
                ("array", 5),
                ("value", 2),
                ("main", 9),
            ],
        );
        assert_eq!(identity(&[shallow]), identity(&[deep]));
    }

    #[test]
    fn causes_count_by_type_and_place() {
        let outer = exception("Outer", &[("f", 2)]);
        let cause = |line| exception("Inner", &[("g", line), ("f", 2)]);
        assert_eq!(identity(&[outer.clone(), cause(7)]).len(), 5);
        assert_ne!(identity(&[outer.clone(), cause(7)]), identity(&[outer.clone(), cause(8)]));
        assert_ne!(identity(std::slice::from_ref(&outer)), identity(&[outer, cause(8)]));
    }

    #[test]
    fn a_circle_has_no_beginning() {
        let of = |calls: &[(&str, u32)]| {
            let mut exception = exception("RecursionError", calls);
            exception.endless = true;
            failure(&[exception]).expect("a failure")
        };
        let a = of(&[("_len", 1), ("f", 2), ("g", 3), ("f", 2), ("g", 3), ("m", 9)]);
        let b = of(&[("g", 3), ("f", 2), ("g", 3), ("f", 2), ("g", 3), ("m", 8)]);
        assert_eq!(a.kind, FailureKind::StackOverflow);
        assert_eq!(a, b);
        assert_eq!(of(&[("f", 2), ("m", 9)]).kind, FailureKind::Exception);
    }
}
