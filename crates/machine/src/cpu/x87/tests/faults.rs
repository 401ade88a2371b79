//! Instructions that cannot be finished: they must leave everything as it was.

use super::*;
use crate::{
    cpu::Exception,
    memory::{Access, PAGE},
};

/// All forms of both families.
fn forms() -> impl Iterator<Item = (Vec<u8>, Instruction)> {
    let x87 = x87_forms().into_iter().filter_map(|bytes| decode(&bytes).map(|i| (bytes, i)));
    let mmx = mmx_forms().into_iter().filter_map(|bytes| decode(&bytes).map(|i| (bytes, i)));
    x87.chain(mmx.filter(|(_, i)| is_mmx(i)))
}

/// Runs one instruction with `rsi` and `rdi` at an address; gives what stopped it, and the
/// processor and the state afterwards.
fn attempt(bytes: &[u8], protection: Protection, at: u64, before: &State) -> (Stop, Cpu, State) {
    let (mut space, mut code) = machine(bytes);
    space.write(DATA + PAGE - 128, &before.memory).expect("mapped");
    space.protect(DATA, DATA + PAGE, protection);
    let mut cpu = cpu_of(before);
    cpu.set(slots::RSI, at);
    cpu.set(slots::RDI, at);
    let stop = run(&mut cpu, &mut space, &mut code, 10);
    let mut after = before.clone();
    cpu.save_vector_state(&mut after.area);
    after.rax = cpu.get(slots::RAX);
    after.flags = cpu.rflags() & ALL;
    space.read(DATA + PAGE - 128, &mut after.memory).expect("mapped");
    (stop, cpu, after)
}

/// Whether the memory operand is written to.
fn stores(instruction: &Instruction) -> bool {
    let mut factory = iced_x86::InstructionInfoFactory::new();
    factory.info(instruction).used_memory().iter().any(|used| {
        matches!(used.access(), iced_x86::OpAccess::Write | iced_x86::OpAccess::ReadWrite)
    })
}

/// Integers from memory to a vector register, which concerns no MMX register.
fn from_memory(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), M::Cvtpi2ps | M::Cvtpi2pd)
        && instruction.op1_kind() == OpKind::Memory
}

/// The same state as the machine shows it.
fn shown(state: &State) -> State {
    let mut shown = state.clone();
    cpu_of(state).save_vector_state(&mut shown.area);
    shown
}

#[test]
fn pending_exceptions_are_raised_before_anything_else() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut count = 0;
    for (bytes, instruction) in forms().filter(|(_, i)| !never_waits(i) && !from_memory(i)) {
        count += 1;
        let mut before = state(&mut rng, false);
        // Division by zero, not masked, and inexact, masked.
        before.area[0] = before.area[0] & !0x3f | 0x3b;
        before.area[2] = 0x24;
        // Even with memory that is not there.
        let (stop, cpu, after) = attempt(&bytes, Protection::READ, DATA + PAGE, &before);
        let raised = Stop::Exception(Exception::X87Float(4));
        assert_eq!(stop, raised, "{}", text(&instruction));
        assert_eq!(cpu.rip(), CODE, "{}", text(&instruction));
        assert!(after == shown(&before), "{}", text(&instruction));
    }
    assert!(count > 800, "only {count} forms");
}

#[test]
fn unmasked_exceptions_wait_for_the_next_instruction() {
    // fld1; fldz; fdivp; mov eax, 7; fnstsw ax; fwait
    let bytes = b"\xd9\xe8\xd9\xee\xde\xf9\xb8\x07\0\0\0\xdf\xe0\x9b";
    let (mut space, mut code) = machine(bytes);
    let mut cpu = Cpu::default();
    cpu.fpu.control = 0x37b;
    cpu.set(slots::RIP, CODE);
    let stop = run(&mut cpu, &mut space, &mut code, 10);
    assert_eq!(stop, Stop::Exception(Exception::X87Float(4)));
    assert_eq!(cpu.rip(), CODE + bytes.len() as u64 - 1);
    // Summary and busy, division by zero, two registers still there.
    assert_eq!(cpu.get(slots::RAX) & 0xffff, 0xb084);
}

#[test]
fn a_store_that_raises_an_unmasked_exception_leaves_memory_alone() {
    // fld1 twice; fdecstp leaves an empty top; fstp qword ptr [rsi]
    let bytes = b"\xd9\xe8\xd9\xf6\xdd\x1e";
    let (mut space, mut code) = machine(bytes);
    let mut cpu = Cpu::default();
    cpu.fpu.control = 0x37e;
    cpu.set(slots::RIP, CODE);
    cpu.set(slots::RSI, DATA);
    space.write(DATA, b"untouched").expect("mapped");
    assert_eq!(run(&mut cpu, &mut space, &mut code, 10), Stop::Syscall);
    let mut memory = [0; 9];
    space.read(DATA, &mut memory).expect("mapped");
    assert_eq!(&memory, b"untouched");
    assert_eq!(cpu.fpu.status() & 0xff, 0xc1);
}

#[test]
fn memory_faults_change_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut count = 0;
    for (bytes, instruction) in forms() {
        if !(0..instruction.op_count()).any(|n| instruction.op_kind(n) == OpKind::Memory) {
            continue;
        }
        count += 1;
        let size = instruction.memory_size().size() as u64;
        let aligned = size == 16;
        for reach in [0, 1, size / 2, size - 1] {
            if aligned && reach != 0 {
                continue;
            }
            let before = state(&mut rng, false);
            let protection = Protection::READ | Protection::WRITE;
            let (stop, cpu, after) = attempt(&bytes, protection, DATA + PAGE - reach, &before);
            let Stop::Exception(Exception::Memory(fault)) = stop else {
                panic!("{}: {stop:?}", text(&instruction));
            };
            let access = if stores(&instruction) { Access::Write } else { Access::Read };
            assert_eq!(fault.access, access, "{}", text(&instruction));
            // Of a state or environment, the first field and the last byte are touched first.
            let field = if size == 14 || size == 94 { 2 } else { 4 };
            let end = size > 10 && !aligned && reach >= field;
            let first = if end { size - reach - 1 } else { 0 };
            assert_eq!(fault.address, DATA + PAGE + first, "{}", text(&instruction));
            assert_eq!(cpu.rip(), CODE, "{}", text(&instruction));
            assert!(after == shown(&before), "{} with {reach} bytes there", text(&instruction));
        }
    }
    assert!(count > 100, "only {count} forms");
}

#[test]
fn stores_to_what_is_read_only_change_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut count = 0;
    for (bytes, instruction) in forms() {
        let before = state(&mut rng, false);
        let at = DATA + PAGE - 128;
        let (stop, cpu, after) = attempt(&bytes, Protection::READ, at, &before);
        match stop {
            Stop::Syscall => assert!(!stores(&instruction), "{}", text(&instruction)),
            // It turns the unit to MMX all the same.
            Stop::Exception(Exception::Memory(_)) if instruction.mnemonic() == M::Maskmovq => {}
            Stop::Exception(Exception::Memory(fault)) => {
                assert_eq!(fault.access, Access::Write, "{}", text(&instruction));
                assert_eq!(cpu.rip(), CODE);
                assert!(after == shown(&before), "{}", text(&instruction));
                assert!(stores(&instruction), "{}", text(&instruction));
                count += 1;
            }
            _ => panic!("{}: {stop:?}", text(&instruction)),
        }
    }
    // fst, fstp, fist, fistp, fisttp, fbstp, fnstcw, fnstsw, fnstenv, fnsave; movd, movq, movntq.
    assert!(count >= 24, "only {count} stores");
}
