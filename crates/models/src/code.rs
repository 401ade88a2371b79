//! A slice of the term graph as straight-line code on numbers.
//!
//! Given the values of some terms (bytes or inner terms), the code works out others. Stages run it
//! millions of times, so operands are register numbers and nothing is looked up. What an operator
//! means is for `stunt_terms` to say. This file knows nothing of counting.

use rustc_hash::FxHashMap;
use stunt_terms::{Kind, Op, Operator, Pool, Term};

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
