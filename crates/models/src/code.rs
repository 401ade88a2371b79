//! A slice of the term graph as straight-line code on numbers.
//!
//! Given the values of some terms (bytes or inner terms), the code works out others. Stages run it
//! millions of times, so operands are register numbers and nothing is looked up. Every operator
//! means what SMT-LIB says; the tests compare it with the evaluator of `stunt_terms`. This file
//! knows nothing of counting.

use rustc_hash::FxHashMap;
use stunt_terms::{Op, Pool, Table, Term, mask};

/// What a step does. Register numbers of operands are in the step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Not,
    Neg,
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    UDiv,
    URem,
    SDiv,
    SRem,
    Shl,
    LShr,
    AShr,
    Concat,
    Extract,
    ZeroExtend,
    SignExtend,
    Ite,
    Table,
    Eq,
    Ult,
    Slt,
}

/// An operator without its operands: all that its value depends on besides their values.
#[derive(Clone, Copy)]
pub(crate) struct Operator<'p> {
    pub kind: Kind,
    /// The width of the result.
    width: u8,
    /// The width of the operand that matters (the low part of a concatenation, what is extended
    /// or compared), or the lowest bit of an extract.
    detail: u8,
    table: Option<&'p Table>,
}

impl<'p> Operator<'p> {
    /// The operator of a term; `None` for constants and bytes.
    pub fn of(pool: &'p Pool, term: Term) -> Option<Operator<'p>> {
        let width = pool.width(term);
        let plain = |kind| (kind, 0);
        let mut table = None;
        let (kind, detail) = match pool.op(term) {
            Op::Const(_) | Op::Byte(_) => return None,
            Op::Not(_) => plain(Kind::Not),
            Op::Neg(_) => plain(Kind::Neg),
            Op::And(..) => plain(Kind::And),
            Op::Or(..) => plain(Kind::Or),
            Op::Xor(..) => plain(Kind::Xor),
            Op::Add(..) => plain(Kind::Add),
            Op::Sub(..) => plain(Kind::Sub),
            Op::Mul(..) => plain(Kind::Mul),
            Op::UDiv(..) => plain(Kind::UDiv),
            Op::URem(..) => plain(Kind::URem),
            Op::SDiv(..) => plain(Kind::SDiv),
            Op::SRem(..) => plain(Kind::SRem),
            Op::Shl(..) => plain(Kind::Shl),
            Op::LShr(..) => plain(Kind::LShr),
            Op::AShr(..) => plain(Kind::AShr),
            Op::Concat(_, low) => (Kind::Concat, pool.width(low)),
            Op::Extract { lo, .. } => (Kind::Extract, lo),
            Op::ZeroExtend(_) => plain(Kind::ZeroExtend),
            Op::SignExtend(a) => (Kind::SignExtend, pool.width(a)),
            Op::Ite(..) => plain(Kind::Ite),
            Op::Table(id, _) => {
                table = Some(pool.table_data(id));
                plain(Kind::Table)
            }
            Op::Eq(..) => plain(Kind::Eq),
            Op::Ult(..) => plain(Kind::Ult),
            Op::Slt(a, _) => (Kind::Slt, pool.width(a)),
        };
        Some(Operator { kind, width, detail, table })
    }

    /// An operator of the given width on operands of the same width.
    pub fn plain(kind: Kind, width: u8) -> Operator<'static> {
        Operator { kind, width, detail: 0, table: None }
    }

    /// The width of the result; 1 for a Bool.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// The value on the operands' values; unused operands are ignored.
    #[inline]
    pub fn apply(&self, a: u128, b: u128, c: u128) -> u128 {
        let width = self.width;
        let all = mask(width);
        match self.kind {
            Kind::Not => !a & all,
            Kind::Neg => a.wrapping_neg() & all,
            Kind::And => a & b,
            Kind::Or => a | b,
            Kind::Xor => a ^ b,
            Kind::Add => a.wrapping_add(b) & all,
            Kind::Sub => a.wrapping_sub(b) & all,
            Kind::Mul => a.wrapping_mul(b) & all,
            Kind::UDiv => divide(a, b).unwrap_or(all),
            Kind::URem => remainder(a, b),
            Kind::SDiv => {
                let (x, y) = (magnitude(width, a), magnitude(width, b));
                let quotient = divide(x, y).unwrap_or(all);
                let negate = negative(width, a) != negative(width, b);
                (if negate { quotient.wrapping_neg() } else { quotient }) & all
            }
            Kind::SRem => {
                let rest = remainder(magnitude(width, a), magnitude(width, b));
                (if negative(width, a) { rest.wrapping_neg() } else { rest }) & all
            }
            Kind::Shl => {
                if b < u128::from(width) {
                    a << b & all
                } else {
                    0
                }
            }
            Kind::LShr => {
                if b < u128::from(width) {
                    a >> b
                } else {
                    0
                }
            }
            Kind::AShr => (signed(width, a) >> b.min(u128::from(width) - 1)) as u128 & all,
            Kind::Concat => a << self.detail | b,
            Kind::Extract => a >> self.detail & all,
            Kind::ZeroExtend => a,
            Kind::SignExtend => signed(self.detail, a) as u128 & all,
            Kind::Ite => {
                if a == 1 {
                    b
                } else {
                    c
                }
            }
            Kind::Table => self.table.map_or(0, |table| u128::from(table.read(a))),
            Kind::Eq => u128::from(a == b),
            Kind::Ult => u128::from(a < b),
            Kind::Slt => u128::from(signed(self.detail, a) < signed(self.detail, b)),
        }
    }
}

fn signed(width: u8, value: u128) -> i128 {
    let unused = 128 - u32::from(width);
    (value << unused) as i128 >> unused
}

fn negative(width: u8, value: u128) -> bool {
    value >> (width - 1) & 1 == 1
}

fn magnitude(width: u8, value: u128) -> u128 {
    signed(width, value).unsigned_abs()
}

// Division of 128-bit numbers is a slow library call; nearly all numbers are short.
fn divide(a: u128, b: u128) -> Option<u128> {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => a.checked_div(b).map(u128::from),
        _ => a.checked_div(b),
    }
}

fn remainder(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => u128::from(a.checked_rem(b).unwrap_or(a)),
        _ => a.checked_rem(b).unwrap_or(a),
    }
}

/// A step: an operator on registers. Its result goes to the register after all earlier results.
#[derive(Clone, Copy)]
pub(crate) struct Step<'p> {
    pub operator: Operator<'p>,
    pub operands: [u32; 3],
}

/// Straight-line code. Registers: the inputs, then the constants, then one for each step.
pub(crate) struct Code<'p> {
    inputs: usize,
    constants: Vec<u128>,
    steps: Vec<Step<'p>>,
    outputs: Vec<u32>,
}

impl<'p> Code<'p> {
    /// Code from its parts: operands and outputs are register numbers.
    pub fn new(
        inputs: usize,
        constants: Vec<u128>,
        steps: Vec<Step<'p>>,
        outputs: Vec<u32>,
    ) -> Code<'p> {
        Code { inputs, constants, steps, outputs }
    }

    /// Code that works out `roots` from the values of `inputs`; `None` if a root depends on a byte
    /// that is not an input and not below one.
    pub fn compile(pool: &'p Pool, roots: &[Term], inputs: &[Term]) -> Option<Code<'p>> {
        Code::compile_with(pool, roots, inputs, &[])
    }

    /// As [`Code::compile`], where the first term of each pair in `low_bits` is known to be the
    /// low bits of the second, which is an input.
    pub fn compile_with(
        pool: &'p Pool,
        roots: &[Term],
        inputs: &[Term],
        low_bits: &[(Term, Term)],
    ) -> Option<Code<'p>> {
        let mut register: FxHashMap<Term, u32> = FxHashMap::default();
        for (at, &input) in inputs.iter().enumerate() {
            register.insert(input, at as u32);
        }
        // The terms between the roots and the inputs, operands before users.
        let mut between: Vec<Term> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<Term> = roots.to_vec();
        seen.extend(low_bits.iter().map(|(narrow, _)| *narrow));
        while let Some(term) = stack.pop() {
            if !register.contains_key(&term) && seen.insert(term) {
                between.push(term);
                stack.extend(pool.op(term).operands());
            }
        }
        between.sort_unstable();
        let (mut constants, mut steps) = (Vec::new(), Vec::new());
        for &term in &between {
            match pool.op(term) {
                Op::Const(value) => {
                    register.insert(term, (inputs.len() + constants.len()) as u32);
                    constants.push(value);
                }
                Op::Byte(_) => return None,
                _ => {}
            }
        }
        let base = inputs.len() + constants.len();
        for (narrow, wide) in low_bits {
            let operator = Operator::plain(Kind::Extract, pool.width(*narrow));
            register.insert(*narrow, (base + steps.len()) as u32);
            steps.push(Step { operator, operands: [*register.get(wide)?, 0, 0] });
        }
        for &term in &between {
            if let Some(operator) = Operator::of(pool, term) {
                let mut operands = [0; 3];
                for (slot, operand) in operands.iter_mut().zip(pool.op(term).operands()) {
                    *slot = register[&operand];
                }
                register.insert(term, (base + steps.len()) as u32);
                steps.push(Step { operator, operands });
            }
        }
        let outputs = roots.iter().map(|root| register[root]).collect();
        Some(Code::new(inputs.len(), constants, steps, outputs))
    }

    /// Registers for [`Code::run`], constants in place.
    pub fn registers(&self) -> Vec<u128> {
        let mut registers = vec![0; self.inputs];
        registers.extend(&self.constants);
        registers.resize(registers.len() + self.steps.len(), 0);
        registers
    }

    /// Works everything out. The inputs are the first registers, set by the caller.
    #[inline]
    pub fn run(&self, registers: &mut [u128]) {
        let base = self.inputs + self.constants.len();
        for (at, step) in self.steps.iter().enumerate() {
            let [a, b, c] = step.operands.map(|operand| registers[operand as usize]);
            registers[base + at] = step.operator.apply(a, b, c);
        }
    }

    /// The value of an output after a run.
    #[inline]
    pub fn output(&self, registers: &[u128], number: usize) -> u128 {
        registers[self.outputs[number] as usize]
    }
}
