//! The pool: where terms live, each once.
//!
//! Identical terms share one handle, so equality of terms is equality of handles. Nothing is ever
//! removed. The constructors are in `rewrite/`; they end in [`Pool::intern`], the only place that
//! makes a term. Each term carries what is cheap to know about it: its sort, the input bytes it
//! depends on, and its [`Facts`].

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::facts::Facts;
use crate::operator::Kind;
use crate::rewrite::{Rule, RuleCounts};
use crate::support::Support;
use crate::term::{InputByte, Op, Operands, Sort, Table, TableId, Term};

/// A term as stored: operator, sort and operands in 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Packed {
    kind: Kind,
    /// 0 for Bool, else the width.
    sort: u8,
    /// The lowest bit of an extract.
    lo: u8,
    /// Operands; a constant of at most 64 bits, or the number of a wider one in `Pool::wide`.
    words: [u32; 3],
}

type Hasher = BuildHasherDefault<FxHasher>;

/// Owns terms and tables, and builds them.
#[derive(Default)]
pub struct Pool {
    nodes: Vec<Packed>,
    index: HashTable<u32>,
    wide: Vec<u128>,
    wide_index: FxHashMap<u128, u32>,
    facts: Vec<Facts>,
    /// For each term the number of its support in `supports`.
    support_of: Vec<u32>,
    supports: Vec<Support>,
    support_index: HashTable<u32>,
    unions: FxHashMap<(u32, u32), u32>,
    tables: Vec<Table>,
    table_index: FxHashMap<Table, u32>,
    pub(crate) rules: RuleCounts,
    /// False and true, once they are there.
    pub(crate) truths: [Option<Term>; 2],
    /// Low bits of sums and products that were worked out before, by term and width.
    pub(crate) low_bits: FxHashMap<(Term, u8), Term>,
    /// How deep the constructors are in pushing low bits into sums.
    pub(crate) depth: u16,
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Pool {
        Pool::default()
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no term yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The term with this [index](Term::index).
    ///
    /// # Panics
    /// If there is none.
    pub fn at(&self, index: usize) -> Term {
        assert!(index < self.len(), "a term's index is below the number of terms");
        Term::from_index(index)
    }

    /// The sort of a term.
    pub fn sort(&self, term: Term) -> Sort {
        match self.nodes[term.index()].sort {
            0 => Sort::Bool,
            width => Sort::Bits(width),
        }
    }

    /// The width of a bit vector; 1 for a Bool.
    pub fn width(&self, term: Term) -> u8 {
        self.nodes[term.index()].sort.max(1)
    }

    /// Whether the term is a truth value.
    pub fn is_bool(&self, term: Term) -> bool {
        self.nodes[term.index()].sort == 0
    }

    /// The kind of a term: its operator without its operands.
    pub fn kind(&self, term: Term) -> Kind {
        self.nodes[term.index()].kind
    }

    /// The operator of a term, with its operands.
    pub fn op(&self, term: Term) -> Op {
        let node = self.nodes[term.index()];
        let [a, b, c] = node.words;
        let term = |word: u32| Term::from_index(word as usize);
        let (x, y) = (|| term(a), || term(b));
        match node.kind {
            Kind::Const if node.sort > 64 => Op::Const(self.wide[a as usize]),
            Kind::Const => Op::Const(u128::from(a) | u128::from(b) << 32),
            Kind::Byte => Op::Byte(InputByte::new(a as u16, b)),
            Kind::Not => Op::Not(x()),
            Kind::Neg => Op::Neg(x()),
            Kind::And => Op::And(x(), y()),
            Kind::Or => Op::Or(x(), y()),
            Kind::Xor => Op::Xor(x(), y()),
            Kind::Add => Op::Add(x(), y()),
            Kind::Sub => Op::Sub(x(), y()),
            Kind::Mul => Op::Mul(x(), y()),
            Kind::UDiv => Op::UDiv(x(), y()),
            Kind::URem => Op::URem(x(), y()),
            Kind::SDiv => Op::SDiv(x(), y()),
            Kind::SRem => Op::SRem(x(), y()),
            Kind::Shl => Op::Shl(x(), y()),
            Kind::LShr => Op::LShr(x(), y()),
            Kind::AShr => Op::AShr(x(), y()),
            Kind::Concat => Op::Concat(x(), y()),
            Kind::Extract => Op::Extract { lo: node.lo, arg: x() },
            Kind::ZeroExtend => Op::ZeroExtend(x()),
            Kind::SignExtend => Op::SignExtend(x()),
            Kind::Ite => Op::Ite(x(), y(), term(c)),
            Kind::Table => Op::Table(TableId(b), x()),
            Kind::Eq => Op::Eq(x(), y()),
            Kind::Ult => Op::Ult(x(), y()),
            Kind::Slt => Op::Slt(x(), y()),
        }
    }

    /// The operands of a term, in order: those of its operator, found sooner.
    #[inline]
    pub fn operands(&self, term: Term) -> Operands {
        let Packed { kind, words, .. } = self.nodes[term.index()];
        Operands::first(kind.arity(), words)
    }

    /// The lowest bit that an extract takes; 0 for other terms.
    pub(crate) fn lowest_bit(&self, term: Term) -> u8 {
        self.nodes[term.index()].lo
    }

    /// The table that a table read is from.
    pub(crate) fn table_of(&self, term: Term) -> Option<&Table> {
        let Packed { kind, words, .. } = self.nodes[term.index()];
        (kind == Kind::Table).then(|| &self.tables[words[1] as usize])
    }

    /// The value of a constant term.
    #[inline]
    pub fn as_const(&self, term: Term) -> Option<u128> {
        let Packed { kind, sort, words: [a, b, _], .. } = self.nodes[term.index()];
        match kind {
            Kind::Const if sort > 64 => Some(self.wide[a as usize]),
            Kind::Const => Some(u128::from(a) | u128::from(b) << 32),
            _ => None,
        }
    }

    /// The input bytes that a term depends on.
    pub fn support(&self, term: Term) -> &Support {
        &self.supports[self.support_of[term.index()] as usize]
    }

    /// What is known of every value of a term.
    pub fn facts(&self, term: Term) -> Facts {
        self.facts[term.index()]
    }

    /// The table behind a handle.
    pub fn table_data(&self, table: TableId) -> &Table {
        &self.tables[table.0 as usize]
    }

    /// Registers a constant table with entries of `width` bits, 1 to 64.
    ///
    /// # Panics
    /// If the width is not 1 to 64, or an entry does not fit it.
    pub fn add_table(&mut self, width: u8, entries: impl Into<Box<[u64]>>) -> TableId {
        let table = Table { width, entries: entries.into() };
        assert!((1..=64).contains(&width), "a table's entries have 1 to 64 bits");
        let limit = crate::term::mask(width);
        assert!(table.entries.iter().all(|&e| u128::from(e) <= limit), "an entry is too wide");
        if let Some(&id) = self.table_index.get(&table) {
            return TableId(id);
        }
        let id = self.tables.len() as u32;
        self.tables.push(table.clone());
        self.table_index.insert(table, id);
        TableId(id)
    }

    /// How often each rewrite rule was applied in this pool.
    pub fn rule_counts(&self) -> &RuleCounts {
        &self.rules
    }

    /// The terms that `roots` consist of, operands before users, each once.
    pub fn reachable(&self, roots: &[Term]) -> Vec<Term> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<Term> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(term) = stack.pop() {
            if seen.insert(term) {
                found.push(term);
                stack.extend(self.operands(term));
            }
        }
        // Operands have smaller handles than their users.
        found.sort_unstable();
        found
    }

    /// Makes the term, or finds it. The caller has brought it to normal form.
    pub(crate) fn intern(&mut self, sort: Sort, op: Op) -> Term {
        let node = self.pack(sort, op);
        let hash = Hasher::default().hash_one(node);
        if let Some(&found) = self.index.find(hash, |&i| self.nodes[i as usize] == node) {
            return Term::from_index(found as usize);
        }
        let facts = Facts::of(self, sort, op);
        if facts.min == facts.max && !matches!(op, Op::Const(_)) {
            self.rules.add(Rule::Known);
            return self.intern(sort, Op::Const(facts.min));
        }
        let term = Term::from_index(self.nodes.len());
        let support = self.support_id_of(op);
        self.nodes.push(node);
        self.support_of.push(support);
        self.facts.push(facts);
        let nodes = &self.nodes;
        self.index.insert_unique(hash, term.index() as u32, |&i| {
            Hasher::default().hash_one(nodes[i as usize])
        });
        term
    }

    fn pack(&mut self, sort: Sort, op: Op) -> Packed {
        let sort = match sort {
            Sort::Bool => 0,
            Sort::Bits(width) => {
                debug_assert!((1..=crate::term::MAX_WIDTH).contains(&width));
                width
            }
        };
        let word = |t: Term| t.index() as u32;
        let unary = |kind, a| Packed { kind, sort, lo: 0, words: [word(a), 0, 0] };
        let binary = |kind, a, b| Packed { kind, sort, lo: 0, words: [word(a), word(b), 0] };
        match op {
            Op::Const(value) if sort <= 64 => Packed {
                kind: Kind::Const,
                sort,
                lo: 0,
                words: [value as u32, (value >> 32) as u32, 0],
            },
            Op::Const(value) => {
                let next = self.wide.len() as u32;
                let id = *self.wide_index.entry(value).or_insert(next);
                if id == next {
                    self.wide.push(value);
                }
                Packed { kind: Kind::Const, sort, lo: 0, words: [id, 0, 0] }
            }
            Op::Byte(byte) => Packed {
                kind: Kind::Byte,
                sort,
                lo: 0,
                words: [u32::from(byte.source), byte.offset, 0],
            },
            Op::Not(a) => unary(Kind::Not, a),
            Op::Neg(a) => unary(Kind::Neg, a),
            Op::And(a, b) => binary(Kind::And, a, b),
            Op::Or(a, b) => binary(Kind::Or, a, b),
            Op::Xor(a, b) => binary(Kind::Xor, a, b),
            Op::Add(a, b) => binary(Kind::Add, a, b),
            Op::Sub(a, b) => binary(Kind::Sub, a, b),
            Op::Mul(a, b) => binary(Kind::Mul, a, b),
            Op::UDiv(a, b) => binary(Kind::UDiv, a, b),
            Op::URem(a, b) => binary(Kind::URem, a, b),
            Op::SDiv(a, b) => binary(Kind::SDiv, a, b),
            Op::SRem(a, b) => binary(Kind::SRem, a, b),
            Op::Shl(a, b) => binary(Kind::Shl, a, b),
            Op::LShr(a, b) => binary(Kind::LShr, a, b),
            Op::AShr(a, b) => binary(Kind::AShr, a, b),
            Op::Concat(a, b) => binary(Kind::Concat, a, b),
            Op::Extract { lo, arg } => Packed { lo, ..unary(Kind::Extract, arg) },
            Op::ZeroExtend(a) => unary(Kind::ZeroExtend, a),
            Op::SignExtend(a) => unary(Kind::SignExtend, a),
            Op::Ite(a, b, c) => {
                Packed { kind: Kind::Ite, sort, lo: 0, words: [word(a), word(b), word(c)] }
            }
            Op::Table(table, a) => {
                Packed { kind: Kind::Table, sort, lo: 0, words: [word(a), table.0, 0] }
            }
            Op::Eq(a, b) => binary(Kind::Eq, a, b),
            Op::Ult(a, b) => binary(Kind::Ult, a, b),
            Op::Slt(a, b) => binary(Kind::Slt, a, b),
        }
    }

    fn support_id_of(&mut self, op: Op) -> u32 {
        match op {
            Op::Const(_) => self.support_id(Support::default()),
            Op::Byte(byte) => self.support_id(Support::of(byte)),
            _ => {
                let mut operands = op.operands().map(Term::index);
                let first = operands.next().expect("an operator has operands");
                let mut id = self.support_of[first];
                let rest: [Option<usize>; 2] = [operands.next(), operands.next()];
                for other in rest.into_iter().flatten() {
                    id = self.union_id(id, self.support_of[other]);
                }
                id
            }
        }
    }

    fn union_id(&mut self, a: u32, b: u32) -> u32 {
        if a == b || self.supports[b as usize].is_empty() {
            return a;
        }
        if self.supports[a as usize].is_empty() {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&id) = self.unions.get(&key) {
            return id;
        }
        let union = self.supports[a as usize].union(&self.supports[b as usize]);
        let id = self.support_id(union);
        self.unions.insert(key, id);
        id
    }

    fn support_id(&mut self, support: Support) -> u32 {
        let hash = Hasher::default().hash_one(&support);
        if let Some(&id) = self.support_index.find(hash, |&i| self.supports[i as usize] == support)
        {
            return id;
        }
        let id = self.supports.len() as u32;
        self.supports.push(support);
        let supports = &self.supports;
        self.support_index
            .insert_unique(hash, id, |&i| Hasher::default().hash_one(&supports[i as usize]));
        id
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} terms)", self.len())
    }
}
