//! Files and memory that are not what they should be: stacks may be poor or wrong, but they end, and
//! nothing panics.

use std::fs;
use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_unwind::stack::{End, Limits, Module, ModuleSource, Registers, Symbols, Trust};

use crate::held::Held;
use crate::native::compile;

/// Where the file is mapped, flat, and where the stack is.
const BASE: u64 = 0x5555_5555_0000;
const STACK: u64 = 0x7fff_ff00_0000;

/// The places of a file that are worth damaging: headers, tables for unwinding, symbols, DWARF.
fn sensitive(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(bytes).expect("a sound file");
    let names = [".eh_frame", ".debug", ".symtab", ".strtab", ".dynsym", ".note", ".shstrtab"];
    let sections = file.sections().filter(|section| {
        section.name().is_ok_and(|name| names.iter().any(|wanted| name.starts_with(wanted)))
    });
    let ranges = sections.filter_map(|section| section.file_range());
    let mut ranges: Vec<_> =
        ranges.map(|(start, size)| start as usize..(start + size) as usize).collect();
    // File and program headers, and the section headers at the end, twice as likely.
    for _ in 0..2 {
        ranges.push(0..0x40 + 13 * 0x38);
        ranges.push(bytes.len() - 30 * 64..bytes.len());
    }
    ranges.retain(|range| !range.is_empty());
    ranges
}

/// How far damaged files led: damage that nothing gets past would test nothing.
#[derive(Debug, Default)]
struct Seen {
    walks: usize,
    by_tables: usize,
    named: usize,
    lines: usize,
}

/// Walks and names stacks of random registers and random words over a damaged file.
fn try_file(random: &mut ChaCha8Rng, bytes: &Arc<[u8]>, code: &std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    let symbols = Symbols::new(Box::new(|_| None));
    let module = Module {
        path: "/bin/hostile".into(),
        source: ModuleSource::Bytes(Arc::clone(bytes)),
        bias: BASE,
        executable: std::iter::once(BASE + code.start..BASE + code.end).collect(),
    };
    let stack: Vec<u64> = (0..256)
        .map(|index| match random.gen_range(0..4) {
            0 => BASE + random.gen_range(code.clone()),
            1 => STACK + 8 * random.gen_range(0..256),
            2 => random.r#gen(),
            _ => index,
        })
        .collect();
    let stack: Vec<u8> = stack.iter().flat_map(|word| word.to_le_bytes()).collect();
    let memory = [(BASE, &bytes[..]), (STACK, &stack[..])];
    for _ in 0..8 {
        let mut general: [u64; 16] = std::array::from_fn(|_| STACK + 8 * random.gen_range(0..200));
        general[4] = STACK + 8 * random.gen_range(0..64);
        let registers = Registers::new(&general, BASE + random.gen_range(code.clone()));
        let mut thread = Held { registers, memory: memory.to_vec() };
        let modules = std::slice::from_ref(&module);
        let limits = Limits { innermost: 20, outermost: 5, total: 10_000 };
        let walk = symbols.walk(&mut thread, modules, limits);
        let named = symbols.name(&walk, modules);
        assert!(walk.frames.len() <= 25 && named.to_string().len() < 1 << 20);
        seen.walks += 1;
        seen.by_tables += usize::from(walk.frames.iter().any(|frame| frame.trust == Trust::Cfi));
        seen.named += usize::from(named.frames.iter().any(|frame| frame.symbol.is_some()));
        seen.lines += usize::from(named.frames.iter().any(|frame| frame.location.is_some()));
    }
    seen
}

/// Damages a file again and again, a few bytes at a time.
fn damage(seed: u64, sound: &[u8], rounds: usize) -> Seen {
    use object::{Object, ObjectSection};
    let file = object::File::parse(sound).expect("a sound file");
    let text = file.section_by_name(".text").expect("code");
    let code = text.address()..text.address() + text.size();
    let ranges = sensitive(sound);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Seen::default();
    for _ in 0..rounds {
        let mut bytes = sound.to_vec();
        for _ in 0..1 << random.gen_range(0..6) {
            let range = ranges[random.gen_range(0..ranges.len())].clone();
            let place = random.gen_range(range);
            bytes[place] = match random.gen_range(0..4) {
                0 => bytes[place] ^ 1 << random.gen_range(0..8),
                1 => 0xff,
                2 => 0,
                _ => random.r#gen(),
            };
        }
        if random.gen_bool(0.05) {
            bytes.truncate(random.gen_range(0..bytes.len()));
        }
        let seen = try_file(&mut random, &bytes.into(), &code);
        all.walks += seen.walks;
        all.by_tables += seen.by_tables;
        all.named += seen.named;
        all.lines += seen.lines;
    }
    all
}

#[test]
fn a_damaged_system_program() {
    let seen = damage(1, &fs::read("/bin/true").expect("a program"), 3_000);
    assert!(seen.by_tables > seen.walks / 10, "{seen:?}");
}

#[test]
fn a_damaged_program_with_debugging_information() {
    let program = compile("inlined.c", "hostile", &["-O2", "-g"]);
    let seen = damage(2, &fs::read(program).expect("a program"), 3_000);
    let least = seen.by_tables.min(seen.named).min(seen.lines);
    assert!(least > seen.walks / 10, "{seen:?}");
}

#[test]
fn a_damaged_cpp_program() {
    let program = compile("throws.cpp", "hostile", &["-O1", "-g"]);
    let seen = damage(3, &fs::read(program).expect("a program"), 1_000);
    let least = seen.by_tables.min(seen.named).min(seen.lines);
    assert!(least > seen.walks / 10, "{seen:?}");
}

#[test]
fn a_damaged_program_without_a_search_table() {
    let program = compile("nested.c", "hostile", &["-O2", "-Wl,--no-eh-frame-hdr"]);
    let seen = damage(4, &fs::read(program).expect("a program"), 2_000);
    assert!(seen.by_tables.min(seen.named) > seen.walks / 10, "{seen:?}");
}

#[test]
fn signals_in_a_circle() {
    // Code that returns from a signal, and a saved context that leads back to it and to itself.
    const CODE: u64 = 0x1000;
    let code = [0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05];
    let mut context = [0u64; 64];
    context[5 + 15] = STACK;
    context[5 + 16] = CODE;
    let context: Vec<u8> = context.iter().flat_map(|word| word.to_le_bytes()).collect();
    let memory = vec![(CODE, &code[..]), (STACK, &context[..])];
    let mut general = [0; 16];
    general[4] = STACK;
    let symbols = Symbols::new(Box::new(|_| None));
    let mut thread = Held { registers: Registers::new(&general, CODE), memory };
    let stack = symbols.call_stack(&mut thread, &[]);
    assert_eq!(stack.end, End::Limit);
    assert!(stack.gap.is_some_and(|gap| gap.count < 1_000 && gap.alike));
}
