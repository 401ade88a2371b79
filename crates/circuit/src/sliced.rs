//! A circuit on many cases at once: 64 in a word, and many words for every wire.
//!
//! Always: gates are in order of their level, the highest level of any input byte that they
//! depend on; within a level operands come before users. So when only bytes of a level and above
//! have changed, everything before that level's first gate is still right.

use rustc_hash::FxHashMap;
use stunt_terms::InputByte;

use crate::circuit::{Circuit, Gate, Lit};

#[derive(Clone, Copy)]
enum Kind {
    And,
    /// The first, and not the second.
    AndNot,
    /// Neither.
    Nor,
    Xor,
}

#[derive(Clone, Copy)]
struct Step {
    kind: Kind,
    a: u32,
    b: u32,
}

/// Evaluates chosen outputs of a [`Circuit`], case by case in the bits of words.
#[derive(Clone)]
pub struct Sliced {
    words: usize,
    /// All wires, `words` words each: the constant false, the inputs, the gates.
    wires: Vec<u64>,
    /// How many wires come before the gates.
    before: usize,
    steps: Vec<Step>,
    /// For each level the first gate of that level or a higher one; then the number of gates.
    from_level: Vec<usize>,
    inputs: FxHashMap<(InputByte, u8), u32>,
    outputs: Vec<(u32, bool)>,
}

impl Sliced {
    /// Prepares the outputs, for `words` words of 64 cases at a time. `level_of` gives each input
    /// byte its level: 0 for bytes that change most rarely.
    pub fn new(
        circuit: &Circuit,
        outputs: &[Lit],
        words: usize,
        mut level_of: impl FnMut(InputByte) -> usize,
    ) -> Sliced {
        let cone = circuit.cone(outputs);
        let mut level: FxHashMap<usize, usize> = FxHashMap::default();
        let mut wire_of: FxHashMap<usize, u32> = FxHashMap::from_iter([(0, 0)]);
        let (mut inputs, mut gates) = (FxHashMap::default(), Vec::new());
        for &node in &cone {
            match circuit.nodes()[node] {
                Gate::False => {}
                Gate::Input(byte, bit) => {
                    let wire = wire_of.len() as u32;
                    wire_of.insert(node, wire);
                    inputs.insert((byte, bit), wire);
                    level.insert(node, level_of(byte));
                }
                Gate::And(a, b) | Gate::Xor(a, b) => {
                    let highest = level[&a.node()].max(level[&b.node()]);
                    level.insert(node, highest);
                    gates.push((highest, node));
                }
            }
        }
        // Nodes are numbered with operands first, so this keeps operands before users.
        gates.sort_unstable();
        let before = wire_of.len();
        for &(_, node) in &gates {
            wire_of.insert(node, wire_of.len() as u32);
        }
        let wire = |lit: Lit| wire_of[&lit.node()];
        let steps = gates
            .iter()
            .map(|&(_, node)| match circuit.nodes()[node] {
                Gate::Xor(a, b) => Step { kind: Kind::Xor, a: wire(a), b: wire(b) },
                Gate::And(a, b) => {
                    let (kind, a, b) = match (a.is_inverted(), b.is_inverted()) {
                        (false, false) => (Kind::And, a, b),
                        (false, true) => (Kind::AndNot, a, b),
                        (true, false) => (Kind::AndNot, b, a),
                        (true, true) => (Kind::Nor, a, b),
                    };
                    Step { kind, a: wire(a), b: wire(b) }
                }
                Gate::False | Gate::Input(..) => unreachable!("only gates were collected"),
            })
            .collect();
        let levels = gates.last().map_or(0, |&(highest, _)| highest + 1);
        let from_level =
            (0..=levels).map(|level| gates.partition_point(|&(at, _)| at < level)).collect();
        let outputs = outputs.iter().map(|&lit| (wire(lit), lit.is_inverted())).collect();
        let wires = vec![0; wire_of.len() * words];
        Sliced { words, wires, before, steps, from_level, inputs, outputs }
    }

    /// How many words each wire has.
    pub fn words(&self) -> usize {
        self.words
    }

    /// How many gates are evaluated for all outputs.
    pub fn gates(&self) -> usize {
        self.steps.len()
    }

    /// Whether the outputs depend on the bit, as far as the circuit shows.
    pub fn reads(&self, byte: InputByte, bit: u8) -> bool {
        self.inputs.contains_key(&(byte, bit))
    }

    /// The words of an input bit, to be written; `None` if no output depends on it.
    pub fn input_mut(&mut self, byte: InputByte, bit: u8) -> Option<&mut [u64]> {
        let start = *self.inputs.get(&(byte, bit))? as usize * self.words;
        Some(&mut self.wires[start..start + self.words])
    }

    /// Gives a byte the same value in all cases.
    pub fn broadcast(&mut self, byte: InputByte, value: u8) {
        for bit in 0..8 {
            let word = if value >> bit & 1 == 1 { u64::MAX } else { 0 };
            if let Some(wire) = self.input_mut(byte, bit) {
                wire.fill(word);
            }
        }
    }

    /// Works out all gates that depend on a byte of `level` or a higher one; the others keep the
    /// values of the last time. Level 0 works out everything.
    pub fn evaluate_from(&mut self, level: usize) {
        let first = self.from_level[level.min(self.from_level.len() - 1)];
        let words = self.words;
        for (i, step) in self.steps.iter().enumerate().skip(first) {
            let (known, rest) = self.wires.split_at_mut((self.before + i) * words);
            let a = &known[step.a as usize * words..][..words];
            let b = &known[step.b as usize * words..][..words];
            let out = &mut rest[..words];
            match step.kind {
                Kind::And => combine(out, a, b, |a, b| a & b),
                Kind::AndNot => combine(out, a, b, |a, b| a & !b),
                Kind::Nor => combine(out, a, b, |a, b| !(a | b)),
                Kind::Xor => combine(out, a, b, |a, b| a ^ b),
            }
        }
    }

    /// One word of an output, by the output's place in the list given to [`Sliced::new`].
    pub fn word(&self, output: usize, word: usize) -> u64 {
        let (wire, inverted) = self.outputs[output];
        let value = self.wires[wire as usize * self.words..][..self.words][word];
        if inverted { !value } else { value }
    }

    /// All words of an output.
    pub fn output(&self, output: usize) -> impl Iterator<Item = u64> + '_ {
        let (wire, inverted) = self.outputs[output];
        let flip = if inverted { u64::MAX } else { 0 };
        self.wires[wire as usize * self.words..][..self.words].iter().map(move |word| word ^ flip)
    }
}

/// Eight words at a time, so that the compiler uses vector registers.
#[inline]
fn combine(out: &mut [u64], a: &[u64], b: &[u64], gate: impl Fn(u64, u64) -> u64) {
    let (out, out_rest) = out.as_chunks_mut::<8>();
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        for i in 0..8 {
            out[i] = gate(a[i], b[i]);
        }
    }
    for ((out, a), b) in out_rest.iter_mut().zip(a_rest).zip(b_rest) {
        *out = gate(*a, *b);
    }
}

impl std::fmt::Debug for Sliced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sliced({} gates, {} words)", self.steps.len(), self.words)
    }
}
