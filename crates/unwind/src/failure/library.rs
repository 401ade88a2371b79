//! Which frames belong to a library that programs have in common, and say nothing about the bug.
//!
//! By module: the C library and the runtime libraries of C++ and of unwinding, whose code differs
//! from processor to processor. By name: Rust's and C++'s standard libraries, which are compiled
//! into programs, and, in programs that are linked statically, what leads to an abort in the C
//! library and its string functions. A stripped program has no names, so nothing of it is left out.

use crate::stack::{Frame, InSymbol};

/// Whether the module is the C library, or one that comes with it.
pub(super) fn is_c_library(module: &str) -> bool {
    const NAMES: [&str; 9] = [
        "libc.so",
        "libc-2.",
        "ld-linux",
        "ld-2.",
        "libpthread",
        "libm.so",
        "libm-2.",
        "ld-musl",
        "librt.so",
    ];
    NAMES.iter().any(|name| module.starts_with(name))
}

/// Whether the module is a language's runtime library.
fn is_runtime(module: &str) -> bool {
    const NAMES: [&str; 6] =
        ["libstdc++.so", "libgcc_s", "libc++.so", "libc++abi", "libunwind", "libstd-"];
    NAMES.iter().any(|name| module.starts_with(name)) || is_sanitizer_module(module)
}

/// Whether the module is the runtime of a sanitizer.
pub fn is_sanitizer_module(module: &str) -> bool {
    const NAMES: [&str; 6] =
        ["libasan.so", "libhwasan.so", "liblsan.so", "libtsan.so", "libubsan.so", "libclang_rt."];
    NAMES.iter().any(|name| module.starts_with(name))
}

/// Whether a function is of the runtime of a sanitizer, which may be inside of the program.
pub fn is_sanitizer_function(name: &str) -> bool {
    const STARTS: [&str; 8] = [
        "__asan",
        "__hwasan",
        "__lsan",
        "__msan",
        "__tsan",
        "__ubsan",
        "__sanitizer",
        "__interceptor_",
    ];
    // Some names have one more line before them, and methods are in a namespace of that name.
    let name = name.strip_prefix('_').filter(|it| it.starts_with("__inter")).unwrap_or(name);
    STARTS.iter().any(|start| name.starts_with(start))
}

/// Whether the frame's module is a library that is left out.
pub(super) fn is_by_module(frame: &Frame) -> bool {
    let module = frame.module.as_ref();
    module.is_some_and(|module| is_c_library(&module.name) || is_runtime(&module.name))
}

/// Whether the frame's name, or for an inlined function its file, is one of a standard library.
pub(super) fn is_by_name(frame: &Frame) -> bool {
    let by_file = frame.location.as_ref().is_some_and(|it| it.file.starts_with("/rustc/"));
    by_file || frame.symbol.as_ref().is_some_and(|InSymbol { name, .. }| is_standard(name))
}

/// Whether the name is one of C's that leads to an abort, or of a string function. For programs
/// that have the C library inside; others may call their own functions so.
pub(super) fn is_c_by_name(frame: &Frame) -> bool {
    frame.symbol.as_ref().is_some_and(|InSymbol { name, .. }| is_c_machinery(name))
}

/// Whether a function of Rust's panics is on the way: it tells a panic from another abort.
pub(super) fn is_panic(name: &str) -> bool {
    const STARTS: [&str; 4] =
        ["core::panicking::", "std::panicking::", "__rust_start_panic", "rust_panic"];
    let name = name.strip_prefix("__rustc::").unwrap_or(name);
    STARTS.iter().any(|start| name.starts_with(start)) || name.ends_with("rust_begin_unwind")
}

/// Whether the function throws C++ exceptions.
pub(super) fn is_throw(name: &str) -> bool {
    name == "__cxa_throw" || name.starts_with("std::rethrow_exception(")
}

/// Whether the function is called when an exception has no handler.
pub(super) fn is_unhandled(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "__cxa_rethrow",
        "__cxa_call_terminate",
        "__clang_call_terminate",
        "__gxx_personality_v0",
        "_Unwind_Resume",
        "_Unwind_Resume_or_Rethrow",
    ];
    NAMES.contains(&name)
}

fn is_standard(name: &str) -> bool {
    const STARTS: [&str; 12] = [
        "_Unwind_",
        "__rust_",
        "__rustc::",
        "rust_begin_unwind",
        "rust_panic",
        "rust_eh_personality",
        "__cxa_",
        "__gxx_",
        "__cxxabiv1::",
        "__gnu_cxx::",
        "__clang_call_terminate",
        "__stack_chk_fail",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
        || is_sanitizer_function(name)
        || is_of_standard_crate(name)
}

/// Whether a name such as `core::option::unwrap_failed`, `<alloc::vec::Vec<T> as …>::index` or
/// `<T as core::convert::Into<U>>::into` is of Rust's library; C++'s `std::` is found with it.
fn is_of_standard_crate(name: &str) -> bool {
    const CRATES: [&str; 5] = ["core::", "std::", "alloc::", "panic_unwind::", "panic_abort::"];
    let of_crate = |path: &str| CRATES.iter().any(|it| path.starts_with(it));
    let Some(inside) = name.strip_prefix('<') else { return of_crate(name) };
    let mut self_type = inside;
    for mark in ["&", "mut ", "*const ", "*mut ", "[", "(", "dyn ", "<"].repeat(2) {
        self_type = self_type.strip_prefix(mark).unwrap_or(self_type);
    }
    if of_crate(self_type) {
        return true;
    }
    // A primitive type or a parameter, and a trait of the library.
    let word =
        self_type.find(|c: char| !c.is_alphanumeric()).map_or(self_type, |end| &self_type[..end]);
    let rest = &self_type[word.len()..];
    let plain = !word.is_empty() && !rest.starts_with("::") && !rest.starts_with('_');
    plain && inside.split_once(" as ").is_some_and(|(_, of_trait)| of_crate(of_trait))
}

fn is_c_machinery(name: &str) -> bool {
    const NAMES: [&str; 34] = [
        "abort",
        "raise",
        "gsignal",
        "kill",
        "pthread_kill",
        "__assert_fail",
        "__assert_fail_base",
        "__assert",
        "__fortify_fail",
        "__fortify_fail_abort",
        "__chk_fail",
        "__libc_message",
        "__libc_fatal",
        "__libc_message_impl",
        "malloc_printerr",
        "malloc_consolidate",
        "unlink_chunk",
        "sysmalloc",
        "malloc",
        "calloc",
        "realloc",
        "free",
        "cfree",
        "strdup",
        "strndup",
        "fputs",
        "puts",
        "printf",
        "sprintf",
        "snprintf",
        "fprintf",
        "vfprintf",
        "tcache_get",
        "qsort",
    ];
    // Parts that a compiler split off: `__assert_fail_base.cold`.
    let name = name.split('.').next().unwrap_or(name);
    const STARTS: [&str; 9] = [
        "__pthread_kill",
        "__GI_",
        "__libc_malloc",
        "__libc_free",
        "__libc_realloc",
        "__libc_calloc",
        "_int_malloc",
        "_int_free",
        "_int_realloc",
    ];
    NAMES.contains(&name)
        || NAMES.contains(&name.trim_start_matches('_'))
        || STARTS.iter().any(|start| name.starts_with(start))
        || is_string_function(name)
}

/// `strlen`, `__memmove_avx_unaligned_erms`, `__strchr_sse2` and the like.
fn is_string_function(name: &str) -> bool {
    const FUNCTIONS: [&str; 38] = [
        "strlen",
        "strnlen",
        "strcpy",
        "strncpy",
        "stpcpy",
        "stpncpy",
        "strcat",
        "strncat",
        "strcmp",
        "strncmp",
        "strcasecmp",
        "strncasecmp",
        "strchr",
        "strchrnul",
        "strrchr",
        "strstr",
        "strcasestr",
        "strspn",
        "strcspn",
        "strpbrk",
        "strtok",
        "strtok_r",
        "strcoll",
        "memcpy",
        "mempcpy",
        "memmove",
        "memset",
        "memcmp",
        "bcmp",
        "memchr",
        "memrchr",
        "memmem",
        "rawmemchr",
        "wcslen",
        "wcscpy",
        "wmemset",
        "wmemchr",
        "bzero",
    ];
    const VARIANTS: [&str; 8] =
        ["_sse", "_ssse", "_avx", "_evex", "_generic", "_erms", "_unaligned", "_chk"];
    let plain = name.trim_start_matches('_');
    let end = VARIANTS.iter().filter_map(|variant| plain.find(variant)).min();
    let plain = &plain[..end.unwrap_or(plain.len())];
    let plain = plain.strip_suffix("_l").unwrap_or(plain);
    FUNCTIONS.contains(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_standard_libraries() {
        for name in [
            "core::panicking::panic_fmt",
            "std::panicking::begin_panic_handler::{{closure}}",
            "std::sys::backtrace::__rust_end_short_backtrace",
            "core::option::expect_failed",
            "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index",
            "<&mut alloc::string::String as core::fmt::Write>::write_str",
            "<T as core::convert::Into<U>>::into",
            "<[T] as core::slice::Join>::join",
            "<u8 as core::fmt::Display>::fmt",
            "__rustc::rust_begin_unwind",
            "rust_panic",
            "_Unwind_RaiseException",
            "std::__throw_out_of_range_fmt(char const*, ...)",
            "std::vector<int, std::allocator<int> >::at(unsigned long)",
            "__cxxabiv1::__terminate(void (*)())",
            "__cxa_throw",
        ] {
            assert!(is_standard(name), "{name}");
        }
        for name in [
            "main",
            "corelib::read",
            "stdx::f",
            "dtparse::Parser::parse",
            "<dtparse::Parser as core::default::Default>::default",
            "<mycrate::T as core::fmt::Display>::fmt",
            "<T as mycrate::Parse>::parse",
            "<my_crate::A<core::option::Option<u8>> as core::iter::Iterator>::next",
            "alpha",
            "",
            "<",
        ] {
            assert!(!is_standard(name), "{name}");
        }
    }

    #[test]
    fn names_of_the_c_library_inside_of_programs() {
        for name in [
            "abort",
            "raise",
            "__pthread_kill_implementation",
            "__assert_fail",
            "__GI_raise",
            "_int_malloc",
            "__libc_malloc",
            "strlen",
            "__strlen_avx2",
            "__strlen_sse2",
            "__memmove_avx_unaligned_erms",
            "__memcpy_chk",
            "__strcasecmp_l_sse42",
            "__strdup",
            "__assert_fail_base.cold",
        ] {
            assert!(is_c_machinery(name), "{name}");
        }
        for name in ["main", "process", "string_of", "strlen_checked", "my_abort", "freeze", ""] {
            assert!(!is_c_machinery(name), "{name}");
        }
    }

    #[test]
    fn modules_of_the_c_library() {
        for name in ["libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libc-2.31.so"] {
            assert!(is_c_library(name), "{name}");
        }
        for name in ["libcurl.so.4", "libcrypto.so", "libmagic.so.1", "prog", "ld", "libcap.so"] {
            assert!(!is_c_library(name), "{name}");
        }
    }
}
