//! Call frame information: the rules that lead from a place in a function to its caller.
//!
//! A [`Row`] is what the tables say about one instruction. It is found through the search table of
//! `.eh_frame_hdr`; without a usable one, through an index of `.eh_frame` or `.debug_frame` that
//! is built once. Rows are kept by address, because recursion asks for the same ones 100,000 times.
//!
//! The tables are hostile: the search table is read here and not with `gimli`, whose arithmetic on
//! it may overflow; an entry counts only if it covers the address that was asked for. This file
//! knows no registers' values and no memory.

use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EndianSlice, LittleEndian as Little,
    RegisterRule, UnwindContext, UnwindExpression, UnwindSection,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::image::{Image, Part};
use super::registers::Register;

/// Rows kept for one module; beyond, all are dropped, and found again as needed.
const ROWS_KEPT: usize = 1 << 16;

/// How to find the canonical frame address: the stack pointer before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameRule {
    /// A register plus an offset.
    Register(Register, i64),
    /// What an expression computes.
    Expression(Expression),
}

/// How to find the caller's value of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// It is lost; for the return address: there is no caller.
    Undefined,
    /// It was not changed.
    Same,
    /// It is in memory, at an offset from the frame address.
    At(i64),
    /// It is the frame address plus an offset.
    Is(i64),
    /// It is in another register.
    In(Register),
    /// It is in memory, where an expression says.
    AtExpression(Expression),
    /// It is what an expression says.
    IsExpression(Expression),
}

/// An expression, by where its code is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    start: usize,
    length: usize,
}

/// What the tables say about one instruction.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// How to find the frame address.
    pub frame: FrameRule,
    /// The register that holds the return address by name, normally number 16.
    pub return_address: Register,
    /// Rules of registers; those that are not here keep their default.
    pub rules: SmallVec<[(Register, Rule); 8]>,
    /// Whether the frame was put there by a signal, so that its caller was interrupted, not called.
    pub signal: bool,
    /// Where the code begins that the entry is about.
    pub start: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Eh,
    Debug,
}

/// One section of call frame information.
struct Table {
    kind: Kind,
    part: Part,
    bases: BaseAddresses,
    search: Search,
}

enum Search {
    /// The sorted table of `.eh_frame_hdr`: pairs of 32-bit offsets from the header's address.
    Header { rows: std::ops::Range<usize>, base: u64 },
    /// First address, last address plus one, and offset of each entry, sorted.
    Index(Vec<(u64, u64, usize)>),
}

/// The call frame information of one module.
pub(super) struct Cfi {
    tables: Vec<Table>,
    rows: FxHashMap<u64, Option<Arc<Row>>>,
    context: UnwindContext<usize>,
}

/// Bytes of a table.
pub(super) type Slice<'a> = EndianSlice<'a, Little>;

impl Cfi {
    /// Finds the tables of an image.
    pub fn new(image: &Image) -> Self {
        let tables = [eh_frame(image), debug_frame(image)].into_iter().flatten().collect();
        Self { tables, rows: FxHashMap::default(), context: UnwindContext::new() }
    }

    /// The row for an address of the image, if any table has one.
    pub fn row(&mut self, image: &Image, address: u64) -> Option<Arc<Row>> {
        if let Some(row) = self.rows.get(&address) {
            return row.clone();
        }
        let context = &mut self.context;
        let mut tables = self.tables.iter();
        let row = tables.find_map(|table| table.row(image, context, address)).map(Arc::new);
        if self.rows.len() >= ROWS_KEPT {
            self.rows.clear();
        }
        self.rows.insert(address, row.clone());
        row
    }
}

impl Expression {
    fn new(section: &Part, code: UnwindExpression<usize>) -> Self {
        Self { start: section.range.start + code.offset, length: code.length }
    }

    /// The code of the expression.
    pub fn code(self, image: &Image) -> Option<Slice<'_>> {
        let end = self.start.checked_add(self.length)?;
        Some(EndianSlice::new(image.bytes().get(self.start..end)?, Little))
    }
}

impl Table {
    fn row(&self, image: &Image, context: &mut UnwindContext<usize>, address: u64) -> Option<Row> {
        let offset = self.offset(image, address)?;
        let data = &image.bytes()[self.part.range.clone()];
        match self.kind {
            Kind::Eh => {
                let mut section = EhFrame::new(data, Little);
                section.set_address_size(8);
                read_row(&section, &self.bases, context, offset.into(), address, &self.part)
            }
            Kind::Debug => {
                let mut section = DebugFrame::new(data, Little);
                section.set_address_size(8);
                read_row(&section, &self.bases, context, offset.into(), address, &self.part)
            }
        }
    }

    /// Where the entry that may cover an address begins.
    fn offset(&self, image: &Image, address: u64) -> Option<usize> {
        match &self.search {
            Search::Header { rows, base } => {
                let rows = image.bytes()[rows.clone()].chunks_exact(8);
                let word = |row: &[u8], at: usize| {
                    let word = row[at..at + 4].try_into().expect("four of eight bytes");
                    base.wrapping_add_signed(i64::from(i32::from_le_bytes(word)))
                };
                let (mut low, mut high) = (0, rows.len());
                let row = |index: usize| rows.clone().nth(index).expect("below the length");
                while low < high {
                    let middle = low.midpoint(high);
                    if word(row(middle), 0) <= address {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                let entry = word(row(low.checked_sub(1)?), 4);
                usize::try_from(entry.checked_sub(self.part.address)?).ok()
            }
            Search::Index(index) => {
                let after = index.partition_point(|&(start, ..)| start <= address);
                let &(_, end, offset) = index.get(after.checked_sub(1)?)?;
                (address < end).then_some(offset)
            }
        }
    }
}

/// Reads the row for an address from the entry at an offset.
fn read_row<'a, S>(
    section: &S,
    bases: &BaseAddresses,
    context: &mut UnwindContext<usize>,
    offset: S::Offset,
    address: u64,
    part: &Part,
) -> Option<Row>
where
    S: UnwindSection<Slice<'a>>,
{
    let entry = section.fde_from_offset(bases, offset, S::cie_from_offset).ok()?;
    if !entry.contains(address) {
        return None;
    }
    let return_address = Register::from_dwarf(entry.cie().return_address_register().0)?;
    let found = entry.unwind_info_for_address(section, bases, context, address).ok()?;
    let frame = match *found.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            FrameRule::Register(Register::from_dwarf(register.0)?, offset)
        }
        CfaRule::Expression(code) => FrameRule::Expression(Expression::new(part, code)),
    };
    let mut rules = SmallVec::new();
    for &(register, ref rule) in found.registers() {
        // Vector registers and the like cannot lead to a caller.
        let Some(register) = Register::from_dwarf(register.0) else { continue };
        let rule = match *rule {
            RegisterRule::SameValue => Rule::Same,
            RegisterRule::Offset(offset) => Rule::At(offset),
            RegisterRule::ValOffset(offset) => Rule::Is(offset),
            RegisterRule::Register(other) => {
                Register::from_dwarf(other.0).map_or(Rule::Undefined, Rule::In)
            }
            RegisterRule::Expression(code) => Rule::AtExpression(Expression::new(part, code)),
            RegisterRule::ValExpression(code) => Rule::IsExpression(Expression::new(part, code)),
            RegisterRule::Undefined | RegisterRule::Architectural | RegisterRule::Constant(_) => {
                Rule::Undefined
            }
        };
        rules.push((register, rule));
    }
    let (signal, start) = (entry.is_signal_trampoline(), entry.initial_address());
    Some(Row { frame, return_address, rules, signal, start })
}

/// The table of `.eh_frame`, which is part of the running program.
fn eh_frame(image: &Image) -> Option<Table> {
    let header = image.eh_frame_hdr().and_then(|part| read_header(image, part));
    let section = image.section(b".eh_frame").cloned();
    let section = section.or_else(|| image.starting_at(header.as_ref()?.frames));
    let part = section?;
    let bases = bases(image, &part);
    // A header that belongs to other frames than those of the section is of no use.
    let search = match header {
        Some(Header { frames, search: Some(search) }) if frames == part.address => search,
        _ => {
            let mut frames = EhFrame::new(&image.bytes()[part.range.clone()], Little);
            frames.set_address_size(8);
            Search::Index(index(&frames, &bases))
        }
    };
    Some(Table { kind: Kind::Eh, part, bases, search })
}

/// The table of `.debug_frame`, which debuggers read.
fn debug_frame(image: &Image) -> Option<Table> {
    let part = image.section(b".debug_frame")?.clone();
    let bases = BaseAddresses::default();
    let mut frames = DebugFrame::new(&image.bytes()[part.range.clone()], Little);
    frames.set_address_size(8);
    let search = Search::Index(index(&frames, &bases));
    Some(Table { kind: Kind::Debug, part, bases, search })
}

fn bases(image: &Image, frames: &Part) -> BaseAddresses {
    let address = |name: &[u8]| image.section(name).map_or(0, |part| part.address);
    BaseAddresses::default()
        .set_eh_frame(frames.address)
        .set_text(address(b".text"))
        .set_got(address(b".got"))
}

/// What `.eh_frame_hdr` says: where the frames are, and its search table if it is of the form that
/// linkers write.
struct Header {
    frames: u64,
    search: Option<Search>,
}

fn read_header(image: &Image, part: &Part) -> Option<Header> {
    const PC_RELATIVE_INT: u8 = 0x1b;
    const UNSIGNED_INT: u8 = 0x03;
    const HEADER_RELATIVE_INT: u8 = 0x3b;
    let header = &image.bytes()[part.range.clone()];
    let word = |at: usize| Some(header.get(at..at + 4)?.try_into().expect("four bytes"));
    let &[1, PC_RELATIVE_INT, count, table] = header.get(..4)? else { return None };
    let to_frames = i64::from(i32::from_le_bytes(word(4)?));
    let frames = part.address.wrapping_add(4).wrapping_add_signed(to_frames);
    let search = (count == UNSIGNED_INT && table == HEADER_RELATIVE_INT)
        .then(|| {
            let count = u32::from_le_bytes(word(8)?) as usize;
            let size = count.checked_mul(8)?;
            let start = part.range.start + 12;
            (size <= part.range.len() - 12)
                .then(|| Search::Header { rows: start..start + size, base: part.address })
        })
        .flatten();
    Some(Header { frames, search })
}

/// All entries of a section, sorted. Reading stops at the first that makes no sense.
fn index<'a, S>(section: &S, bases: &BaseAddresses) -> Vec<(u64, u64, usize)>
where
    S: UnwindSection<Slice<'a>>,
{
    let mut index = Vec::new();
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(entry) = partial.parse(S::cie_from_offset) else { continue };
        let (start, end) = (entry.initial_address(), entry.end_address());
        if start < end {
            index.push((start, end, entry.offset()));
        }
    }
    index.sort_unstable();
    index
}
