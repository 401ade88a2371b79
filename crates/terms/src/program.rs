//! Terms compiled for evaluation under many assignments.
//!
//! A [`Program`] is a list of instructions over registers, each register an array of
//! [`BLOCK`] lanes: one lane is one assignment. The number type of a lane is the smallest that
//! holds every value. Results always equal the [`Evaluator`](crate::Evaluator)'s. A program knows
//! neither the pool it came from nor what its input bytes mean, and it prints no value.

use std::fmt;

use rustc_hash::FxHashMap;

use self::engine::{Code, File, Instruction, Register};
use self::lane::Lane;
use crate::pool::Pool;
use crate::term::{InputByte, Op, TableId, Term};

mod engine;
mod lane;

/// How many assignments are evaluated at a time.
pub const BLOCK: usize = 256;

/// Some terms, compiled.
#[derive(Clone)]
pub struct Program {
    inputs: usize,
    roots: usize,
    engine: Engine,
    /// The values of the roots in the last [`Program::run_one`].
    last: Vec<u128>,
}

/// The values of one root in one block, as many as there are assignments in the block.
#[derive(Clone, Copy)]
pub enum Values<'v> {
    /// Values of at most 8 bits.
    U8(&'v [u8]),
    /// Values of at most 16 bits.
    U16(&'v [u16]),
    /// Values of at most 32 bits.
    U32(&'v [u32]),
    /// Values of at most 64 bits.
    U64(&'v [u64]),
    /// Values of at most 128 bits.
    U128(&'v [u128]),
}

impl Values<'_> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Values::U8(v) => v.len(),
            Values::U16(v) => v.len(),
            Values::U32(v) => v.len(),
            Values::U64(v) => v.len(),
            Values::U128(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value for assignment `lane` of the block.
    pub fn get(&self, lane: usize) -> u128 {
        match self {
            Values::U8(v) => v[lane].wide(),
            Values::U16(v) => v[lane].wide(),
            Values::U32(v) => v[lane].wide(),
            Values::U64(v) => v[lane].wide(),
            Values::U128(v) => v[lane],
        }
    }

    /// How many values are not zero: for a Bool, how often it holds.
    pub fn count_nonzero(&self) -> usize {
        fn count<T: Lane>(values: &[T]) -> usize {
            values.iter().filter(|&&v| v != T::default()).count()
        }
        match self {
            Values::U8(v) => count(v),
            Values::U16(v) => count(v),
            Values::U32(v) => count(v),
            Values::U64(v) => count(v),
            Values::U128(v) => count(v),
        }
    }
}

#[derive(Clone)]
enum Engine {
    U8(Compiled<u8>),
    U16(Compiled<u16>),
    U32(Compiled<u32>),
    U64(Compiled<u64>),
    U128(Compiled<u128>),
}

#[derive(Clone)]
struct Compiled<T> {
    code: Box<[Instruction]>,
    tables: Box<[Box<[T]>]>,
    roots: Box<[Register]>,
    block: File<T, BLOCK>,
    single: File<T, 1>,
}

impl Program {
    /// Compiles `roots`; the values of `inputs` are given, in this order, when it is run.
    ///
    /// # Panics
    /// If a root depends on a byte that is not among `inputs`.
    pub fn compile(pool: &Pool, roots: &[Term], inputs: &[InputByte]) -> Program {
        let draft = Draft::new(pool, roots, inputs);
        let engine = match draft.widest {
            0..=8 => Engine::U8(draft.finish(pool)),
            9..=16 => Engine::U16(draft.finish(pool)),
            17..=32 => Engine::U32(draft.finish(pool)),
            33..=64 => Engine::U64(draft.finish(pool)),
            _ => Engine::U128(draft.finish(pool)),
        };
        Program { inputs: inputs.len(), roots: roots.len(), engine, last: vec![0; roots.len()] }
    }

    /// How many input bytes a run needs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many roots there are.
    pub fn roots(&self) -> usize {
        self.roots
    }

    /// How many instructions there are.
    pub fn instructions(&self) -> usize {
        match &self.engine {
            Engine::U8(e) => e.code.len(),
            Engine::U16(e) => e.code.len(),
            Engine::U32(e) => e.code.len(),
            Engine::U64(e) => e.code.len(),
            Engine::U128(e) => e.code.len(),
        }
    }

    /// Evaluates under `count` assignments. For each block and each input that is used,
    /// `fill(input, start, bytes)` writes the input's values for assignments `start` onwards; then
    /// `out(root, start, values)` is given each root's values for the same assignments.
    pub fn run_blocks(
        &mut self,
        count: usize,
        fill: impl FnMut(usize, usize, &mut [u8]),
        out: impl FnMut(usize, usize, Values<'_>),
    ) {
        match &mut self.engine {
            Engine::U8(e) => e.run(count, fill, out, |v| Values::U8(v)),
            Engine::U16(e) => e.run(count, fill, out, |v| Values::U16(v)),
            Engine::U32(e) => e.run(count, fill, out, |v| Values::U32(v)),
            Engine::U64(e) => e.run(count, fill, out, |v| Values::U64(v)),
            Engine::U128(e) => e.run(count, fill, out, |v| Values::U128(v)),
        }
    }

    /// Evaluates under the assignments that are the rows of `columns`: one column for each input,
    /// all of the same length. `out` is as in [`Program::run_blocks`].
    ///
    /// # Panics
    /// If there are not as many columns as inputs, or they differ in length. A program without
    /// inputs is evaluated not at all.
    pub fn run(&mut self, columns: &[&[u8]], out: impl FnMut(usize, usize, Values<'_>)) {
        assert_eq!(columns.len(), self.inputs, "there is one column for each input");
        let count = columns.first().map_or(0, |column| column.len());
        assert!(columns.iter().all(|column| column.len() == count), "columns have one length");
        let fill = |input: usize, start: usize, bytes: &mut [u8]| {
            bytes.copy_from_slice(&columns[input][start..start + bytes.len()]);
        };
        self.run_blocks(count, fill, out);
    }

    /// Under how many rows of `columns` all roots hold; see [`Program::run`].
    pub fn count(&mut self, columns: &[&[u8]]) -> usize {
        let roots = self.roots;
        let mut all = [true; BLOCK];
        let mut total = 0;
        self.run(columns, |root, _, values| {
            if roots == 1 {
                total += values.count_nonzero();
                return;
            }
            if root == 0 {
                all = [true; BLOCK];
            }
            for (lane, all) in all[..values.len()].iter_mut().enumerate() {
                *all &= values.get(lane) != 0;
            }
            if root + 1 == roots {
                total += all[..values.len()].iter().filter(|&&all| all).count();
            }
        });
        total
    }

    /// The values of the roots under one assignment, given as one byte for each input.
    ///
    /// # Panics
    /// If there are not as many bytes as inputs.
    pub fn run_one(&mut self, bytes: &[u8]) -> &[u128] {
        assert_eq!(bytes.len(), self.inputs, "there is one byte for each input");
        let last = &mut self.last;
        match &mut self.engine {
            Engine::U8(e) => e.run_one(bytes, last),
            Engine::U16(e) => e.run_one(bytes, last),
            Engine::U32(e) => e.run_one(bytes, last),
            Engine::U64(e) => e.run_one(bytes, last),
            Engine::U128(e) => e.run_one(bytes, last),
        }
        last
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Program({} inputs, {} instructions, {} roots)",
            self.inputs,
            self.instructions(),
            self.roots
        )
    }
}

impl<T: Lane> Compiled<T> {
    fn run(
        &mut self,
        count: usize,
        mut fill: impl FnMut(usize, usize, &mut [u8]),
        mut out: impl FnMut(usize, usize, Values<'_>),
        values: impl Fn(&[T]) -> Values<'_>,
    ) {
        let mut bytes = [0u8; BLOCK];
        for start in (0..count).step_by(BLOCK) {
            let len = BLOCK.min(count - start);
            self.block.run(&self.code, &self.tables, |input, register| {
                fill(input as usize, start, &mut bytes[..len]);
                for (lane, &byte) in register.iter_mut().zip(&bytes) {
                    *lane = T::from(byte);
                }
            });
            for (root, &register) in self.roots.iter().enumerate() {
                out(root, start, values(&self.block.get(register)[..len]));
            }
        }
    }

    fn run_one(&mut self, bytes: &[u8], last: &mut [u128]) {
        self.single.run(&self.code, &self.tables, |input, register| {
            register[0] = T::from(bytes[input as usize]);
        });
        for (value, &register) in last.iter_mut().zip(&self.roots) {
            *value = self.single.get(register)[0].wide();
        }
    }
}

/// A program whose number type is not yet chosen.
struct Draft {
    code: Vec<Instruction>,
    constants: Vec<(Register, u128)>,
    tables: Vec<TableId>,
    roots: Box<[Register]>,
    registers: usize,
    widest: u8,
}

impl Draft {
    fn new(pool: &Pool, roots: &[Term], inputs: &[InputByte]) -> Draft {
        let terms = pool.reachable(roots);
        // A zero extension has the value of its operand: one place for both.
        let mut places: FxHashMap<Term, usize> = FxHashMap::default();
        let mut place_count = 0;
        for &term in &terms {
            let place = match pool.op(term) {
                Op::ZeroExtend(a) => places[&a],
                _ => {
                    place_count += 1;
                    place_count - 1
                }
            };
            places.insert(term, place);
        }
        // The last user of each place; roots are used to the end.
        let mut last_use = vec![0; place_count];
        for (i, &term) in terms.iter().enumerate() {
            if !matches!(pool.op(term), Op::ZeroExtend(_)) {
                for operand in pool.op(term).operands() {
                    last_use[places[&operand]] = i;
                }
            }
        }
        for root in roots {
            last_use[places[root]] = usize::MAX;
        }
        let input_number: FxHashMap<InputByte, u32> =
            inputs.iter().enumerate().rev().map(|(i, &byte)| (byte, i as u32)).collect();
        let mut draft = Draft {
            code: Vec::new(),
            constants: Vec::new(),
            tables: Vec::new(),
            roots: Box::default(),
            registers: 0,
            widest: 1,
        };
        let mut register_of = vec![Register::MAX; place_count];
        let mut table_number: FxHashMap<TableId, u32> = FxHashMap::default();
        let mut free: Vec<Register> = Vec::new();
        for (i, &term) in terms.iter().enumerate() {
            let op = pool.op(term);
            draft.widest = draft.widest.max(pool.width(term));
            if matches!(op, Op::ZeroExtend(_)) {
                continue;
            }
            let place = places[&term];
            if let Op::Const(value) = op {
                // Constants keep their registers from run to run.
                register_of[place] = draft.new_register();
                draft.constants.push((register_of[place], value));
                continue;
            }
            let r = |t: Term| register_of[places[&t]];
            let code = match op {
                Op::Const(_) | Op::ZeroExtend(_) => unreachable!("handled above"),
                Op::Byte(byte) => Code::Input(match input_number.get(&byte) {
                    Some(&number) => number,
                    None => panic!("a term depends on {byte}, which is not among the inputs"),
                }),
                Op::Not(a) => Code::Not(r(a)),
                Op::Neg(a) => Code::Neg(r(a)),
                Op::And(a, b) => Code::And(r(a), r(b)),
                Op::Or(a, b) => Code::Or(r(a), r(b)),
                Op::Xor(a, b) => Code::Xor(r(a), r(b)),
                Op::Add(a, b) => Code::Add(r(a), r(b)),
                Op::Sub(a, b) => Code::Sub(r(a), r(b)),
                Op::Mul(a, b) => Code::Mul(r(a), r(b)),
                Op::UDiv(a, b) => Code::UDiv(r(a), r(b)),
                Op::URem(a, b) => Code::URem(r(a), r(b)),
                Op::SDiv(a, b) => Code::SDiv(r(a), r(b)),
                Op::SRem(a, b) => Code::SRem(r(a), r(b)),
                Op::Shl(a, b) => Code::Shl(r(a), r(b)),
                Op::LShr(a, b) => Code::LShr(r(a), r(b)),
                Op::AShr(a, b) => Code::AShr(r(a), r(b)),
                Op::Concat(a, b) => Code::Concat(r(a), r(b), pool.width(b)),
                Op::Extract { lo, arg } => Code::Extract(r(arg), lo),
                Op::SignExtend(a) => Code::SignExtend(r(a), pool.width(a)),
                Op::Ite(c, a, b) => Code::Ite(r(c), r(a), r(b)),
                Op::Table(table, index) => {
                    let next = draft.tables.len() as u32;
                    let number = *table_number.entry(table).or_insert_with(|| {
                        draft.tables.push(table);
                        next
                    });
                    Code::Table(r(index), number)
                }
                Op::Eq(a, b) => Code::Eq(r(a), r(b)),
                Op::Ult(a, b) => Code::Ult(r(a), r(b)),
                Op::Slt(a, b) => Code::Slt(r(a), r(b), pool.width(a)),
            };
            // A source that is used here for the last time gives its register to the target.
            let mut ended: Vec<usize> =
                op.operands().filter(|&t| pool.as_const(t).is_none()).map(|t| places[&t]).collect();
            ended.sort_unstable();
            ended.dedup();
            free.extend(ended.into_iter().filter(|&p| last_use[p] == i).map(|p| register_of[p]));
            let target = free.pop().unwrap_or_else(|| draft.new_register());
            register_of[place] = target;
            draft.code.push(Instruction { code, width: pool.width(term), target });
        }
        draft.roots = roots.iter().map(|root| register_of[places[root]]).collect();
        draft
    }

    fn new_register(&mut self) -> Register {
        self.registers += 1;
        (self.registers - 1) as Register
    }

    fn finish<T: Lane>(self, pool: &Pool) -> Compiled<T> {
        let entries = |&table: &TableId| -> Box<[T]> {
            pool.table_data(table).entries.iter().map(|&entry| T::cut(u128::from(entry))).collect()
        };
        Compiled {
            tables: self.tables.iter().map(entries).collect(),
            block: File::new(self.registers, &self.constants),
            single: File::new(self.registers, &self.constants),
            code: self.code.into(),
            roots: self.roots,
        }
    }
}
