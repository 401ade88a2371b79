//! Bits as decision diagrams over code variables, with limits on size and on work.
//!
//! A diagram is shared and immutable; its complement is the same diagram with a mark, so `not`
//! costs nothing. An operation whose result or whose work would pass the limit stops; nothing is
//! ever approximated.

use std::cell::Cell;
use std::rc::Rc;

use biodivine_lib_bdd::{Bdd, BddNode, BddPointer, BddVariable};
use rustc_hash::FxHashMap;
use stunt_circuit::Algebra;
use stunt_terms::{InputByte, Table};

/// A table whose index depends on at most so many variables is read for all their values.
const WIDEST_TABLE: usize = 12;

/// How often the library asks about the operands for each pair of nodes that it looks at.
const QUESTIONS: usize = 4;

/// A bit: a diagram, complemented or not. Constants are never complemented.
#[derive(Clone)]
pub(super) struct Bit {
    bdd: Rc<Bdd>,
    flip: bool,
}

impl Bit {
    /// The diagram whose models are those of the bit.
    pub(super) fn into_bdd(self) -> Bdd {
        if self.flip { self.bdd.not() } else { Rc::unwrap_or_clone(self.bdd) }
    }

    /// The first variable that the bit asks for; for a constant, one past the last.
    pub(super) fn first_variable(&self) -> usize {
        self.bdd.var_of(self.bdd.root_pointer()).to_index()
    }

    fn value(&self) -> Option<bool> {
        self.bdd.as_bool().map(|value| value ^ self.flip)
    }

    fn same(&self, other: &Bit) -> bool {
        Rc::ptr_eq(&self.bdd, &other.bdd)
    }
}

/// A limit is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooLarge;

/// The algebra of diagrams over some variables.
pub(super) struct Diagrams {
    variables: u16,
    /// The most nodes of one diagram.
    nodes: usize,
    /// Nodes that may still be made or looked at.
    work: usize,
    zero: Bit,
    one: Bit,
    bytes: FxHashMap<InputByte, [Bit; 8]>,
}

impl Diagrams {
    /// An algebra over that many variables. No byte is known yet.
    pub(super) fn new(variables: u16, nodes: usize, work: usize) -> Diagrams {
        let terminals = [BddNode::mk_zero(variables), BddNode::mk_one(variables)];
        let constant = |nodes: &[BddNode]| Bit {
            bdd: Rc::new(Bdd::from_nodes(nodes).expect("terminals make a diagram")),
            flip: false,
        };
        let (zero, one) = (constant(&terminals[..1]), constant(&terminals));
        Diagrams { variables, nodes, work, zero, one, bytes: FxHashMap::default() }
    }

    /// Says what the bits of a byte are, lowest first.
    pub(super) fn define(&mut self, byte: InputByte, bits: [Bit; 8]) {
        self.bytes.insert(byte, bits);
    }

    /// The work that is left.
    pub(super) fn work_left(&self) -> usize {
        self.work
    }

    /// The function of `variables` (in order, at most 16) with the given values: entry `i` is its
    /// value where variable `variables[j]` is bit `variables.len() - 1 - j` of `i`; `None` leaves
    /// the choice to us.
    pub(super) fn function(
        &mut self,
        variables: &[u16],
        values: &[Option<bool>],
    ) -> Result<Bit, TooLarge> {
        debug_assert_eq!(values.len(), 1 << variables.len());
        debug_assert!(variables.is_sorted());
        self.spend(values.len())?;
        let mut nodes = vec![BddNode::mk_zero(self.variables), BddNode::mk_one(self.variables)];
        let mut made: FxHashMap<(u16, usize, usize), usize> = FxHashMap::default();
        let mut layer: Vec<Option<usize>> =
            values.iter().map(|value| value.map(usize::from)).collect();
        for &variable in variables.iter().rev() {
            let mut above = Vec::with_capacity(layer.len() / 2);
            for pair in layer.chunks(2) {
                above.push(match (pair[0], pair[1]) {
                    (Some(low), Some(high)) if low != high => {
                        Some(*made.entry((variable, low, high)).or_insert_with(|| {
                            nodes.push(BddNode::mk_node(
                                BddVariable::from_index(usize::from(variable)),
                                BddPointer::from_index(low),
                                BddPointer::from_index(high),
                            ));
                            nodes.len() - 1
                        }))
                    }
                    (low, high) => low.or(high),
                });
            }
            layer = above;
        }
        Ok(match layer[0] {
            None | Some(0) => self.zero.clone(),
            Some(1) => self.one.clone(),
            Some(root) => {
                // All nodes are used and operands come first, so the root is the last one.
                debug_assert_eq!(root, nodes.len() - 1);
                let bdd = Bdd::from_nodes(&nodes).expect("edges follow the order");
                Bit { bdd: Rc::new(bdd), flip: false }
            }
        })
    }

    fn spend(&mut self, nodes: usize) -> Result<(), TooLarge> {
        self.work = self.work.checked_sub(nodes).ok_or(TooLarge)?;
        Ok(())
    }

    fn binary(
        &mut self,
        a: &Bit,
        b: &Bit,
        op: impl Fn(Option<bool>, Option<bool>) -> Option<bool>,
    ) -> Result<Bit, TooLarge> {
        // The library limits the result but not the work, so the work is counted here. When it is
        // used up, every pair of nodes is said to be decided, which ends the operation at once;
        // its result is then thrown away.
        let asked = Cell::new(0usize);
        let most = self.work.saturating_mul(QUESTIONS);
        let op = |x: Option<bool>, y: Option<bool>| {
            asked.set(asked.get() + 1);
            if asked.get() > most {
                return Some(false);
            }
            op(x.map(|x| x ^ a.flip), y.map(|y| y ^ b.flip))
        };
        // The library makes room for the larger operand, whatever comes of it.
        self.spend(a.bdd.size().max(b.bdd.size()) / QUESTIONS)?;
        let result = Bdd::binary_op_with_limit(self.nodes, &a.bdd, &b.bdd, op);
        self.spend(asked.get().div_ceil(QUESTIONS))?;
        let result = result.ok_or(TooLarge)?;
        Ok(match result.as_bool() {
            Some(value) => self.constant(value),
            None => Bit { bdd: Rc::new(result), flip: false },
        })
    }

    /// The variables that some bits depend on, in order; `None` if they are too many.
    fn variables_of(&self, bits: &[Bit]) -> Option<Vec<u16>> {
        let mut seen: Vec<u16> = Vec::new();
        for bit in bits {
            for pointer in bit.bdd.pointers().skip(2) {
                let variable = bit.bdd.var_of(pointer).to_index() as u16;
                if let Err(place) = seen.binary_search(&variable) {
                    if seen.len() == WIDEST_TABLE {
                        return None;
                    }
                    seen.insert(place, variable);
                }
            }
        }
        Some(seen)
    }

    /// Reads a table at an index that depends on few variables: once for each of their values.
    fn read(
        &mut self,
        table: &Table,
        index: &[Bit],
        variables: &[u16],
    ) -> Result<Vec<Bit>, TooLarge> {
        let cases = 1usize << variables.len();
        self.spend(cases * index.len())?;
        let entries: Vec<u64> = (0..cases)
            .map(|case| {
                let set = |variable: u16| {
                    let place =
                        variables.binary_search(&variable).expect("a variable of the index");
                    case >> (variables.len() - 1 - place) & 1 == 1
                };
                let at = index
                    .iter()
                    .enumerate()
                    .fold(0u128, |at, (i, bit)| at | u128::from(holds(bit, set)) << i);
                table.read(at)
            })
            .collect();
        (0..table.width)
            .map(|i| {
                let values: Vec<Option<bool>> =
                    entries.iter().map(|entry| Some(entry >> i & 1 == 1)).collect();
                self.function(variables, &values)
            })
            .collect()
    }
}

/// The value of a bit where `set` says which variables are true.
fn holds(bit: &Bit, set: impl Fn(u16) -> bool) -> bool {
    let mut at = bit.bdd.root_pointer();
    loop {
        match at.as_bool() {
            Some(value) => return value ^ bit.flip,
            None if set(bit.bdd.var_of(at).to_index() as u16) => at = bit.bdd.high_link_of(at),
            None => at = bit.bdd.low_link_of(at),
        }
    }
}

impl Algebra for Diagrams {
    type Bit = Bit;
    type Stop = TooLarge;

    fn constant(&mut self, value: bool) -> Bit {
        if value { self.one.clone() } else { self.zero.clone() }
    }

    fn known(&self, bit: &Bit) -> Option<bool> {
        bit.value()
    }

    fn byte(&mut self, byte: InputByte) -> Result<[Bit; 8], TooLarge> {
        // A byte outside the component has no variables; there is no diagram then.
        self.bytes.get(&byte).cloned().ok_or(TooLarge)
    }

    fn not(&mut self, a: &Bit) -> Bit {
        match a.value() {
            Some(value) => self.constant(!value),
            None => Bit { flip: !a.flip, ..a.clone() },
        }
    }

    fn and(&mut self, a: &Bit, b: &Bit) -> Result<Bit, TooLarge> {
        match (a.value(), b.value()) {
            (Some(false), _) | (_, Some(false)) => Ok(self.zero.clone()),
            (Some(true), _) => Ok(b.clone()),
            (_, Some(true)) => Ok(a.clone()),
            _ if a.same(b) => Ok(if a.flip == b.flip { a.clone() } else { self.zero.clone() }),
            _ => self.binary(a, b, |x, y| match (x, y) {
                (Some(true), Some(true)) => Some(true),
                (Some(false), _) | (_, Some(false)) => Some(false),
                _ => None,
            }),
        }
    }

    fn xor(&mut self, a: &Bit, b: &Bit) -> Result<Bit, TooLarge> {
        match (a.value(), b.value()) {
            (Some(value), _) => Ok(if value { self.not(b) } else { b.clone() }),
            (_, Some(value)) => Ok(if value { self.not(a) } else { a.clone() }),
            _ if a.same(b) => Ok(self.constant(a.flip != b.flip)),
            _ => self.binary(a, b, |x, y| Some(x? ^ y?)),
        }
    }

    fn table(&mut self, table: &Table, index: &[Bit]) -> Option<Result<Vec<Bit>, TooLarge>> {
        let variables = self.variables_of(index)?;
        Some(self.read(table, index, &variables))
    }
}
