//! What the sanitizers of GCC and Clang print: AddressSanitizer, LeakSanitizer, MemorySanitizer,
//! ThreadSanitizer, UndefinedBehaviorSanitizer.
//!
//! ```text
//! ==25728==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x604000003ba8 at pc 0x55d8…
//! READ of size 4 at 0x604000003ba8 thread T0
//!     #0 0x55d8766ab6cd in days /srv/san.c:15
//!     #4 0x55d8766ab1c0 in _start (/srv/san+0x11c0) (BuildId: 07ab…)
//! ub.c:2:108: runtime error: index 57 out of bounds for type 'int [10]'
//! ```
//!
//! Always holds: of what a report says, the kind is kept and the frames, without numbers, addresses and
//! quoted text, which tell values of the run. What a sanitizer says about itself (it cannot reserve its
//! memory, it cannot look for leaks while somebody watches) is no report.

use stunt_path::{Failure, FailureKind, Frame, Location, Role};
use stunt_unwind::failure::{is_sanitizer_function, is_sanitizer_module};

use super::roles::{DEPTH, circle, roles};
use super::{Call, clean, file_name, without_values};

/// Who reports.
const NAMES: [&str; 6] = [
    "AddressSanitizer",
    "HWAddressSanitizer",
    "LeakSanitizer",
    "MemorySanitizer",
    "ThreadSanitizer",
    "UndefinedBehaviorSanitizer",
];

/// What stands between a place and what undefined behaviour was found there.
const UNDEFINED: &str = ": runtime error: ";

/// Lines behind a report's first in which its stack begins.
const NEAR: usize = 12;

/// A line that begins a report.
struct Head {
    title: String,
    /// Whether the program ends with it.
    fatal: bool,
    /// Where it says to be, of undefined behaviour, with the column.
    place: Option<(Location, u32)>,
    endless: bool,
}

/// The report that tells why the program ended; else the first one.
pub fn parse(text: &str) -> Option<Failure> {
    let lines: Vec<&str> = text.lines().collect();
    let heads: Vec<(usize, Head)> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, head(line)?))).collect();
    let (at, head) = heads.iter().find(|(_, head)| head.fatal).or(heads.first())?;
    let end = heads.iter().map(|(at, _)| *at).find(|next| next > at).unwrap_or(lines.len());
    let rest = &lines[at + 1..end];
    let begins = rest.iter().take(NEAR).position(|line| frame(line).is_some());
    let stack = begins.map(|from| rest[from..].iter().map_while(|line| frame(line)));
    let mut calls: Vec<(Call, Option<Module>)> = stack.into_iter().flatten().collect();
    if let Some(main) = calls.iter().position(|(call, _)| call.function == "main") {
        // What calls `main` is the same in every program.
        calls.truncate(main + 1);
    }
    Some(failure(head, calls))
}

/// A file of code, where a report has no source line.
struct Module {
    build_id: Option<String>,
    offset: u64,
}

fn failure(head: &Head, calls: Vec<(Call, Option<Module>)>) -> Failure {
    let (calls, modules): (Vec<Call>, Vec<Option<Module>>) = calls.into_iter().unzip();
    let around = if head.endless { circle(&calls) } else { None };
    let roles = around.unwrap_or_else(|| roles(&calls, DEPTH));
    let site = |module: &str, offset: u64, location: Option<Location>| Frame {
        module: module.to_owned(),
        build_id: None,
        offset,
        symbol: None,
        location,
        role: Role::Site,
    };
    let title = std::iter::once(site(&head.title, 0, None));
    let place = head.place.iter().map(|(location, column)| {
        let offset = u64::from(*column) << 32 | u64::from(location.line);
        site(&location.file, offset, Some(location.clone()))
    });
    let frames = calls.iter().zip(modules).zip(roles).map(|((call, module), role)| match module {
        None => Frame {
            module: call.file.clone(),
            build_id: None,
            offset: u64::from(call.column) << 32 | u64::from(call.line),
            symbol: Some(call.function.clone()).filter(|name| !name.is_empty()),
            location: Some(Location { file: call.file.clone(), line: call.line }),
            role,
        },
        Some(Module { build_id, offset }) => Frame {
            module: call.file.clone(),
            build_id,
            offset,
            symbol: Some(call.function.clone()).filter(|name| !name.is_empty()),
            location: None,
            role,
        },
    });
    Failure { kind: FailureKind::Sanitizer, frames: title.chain(place).chain(frames).collect() }
}

/// The first line of a report.
fn head(line: &str) -> Option<Head> {
    if let Some((place, what)) = line.split_once(UNDEFINED) {
        let (rest, column) = place.rsplit_once(':')?;
        let (file, number) = rest.rsplit_once(':')?;
        let location = Location { file: file_name(file), line: number.parse().ok()? };
        let place = (location, column.parse().ok()?);
        let title = format!("UndefinedBehaviorSanitizer: {}", without_values(what));
        return Some(Head { title, fatal: false, place: Some(place), endless: false });
    }
    let (fatal, rest) = match (line.find("==ERROR: "), line.find("WARNING: ")) {
        (Some(at), _) => (true, &line[at + "==ERROR: ".len()..]),
        (None, Some(at)) => (false, &line[at + "WARNING: ".len()..]),
        (None, None) => return None,
    };
    let (name, what) = rest.split_once(": ")?;
    if !NAMES.contains(&name) {
        return None;
    }
    let what = without_values(what);
    let endless = what == "stack-overflow";
    Some(Head { title: format!("{name}: {what}"), fatal, place: None, endless })
}

/// `    #0 0x55d8766ab6cd in days /srv/san.c:15:9`, or with `(/srv/san+0x11c0) (BuildId: 07ab…)`
fn frame(line: &str) -> Option<(Call, Option<Module>)> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (number, rest) = rest.split_once(' ')?;
    number.parse::<u32>().ok()?;
    let rest = match rest.trim_start().strip_prefix("0x") {
        Some(address) => address.split_once(' ').map_or("", |(_, rest)| rest),
        None => rest,
    };
    let rest = rest.strip_prefix("in ").unwrap_or(rest).trim();
    let (rest, build_id) = match rest.strip_suffix(')').and_then(|it| it.rsplit_once(" (BuildId: "))
    {
        Some((rest, id)) => (rest, Some(clean(id))),
        None => (rest, None),
    };
    let in_module = |text: &str| {
        let (path, offset) = text.rsplit_once("+0x")?;
        Some((file_name(path), u64::from_str_radix(offset, 16).ok()?))
    };
    let behind = rest.strip_suffix(')').and_then(|it| it.rsplit_once('('));
    let (rest, module) = match behind.and_then(|(rest, text)| Some((rest, in_module(text)?))) {
        Some((rest, module)) => (rest.trim_end(), Some(module)),
        None => (rest, None),
    };
    let (function, place) = split_place(rest);
    let of_runtime = is_sanitizer_function(function)
        || rest.contains("/libsanitizer/")
        || rest.contains("/compiler-rt/")
        || module.as_ref().is_some_and(|(name, _)| is_sanitizer_module(name));
    let of_c_library = ["/sysdeps/", "/nptl/", "/csu/"].iter().any(|part| rest.contains(part))
        || module.as_ref().is_some_and(|(name, _)| name.starts_with("libc.so"))
        || matches!(function, "_start" | "__libc_start_main")
        || function.starts_with("operator new")
        || function.starts_with("operator delete");
    let call = |file: String, line: u32, column: u32| Call {
        file,
        path: String::new(),
        line,
        column,
        function: clean(function),
        library: of_runtime || of_c_library,
    };
    match (place, module) {
        (Some((file, line, column)), _) => Some((call(file, line, column), None)),
        (None, Some((name, offset))) => {
            // Calls are told apart by their lines where recursions are looked for.
            let at = (offset & u64::from(u32::MAX)) as u32;
            Some((call(name, at, 0), Some(Module { build_id, offset })))
        }
        (None, None) => None,
    }
}

/// `days /srv/san.c:15:9`: the function, and its place if there is one.
fn split_place(text: &str) -> (&str, Option<(String, u32, u32)>) {
    // Names have spaces, and so may folders.
    let split = text.find(" /").or_else(|| text.rfind(' '));
    let Some(split) = split else { return (text, None) };
    let (function, path) = (&text[..split], &text[split + 1..]);
    let number = |text: &str| text.parse::<u32>().ok();
    let Some((rest, last)) = path.rsplit_once(':') else { return (text, None) };
    let Some(last) = number(last) else { return (text, None) };
    let place = match rest.rsplit_once(':').and_then(|(rest, line)| Some((rest, number(line)?))) {
        Some((file, line)) => (file_name(file), line, last),
        None => (file_name(rest), last, 0),
    };
    (function, Some(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let failure = parse(text).expect("a report");
        assert_eq!(failure.kind, FailureKind::Sanitizer);
        let counts: Vec<String> = failure
            .frames
            .iter()
            .filter(|frame| frame.role == Role::Counts)
            .map(|frame| format!("{}+{:x}", frame.module, frame.offset))
            .collect();
        format!("{failure} | {}", counts.join(" "))
    }

    const ADDRESS: &str = "\
==25728==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x604000003ba8 at pc 0x55d8766ab6ce bp 0x7ff sp 0x7f
READ of size 4 at 0x604000003ba8 thread T0
    #0 0x7f83b22b89cf in __interceptor_strcpy ../../../../src/libsanitizer/asan/asan_interceptors.cpp:69
    #1 0x55d8766ab6cd in days /home/ada/my work/san.c:15
    #2 0x55d8766ab8fa in main /home/ada/my work/san.c:19:7
    #3 0x7f83b2045249 in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58
    #4 0x55d8766ab1c0 in _start (/home/ada/san+0x11c0)

allocated by thread T0 here:
    #0 0x7f83b22b89cf in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x55d8766ab604 in other /home/ada/san.c:13
SUMMARY: AddressSanitizer: heap-buffer-overflow /home/ada/san.c:15 in days
==25728==ABORTING
";

    #[test]
    fn a_report_of_addresses() {
        assert_eq!(
            shown(&format!("private text{ADDRESS}")),
            "AddressSanitizer: heap-buffer-overflow in days (san.c:15) | san.c+f san.c+700000013"
        );
        assert!(!format!("{:?}", parse(ADDRESS)).contains("ada"));
        let other = ADDRESS.replace("heap-buffer-overflow", "heap-use-after-free");
        assert_ne!(parse(ADDRESS), parse(&other));
        assert_ne!(parse(ADDRESS), parse(&ADDRESS.replace("san.c:15", "san.c:14")));
        // Numbers and addresses of a run do not matter.
        let again = ADDRESS.replace("25728", "7").replace("0x604000003ba8", "0x1");
        assert_eq!(parse(ADDRESS), parse(&again.replace("of size 4", "of size 8")));
    }

    #[test]
    fn without_lines_there_are_places_in_files() {
        let text = "==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n    #0 0x4a3f (/srv/prog+0x1234) (BuildId: 07ab)\n    #1 0x4a3f in f(int, char const*) (/srv/prog+0x1300) (BuildId: 07ab)\n\n";
        assert_eq!(
            shown(text),
            "MemorySanitizer: use-of-uninitialized-value in prog+0x1234 | prog+1234 prog+1300"
        );
    }

    #[test]
    fn undefined_behaviour_has_a_place_and_no_values() {
        for (what, kind) in [
            ("index 57 out of bounds for type 'int [10]'", "index out of bounds for type"),
            ("signed integer overflow: 2147483647 + 7 cannot", "signed integer overflow"),
            ("load of value 77, which is not a valid value for type 'bool'", "load of value"),
            (
                "nan is outside the range of representable values",
                "is outside the range of representable values",
            ),
        ] {
            let text = format!(
                "/srv/ub.c:2:108: runtime error: {what}\n0x7f: note: pointer points here\n"
            );
            assert_eq!(shown(&text), format!("UndefinedBehaviorSanitizer: {kind} at ub.c:2 | "));
        }
    }

    #[test]
    fn what_ended_the_run_comes_first() {
        let text = format!("ub.c:2:3: runtime error: division by zero\n{ADDRESS}");
        assert_eq!(parse(&text), parse(ADDRESS));
        let race = "WARNING: ThreadSanitizer: data race (pid=25779)\n  Read of size 4 at 0x56 by main thread:\n    #0 f /srv/race.c:3 (race+0x1242)\n\n  Previous write of size 4 at 0x56 by thread T1:\n    #0 g /srv/race.c:2 (race+0x11e8)\n";
        assert_eq!(shown(race), "ThreadSanitizer: data race in f (race.c:3) | race.c+3");
    }

    #[test]
    fn what_is_none() {
        for text in [
            "",
            "==7==ERROR: AddressSanitizer failed to allocate 0xdfff0001000 (15392894357504) bytes at address 2008fff7000 (errno: 12)\n",
            "==7==ReserveShadowMemoryRange failed while trying to map 0xdfff0001000 bytes. Perhaps you're using ulimit -v\n",
            "==7==LeakSanitizer has encountered a fatal error.\n==7==HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)\n",
            "FATAL: ThreadSanitizer: unexpected memory mapping 0x55d8-0x55d9\n",
            "panic: runtime error: index out of range\n",
            "WARNING: the AddressSanitizer: is loud\n",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
