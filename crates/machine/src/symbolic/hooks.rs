//! Functions that are known by name, and what is made of a call of one.
//!
//! A hook is a guess about what a function of that name does; the double is run natively in the
//! end, so that a wrong guess costs a double and never a wrong claim.

use stunt_unwind::stack::{Function, FunctionKind, Module, functions};

use super::guard::HeapCall;
use crate::{
    code::{Slot, slots},
    cpu::Cpu,
    memory::AddressSpace,
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
    /// A search for a word in a string: only where it is counts, not how it was looked for.
    Search,
    /// These arguments are sizes or counts: they are fixed, before code that deals with memory takes
    /// them apart.
    Sizes(&'static [Slot]),
    /// A call of the allocator.
    Heap(HeapCall),
    /// Frames are left without their functions' ends.
    Leave,
    /// Output for people, if it goes where the program does not read it again.
    Output(Output),
}

/// A function that writes output for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) to: Target,
    pub(crate) answer: Answer,
}

/// Where output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a stream of the C library: that of a variable, standard output or error.
    Standard,
    /// To the stream that an argument says.
    Stream(Slot),
    /// To a standard descriptor.
    Descriptor,
    /// To the descriptor that an argument says.
    Number(Slot),
    /// To a stream of the C++ library, the first argument.
    Channel,
}

/// What a function that writes output tells its caller. Whether it worked does not depend on what
/// was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Whether it worked, or nothing.
    Success,
    /// How many characters it wrote, which does depend on them.
    Count,
    /// An argument.
    Same(Slot),
    /// The character that an argument is.
    Character(Slot),
}

const fn output(to: Target, answer: Answer) -> Hook {
    Hook::Output(Output { to, answer })
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
    ("strstr", Hook::Search),
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
    ("printf", output(Target::Standard, Answer::Count)),
    ("vprintf", output(Target::Standard, Answer::Count)),
    ("fprintf", output(Target::Stream(slots::RDI), Answer::Count)),
    ("vfprintf", output(Target::Stream(slots::RDI), Answer::Count)),
    ("__printf_chk", output(Target::Standard, Answer::Count)),
    ("__fprintf_chk", output(Target::Stream(slots::RDI), Answer::Count)),
    ("__vprintf_chk", output(Target::Standard, Answer::Count)),
    ("__vfprintf_chk", output(Target::Stream(slots::RDI), Answer::Count)),
    ("dprintf", output(Target::Number(slots::RDI), Answer::Count)),
    ("vdprintf", output(Target::Number(slots::RDI), Answer::Count)),
    ("__dprintf_chk", output(Target::Number(slots::RDI), Answer::Count)),
    ("__vdprintf_chk", output(Target::Number(slots::RDI), Answer::Count)),
    ("puts", output(Target::Standard, Answer::Success)),
    ("fputs", output(Target::Stream(slots::RSI), Answer::Success)),
    ("fputs_unlocked", output(Target::Stream(slots::RSI), Answer::Success)),
    ("putchar", output(Target::Standard, Answer::Character(slots::RDI))),
    ("putchar_unlocked", output(Target::Standard, Answer::Character(slots::RDI))),
    ("putc", output(Target::Stream(slots::RSI), Answer::Character(slots::RDI))),
    ("putc_unlocked", output(Target::Stream(slots::RSI), Answer::Character(slots::RDI))),
    ("fputc_unlocked", output(Target::Stream(slots::RSI), Answer::Character(slots::RDI))),
    ("fputc", output(Target::Stream(slots::RSI), Answer::Character(slots::RDI))),
    ("fwrite", output(Target::Stream(slots::RCX), Answer::Same(slots::RDX))),
    ("fwrite_unlocked", output(Target::Stream(slots::RCX), Answer::Same(slots::RDX))),
    ("perror", output(Target::Standard, Answer::Success)),
    ("warn", output(Target::Standard, Answer::Success)),
    ("warnx", output(Target::Standard, Answer::Success)),
    ("vwarn", output(Target::Standard, Answer::Success)),
    ("vwarnx", output(Target::Standard, Answer::Success)),
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
    ("3std2io5stdio6_print", output(Target::Descriptor, Answer::Success)),
    ("3std2io5stdio7_eprint", output(Target::Descriptor, Answer::Success)),
];

/// How the names of functions begin that print a value to a stream of the C++ library; each answers with
/// the stream. Not among them: what prints all that another stream has, which reads that.
const CHANNELS: &[&str] = &[
    "_ZNSo3putEc",
    "_ZNSo5writeEPKcl",
    "_ZNSo9_M_insertI",
    "_ZNSolsEPKv",
    "_ZNSolsEb",
    "_ZNSolsEd",
    "_ZNSolsEe",
    "_ZNSolsEf",
    "_ZNSolsEi",
    "_ZNSolsEj",
    "_ZNSolsEl",
    "_ZNSolsEm",
    "_ZNSolsEs",
    "_ZNSolsEt",
    "_ZNSolsEx",
    "_ZNSolsEy",
    "_ZSt16__ostream_insertIcSt11char_traitsIcEE",
    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_",
    "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RK",
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
    if (name.starts_with("_ZNSo") || name.starts_with("_ZSt"))
        && CHANNELS.iter().any(|begin| name.starts_with(begin))
    {
        return Some(output(Target::Channel, Answer::Same(slots::RDI)));
    }
    if !name.starts_with("_ZN") && !name.starts_with("_R") {
        return None;
    }
    let &(_, hook) = RUST.iter().find(|&&(part, _)| name.contains(part))?;
    let harmless = RUST_HARMLESS.iter().any(|part| name.contains(part));
    (!harmless).then_some(hook)
}

/// The variables with the streams of the C library that output goes to.
const STREAMS: &[&str] = &["stdout", "stderr"];

/// The streams of the C++ library that output goes to, and the type of what is behind them as long as
/// they write through the streams of the C library.
const CPP_STREAMS: &[&str] = &["_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"];
const CPP_SYNCHRONISED: &str = "_ZTVN9__gnu_cxx18stdio_sync_filebufIcSt11char_traitsIcEEE";

/// What is found by name in the files of a running program.
#[derive(Default)]
pub(crate) struct Known {
    /// Addresses of functions, and what is there.
    pub(crate) hooks: Vec<(u64, Hook)>,
    /// Addresses of the variables with the streams for output.
    pub(crate) streams: Vec<u64>,
    /// What is known of the streams of the C++ library.
    pub(crate) channels: Channels,
}

/// The streams of the C++ library.
#[derive(Clone, Default)]
pub(crate) struct Channels {
    /// Standard output and error.
    standard: Vec<u64>,
    /// The types of what is behind them at first.
    synchronised: Vec<u64>,
}

impl Channels {
    /// The stream of the C library behind one of the C++ library, if that is a standard one and was not
    /// led elsewhere.
    pub(crate) fn behind(&self, space: &mut AddressSpace, channel: u64) -> Option<u64> {
        // Where the parts are: the same in all versions that have these names.
        const BASE: u64 = 24;
        const BUFFER: u64 = 232;
        const TYPE: u64 = 16;
        const FILE: u64 = 64;
        if !self.standard.contains(&channel) {
            return None;
        }
        let mut word = |at: u64| {
            let mut bytes = [0; 8];
            space.read(at, &mut bytes).ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let table = word(channel)?;
        let to_base = word(table.wrapping_sub(BASE))?;
        let buffer = word(channel.wrapping_add(to_base).wrapping_add(BUFFER))?;
        let kind = word(buffer)?.wrapping_sub(TYPE);
        if !self.synchronised.contains(&kind) {
            return None;
        }
        word(buffer.wrapping_add(FILE))
    }
}

/// What is known in a running program. `resolve` asks a function that chooses an implementation
/// which one it chooses.
pub(crate) fn hooks(modules: &[Module], mut resolve: impl FnMut(u64) -> Option<u64>) -> Known {
    let mut known = Known::default();
    let wanted = |name: &str| {
        hook_of(name).is_some()
            || STREAMS.contains(&name)
            || CPP_STREAMS.contains(&name)
            || name == CPP_SYNCHRONISED
    };
    for Function { name, address, kind } in modules.iter().flat_map(|it| functions(it, wanted)) {
        if kind == FunctionKind::Variable {
            known.streams.extend(STREAMS.contains(&&*name).then_some(address));
            let Channels { standard, synchronised } = &mut known.channels;
            standard.extend(CPP_STREAMS.contains(&&*name).then_some(address));
            synchronised.extend((name == CPP_SYNCHRONISED).then_some(address));
            continue;
        }
        let Some(hook) = hook_of(&name) else { continue };
        let address = match kind {
            FunctionKind::Ifunc => resolve(address),
            FunctionKind::Function | FunctionKind::Variable => Some(address),
        };
        known.hooks.extend(address.map(|address| (address, hook)));
    }
    known
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
        assert_eq!(
            hook_of("_ZN3std2io5stdio6_print17h0123456789abcdefE"),
            Some(output(Target::Descriptor, Answer::Success))
        );
        assert_eq!(hook_of("4core9panicking"), None);
        let prints = Some(output(Target::Channel, Answer::Same(slots::RDI)));
        assert_eq!(hook_of("_ZNSolsEi"), prints);
        assert_eq!(hook_of("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"), prints);
        // All of another stream, and a function of the program's own.
        assert_eq!(hook_of("_ZNSolsEPSt15basic_streambufIcSt11char_traitsIcEE"), None);
        assert_eq!(hook_of("_ZNSolsEPFRSoS_E"), None);
    }
}
