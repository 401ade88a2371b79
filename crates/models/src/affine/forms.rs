//! Bits as affine forms over GF(2): an exclusive or of input bits, and perhaps a complement.
//!
//! A form is not a row of coefficients but a node of a graph of exclusive ors, so that a checksum
//! over thousands of bytes costs a few nodes per byte; [`Forms::rows`] multiplies the graph out, 64
//! forms at a time. Every node carries a fingerprint, linear in the input bits: forms that differ
//! in it differ. Forms that agree in it are compared exactly before anyone relies on it.
//!
//! A bit that is not affine, or not visibly so, is [`Form::UNKNOWN`]. That is no error: the low bit
//! of a sum is affine although the others are not. What uses an unknown bit is unknown, unless a
//! constant hides it.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use stunt_circuit::Algebra;
use stunt_terms::{InputByte, Table};

/// A table read with more symbolic index bits than this is not examined.
pub(super) const WIDEST_INDEX: usize = 16;

/// A bit: a node of the graph, complemented or not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    node: u32,
    flip: bool,
}

impl Form {
    /// A bit of which nothing is known.
    pub(super) const UNKNOWN: Form = Form { node: u32::MAX, flip: false };
    /// The bit that is never set.
    const ZERO: Form = Form { node: 0, flip: false };

    /// Whether the bit is an affine form.
    pub(super) fn is_affine(self) -> bool {
        self.node != u32::MAX
    }

    /// The constant term.
    pub(super) fn constant(self) -> bool {
        self.flip
    }

    fn of(value: bool) -> Form {
        Form { flip: value, ..Form::ZERO }
    }

    fn flipped(self, by: bool) -> Form {
        if self.is_affine() { Form { flip: self.flip ^ by, ..self } } else { self }
    }
}

/// The work that the algebra may do is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OutOfWork;

/// A node: its operands, which are earlier nodes. Input bits have themselves as operands, so has
/// node 0, the constant.
struct Node {
    left: u32,
    right: u32,
    print: u128,
}

/// A table as an affine function of some bits of its index, as far as it is one.
struct Shape {
    /// The entry where those index bits are zero.
    first: u64,
    /// What each of the index bits changes, lowest first.
    changes: Vec<u64>,
    /// The bits of the entries that are not affine.
    wrong: u64,
}

impl Shape {
    /// Checks all entries where the index has the bits of `base`, and any of those in `places`.
    fn of(table: &Table, base: u128, places: u128) -> Shape {
        let places: Vec<u128> =
            (0..128).map(|bit| 1 << bit).filter(|place| places & place != 0).collect();
        let first = table.read(base);
        let changes: Vec<u64> =
            places.iter().map(|place| table.read(base | place) ^ first).collect();
        // In Gray code order one index bit changes at a time.
        let (mut at, mut expected, mut wrong) = (base, first, 0);
        for case in 1..1usize << places.len() {
            let bit = case.trailing_zeros() as usize;
            at ^= places[bit];
            expected ^= changes[bit];
            wrong |= table.read(at) ^ expected;
        }
        Shape { first, changes, wrong }
    }
}

/// The algebra of affine forms over the bits of some bytes.
pub(super) struct Forms {
    /// For each table and index that was met: where the table is, the known index bits, the others.
    shapes: FxHashMap<(usize, u128, u128), Rc<Shape>>,
    nodes: Vec<Node>,
    bytes: FxHashMap<InputByte, u32>,
    inputs: usize,
    /// Operations and exact comparisons that are still allowed, in nodes.
    work: usize,
}

impl Forms {
    /// The algebra over those bytes; input bit `8 * i + j` is bit `j` of the byte at position `i`.
    pub(super) fn new(bytes: &[InputByte], work: usize) -> Forms {
        let inputs = bytes.len() * 8;
        let mut nodes = Vec::with_capacity(inputs * 2 + 1);
        nodes.push(Node { left: 0, right: 0, print: 0 });
        for input in 0..inputs as u32 {
            nodes.push(Node { left: input + 1, right: input + 1, print: fingerprint(input) });
        }
        let bytes = bytes.iter().zip(0..).map(|(&byte, position)| (byte, position)).collect();
        Forms { shapes: FxHashMap::default(), nodes, bytes, inputs, work }
    }

    /// How many input bits there are.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// For every input bit, in which of the forms (at most 64, as a mask) it occurs.
    fn occurrences(&self, forms: &[Form]) -> Vec<u64> {
        let top = forms.iter().map(|form| form.node as usize).max().unwrap_or(0);
        let mut masks = vec![0u64; (top + 1).max(self.inputs + 1)];
        for (i, form) in forms.iter().enumerate() {
            masks[form.node as usize] ^= 1 << i;
        }
        for node in (self.inputs + 1..=top).rev() {
            let mask = masks[node];
            if mask != 0 {
                masks[self.nodes[node].left as usize] ^= mask;
                masks[self.nodes[node].right as usize] ^= mask;
            }
        }
        masks.drain(1..=self.inputs).collect()
    }

    /// The coefficients of affine forms: for each the input bits that occur in it, 64 to a word.
    pub(super) fn rows(&self, forms: &[Form]) -> Vec<Vec<u64>> {
        let words = self.inputs.div_ceil(64);
        let mut rows = vec![vec![0u64; words]; forms.len()];
        for (batch, rows) in forms.chunks(64).zip(rows.chunks_mut(64)) {
            debug_assert!(batch.iter().all(|form| form.is_affine()));
            for (input, mut mask) in self.occurrences(batch).into_iter().enumerate() {
                while mask != 0 {
                    rows[mask.trailing_zeros() as usize][input / 64] |= 1 << (input % 64);
                    mask &= mask - 1;
                }
            }
        }
        rows
    }

    fn spend(&mut self, nodes: usize) -> Result<(), OutOfWork> {
        self.work = self.work.checked_sub(nodes).ok_or(OutOfWork)?;
        Ok(())
    }

    fn push(&mut self, a: Form, b: Form) -> Form {
        let print = self.nodes[a.node as usize].print ^ self.nodes[b.node as usize].print;
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { left: a.node, right: b.node, print });
        Form { node, flip: a.flip ^ b.flip }
    }

    /// Whether a node is the constant zero in spite of its operands.
    fn vanishes(&mut self, form: Form) -> Result<bool, OutOfWork> {
        if self.nodes[form.node as usize].print != 0 {
            return Ok(false);
        }
        self.spend(form.node as usize)?;
        Ok(self.occurrences(&[form]).iter().all(|&mask| mask == 0))
    }
}

impl Algebra for Forms {
    type Bit = Form;
    type Stop = OutOfWork;

    fn constant(&mut self, value: bool) -> Form {
        Form::of(value)
    }

    fn known(&self, bit: &Form) -> Option<bool> {
        (bit.node == 0).then_some(bit.flip)
    }

    fn byte(&mut self, byte: InputByte) -> Result<[Form; 8], OutOfWork> {
        let Some(&position) = self.bytes.get(&byte) else {
            return Ok([Form::UNKNOWN; 8]);
        };
        Ok(std::array::from_fn(|bit| Form { node: 8 * position + bit as u32 + 1, flip: false }))
    }

    fn not(&mut self, a: &Form) -> Form {
        a.flipped(true)
    }

    fn and(&mut self, a: &Form, b: &Form) -> Result<Form, OutOfWork> {
        self.spend(1)?;
        match (self.known(a), self.known(b)) {
            (Some(false), _) | (_, Some(false)) => return Ok(Form::ZERO),
            (Some(true), _) => return Ok(*b),
            (_, Some(true)) => return Ok(*a),
            (None, None) => {}
        }
        if !a.is_affine() || !b.is_affine() {
            return Ok(Form::UNKNOWN);
        }
        if self.nodes[a.node as usize].print != self.nodes[b.node as usize].print {
            return Ok(Form::UNKNOWN);
        }
        let difference = self.xor(a, b)?;
        Ok(match self.known(&difference) {
            Some(false) => *a,
            Some(true) => Form::ZERO,
            None => Form::UNKNOWN,
        })
    }

    fn xor(&mut self, a: &Form, b: &Form) -> Result<Form, OutOfWork> {
        self.spend(1)?;
        if !a.is_affine() || !b.is_affine() {
            return Ok(Form::UNKNOWN);
        }
        if a.node == 0 || b.node == 0 {
            let (constant, other) = if a.node == 0 { (a, b) } else { (b, a) };
            return Ok(other.flipped(constant.flip));
        }
        if a.node == b.node {
            return Ok(Form::of(a.flip ^ b.flip));
        }
        let form = self.push(*a, *b);
        if self.vanishes(form)? {
            self.nodes.pop();
            return Ok(Form::of(form.flip));
        }
        Ok(form)
    }

    /// A table is affine in its index if every entry is the first one changed by the differences
    /// that the set index bits make on their own; all entries that can be reached are checked.
    fn table(&mut self, table: &Table, index: &[Form]) -> Option<Result<Vec<Form>, OutOfWork>> {
        let mut base = 0u128;
        let mut symbolic: Vec<(u128, Form)> = Vec::new();
        for (i, form) in index.iter().enumerate() {
            match self.known(form) {
                Some(value) => base |= u128::from(value) << i,
                None => symbolic.push((1 << i, *form)),
            }
        }
        Some(self.table_at(table, base, &symbolic))
    }
}

impl Forms {
    fn table_at(
        &mut self,
        table: &Table,
        base: u128,
        symbolic: &[(u128, Form)],
    ) -> Result<Vec<Form>, OutOfWork> {
        let width = usize::from(table.width);
        if symbolic.len() > WIDEST_INDEX {
            return Ok(vec![Form::UNKNOWN; width]);
        }
        let places: u128 = symbolic.iter().map(|&(place, _)| place).sum();
        // Tables stay where they are as long as the problem is borrowed, so a place names a table.
        let key = (table.entries.as_ptr().addr(), base, places);
        let shape = match self.shapes.get(&key) {
            Some(shape) => shape.clone(),
            None => {
                self.spend(1 << symbolic.len())?;
                let shape = Rc::new(Shape::of(table, base, places));
                self.shapes.insert(key, shape.clone());
                shape
            }
        };
        let mut bits = Vec::with_capacity(width);
        for i in 0..width {
            if shape.wrong >> i & 1 == 1 {
                bits.push(Form::UNKNOWN);
                continue;
            }
            let mut sum = Form::of(shape.first >> i & 1 == 1);
            for (&(_, form), &change) in symbolic.iter().zip(&shape.changes) {
                if change >> i & 1 == 1 {
                    sum = self.xor(&sum, &form)?;
                }
            }
            bits.push(sum);
        }
        Ok(bits)
    }
}

/// A fixed pattern of 128 bits for each input bit (the SplitMix64 sequence, two numbers each).
fn fingerprint(input: u32) -> u128 {
    let mix = |n: u64| {
        let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    let n = 2 * u64::from(input) + 1;
    u128::from(mix(n)) << 64 | u128::from(mix(n + 1))
}
