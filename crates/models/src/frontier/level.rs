//! One level compiled: from a state and a value of the level's byte to the next state.
//!
//! Values of the byte that no later step can tell apart form a class; a step is taken once for
//! each class. What depends on the byte alone is worked out when the level is compiled.

use rustc_hash::FxHashMap;

use super::plan::{Def, Plan};
use crate::byteset::ByteSet;
use crate::code::{Code, Step};

/// A level's classes of byte values and its code.
pub(crate) struct Level<'p> {
    /// The classes, in the order of their smallest values.
    pub classes: Vec<ByteSet>,
    /// For each class the values that the code reads.
    inputs: Vec<Vec<u128>>,
    code: Code<'p>,
    /// How many outputs are literals; the rest are the next state.
    literals: usize,
    registers: Vec<u128>,
}

impl<'p> Level<'p> {
    /// Compiles a level, 1 to the number of bytes in the plan's order.
    pub fn new(plan: &Plan<'p>, members: &[u32], level: usize, domain: &ByteSet) -> Level<'p> {
        let own = |node: u32| plan.nodes[node as usize].level == level as u32;
        // What depends on the byte alone, and the rest.
        let mut alone: FxHashMap<u32, u32> = FxHashMap::default();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for &node in members {
            let simple = |operand: u32| {
                plan.nodes[operand as usize].level == 0 || alone.contains_key(&operand)
            };
            if plan.nodes[node as usize].operands().all(simple) {
                alone.insert(node, 0);
                first.push(node);
            } else {
                second.push(node);
            }
        }
        let roots: Vec<u32> = plan.roots.iter().copied().filter(|&root| own(root)).collect();
        let mut read: Vec<u32> = second
            .iter()
            .flat_map(|&node| plan.nodes[node as usize].operands())
            .chain(plan.live[level].iter().copied())
            .filter(|node| alone.contains_key(node))
            .collect();
        read.sort_unstable();
        read.dedup();
        let decisive: Vec<u32> =
            roots.iter().copied().filter(|root| alone.contains_key(root)).collect();

        let mut wanted = decisive.clone();
        wanted.extend(&read);
        let byte: Vec<u32> = first
            .iter()
            .copied()
            .filter(|&node| matches!(plan.nodes[node as usize].def, Def::Byte))
            .collect();
        let code = assemble(plan, &byte, &first, &wanted);
        let mut registers = code.registers();
        let mut found: FxHashMap<Vec<u128>, usize> = FxHashMap::default();
        let (mut classes, mut inputs): (Vec<ByteSet>, Vec<Vec<u128>>) = (Vec::new(), Vec::new());
        for value in domain.iter() {
            registers[..byte.len()].fill(u128::from(value));
            code.run(&mut registers);
            let mut outputs = (0..wanted.len()).map(|at| code.output(&registers, at));
            if outputs.by_ref().take(decisive.len()).any(|truth| truth == 0) {
                continue;
            }
            let key: Vec<u128> =
                (decisive.len()..wanted.len()).map(|at| code.output(&registers, at)).collect();
            let class = *found.entry(key.clone()).or_insert_with(|| {
                classes.push(ByteSet::NONE);
                inputs.push(key);
                classes.len() - 1
            });
            classes[class].insert(value);
        }

        let mut given = read;
        given.extend(&plan.live[level - 1]);
        let mut wanted: Vec<u32> =
            roots.iter().copied().filter(|root| !alone.contains_key(root)).collect();
        let literals = wanted.len();
        wanted.extend(&plan.live[level]);
        let code = assemble(plan, &given, &second, &wanted);
        let registers = code.registers();
        Level { classes, inputs, code, literals, registers }
    }

    /// The state after `state` when the byte has a value of the class; false if a literal fails.
    #[inline]
    pub fn next(&mut self, state: &[u128], class: usize, out: &mut [u128]) -> bool {
        let inputs = &self.inputs[class];
        self.registers[..inputs.len()].copy_from_slice(inputs);
        self.registers[inputs.len()..inputs.len() + state.len()].copy_from_slice(state);
        self.code.run(&mut self.registers);
        for literal in 0..self.literals {
            if self.code.output(&self.registers, literal) == 0 {
                return false;
            }
        }
        for (at, value) in out.iter_mut().enumerate() {
            *value = self.code.output(&self.registers, self.literals + at);
        }
        true
    }
}

/// Code for `members` (operands first) from the values of `given` to those of `wanted`.
fn assemble<'p>(plan: &Plan<'p>, given: &[u32], members: &[u32], wanted: &[u32]) -> Code<'p> {
    let mut register: FxHashMap<u32, u32> = FxHashMap::default();
    for (at, &node) in given.iter().enumerate() {
        register.insert(node, at as u32);
    }
    let mut constants = Vec::new();
    let needed = members.iter().flat_map(|&node| plan.nodes[node as usize].operands());
    for node in needed {
        if let Some(value) = plan.nodes[node as usize].constant() {
            register.entry(node).or_insert_with(|| {
                constants.push(value);
                (given.len() + constants.len() - 1) as u32
            });
        }
    }
    let base = given.len() + constants.len();
    let mut steps = Vec::new();
    for &node in members {
        if let Def::Step(operator, nodes, count) = plan.nodes[node as usize].def {
            let mut operands = [0; 3];
            for (slot, operand) in operands.iter_mut().zip(&nodes[..usize::from(count)]) {
                *slot = register[operand];
            }
            register.insert(node, (base + steps.len()) as u32);
            steps.push(Step { operator, operands });
        }
    }
    let outputs = wanted.iter().map(|node| register[node]).collect();
    Code::new(given.len(), constants, steps, outputs)
}
