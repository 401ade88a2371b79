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
use crate::index::Index;
use crate::memo::Memo;
use crate::operator::Kind;
use crate::rewrite::{Accepted, Ask, Interval, Rule, RuleCounts};
use crate::support::Support;
use crate::term::{InputByte, Op, Operands, Sort, Table, TableId, Term};

/// A term as stored: operator, sort and operands in 16 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
struct Packed {
    kind: Kind,
    /// 0 for Bool, else the width.
    sort: u8,
    /// The lowest bit of an extract.
    lo: u8,
    /// Always zero: so that all of it is two words without gaps.
    gap: u8,
    /// Operands; a constant of at most 64 bits, or the number of a wider one in `Pool::wide`.
    words: [u32; 3],
}

/// Memory that a table was made from, and how.
struct Image {
    width: u8,
    shift: u8,
    bytes: Box<[u8]>,
}

impl Packed {
    /// All of it, in two words.
    #[inline(always)]
    fn words(self) -> (u64, u64) {
        let Packed { kind, sort, lo, gap, words: [a, b, c] } = self;
        let front = u32::from_le_bytes([kind as u8, sort, lo, gap]);
        let head = u64::from(front) | u64::from(a) << 32;
        (head, u64::from(b) | u64::from(c) << 32)
    }

    /// One multiplication, whose halves are folded: every bit counts for every other.
    #[inline(always)]
    fn hash(self) -> u32 {
        let (head, tail) = self.words();
        let product =
            u128::from(head ^ 0x9e37_79b9_7f4a_7c15) * u128::from(tail ^ 0xd6e8_feb8_6659_fd93);
        let folded = product as u64 ^ (product >> 64) as u64;
        (folded ^ folded >> 32) as u32
    }
}

/// The bit of a user with this hash. The index takes the lower bits.
#[inline(always)]
fn user(hash: u32) -> u64 {
    1 << (hash >> 26)
}

type Hasher = BuildHasherDefault<FxHasher>;

/// Owns terms and tables, and builds them.
#[derive(Default)]
pub struct Pool {
    nodes: Vec<Packed>,
    index: Index,
    wide: Vec<u128>,
    wide_index: FxHashMap<u128, u32>,
    /// For each term that is no constant the number of its facts in `facts`.
    facts_of: Vec<u32>,
    facts: Vec<Facts>,
    /// Facts that were met lately, by hash: most terms have those of another.
    met: Vec<u32>,
    /// For each term a few bits of the hashes of the terms whose first operand it is. Most terms that
    /// are asked for are new, and these tell so without a search through all.
    users: Vec<u64>,
    /// For each term the number of its support in `supports`.
    support_of: Vec<u32>,
    supports: Vec<Support>,
    support_index: HashTable<u32>,
    unions: FxHashMap<(u32, u32), u32>,
    tables: Vec<Table>,
    /// What is known of all entries of each table; nothing for large ones.
    table_facts: Vec<Option<Facts>>,
    /// Which indices of a table have entries in an interval.
    pub(crate) accepted: FxHashMap<(TableId, Interval, u128, u8), Accepted>,
    table_index: FxHashMap<Table, u32>,
    /// Tables that were made from memory, by what was there.
    images: HashTable<(Image, TableId)>,
    pub(crate) rules: RuleCounts,
    /// Handles of small constants, by width; zero where there is none yet.
    pub(crate) small: Vec<u32>,
    /// False and true, once they are there.
    pub(crate) truths: [Option<Term>; 2],
    /// Low bits of sums and products that were worked out before, by term and width.
    pub(crate) low_bits: FxHashMap<(Term, u8), Term>,
    /// What constructors answered lately.
    pub(crate) memo: Memo,
    /// How deep the constructors are in pushing low bits into sums.
    pub(crate) depth: u16,
    /// Answers of long walks over tests.
    pub(crate) answers: FxHashMap<Ask, Term>,
    /// How many such walks are under way, one within another.
    pub(crate) walks: u8,
    /// Negations of connectives that were worked out before.
    pub(crate) negations: FxHashMap<Term, Term>,
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
    #[inline]
    pub fn sort(&self, term: Term) -> Sort {
        match self.nodes[term.index()].sort {
            0 => Sort::Bool,
            width => Sort::Bits(width),
        }
    }

    /// The width of a bit vector; 1 for a Bool.
    #[inline]
    pub fn width(&self, term: Term) -> u8 {
        self.nodes[term.index()].sort.max(1)
    }

    /// Whether the term is a truth value.
    #[inline]
    pub fn is_bool(&self, term: Term) -> bool {
        self.nodes[term.index()].sort == 0
    }

    /// The kind of a term: its operator without its operands.
    #[inline]
    pub fn kind(&self, term: Term) -> Kind {
        self.nodes[term.index()].kind
    }

    /// The operator of a term, with its operands.
    #[inline]
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
    #[inline]
    pub fn support(&self, term: Term) -> &Support {
        &self.supports[self.support_of[term.index()] as usize]
    }

    /// What is known of every value of a term.
    #[inline]
    pub fn facts(&self, term: Term) -> Facts {
        match self.as_const(term) {
            Some(value) => Facts::constant(self.sort(term), value),
            None => self.facts[self.facts_of[term.index()] as usize],
        }
    }

    /// The table behind a handle.
    pub fn table_data(&self, table: TableId) -> &Table {
        &self.tables[table.0 as usize]
    }

    /// What is known of all entries of a table, if that was worked out.
    pub(crate) fn table_facts(&self, table: TableId) -> Option<Facts> {
        self.table_facts[table.0 as usize]
    }

    /// Registers a constant table with entries of `width` bits, 1 to 64.
    ///
    /// # Panics
    /// If the width is not 1 to 64, or an entry does not fit it.
    pub fn add_table(&mut self, width: u8, entries: impl Into<Box<[u64]>>) -> TableId {
        let table = Table { width, entries: entries.into() };
        assert!((1..=64).contains(&width), "a table's entries have 1 to 64 bits");
        let limit = crate::term::mask(width);
        let bits = table.entries.iter().fold(0, |bits, entry| bits | entry);
        assert!(u128::from(bits) <= limit, "an entry is too wide");
        if let Some(&id) = self.table_index.get(&table) {
            return TableId(id);
        }
        let id = self.tables.len() as u32;
        self.table_facts.push(Facts::of_entries(Sort::Bits(width), &table.entries));
        self.tables.push(table.clone());
        self.table_index.insert(table, id);
        TableId(id)
    }

    /// The table of the numbers of `width` bits that lie in memory `1 << shift` bytes apart, the
    /// lowest byte first. `bytes` is all of it, from the first number to the last.
    ///
    /// # Panics
    /// If the width is not 8, 16, 32 or 64, or there is not even one number.
    pub fn table_of_bytes(&mut self, width: u8, shift: u8, bytes: &[u8]) -> TableId {
        assert!(matches!(width, 8 | 16 | 32 | 64), "a number in memory has whole bytes");
        let hash =
            |width: u8, shift: u8, bytes: &[u8]| Hasher::default().hash_one((width, shift, bytes));
        let key = hash(width, shift, bytes);
        let is = |it: &(Image, TableId)| {
            it.0.width == width && it.0.shift == shift && *it.0.bytes == *bytes
        };
        if let Some(&(_, table)) = self.images.find(key, is) {
            return table;
        }
        let size = usize::from(width / 8);
        let last = bytes.len().checked_sub(size).expect("there is a number");
        let number = |at: usize| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(&bytes[at..at + size]);
            u64::from_le_bytes(word)
        };
        let entries: Vec<u64> = (0..=last >> shift).map(|k| number(k << shift)).collect();
        let table = self.add_table(width, entries);
        let image = Image { width, shift, bytes: bytes.into() };
        self.images
            .insert_unique(key, (image, table), |(it, _)| hash(it.width, it.shift, &it.bytes));
        table
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
    #[inline(always)]
    pub(crate) fn intern(&mut self, sort: Sort, op: Op) -> Term {
        let node = self.pack(sort, op);
        let (hash, words) = (node.hash(), node.words());
        let is = |at: u32| self.nodes[at as usize].words() == words;
        if self.may_exist(node, hash)
            && let Some(found) = self.index.find(hash, is)
        {
            return Term::from_index(found as usize);
        }
        self.make(hash, node, sort, op)
    }

    /// Whether a term can be there: if it is, its first operand knows that.
    #[inline(always)]
    fn may_exist(&self, node: Packed, hash: u32) -> bool {
        node.kind.arity() == 0 || self.users[node.words[0] as usize] & user(hash) != 0
    }

    /// Makes a term that is not there.
    #[inline(never)]
    fn make(&mut self, hash: u32, node: Packed, sort: Sort, op: Op) -> Term {
        let facts = match op {
            Op::Const(_) => 0,
            _ => {
                let facts = Facts::of(self, sort, op);
                if facts.min == facts.max {
                    self.rules.add(Rule::Known);
                    return self.intern(sort, Op::Const(facts.min));
                }
                self.facts_id(facts)
            }
        };
        let term = Term::from_index(self.nodes.len());
        let support = self.support_id_of(op);
        self.nodes.push(node);
        self.support_of.push(support);
        self.facts_of.push(facts);
        self.users.push(0);
        if node.kind.arity() > 0 {
            self.users[node.words[0] as usize] |= user(hash);
        }
        self.index.insert(hash, term.index() as u32);
        term
    }

    /// The number of facts; the same facts may have several.
    fn facts_id(&mut self, facts: Facts) -> u32 {
        const MET: usize = 512;
        if self.met.is_empty() {
            self.met = vec![0; MET];
            self.facts.push(facts);
        }
        let met = &mut self.met[facts.hash() as usize % MET];
        if self.facts[*met as usize] != facts {
            *met = self.facts.len() as u32;
            self.facts.push(facts);
        }
        *met
    }

    #[inline(always)]
    fn pack(&mut self, sort: Sort, op: Op) -> Packed {
        let sort = match sort {
            Sort::Bool => 0,
            Sort::Bits(width) => {
                debug_assert!((1..=crate::term::MAX_WIDTH).contains(&width));
                width
            }
        };
        let word = |t: Term| t.index() as u32;
        let unary = |kind, a| Packed { kind, sort, lo: 0, gap: 0, words: [word(a), 0, 0] };
        let binary =
            |kind, a, b| Packed { kind, sort, lo: 0, gap: 0, words: [word(a), word(b), 0] };
        match op {
            Op::Const(value) if sort <= 64 => Packed {
                kind: Kind::Const,
                sort,
                lo: 0,
                gap: 0,
                words: [value as u32, (value >> 32) as u32, 0],
            },
            Op::Const(value) => {
                let id = self.wide_id(value);
                Packed { kind: Kind::Const, sort, lo: 0, gap: 0, words: [id, 0, 0] }
            }
            Op::Byte(byte) => Packed {
                kind: Kind::Byte,
                sort,
                lo: 0,
                gap: 0,
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
                Packed { kind: Kind::Ite, sort, lo: 0, gap: 0, words: [word(a), word(b), word(c)] }
            }
            Op::Table(table, a) => {
                Packed { kind: Kind::Table, sort, lo: 0, gap: 0, words: [word(a), table.0, 0] }
            }
            Op::Eq(a, b) => binary(Kind::Eq, a, b),
            Op::Ult(a, b) => binary(Kind::Ult, a, b),
            Op::Slt(a, b) => binary(Kind::Slt, a, b),
        }
    }

    /// The number of a constant of more than 64 bits.
    #[inline(never)]
    fn wide_id(&mut self, value: u128) -> u32 {
        let next = self.wide.len() as u32;
        let id = *self.wide_index.entry(value).or_insert(next);
        if id == next {
            self.wide.push(value);
        }
        id
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_are_shared_are_those_of_the_term() {
        let mut pool = Pool::new();
        for offset in 0..400 {
            let byte = pool.byte(InputByte::new(0, offset));
            let wide = pool.zero_extend(64, byte);
            let more = pool.constant(64, u128::from(offset) * 77);
            let sum = pool.add(wide, more);
            let masked = pool.and(sum, more);
            pool.ult(masked, wide);
        }
        for term in (0..pool.len()).map(|index| pool.at(index)) {
            let worked_out = Facts::of(&pool, pool.sort(term), pool.op(term));
            assert_eq!(pool.facts(term), worked_out, "{term:?}");
        }
        assert!(pool.facts.len() < pool.len(), "most facts are shared");
    }

    #[test]
    fn tables_of_bytes_are_tables_of_their_numbers() {
        let mut pool = Pool::new();
        let bytes: Vec<u8> = (0..64u32).map(|k| (k * k % 251) as u8).collect();
        for (width, shift) in [(8, 0), (16, 1), (16, 0), (32, 2), (32, 4), (64, 3)] {
            let size = usize::from(width / 8);
            let numbers: Vec<u64> = (0..=(bytes.len() - size) >> shift)
                .map(|k| {
                    let number = &bytes[k << shift..][..size];
                    number.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))
                })
                .collect();
            let table = pool.table_of_bytes(width, shift, &bytes);
            assert_eq!(table, pool.add_table(width, numbers), "{width}, {shift}");
            assert_eq!(table, pool.table_of_bytes(width, shift, &bytes));
        }
        let other = pool.table_of_bytes(8, 0, &bytes[1..]);
        assert_ne!(other, pool.table_of_bytes(8, 0, &bytes));
    }

    #[test]
    fn remembered_answers_are_those_that_would_be_worked_out() {
        // The same questions in another order, so that other answers are remembered on the way.
        let ask = |pool: &mut Pool, offset: u32, ask: u32| {
            let byte = pool.byte(InputByte::new(0, offset));
            let wide = pool.zero_extend(32, byte);
            let constant = pool.constant(32, u128::from(ask) * 3);
            let sum = pool.add(wide, constant);
            let cut = pool.extract(7, 0, sum);
            let below = pool.ult(sum, constant);
            let same = pool.eq(cut, byte);
            let either = pool.or(below, same);
            pool.not(either)
        };
        let mut pool = Pool::new();
        let questions = || (0..60).flat_map(|offset| (0..60).map(move |k| (offset, k)));
        let first: Vec<Term> = questions().map(|(offset, k)| ask(&mut pool, offset, k)).collect();
        let count = pool.len();
        let again: Vec<Term> = questions().map(|(offset, k)| ask(&mut pool, offset, k)).collect();
        assert_eq!(first, again);
        assert_eq!(pool.len(), count, "nothing new is made");
    }
}
