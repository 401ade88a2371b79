//! The loader: from a file to a process image, as `execve` makes it.
//!
//! Addresses are fixed: the same program gets the same layout in every run. Whatever is in the
//! file, the answer is an image or an error number; a malformed file cannot make this panic.

use std::sync::Arc;

use super::{errno::Errno, process::Program};
use crate::{
    code::slots,
    cpu::Cpu,
    memory::{AddressSpace, Backing, PAGE, Protection, Region, Source, TOP, page_ceil, page_floor},
};

/// Where position-independent programs go.
const PROGRAM_BASE: u64 = 0x5555_5555_4000;
/// Where mappings start, downwards.
pub(crate) const MAPPING_TOP: u64 = 0x7fff_f7ff_f000;
/// The size of the stack.
pub(crate) const STACK: u64 = 8 << 20;

const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const PT_PHDR: u32 = 6;
const PT_GNU_STACK: u32 = 0x6474_e551;

/// A file that is to be executed or interpreted.
pub(crate) struct Binary {
    /// Its content.
    pub(crate) source: Arc<dyn Source>,
    /// Its path, for `/proc/self/maps`.
    pub(crate) path: Arc<[u8]>,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    in_file: u64,
    in_memory: u64,
}

/// The parts of an ELF header that matter.
pub(crate) struct Elf {
    dynamic: bool,
    entry: u64,
    table: u64,
    segments: Vec<Segment>,
}

/// What is at the start of a file that may be executed.
pub(crate) enum Format {
    /// An ELF program.
    Elf(Elf),
    /// `#!`: an interpreter and at most one argument.
    Script(Vec<u8>, Option<Vec<u8>>),
}

/// Looks at the start of a file.
pub(crate) fn recognise(source: &dyn Source) -> Result<Format, Errno> {
    let mut head = [0; 256];
    let have = source.read_at(0, &mut head);
    let head = &head[..have];
    if head.starts_with(b"#!") {
        return script(&head[2..]);
    }
    Elf::parse(head, source).map(Format::Elf)
}

fn script(line: &[u8]) -> Result<Format, Errno> {
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let line = line.trim_ascii();
    let end = line.iter().position(blank).unwrap_or(line.len());
    let (interpreter, rest) = line.split_at(end);
    if interpreter.is_empty() {
        return Err(Errno::ENOEXEC);
    }
    let rest = rest.trim_ascii();
    Ok(Format::Script(interpreter.to_vec(), (!rest.is_empty()).then(|| rest.to_vec())))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

impl Elf {
    fn parse(head: &[u8], source: &dyn Source) -> Result<Self, Errno> {
        // 64-bit, little-endian, for x86-64, a program or a shared object.
        if head.len() < 64 || !head.starts_with(b"\x7fELF\x02\x01") || short(head, 18) != 62 {
            return Err(Errno::ENOEXEC);
        }
        let dynamic = match short(head, 16) {
            2 => false,
            3 => true,
            _ => return Err(Errno::ENOEXEC),
        };
        let (table, size, count) = (word(head, 32), short(head, 54), short(head, 56));
        if size != 56 || count == 0 || count > 1024 {
            return Err(Errno::ENOEXEC);
        }
        let mut bytes = vec![0; usize::from(count) * 56];
        if source.read_at(table, &mut bytes) != bytes.len() {
            return Err(Errno::ENOEXEC);
        }
        let segments = bytes
            .chunks_exact(56)
            .map(|entry| Segment {
                kind: half(entry, 0),
                flags: half(entry, 4),
                offset: word(entry, 8),
                address: word(entry, 16),
                in_file: word(entry, 32),
                in_memory: word(entry, 40),
            })
            .collect();
        Ok(Self { dynamic, entry: word(head, 24), table, segments })
    }

    /// The path of the program's dynamic loader.
    pub(crate) fn interpreter(&self, source: &dyn Source) -> Result<Option<Vec<u8>>, Errno> {
        let Some(segment) = self.segments.iter().find(|segment| segment.kind == PT_INTERP) else {
            return Ok(None);
        };
        if !(2..=4096).contains(&segment.in_file) {
            return Err(Errno::ENOEXEC);
        }
        let mut path = vec![0; segment.in_file as usize];
        if source.read_at(segment.offset, &mut path) != path.len() || path.pop() != Some(0) {
            return Err(Errno::ENOEXEC);
        }
        Ok(Some(path))
    }

    fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == PT_LOAD)
    }

    /// First and last address, on page boundaries.
    fn extent(&self) -> Result<(u64, u64), Errno> {
        let mut extent: Option<(u64, u64)> = None;
        for segment in self.loads() {
            let end = segment.address.checked_add(segment.in_memory).ok_or(Errno::ENOEXEC)?;
            if end > TOP || segment.in_file > segment.in_memory {
                return Err(Errno::ENOEXEC);
            }
            let (low, high) = extent.unwrap_or((u64::MAX, 0));
            extent = Some((low.min(page_floor(segment.address)), high.max(page_ceil(end))));
        }
        extent.filter(|(low, high)| low < high).ok_or(Errno::ENOEXEC)
    }

    /// Maps the segments; gives the bias and the end of the last one.
    fn map(&self, space: &mut AddressSpace, binary: &Binary, bias: u64) -> Result<u64, Errno> {
        let name: Arc<str> = String::from_utf8_lossy(&binary.path).into();
        let mut last = 0;
        for segment in self.loads() {
            let address = segment.address.checked_add(bias).ok_or(Errno::ENOEXEC)?;
            if segment.offset % PAGE != address % PAGE || address >= TOP {
                return Err(Errno::ENOEXEC);
            }
            let protection = protection(segment.flags);
            let (file_end, end) = (address + segment.in_file, address + segment.in_memory);
            if end > TOP {
                return Err(Errno::ENOMEM);
            }
            // Offsets are counted on from here, page by page.
            if segment.offset > i64::MAX as u64 {
                return Err(Errno::EINVAL);
            }
            if segment.in_file > 0 {
                space.map(Region {
                    start: page_floor(address),
                    end: page_ceil(file_end),
                    protection,
                    shared: false,
                    backing: Backing::File {
                        source: Arc::clone(&binary.source),
                        offset: page_floor(segment.offset),
                    },
                    name: Arc::clone(&name),
                });
            }
            if segment.in_memory > segment.in_file {
                let zero_from = if segment.in_file > 0 { file_end } else { page_floor(address) };
                // What follows the file's part in its last page is other content of the file.
                let rest = page_ceil(zero_from) - zero_from;
                if rest > 0 && protection.contains(Protection::WRITE) {
                    let zeros = vec![0; rest as usize];
                    space.write(zero_from, &zeros).map_err(|_| Errno::ENOEXEC)?;
                }
                if page_ceil(zero_from) < page_ceil(end) {
                    space.map(Region {
                        start: page_ceil(zero_from),
                        end: page_ceil(end),
                        protection,
                        shared: false,
                        backing: Backing::Anonymous,
                        name: Arc::from(""),
                    });
                }
            }
            last = last.max(end);
        }
        Ok(last)
    }

    fn header_address(&self, bias: u64) -> u64 {
        let explicit = self.segments.iter().find(|segment| segment.kind == PT_PHDR);
        if let Some(segment) = explicit {
            return segment.address.wrapping_add(bias);
        }
        self.loads()
            .find(|s| s.offset <= self.table && self.table - s.offset < s.in_file)
            .map_or(0, |s| {
                s.address.wrapping_sub(s.offset).wrapping_add(self.table).wrapping_add(bias)
            })
    }
}

fn protection(flags: u32) -> Protection {
    let mut protection = Protection::empty();
    protection.set(Protection::READ, flags & 4 != 0);
    protection.set(Protection::WRITE, flags & 2 != 0);
    protection.set(Protection::EXECUTE, flags & 1 != 0);
    protection
}

/// What a new program is started with.
pub(crate) struct Start<'a> {
    pub(crate) arguments: &'a [Vec<u8>],
    pub(crate) environment: &'a [Vec<u8>],
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// The path that was executed, as the caller wrote it.
    pub(crate) name: &'a [u8],
    /// How much memory the program may use, in bytes.
    pub(crate) memory: u64,
}

/// Makes the image of a program with its interpreter, if it has one.
pub(crate) fn load(
    elf: &Elf,
    binary: &Binary,
    interpreter: Option<(&Elf, &Binary)>,
    start: &Start<'_>,
) -> Result<(AddressSpace, Cpu, Program), Errno> {
    let mut space = AddressSpace::new(start.memory);
    let (low, _) = elf.extent()?;
    let bias = if elf.dynamic { PROGRAM_BASE.wrapping_sub(low) } else { 0 };
    let end = elf.map(&mut space, binary, bias)?;
    let mut entry = elf.entry.wrapping_add(bias);
    let mut base = 0;
    if let Some((loader, file)) = interpreter {
        let (low, high) = loader.extent()?;
        base = if loader.dynamic {
            let at = space.gap_below(MAPPING_TOP, high - low).ok_or(Errno::ENOMEM)?;
            at.wrapping_sub(low)
        } else {
            0
        };
        loader.map(&mut space, file, base)?;
        entry = loader.entry.wrapping_add(base);
    }
    let stack_flags = elf.segments.iter().find(|segment| segment.kind == PT_GNU_STACK);
    let mut protection_of_stack = Protection::READ | Protection::WRITE;
    if stack_flags.is_none_or(|segment| segment.flags & 1 != 0) {
        protection_of_stack |= Protection::EXECUTE;
    }
    space.map(Region {
        start: TOP - STACK,
        end: TOP,
        protection: protection_of_stack,
        shared: false,
        backing: Backing::Anonymous,
        name: Arc::from("[stack]"),
    });
    let heap = page_ceil(end);
    let vector = [
        (16, 0x078b_fbfd),
        (6, PAGE),
        (17, 100),
        (3, elf.header_address(bias)),
        (4, 56),
        (5, elf.segments.len() as u64),
        (7, base),
        (8, 0),
        (9, elf.entry.wrapping_add(bias)),
        (11, u64::from(start.uid)),
        (12, u64::from(start.uid)),
        (13, u64::from(start.gid)),
        (14, u64::from(start.gid)),
        (23, 0),
    ];
    let (rsp, auxiliary) = stack(&mut space, start, &vector)?;
    let mut cpu = Cpu::default();
    cpu.set(slots::RSP, rsp);
    cpu.set(slots::RIP, entry);
    let program = Program {
        path: Arc::clone(&binary.path),
        arguments: joined(start.arguments),
        environment: joined(start.environment),
        auxiliary: auxiliary.into(),
        heap: (heap, heap),
        stack: TOP,
    };
    Ok((space, cpu, program))
}

fn joined(strings: &[Vec<u8>]) -> Arc<[u8]> {
    let mut all = Vec::new();
    for string in strings {
        all.extend_from_slice(string);
        all.push(0);
    }
    all.into()
}

/// The bytes behind `AT_RANDOM`: the stack canary and the pointer guard come from here.
const RANDOM: [u8; 16] = *b"\x00stunt\x5a\x3c\x81fixed\xa7\x19";

/// Builds the first stack; gives the stack pointer and the auxiliary vector.
fn stack(
    space: &mut AddressSpace,
    start: &Start<'_>,
    vector: &[(u64, u64)],
) -> Result<(u64, Vec<u8>), Errno> {
    let mut at = TOP - 8;
    let mut push = |space: &mut AddressSpace, bytes: &[u8]| {
        at -= bytes.len() as u64;
        space.write(at, bytes).map_err(|_| Errno::E2BIG)?;
        Ok::<u64, Errno>(at)
    };
    let text = |string: &[u8]| [string, b"\0"].concat();
    let name = push(space, &text(start.name))?;
    let mut pointers = Vec::new();
    for string in start.environment.iter().rev() {
        pointers.push(push(space, &text(string))?);
    }
    let environment: Vec<u64> = pointers.drain(..).rev().collect();
    for string in start.arguments.iter().rev() {
        pointers.push(push(space, &text(string))?);
    }
    let arguments: Vec<u64> = pointers.drain(..).rev().collect();
    let platform = push(space, b"x86_64\0")?;
    let random = push(space, &RANDOM)?;

    let mut auxiliary = Vec::new();
    let last = [(25, random), (31, name), (15, platform), (0, 0)];
    // No AT_SYSINFO_EHDR: there is no vDSO, so time comes from system calls.
    for &(key, value) in vector.iter().chain(&last) {
        auxiliary.extend_from_slice(&key.to_le_bytes());
        auxiliary.extend_from_slice(&value.to_le_bytes());
    }
    let mut words: Vec<u64> = vec![arguments.len() as u64];
    words.extend(&arguments);
    words.push(0);
    words.extend(&environment);
    words.push(0);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(&auxiliary);
    let rsp = (random - bytes.len() as u64) & !15;
    space.write(rsp, &bytes).map_err(|_| Errno::E2BIG)?;
    Ok((rsp, auxiliary))
}
