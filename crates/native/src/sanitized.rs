//! Whether a program was built with a sanitizer.
//!
//! Such a program tells its failures on standard error, and looks for leaks when it exits, which it cannot
//! while it is followed. Only the names of its functions are looked at: those of the runtime are exported
//! or imported, wherever it is, and stripping leaves them.

use std::path::Path;

use crate::throwers::symbol_names;

/// The options by which a program that is followed does not look for leaks: it would stop its own threads
/// as a follower does, find that somebody has done so, and fail.
pub const NO_LEAKS: (&str, &str) = ("LSAN_OPTIONS", "detect_leaks=0");

/// Functions that every program with one of the runtimes has.
const INITIAL: [&[u8]; 5] =
    [b"__asan_init", b"__hwasan_init", b"__lsan_init", b"__msan_init", b"__tsan_init"];

/// The beginning of those that check for undefined behaviour, which needs no beginning.
const UNDEFINED: &[u8] = b"__ubsan_handle_";

/// Whether it was; a file that cannot be read was not.
#[must_use]
pub fn is_sanitized(program: &Path) -> bool {
    let is_of_runtime = |name: &[u8]| INITIAL.contains(&name) || name.starts_with(UNDEFINED);
    // A runtime that is inside of the program may be in the larger table alone.
    symbol_names(program).iter().any(|names| names.split(|&byte| byte == 0).any(is_of_runtime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_programs_were_not() {
        for program in ["/bin/true", "/proc/self/exe", "/proc/self/maps", "/nowhere"] {
            assert!(!is_sanitized(Path::new(program)), "{program}");
        }
    }
}
