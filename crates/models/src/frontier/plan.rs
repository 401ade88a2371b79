//! The literals cut into levels: what can be worked out when the first, second, … byte is known.
//!
//! Bytes get values one after another. A node of the graph belongs to the level of the last byte
//! that it depends on. Sums, conjunctions and other operators whose operands may be regrouped are
//! regrouped by level first, so that a running value replaces the values of the parts, however the
//! program nested them. Bytes with a single value are constants.

use rustc_hash::FxHashMap;
use stunt_terms::{InputByte, Kind, Op, Operator, Term, mask};

use crate::space::Problem;

/// What a node is.
#[derive(Clone, Copy)]
pub(crate) enum Def<'p> {
    Const(u128),
    /// The byte of the node's level.
    Byte,
    Step(Operator<'p>, [u32; 3], u8),
}

/// A node of the regrouped graph. Operands have smaller numbers than their users.
#[derive(Clone, Copy)]
pub(crate) struct Node<'p> {
    pub def: Def<'p>,
    /// 0 for constants, else one more than the place of the last byte in the order.
    pub level: u32,
    /// How many bits its values need, at most; for choosing an order.
    pub bits: u8,
}

impl Node<'_> {
    /// The operands' numbers.
    pub fn operands(&self) -> impl Iterator<Item = u32> + use<> {
        let (operands, count) = match self.def {
            Def::Const(_) | Def::Byte => ([0; 3], 0),
            Def::Step(_, operands, count) => (operands, count),
        };
        operands.into_iter().take(usize::from(count))
    }

    pub fn constant(&self) -> Option<u128> {
        match self.def {
            Def::Const(value) => Some(value),
            Def::Byte | Def::Step(..) => None,
        }
    }
}

/// The literals over levels.
pub(crate) struct Plan<'p> {
    pub nodes: Vec<Node<'p>>,
    /// For each node whether a literal depends on it.
    pub wanted: Vec<bool>,
    /// The literals that are not constant, each once.
    pub roots: Vec<u32>,
    /// Whether a literal is constantly false.
    pub impossible: bool,
    /// For each level from 1: the position of its byte in the problem.
    pub order: Vec<usize>,
    /// For each level from 0: the nodes whose values are needed after it.
    pub live: Vec<Vec<u32>>,
}

impl<'p> Plan<'p> {
    /// The plan for the bytes in the order given; bytes with one value must not be in it. `None`
    /// if far too many values would have to be kept at a time.
    pub fn new(problem: &Problem<'p>, order: Vec<usize>) -> Option<Plan<'p>> {
        let mut level_of: FxHashMap<InputByte, Result<u32, u8>> = FxHashMap::default();
        for (byte, domain) in problem.bytes.iter().zip(problem.domains) {
            if let (1, Some(value)) = (domain.len(), domain.nth(0)) {
                level_of.insert(*byte, Err(value));
            }
        }
        for (at, &position) in order.iter().enumerate() {
            level_of.insert(problem.bytes[position], Ok(at as u32 + 1));
        }
        let mut builder = Builder { nodes: Vec::new(), level_of };
        let mut roots = builder.graph(problem);
        roots.sort_unstable();
        roots.dedup();
        let nodes = builder.nodes;
        let impossible = roots.iter().any(|&root| nodes[root as usize].constant() == Some(0));
        roots.retain(|&root| nodes[root as usize].constant().is_none());
        let wanted = wanted(&nodes, &roots);
        let live = live_sets(&nodes, &wanted, order.len())?;
        Some(Plan { nodes, wanted, roots, impossible, order, live })
    }

    /// The most bits that any state holds, and the sum over all levels: smaller is better.
    pub fn cost(&self) -> (u32, u32) {
        let bits = |level: &Vec<u32>| -> u32 {
            level.iter().map(|&node| u32::from(self.nodes[node as usize].bits)).sum()
        };
        let all = self.live.iter().map(bits);
        (all.clone().max().unwrap_or(0), all.fold(0, u32::saturating_add))
    }
}

/// For each node whether one of the roots depends on it.
fn wanted(nodes: &[Node<'_>], roots: &[u32]) -> Vec<bool> {
    let mut wanted = vec![false; nodes.len()];
    for &root in roots {
        wanted[root as usize] = true;
    }
    for at in (0..nodes.len()).rev() {
        if wanted[at] {
            for operand in nodes[at].operands() {
                wanted[operand as usize] = true;
            }
        }
    }
    wanted
}

/// States with more values than this are hopeless.
const MOST_VALUES: usize = 256;

/// For each level the nodes that are known after it and needed later.
fn live_sets(nodes: &[Node<'_>], wanted: &[bool], levels: usize) -> Option<Vec<Vec<u32>>> {
    let mut last_use = vec![0; nodes.len()];
    for (node, _) in nodes.iter().zip(wanted).filter(|(_, wanted)| **wanted) {
        for operand in node.operands() {
            let last = &mut last_use[operand as usize];
            *last = node.level.max(*last);
        }
    }
    let mut live = vec![Vec::new(); levels + 1];
    for (at, node) in nodes.iter().enumerate() {
        if node.level > 0 {
            for level in node.level..last_use[at] {
                live[level as usize].push(at as u32);
                if live[level as usize].len() > MOST_VALUES {
                    return None;
                }
            }
        }
    }
    Some(live)
}

struct Builder<'p> {
    nodes: Vec<Node<'p>>,
    /// The level of a byte, or its only value.
    level_of: FxHashMap<InputByte, Result<u32, u8>>,
}

/// What a term became: a node, or parts that its only user takes into its own.
enum Built {
    Node(u32),
    Parts(Vec<u32>),
}

impl<'p> Builder<'p> {
    /// Makes nodes for everything below the literals; their own nodes are returned.
    fn graph(&mut self, problem: &Problem<'p>) -> Vec<u32> {
        let pool = problem.pool;
        let terms = pool.reachable(problem.literals);
        let absorbed = absorbed(problem, &terms);
        let mut built: FxHashMap<Term, Built> = FxHashMap::default();
        for &term in &terms {
            let op = pool.op(term);
            let result = match op {
                Op::Const(value) => Built::Node(self.constant(value)),
                Op::Byte(byte) => Built::Node(match self.level_of[&byte] {
                    Err(value) => self.constant(u128::from(value)),
                    Ok(level) => self.add(Node { def: Def::Byte, level, bits: 8 }),
                }),
                _ => {
                    let operator = Operator::of(pool, term).expect("an operator has operands");
                    let bits = match pool.facts(term).max.checked_ilog2() {
                        None => 1,
                        Some(top) => top as u8 + 1,
                    };
                    match group(op) {
                        Some(kind) => {
                            let mut parts = Vec::new();
                            for (at, operand) in op.operands().enumerate() {
                                let mut taken = match built.get_mut(&operand) {
                                    Some(Built::Parts(parts)) => std::mem::take(parts),
                                    Some(Built::Node(node)) => vec![*node],
                                    None => unreachable!("operands come before users"),
                                };
                                if at == 1 && matches!(op, Op::Sub(..)) {
                                    let neg = Operator::plain(Kind::Neg, operator.width());
                                    for part in &mut taken {
                                        *part = self.step(neg, &[*part], bits);
                                    }
                                }
                                // Long chains lean one way: move the long side, append the short.
                                if taken.len() > parts.len() {
                                    std::mem::swap(&mut parts, &mut taken);
                                }
                                parts.append(&mut taken);
                            }
                            if absorbed.contains(&term) {
                                Built::Parts(parts)
                            } else {
                                let plain = Operator::plain(kind, operator.width());
                                Built::Node(self.fold(plain, parts, bits))
                            }
                        }
                        None => {
                            let mut operands = [0; 3];
                            let mut count = 0;
                            for operand in op.operands() {
                                operands[count] = match built[&operand] {
                                    Built::Node(node) => node,
                                    Built::Parts(_) => unreachable!("only a group takes parts"),
                                };
                                count += 1;
                            }
                            Built::Node(self.step(operator, &operands[..count], bits))
                        }
                    }
                }
            };
            built.insert(term, result);
        }
        let roots = problem.literals.iter().map(|literal| match built[literal] {
            Built::Node(node) => node,
            Built::Parts(_) => unreachable!("a literal has its own use"),
        });
        roots.collect()
    }

    /// Combines the parts in the order of their levels.
    fn fold(&mut self, operator: Operator<'p>, mut parts: Vec<u32>, bits: u8) -> u32 {
        parts.sort_by_key(|&part| self.nodes[part as usize].level);
        let mut parts = parts.into_iter();
        let first = parts.next().expect("a group has operands");
        parts.fold(first, |so_far, part| self.step(operator, &[so_far, part], bits))
    }

    fn constant(&mut self, value: u128) -> u32 {
        self.add(Node { def: Def::Const(value), level: 0, bits: 0 })
    }

    fn add(&mut self, node: Node<'p>) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// An operator on nodes, simplified where constants allow.
    fn step(&mut self, operator: Operator<'p>, operands: &[u32], bits: u8) -> u32 {
        let value = |at: usize| self.nodes[operands[at] as usize].constant();
        if operands.len() == 2 {
            let all = mask(operator.width());
            for (constant, other) in [(value(0), operands[1]), (value(1), operands[0])] {
                match (operator.kind(), constant) {
                    (Kind::And | Kind::Mul, Some(0)) => return self.constant(0),
                    (Kind::Or, Some(c)) if c == all => return self.constant(all),
                    (Kind::And, Some(c)) if c == all => return other,
                    (Kind::Or | Kind::Xor | Kind::Add, Some(0)) => return other,
                    _ => {}
                }
            }
        }
        if operator.kind() == Kind::Ite
            && let Some(condition) = value(0)
        {
            return operands[if condition == 1 { 1 } else { 2 }];
        }
        let known: Option<Vec<u128>> = (0..operands.len()).map(value).collect();
        if let Some(known) = known {
            let get = |at: usize| known.get(at).copied().unwrap_or(0);
            return self.constant(operator.apply(get(0), get(1), get(2)));
        }
        let level = operands.iter().map(|&o| self.nodes[o as usize].level).max().unwrap_or(0);
        let mut slots = [0; 3];
        slots[..operands.len()].copy_from_slice(operands);
        self.add(Node { def: Def::Step(operator, slots, operands.len() as u8), level, bits })
    }
}

/// The operator whose operands may be regrouped, for terms that are such a group.
fn group(op: Op) -> Option<Kind> {
    match op {
        Op::And(..) => Some(Kind::And),
        Op::Or(..) => Some(Kind::Or),
        Op::Xor(..) => Some(Kind::Xor),
        Op::Add(..) | Op::Sub(..) => Some(Kind::Add),
        Op::Mul(..) => Some(Kind::Mul),
        Op::Const(_)
        | Op::Byte(_)
        | Op::Not(_)
        | Op::Neg(_)
        | Op::UDiv(..)
        | Op::URem(..)
        | Op::SDiv(..)
        | Op::SRem(..)
        | Op::Shl(..)
        | Op::LShr(..)
        | Op::AShr(..)
        | Op::Concat(..)
        | Op::Extract { .. }
        | Op::ZeroExtend(_)
        | Op::SignExtend(_)
        | Op::Ite(..)
        | Op::Table(..)
        | Op::Eq(..)
        | Op::Ult(..)
        | Op::Slt(..) => None,
    }
}

/// The terms whose only use is in a group of the same operator.
fn absorbed(problem: &Problem<'_>, terms: &[Term]) -> rustc_hash::FxHashSet<Term> {
    let pool = problem.pool;
    let mut uses: FxHashMap<Term, (u32, Option<Kind>)> = FxHashMap::default();
    for &literal in problem.literals {
        uses.insert(literal, (2, None));
    }
    for &term in terms {
        let op = pool.op(term);
        for operand in op.operands() {
            let entry = uses.entry(operand).or_insert((0, None));
            entry.0 += 1;
            entry.1 = group(op);
        }
    }
    let alone = |&&term: &&Term| match uses.get(&term) {
        Some(&(1, Some(kind))) => group(pool.op(term)) == Some(kind),
        _ => false,
    };
    terms.iter().filter(alone).copied().collect()
}
