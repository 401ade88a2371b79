//! Any file as a module whose stack is walked: tables for unwinding, symbols and DWARF of a stranger. The
//! walk ends, and every frame has a name or none. The fuzz target for the unwinder is this, too.
//!
//! The first eight bytes choose where the thread is and what its stack holds; the rest is the file.

#[path = "../common/held.rs"]
mod held;

use std::sync::Arc;

use held::Held;
use stunt_unwind::stack::{
    Limits, Mapping, Module, ModuleSource, Registers, Symbols, functions, ranges,
};

/// Where the file is mapped, flat, and where the stack is.
const BASE: u64 = 0x5555_5555_0000;
const STACK: u64 = 0x7fff_ff00_0000;
const WORDS: u64 = 128;

/// Panics if that does not hold.
pub fn check(data: &[u8]) {
    let Some((head, file)) = data.split_first_chunk::<8>() else { return };
    let bytes: Arc<[u8]> = file.into();
    let length = bytes.len() as u64;
    if length == 0 {
        return;
    }
    let mut state = u64::from_le_bytes(*head) | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 16
    };
    let mapping = Mapping { addresses: BASE..BASE + length, offset: 0, executable: true };
    let flat = Module {
        path: "/bin/strange".into(),
        source: ModuleSource::Bytes(Arc::clone(&bytes)),
        bias: BASE,
        executable: std::iter::once(BASE..BASE + length).collect(),
    };
    let by_header = Module::from_mappings("/bin/strange", Arc::clone(&bytes), &[mapping]);
    let stack: Vec<u8> = (0..WORDS)
        .flat_map(|at| {
            let word = match next() % 4 {
                0 | 1 => BASE + next() % length,
                2 => STACK + 8 * (next() % WORDS),
                _ => at,
            };
            word.to_le_bytes()
        })
        .collect();
    let memory = [(BASE, &bytes[..]), (STACK, &stack[..])];
    let limits = Limits { innermost: 20, outermost: 5, total: 2_000 };
    for module in [Some(flat), by_header].into_iter().flatten() {
        let symbols = Symbols::new(Box::new(|_| None));
        let modules = std::slice::from_ref(&module);
        for _ in 0..4 {
            let mut general: [u64; 16] = std::array::from_fn(|_| STACK + 8 * (next() % WORDS));
            general[4] = STACK + 8 * (next() % 32);
            let registers = Registers::new(&general, BASE + next() % length);
            let mut thread = Held { registers, memory: memory.to_vec() };
            let walk = symbols.walk(&mut thread, modules, limits);
            assert!(walk.frames.len() <= limits.innermost + limits.outermost);
            let named = symbols.name(&walk, modules);
            assert!(named.frames.len() >= walk.frames.len(), "every address has a frame");
            let shown = named.to_string();
            let control = |c: char| c.is_control() && c != '\n';
            assert!(!shown.contains(control), "{shown:?}");
            let _ = symbols.at(BASE + next() % length, modules);
        }
        let named = functions(&module, |_| true).len();
        assert!(ranges(&module, |_| true).len() <= named.max(length as usize));
    }
}
