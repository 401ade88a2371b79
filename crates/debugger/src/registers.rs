//! Registers as gdb numbers them, and the description that says so.

use std::fmt::Write as _;

use stunt_machine::{code::slots, cpu::Cpu};

/// A register: its name, its size in bytes, and where it is.
struct Register {
    name: &'static str,
    size: usize,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Slot(u8),
    Flags,
    /// A selector, which no program here can change.
    Selector(u32),
    /// In what `fxsave` writes, at this offset.
    Saved(usize),
    /// A field of the x87 that `fxsave` has in two bytes.
    SavedHalf(usize),
    Tags,
    Nothing,
    /// The system call that a thread is in: none.
    NoCall,
}

const GENERAL: [(&str, u8); 16] = [
    ("rax", slots::RAX),
    ("rbx", slots::RBX),
    ("rcx", slots::RCX),
    ("rdx", slots::RDX),
    ("rsi", slots::RSI),
    ("rdi", slots::RDI),
    ("rbp", slots::RBP),
    ("rsp", slots::RSP),
    ("r8", slots::R8),
    ("r9", slots::R9),
    ("r10", slots::R10),
    ("r11", slots::R11),
    ("r12", 12),
    ("r13", 13),
    ("r14", 14),
    ("r15", slots::R15),
];
const SELECTORS: [(&str, u32); 6] =
    [("cs", 0x33), ("ss", 0x2b), ("ds", 0), ("es", 0), ("fs", 0), ("gs", 0)];
const X87: [&str; 8] = ["st0", "st1", "st2", "st3", "st4", "st5", "st6", "st7"];
const XMM: [&str; 16] = [
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
    "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
];

/// All registers, in the order of their numbers.
fn all() -> Vec<Register> {
    let mut all = Vec::new();
    let mut add = |name, size, place| all.push(Register { name, size, place });
    GENERAL.iter().for_each(|&(name, slot)| add(name, 8, Place::Slot(slot)));
    add("rip", 8, Place::Slot(slots::RIP));
    add("eflags", 4, Place::Flags);
    SELECTORS.iter().for_each(|&(name, value)| add(name, 4, Place::Selector(value)));
    X87.iter().zip(0..).for_each(|(name, k)| add(name, 10, Place::Saved(32 + 16 * k)));
    add("fctrl", 4, Place::SavedHalf(0));
    add("fstat", 4, Place::SavedHalf(2));
    add("ftag", 4, Place::Tags);
    ["fiseg", "fioff", "foseg", "fooff"].iter().for_each(|name| add(name, 4, Place::Nothing));
    add("fop", 4, Place::SavedHalf(6));
    XMM.iter().zip(0..).for_each(|(name, k)| add(name, 16, Place::Saved(160 + 16 * k)));
    add("mxcsr", 4, Place::Saved(24));
    add("orig_rax", 8, Place::NoCall);
    add("fs_base", 8, Place::Slot(slots::FS));
    add("gs_base", 8, Place::Slot(slots::GS));
    all
}

/// What is in a register.
fn get(cpu: &Cpu, saved: &[u8; 512], register: &Register) -> Vec<u8> {
    let mut bytes = match register.place {
        Place::Slot(slot) => cpu.get(slot).to_le_bytes().to_vec(),
        Place::Flags => cpu.rflags().to_le_bytes().to_vec(),
        Place::Selector(value) => value.to_le_bytes().to_vec(),
        Place::Saved(at) => saved[at..at + register.size].to_vec(),
        Place::SavedHalf(at) => vec![saved[at], saved[at + 1], 0, 0],
        Place::Tags => tags(saved).to_le_bytes().to_vec(),
        Place::Nothing => vec![0; register.size],
        Place::NoCall => vec![0xff; register.size],
    };
    bytes.resize(register.size, 0);
    bytes
}

/// The tag word: what is in each physical register, where `fxsave` says only whether there is something.
fn tags(saved: &[u8; 512]) -> u32 {
    let top = usize::from(saved[3] >> 3 & 7);
    let tag = |physical: usize| {
        let at = 32 + 16 * ((physical + 8 - top) % 8);
        let exponent = u16::from_le_bytes([saved[at + 8], saved[at + 9]]) & 0x7fff;
        let fraction = u64::from_le_bytes(saved[at..at + 8].try_into().expect("8 bytes"));
        match (saved[4] >> physical & 1, exponent, fraction) {
            (0, ..) => 3,
            (_, 0, 0) => 1,
            (_, 0 | 0x7fff, _) => 2,
            (_, _, fraction) if fraction >> 63 == 0 => 2,
            _ => 0,
        }
    };
    (0..8).map(|physical| tag(physical) << (2 * physical)).sum()
}

/// Changes a register; those that no program can change stay.
fn set(cpu: &mut Cpu, register: &Register, bytes: &[u8]) -> Option<()> {
    let bytes: &[u8] = bytes.get(..register.size)?;
    let mut word = [0; 8];
    let length = bytes.len().min(8);
    word[..length].copy_from_slice(&bytes[..length]);
    match register.place {
        Place::Slot(slot) => cpu.set(slot, u64::from_le_bytes(word)),
        Place::Flags => cpu.set_rflags(u64::from_le_bytes(word)),
        Place::Saved(at) => {
            let mut saved = cpu.vector_state();
            saved[at..at + bytes.len()].copy_from_slice(bytes);
            cpu.set_vector_state(&saved).ok()?;
        }
        Place::SavedHalf(at @ (0 | 2)) => {
            let mut saved = cpu.vector_state();
            saved[at..at + 2].copy_from_slice(&bytes[..2]);
            cpu.set_vector_state(&saved).ok()?;
        }
        Place::SavedHalf(_) | Place::Selector(_) | Place::Tags | Place::Nothing | Place::NoCall => {
        }
    }
    Some(())
}

/// All registers, as one text of bytes.
pub(crate) fn read_all(cpu: &Cpu) -> Vec<u8> {
    let saved = cpu.vector_state();
    all().iter().flat_map(|register| get(cpu, &saved, register)).collect()
}

/// One register.
pub(crate) fn read_one(cpu: &Cpu, number: usize) -> Option<Vec<u8>> {
    Some(get(cpu, &cpu.vector_state(), all().get(number)?))
}

/// Changes all registers.
pub(crate) fn write_all(cpu: &mut Cpu, mut bytes: &[u8]) -> Option<()> {
    for register in all() {
        set(cpu, &register, bytes)?;
        bytes = &bytes[register.size..];
    }
    Some(())
}

/// Changes one register.
pub(crate) fn write_one(cpu: &mut Cpu, number: usize, bytes: &[u8]) -> Option<()> {
    set(cpu, all().get(number)?, bytes)
}

const FLAGS: [(&str, u8); 17] = [
    ("CF", 0),
    ("", 1),
    ("PF", 2),
    ("AF", 4),
    ("ZF", 6),
    ("SF", 7),
    ("TF", 8),
    ("IF", 9),
    ("DF", 10),
    ("OF", 11),
    ("NT", 14),
    ("RF", 16),
    ("VM", 17),
    ("AC", 18),
    ("VIF", 19),
    ("VIP", 20),
    ("ID", 21),
];
const CONTROL: [(&str, u8); 14] = [
    ("IE", 0),
    ("DE", 1),
    ("ZE", 2),
    ("OE", 3),
    ("UE", 4),
    ("PE", 5),
    ("DAZ", 6),
    ("IM", 7),
    ("DM", 8),
    ("ZM", 9),
    ("OM", 10),
    ("UM", 11),
    ("PM", 12),
    ("FZ", 15),
];
const LANES: [(&str, &str, u8); 7] = [
    ("v4_float", "ieee_single", 4),
    ("v2_double", "ieee_double", 2),
    ("v16_int8", "int8", 16),
    ("v8_int16", "int16", 8),
    ("v4_int32", "int32", 4),
    ("v2_int64", "int64", 2),
    ("uint128", "", 0),
];

/// The description of the registers, for gdb.
pub(crate) fn description() -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>\
         <architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>",
    );
    let mut feature = "";
    for register in all() {
        let (of, kind) = kind_of(register.name);
        if of != feature {
            text.push_str(if feature.is_empty() { "" } else { "</feature>" });
            let _ = write!(text, "<feature name=\"org.gnu.gdb.i386.{of}\">");
            declare(&mut text, of);
            feature = of;
        }
        let bits = 8 * register.size;
        let _ = write!(text, "<reg name=\"{}\" bitsize=\"{bits}\" type=\"{kind}\"", register.name);
        let group = match register.name {
            "fctrl" | "fstat" | "ftag" | "fiseg" | "fioff" | "foseg" | "fooff" | "fop" => "float",
            "mxcsr" => "vector",
            _ => "",
        };
        if !group.is_empty() {
            let _ = write!(text, " group=\"{group}\"");
        }
        text.push_str("/>");
    }
    text.push_str("</feature></target>");
    text
}

fn kind_of(name: &str) -> (&'static str, &'static str) {
    match name {
        "rip" => ("core", "code_ptr"),
        "rsp" | "rbp" => ("core", "data_ptr"),
        "eflags" => ("core", "i386_eflags"),
        "cs" | "ss" | "ds" | "es" | "fs" | "gs" => ("core", "int32"),
        "mxcsr" => ("sse", "i386_mxcsr"),
        "orig_rax" => ("linux", "int"),
        "fs_base" | "gs_base" => ("segments", "int"),
        name if name.starts_with("st") => ("core", "i387_ext"),
        name if name.starts_with("xmm") => ("sse", "vec128"),
        name if name.starts_with('f') => ("core", "int"),
        _ => ("core", "int64"),
    }
}

fn declare(text: &mut String, feature: &str) {
    let mut flags = |id: &str, fields: &[(&str, u8)]| {
        let _ = write!(text, "<flags id=\"{id}\" size=\"4\">");
        for (name, bit) in fields {
            let _ = write!(text, "<field name=\"{name}\" start=\"{bit}\" end=\"{bit}\"/>");
        }
        text.push_str("</flags>");
    };
    match feature {
        "core" => flags("i386_eflags", &FLAGS),
        "sse" => {
            flags("i386_mxcsr", &CONTROL);
            for (name, of, count) in LANES.iter().filter(|lane| lane.2 > 0) {
                let _ = write!(text, "<vector id=\"{name}_t\" type=\"{of}\" count=\"{count}\"/>");
            }
            text.push_str("<union id=\"vec128\">");
            for (name, _, count) in LANES {
                let kind = if count > 0 { format!("{name}_t") } else { name.to_owned() };
                let _ = write!(text, "<field name=\"{name}\" type=\"{kind}\"/>");
            }
            text.push_str("</union>");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut cpu = Cpu::default();
        for (register, number) in all().iter().zip(0..) {
            let mut value: Vec<u8> = (1..=register.size as u8).collect();
            if register.name == "mxcsr" {
                value = vec![0x80, 0x1f, 0, 0];
            }
            write_one(&mut cpu, number, &value).expect("it is written");
            let read = read_one(&cpu, number).expect("it is read");
            match register.place {
                Place::Slot(_) => assert_eq!(read, value, "{}", register.name),
                Place::Saved(24) => assert_eq!(read[..2], value[..2], "mxcsr"),
                Place::Saved(_) => assert_eq!(read, value, "{}", register.name),
                _ => assert_eq!(read.len(), register.size),
            }
        }
        let bytes = read_all(&cpu);
        let mut other = Cpu::default();
        write_all(&mut other, &bytes).expect("all are written");
        assert_eq!(read_all(&other)[..16 * 8], bytes[..16 * 8]);
        assert!(write_all(&mut other, &bytes[..100]).is_none());
        assert!(read_one(&cpu, 9999).is_none());
    }

    #[test]
    fn an_empty_x87_has_empty_tags() {
        let cpu = Cpu::default();
        assert_eq!(tags(&cpu.vector_state()), 0xffff);
    }
}
