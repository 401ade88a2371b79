//! Functions that are known by name, and what is made of a call of one.
//!
//! A hook is a guess about what a function of that name does; the double is run natively in the
//! end, so that a wrong guess costs a double and never a wrong claim.

use super::guard::HeapCall;
use crate::{
    code::{Slot, slots},
    cpu::Cpu,
    memory::AddressSpace,
    stack::{Function, FunctionKind, Module, functions},
};

/// How a comparison treats its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// It ends at a zero byte.
    pub(crate) terminated: bool,
    /// The third argument says after how many bytes it ends.
    pub(crate) limited: bool,
    /// Letters of the alphabet are equal in both cases.
    pub(crate) folded: bool,
}

/// What is made of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// An exception or a panic is thrown: the call stack tells the failure.
    Throw,
    /// It never returns: what the program does from here on, such as making up a message, is no
    /// part of what made it fail.
    Doom,
    /// An exception or a panic was caught: the program goes on.
    Catch,
    /// A comparison of two strings or areas: only the result counts, not where it was found.
    Compare(Comparison),
    /// These arguments are sizes or counts: they are fixed, before code that deals with memory takes
    /// them apart.
    Sizes(&'static [Slot]),
    /// A call of the allocator.
    Heap(HeapCall),
    /// Frames are left without their functions' ends.
    Leave,
    /// Output for people, which the program does not read again.
    Output,
}

const fn compare(terminated: bool, limited: bool, folded: bool) -> Hook {
    Hook::Compare(Comparison { terminated, limited, folded })
}

/// The functions of the C library that have hooks, by name.
const FUNCTIONS: &[(&str, Hook)] = &[
    ("_Unwind_RaiseException", Hook::Throw),
    ("__cxa_throw", Hook::Doom),
    ("__cxa_begin_catch", Hook::Catch),
    ("__rust_panic_cleanup", Hook::Catch),
    ("__assert_fail", Hook::Doom),
    ("__assert_perror_fail", Hook::Doom),
    ("__stack_chk_fail", Hook::Doom),
    ("__fortify_fail", Hook::Doom),
    ("__chk_fail", Hook::Doom),
    ("abort", Hook::Doom),
    ("memcmp", compare(false, true, false)),
    ("bcmp", compare(false, true, false)),
    ("strcmp", compare(true, false, false)),
    ("strncmp", compare(true, true, false)),
    ("strcasecmp", compare(true, false, true)),
    ("strncasecmp", compare(true, true, true)),
    ("malloc", Hook::Heap(HeapCall::Malloc)),
    ("calloc", Hook::Heap(HeapCall::Calloc)),
    ("realloc", Hook::Heap(HeapCall::Realloc)),
    ("reallocarray", Hook::Heap(HeapCall::ReallocArray)),
    ("aligned_alloc", Hook::Heap(HeapCall::Aligned)),
    ("memalign", Hook::Heap(HeapCall::Aligned)),
    ("posix_memalign", Hook::Heap(HeapCall::PosixAligned)),
    ("free", Hook::Heap(HeapCall::Free)),
    ("malloc_usable_size", Hook::Heap(HeapCall::UsableSize)),
    ("longjmp", Hook::Leave),
    ("siglongjmp", Hook::Leave),
    ("__longjmp_chk", Hook::Leave),
    ("memcpy", Hook::Sizes(&[slots::RDX])),
    ("memmove", Hook::Sizes(&[slots::RDX])),
    ("mempcpy", Hook::Sizes(&[slots::RDX])),
    ("memset", Hook::Sizes(&[slots::RDX])),
    ("memchr", Hook::Sizes(&[slots::RDX])),
    ("memrchr", Hook::Sizes(&[slots::RDX])),
    ("printf", Hook::Output),
    ("vprintf", Hook::Output),
    ("fprintf", Hook::Output),
    ("vfprintf", Hook::Output),
    ("__printf_chk", Hook::Output),
    ("__fprintf_chk", Hook::Output),
    ("__vprintf_chk", Hook::Output),
    ("__vfprintf_chk", Hook::Output),
    ("puts", Hook::Output),
    ("fputs", Hook::Output),
    ("fputs_unlocked", Hook::Output),
    ("putchar", Hook::Output),
    ("putchar_unlocked", Hook::Output),
    ("putc", Hook::Output),
    ("fputc", Hook::Output),
    ("fwrite", Hook::Output),
    ("fwrite_unlocked", Hook::Output),
    ("perror", Hook::Output),
];

/// For the first letter of a name, the lengths of the known names that begin with it: most names
/// of a library are told apart by these two.
static LIKE: [u32; 256] = {
    let mut like = [0; 256];
    let mut k = 0;
    while k < FUNCTIONS.len() {
        let name = FUNCTIONS[k].0;
        like[name.as_bytes()[0] as usize] |= bit(name);
        k += 1;
    }
    like
};

const fn bit(name: &str) -> u32 {
    1 << (name.len() % 32)
}

/// Parts of the names that Rust's compiler gives to functions that end in a panic, and to those
/// that print.
const RUST: &[(&str, Hook)] = &[
    ("4core9panicking", Hook::Doom),
    ("4core6option13unwrap_failed", Hook::Doom),
    ("4core6option13expect_failed", Hook::Doom),
    ("4core6result13unwrap_failed", Hook::Doom),
    ("4core5slice5index26slice_start_index_len_fail", Hook::Doom),
    ("4core5slice5index24slice_end_index_len_fail", Hook::Doom),
    ("4core5slice5index22slice_index_order_fail", Hook::Doom),
    ("4core5slice5index16slice_index_fail", Hook::Doom),
    ("4core3str16slice_error_fail", Hook::Doom),
    ("3std9panicking", Hook::Doom),
    ("3std2io5stdio6_print", Hook::Output),
    ("3std2io5stdio7_eprint", Hook::Output),
];

/// Names inside Rust's panic machinery that run without a panic, too.
const RUST_HARMLESS: &[&str] = &["panic_count", "catch_unwind", "3try", "9set_hook", "10take_hook"];

/// What a function's name says about it.
pub(crate) fn hook_of(name: &str) -> Option<Hook> {
    let like = name.bytes().next().is_some_and(|first| LIKE[first as usize] & bit(name) != 0);
    if like && let Some(&(_, hook)) = FUNCTIONS.iter().find(|&&(known, _)| known == name) {
        return Some(hook);
    }
    // Newer compilers put a crate of their own before such names.
    if name.ends_with("___rust_panic_cleanup") {
        return Some(Hook::Catch);
    }
    if !name.starts_with("_ZN") && !name.starts_with("_R") {
        return None;
    }
    let &(_, hook) = RUST.iter().find(|&&(part, _)| name.contains(part))?;
    let harmless = RUST_HARMLESS.iter().any(|part| name.contains(part));
    (!harmless).then_some(hook)
}

/// The hooks of a running program: addresses, and what is there. `resolve` asks a function that
/// chooses an implementation which one it chooses.
pub(crate) fn hooks(
    modules: &[Module],
    mut resolve: impl FnMut(u64) -> Option<u64>,
) -> Vec<(u64, Hook)> {
    let mut all = Vec::new();
    for module in modules {
        for Function { name, address, kind } in functions(module, |name| hook_of(name).is_some()) {
            let Some(hook) = hook_of(&name) else { continue };
            let address = match kind {
                FunctionKind::Function => Some(address),
                FunctionKind::Ifunc => resolve(address),
            };
            all.extend(address.map(|address| (address, hook)));
        }
    }
    all
}

/// A call of a function, as its first instruction sees it.
pub(crate) fn return_address(cpu: &Cpu, space: &mut AddressSpace) -> Option<u64> {
    let mut bytes = [0; 8];
    space.read(cpu.get(slots::RSP), &mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        assert_eq!(hook_of("strcmp"), Some(compare(true, false, false)));
        assert_eq!(hook_of("strcmpi"), None);
        assert_eq!(hook_of(""), None);
        for &(name, hook) in FUNCTIONS {
            assert_eq!(hook_of(name), Some(hook));
        }
        assert_eq!(hook_of("_ZN4core9panicking9panic_fmt17h0123456789abcdefE"), Some(Hook::Doom));
        assert_eq!(hook_of("_RNvNtCs1234_4core9panicking9panic_fmt"), Some(Hook::Doom));
        assert_eq!(hook_of("_ZN3std9panicking11panic_count17is_zero_slow_path17h01E"), None);
        assert_eq!(hook_of("_ZN3std2io5stdio6_print17h0123456789abcdefE"), Some(Hook::Output));
        assert_eq!(hook_of("4core9panicking"), None);
    }
}
