//! A circuit recorded as a graph: inputs, and-gates and xor-gates, with inversions on the wires.
//!
//! Always: equal gates exist once; operands come before their users; no gate has a constant
//! operand, or the same node twice; an xor-gate has no inverted operand (the inversion moves to
//! its output). What the circuit is for, it does not know.

use std::convert::Infallible;
use std::fmt;

use rustc_hash::FxHashMap;
use stunt_terms::InputByte;

use crate::algebra::Algebra;

/// A node of a [`Circuit`], as it is or inverted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    /// The constant false.
    pub const FALSE: Lit = Lit(0);
    /// The constant true.
    pub const TRUE: Lit = Lit(1);

    fn new(node: usize, inverted: bool) -> Lit {
        let node = u32::try_from(node).ok().filter(|&n| n < 1 << 31);
        Lit(node.expect("a circuit has fewer than 2^31 nodes") << 1 | u32::from(inverted))
    }

    /// The number of the node.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the node's value is inverted.
    pub fn is_inverted(self) -> bool {
        self.0 & 1 == 1
    }

    /// The same node, with the other sign if `flip`.
    #[must_use]
    pub fn flipped_if(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        self.flipped_if(true)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}g{}", if self.is_inverted() { "!" } else { "" }, self.node())
    }
}

/// What a node of a [`Circuit`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    /// The constant false; node 0 and no other.
    False,
    /// A bit of an input byte, 0 the lowest.
    Input(InputByte, u8),
    /// Both.
    And(Lit, Lit),
    /// Exactly one. The operands are not inverted.
    Xor(Lit, Lit),
}

/// A recorded circuit; the [`Algebra`] that never stops.
pub struct Circuit {
    nodes: Vec<Gate>,
    index: FxHashMap<Gate, u32>,
}

impl Default for Circuit {
    fn default() -> Circuit {
        Circuit::new()
    }
}

impl Circuit {
    /// A circuit without inputs and gates.
    pub fn new() -> Circuit {
        Circuit { nodes: vec![Gate::False], index: FxHashMap::default() }
    }

    /// All nodes, operands before users; a node's number is its place. The first is the constant.
    pub fn nodes(&self) -> &[Gate] {
        &self.nodes
    }

    /// The node of a literal, without its sign.
    pub fn gate(&self, lit: Lit) -> Gate {
        self.nodes[lit.node()]
    }

    /// The numbers of the nodes that the roots are made of, operands before users, each once.
    /// The constant node is left out.
    pub fn cone(&self, roots: &[Lit]) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        seen[0] = true;
        let mut stack: Vec<usize> = roots.iter().map(|root| root.node()).collect();
        let mut cone = Vec::new();
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                cone.push(node);
                if let Gate::And(a, b) | Gate::Xor(a, b) = self.nodes[node] {
                    stack.extend([a.node(), b.node()]);
                }
            }
        }
        cone.sort_unstable();
        cone
    }

    /// One bit of an input byte.
    pub fn input(&mut self, byte: InputByte, bit: u8) -> Lit {
        assert!(bit < 8, "a byte has eight bits");
        self.intern(Gate::Input(byte, bit))
    }

    fn intern(&mut self, gate: Gate) -> Lit {
        let next = self.nodes.len();
        let node = *self.index.entry(gate).or_insert(next as u32) as usize;
        if node == next {
            self.nodes.push(gate);
        }
        Lit::new(node, false)
    }

    /// `a & b` where one is a gate over the other, if that is simpler.
    fn absorbed(&mut self, a: Lit, b: Lit) -> Option<Lit> {
        let Gate::And(x, y) = self.gate(a) else { return None };
        if a.is_inverted() {
            // b & !(b & y) = b & !y, and b & !(!b & y) = b.
            match (x, y) {
                _ if x == b => Some(self.and_lits(b, !y)),
                _ if y == b => Some(self.and_lits(b, !x)),
                _ if x == !b || y == !b => Some(b),
                _ => None,
            }
        } else if x == b || y == b {
            Some(a)
        } else if x == !b || y == !b {
            Some(Lit::FALSE)
        } else {
            None
        }
    }

    fn and_lits(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (Lit::FALSE, _) => Lit::FALSE,
            (Lit::TRUE, _) => b,
            _ if a == b => a,
            _ if a == !b => Lit::FALSE,
            _ => match self.absorbed(a, b).or_else(|| self.absorbed(b, a)) {
                Some(lit) => lit,
                None => self.intern(Gate::And(a, b)),
            },
        }
    }

    fn xor_lits(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.is_inverted() ^ b.is_inverted();
        let plain = |lit: Lit| lit.flipped_if(lit.is_inverted());
        let (a, b) = (plain(a).min(plain(b)), plain(a).max(plain(b)));
        if a == b {
            return Lit::FALSE.flipped_if(flip);
        }
        if a == Lit::FALSE {
            return b.flipped_if(flip);
        }
        for (gate, other) in [(a, b), (b, a)] {
            match self.gate(gate) {
                Gate::Xor(x, y) if x == other => return y.flipped_if(flip),
                Gate::Xor(x, y) if y == other => return x.flipped_if(flip),
                _ => {}
            }
        }
        self.intern(Gate::Xor(a, b)).flipped_if(flip)
    }
}

impl Algebra for Circuit {
    type Bit = Lit;
    type Stop = Infallible;

    fn constant(&mut self, value: bool) -> Lit {
        Lit::FALSE.flipped_if(value)
    }

    fn known(&self, bit: &Lit) -> Option<bool> {
        (bit.node() == 0).then_some(bit.is_inverted())
    }

    fn byte(&mut self, byte: InputByte) -> Result<[Lit; 8], Infallible> {
        Ok(std::array::from_fn(|bit| self.input(byte, bit as u8)))
    }

    fn not(&mut self, a: &Lit) -> Lit {
        !*a
    }

    fn and(&mut self, a: &Lit, b: &Lit) -> Result<Lit, Infallible> {
        Ok(self.and_lits(*a, *b))
    }

    fn xor(&mut self, a: &Lit, b: &Lit) -> Result<Lit, Infallible> {
        Ok(self.xor_lits(*a, *b))
    }
}

impl fmt::Debug for Circuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Circuit({} nodes)", self.nodes.len())
    }
}
