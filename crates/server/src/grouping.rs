//! Which failures belong together, and what they are called.
//!
//! A signature is exact: another build has another one. A ticket groups failures that a person would
//! call the same: one program, one kind, and the same innermost functions. What ends a program
//! (`abort`, the C library's checks, the panic runtime) and what starts it is not part of that.
//! Without names of functions, the signature alone decides.

use stunt_report::{Frame, Report};

/// How many functions name a failure.
const NAMED: usize = 3;

/// The longest text that a stranger's report puts into a name, in characters.
const LONGEST: usize = 200;

/// Functions that end programs: where the innermost frames are these, they say nothing. Further out
/// they do not matter: what fails while `exit` calls its handlers did not fail by ending.
const ENDING: [&str; 44] = [
    "abort",
    "raise",
    "gsignal",
    "kill",
    "tgkill",
    "pthread_kill",
    "__pthread_kill",
    "__pthread_kill_implementation",
    "__pthread_kill_internal",
    "__GI_raise",
    "__GI_abort",
    "__libc_message",
    "__libc_message_impl",
    "__assert_fail",
    "__assert_fail_base",
    "__assert_perror_fail",
    "__GI___assert_fail",
    "__fortify_fail",
    "__chk_fail",
    "__stack_chk_fail",
    "malloc_printerr",
    "munmap_chunk",
    "_int_free",
    "_int_malloc",
    "_int_realloc",
    "malloc_consolidate",
    "__libc_fatal",
    "exit",
    "_exit",
    "__cxa_throw",
    "__cxa_rethrow",
    "_Unwind_Resume",
    "_Unwind_RaiseException",
    "rust_begin_unwind",
    "rust_panic",
    "__rust_start_panic",
    "__rust_end_short_backtrace",
    "__asan_report_error",
    "__sanitizer_print_stack_trace",
    "__ubsan_handle_divrem_overflow_abort",
    "g_assertion_message",
    "g_assertion_message_expr",
    "g_log_default_handler",
    "error",
];

/// Beginnings of such names.
const ENDING_FAMILIES: [&str; 9] = [
    "core::panicking::",
    "std::panicking::",
    "std::sys::",
    "std::rt::",
    "std::process::abort",
    "std::terminate",
    "__gnu_cxx::__verbose_terminate_handler",
    "__cxxabiv1::",
    "__asan::",
];

/// Functions that start programs: frames from these outward say nothing.
const STARTING: [&str; 7] = [
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "__libc_start_main_impl",
    "start_thread",
    "clone",
    "clone3",
];

/// Beginnings of such names: what is around `main` in Rust.
const STARTING_FAMILIES: [&str; 4] = [
    "std::sys::backtrace::__rust_begin_short_backtrace",
    "std::sys_common::backtrace::__rust_begin_short_backtrace",
    "std::rt::lang_start",
    "std::thread::Builder::spawn_unchecked",
];

/// Modules of the system, whose frames count only where there are no others.
const SYSTEM: [&str; 8] = [
    "libc.so",
    "libpthread.so",
    "libstdc++.so",
    "libgcc_s.so",
    "ld-linux",
    "libm.so",
    "linux-vdso",
    "[vdso]",
];

/// What a failure is grouped by and called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// Failures with equal keys share a ticket.
    pub key: String,
    /// For people: `SIGSEGV in field ← line ← main`.
    pub title: String,
}

/// The name of a report's failure.
#[must_use]
pub fn name(report: &Report) -> Name {
    let failure = &report.failure;
    let what = head(&failure.words);
    let what = if what.is_empty() { failure.kind.as_str() } else { what };
    let functions = functions(&failure.frames);
    let program = cut(&report.program.name);
    if functions.is_empty() {
        let title = cut(if failure.words.is_empty() { what } else { &failure.words });
        return Name { key: format!("signature\n{}", failure.signature), title };
    }
    let key = format!("functions\n{program}\n{}\n{}", cut(what), functions.join("\n"));
    Name { key, title: cut(&format!("{what} in {}", functions.join(" ← "))) }
}

/// Whether a stack that was seen here belongs to a ticket with this key: its innermost functions are
/// those that the ticket is grouped by. Without names in either, the signature has decided.
pub(crate) fn belongs(key: &str, frames: &[Frame]) -> bool {
    let Some(named) = key.strip_prefix("functions\n") else { return true };
    let functions = functions(frames);
    let expected: Vec<&str> = named.splitn(3, '\n').nth(2).unwrap_or_default().lines().collect();
    functions.is_empty() || functions == expected
}

/// What the words of a failure say before the place.
fn head(words: &str) -> &str {
    let end = words.find(" in ").or_else(|| words.find(" at ")).unwrap_or(words.len());
    &words[..end]
}

/// The innermost functions of the program, without what ends and starts programs.
fn functions(frames: &[Frame]) -> Vec<String> {
    let symbol = |frame: &Frame| frame.symbol.clone().unwrap_or_default();
    let of_system = |frame: &Frame| SYSTEM.iter().any(|module| frame.module.starts_with(module));
    let ending = |frame: &Frame| ends(&symbol(frame));
    let run = frames.iter().take_while(|frame| ending(frame) || of_system(frame)).count();
    let last = frames[..run].iter().rposition(ending);
    let inner = &frames[last.map_or(0, |last| last + 1)..];
    let outer = inner.iter().position(|frame| starts(&symbol(frame)));
    let frames = &inner[..outer.unwrap_or(inner.len())];
    let own: Vec<&Frame> = frames.iter().filter(|frame| !of_system(frame)).collect();
    let chosen = if own.is_empty() { frames.iter().collect() } else { own };
    // One frame without a name, and two failures that differ there would look the same.
    let mut names: Vec<String> =
        chosen.into_iter().map_while(|frame| frame.symbol.as_deref().map(bare)).collect();
    // A recursion may go round any number of times.
    names.dedup();
    names.truncate(NAMED);
    names
}

fn starts(symbol: &str) -> bool {
    STARTING.contains(&symbol) || STARTING_FAMILIES.iter().any(|family| symbol.starts_with(family))
}

fn ends(symbol: &str) -> bool {
    let symbol = symbol.split('@').next().unwrap_or(symbol);
    ENDING.contains(&symbol) || ENDING_FAMILIES.iter().any(|family| symbol.starts_with(family))
}

/// A function's name without what compilers add to it from build to build, and without arguments.
fn bare(symbol: &str) -> String {
    let mut name = symbol;
    for suffix in [".part.", ".constprop.", ".isra.", ".cold", ".llvm."] {
        if let Some(at) = name.find(suffix) {
            name = &name[..at];
        }
    }
    // `f::h0123456789abcdef`: the hash of a Rust symbol.
    if let Some((before, hash)) = name.rsplit_once("::h")
        && hash.len() == 16
        && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
    {
        name = before;
    }
    if let Some(at) = name.find('(').filter(|&at| at > 0) {
        name = &name[..at];
    }
    cut(name)
}

/// At most so many characters, and none that could not be shown.
pub(crate) fn cut(text: &str) -> String {
    let text = stunt_report::visible(text);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The words that a ticket is found by: each whole, and its parts.
#[must_use]
pub fn terms(texts: &[&str]) -> Vec<String> {
    let mut terms = std::collections::BTreeSet::new();
    for text in texts {
        let lower = text.to_lowercase();
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '-';
        for whole in lower.split(|c: char| !word(c)) {
            let parts = whole.split(|c: char| !c.is_alphanumeric());
            for term in parts.chain([whole.trim_matches(|c: char| !c.is_alphanumeric())]) {
                if !term.is_empty() && !term.chars().all(|c| c == '0') {
                    terms.insert(term.chars().take(64).collect::<String>());
                }
            }
        }
    }
    terms.into_iter().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(module: &str, symbol: Option<&str>) -> Frame {
        Frame { module: module.into(), symbol: symbol.map(str::to_owned), ..Frame::default() }
    }

    fn names(frames: &[(&str, Option<&str>)]) -> Vec<String> {
        let frames: Vec<Frame> = frames.iter().map(|&(module, name)| frame(module, name)).collect();
        functions(&frames)
    }

    #[test]
    fn machinery_is_left_out() {
        let stack = [
            ("libc.so.6", Some("__pthread_kill_implementation")),
            ("libc.so.6", Some("raise")),
            ("libc.so.6", Some("abort")),
            ("libc.so.6", Some("__assert_fail")),
            ("app", Some("check.part.0")),
            ("app", Some("read")),
            ("app", Some("read")),
            ("app", Some("main")),
            ("libc.so.6", Some("__libc_start_call_main")),
            ("app", Some("_start")),
        ];
        assert_eq!(names(&stack), ["check", "read", "main"]);
        let panic = [
            ("app", Some("rust_begin_unwind")),
            ("app", Some("core::panicking::panic_fmt")),
            ("app", Some("app::parse::h0123456789abcdef")),
            ("app", Some("app::main")),
        ];
        assert_eq!(names(&panic), ["app::parse", "app::main"]);
    }

    #[test]
    fn a_stack_belongs_to_a_ticket_of_its_functions() {
        let key = "functions\nparser\nSIGSEGV\nfield\nline";
        let stack = |names: &[&str]| -> Vec<Frame> {
            names.iter().map(|&name| frame("parser", Some(name))).collect()
        };
        assert!(belongs(key, &stack(&["field", "line"])));
        assert!(belongs(key, &stack(&[])), "a stripped build");
        assert!(!belongs(key, &stack(&["other", "line"])));
        assert!(!belongs(key, &stack(&["field"])));
        assert!(belongs("signature\nabcd", &stack(&["other"])));
    }

    #[test]
    fn what_ends_programs_counts_where_it_is_not_the_end() {
        let handler = [
            ("app", Some("flush_log")),
            ("app", Some("at_end")),
            ("libc.so.6", Some("__run_exit_handlers")),
            ("libc.so.6", Some("exit")),
            ("app", Some("main")),
            ("libc.so.6", Some("__libc_start_call_main")),
        ];
        assert_eq!(names(&handler), ["flush_log", "at_end", "main"]);
        // A function of the program's own that is called like one of the library's.
        let own = [("app", Some("format")), ("app", Some("error")), ("app", Some("parse"))];
        assert_eq!(names(&own), ["format", "error", "parse"]);
        // The library's frames between two that end the program have no names.
        let stripped = [
            ("libc.so.6", None),
            ("libc.so.6", Some("abort")),
            ("libc.so.6", None),
            ("app", Some("check")),
            ("app", Some("main")),
        ];
        assert_eq!(names(&stripped), ["check", "main"]);
    }

    #[test]
    fn what_is_around_main_in_rust_hides_nothing() {
        let panic = [
            ("libc.so.6", Some("abort")),
            ("app", Some("std::sys::pal::unix::abort_internal")),
            ("app", Some("std::panicking::rust_panic_with_hook")),
            ("app", Some("core::panicking::panic_fmt")),
            ("app", Some("app::parse")),
            ("app", Some("app::main")),
            ("app", Some("std::sys::backtrace::__rust_begin_short_backtrace")),
            ("app", Some("std::rt::lang_start::{{closure}}")),
            ("app", Some("std::panicking::try")),
            ("app", Some("std::rt::lang_start_internal")),
            ("app", Some("main")),
        ];
        assert_eq!(names(&panic), ["app::parse", "app::main"]);
    }

    #[test]
    fn the_librarys_frames_count_only_alone() {
        let both = [("libc.so.6", Some("strlen")), ("app", Some("title")), ("app", Some("main"))];
        assert_eq!(names(&both), ["title", "main"]);
        assert_eq!(names(&both[..1]), ["strlen"]);
    }

    #[test]
    fn no_name_is_guessed() {
        let stripped = [("app", None), ("app", Some("main"))];
        assert!(names(&stripped).is_empty());
    }

    #[test]
    fn words_are_found_whole_and_in_parts() {
        let found = terms(&["SIGSEGV in parse_header (read-Lines.c:12)"]);
        for term in ["sigsegv", "parse_header", "parse", "header", "read-lines.c", "lines", "12"] {
            assert!(found.iter().any(|word| word == term), "{term}: {found:?}");
        }
    }
}
