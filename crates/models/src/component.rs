//! One component of a condition: bytes that its literals connect, with what is known of them.
//!
//! A component never changes; a condition replaces it. It is built from persistent collections, so
//! that the component with one more literal costs little, however large it is. Unary literals are
//! summed up in the bytes' domains, of which none is empty. A component of one byte has no other
//! literals.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use smallvec::SmallVec;
use stunt_terms::{InputByte, Pool, Support, Term};

use crate::byteset::ByteSet;
use crate::space::Problem;

/// Bytes that are connected by literals, directly or through other bytes.
#[derive(Clone)]
pub struct Component {
    shape: Shape,
    unary: Vector<Term>,
    fingerprint: u128,
}

/// A single byte needs no collections, and most components are single bytes.
#[derive(Clone)]
enum Shape {
    One(InputByte, ByteSet),
    Many(Many),
}

#[derive(Clone)]
struct Many {
    support: Arc<Support>,
    domains: OrdMap<InputByte, ByteSet>,
    literals: OrdSet<Term>,
}

/// A component's bytes, domains and literals in plain vectors.
#[derive(Clone)]
pub struct OwnedProblem {
    /// The bytes, in order.
    pub bytes: Vec<InputByte>,
    /// For each byte the values that its unary literals allow.
    pub domains: Vec<ByteSet>,
    /// The literals over several bytes.
    pub literals: Vec<Term>,
}

impl OwnedProblem {
    /// The problem, for the stages.
    pub fn view<'a>(&'a self, pool: &'a Pool) -> Problem<'a> {
        Problem { pool, bytes: &self.bytes, domains: &self.domains, literals: &self.literals }
    }
}

impl Component {
    /// A byte with a domain, and the literal that it comes from.
    pub(crate) fn one(byte: InputByte, domain: ByteSet, literal: Term) -> Component {
        Component {
            shape: Shape::One(byte, domain),
            unary: Vector::unit(literal),
            fingerprint: domain_print(byte, domain),
        }
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        match &self.shape {
            Shape::One(..) => 1,
            Shape::Many(many) => many.domains.len(),
        }
    }

    /// Never: a component has a byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The byte and its domain, if it is only one.
    pub fn single(&self) -> Option<(InputByte, ByteSet)> {
        match self.shape {
            Shape::One(byte, domain) => Some((byte, domain)),
            Shape::Many(_) => None,
        }
    }

    /// The bytes with their domains, in order.
    pub fn domains(&self) -> impl Iterator<Item = (InputByte, ByteSet)> + '_ {
        let (one, many) = match &self.shape {
            Shape::One(byte, domain) => (Some((*byte, *domain)), None),
            Shape::Many(many) => (None, Some(many)),
        };
        let many = many.into_iter().flat_map(|many| many.domains.iter().map(|(&b, &d)| (b, d)));
        one.into_iter().chain(many)
    }

    /// The bytes, in order.
    pub fn bytes(&self) -> impl Iterator<Item = InputByte> + '_ {
        self.domains().map(|(byte, _)| byte)
    }

    /// The domain of a byte, if the byte is in this component.
    pub fn domain(&self, byte: InputByte) -> Option<ByteSet> {
        match &self.shape {
            Shape::One(own, domain) => (*own == byte).then_some(*domain),
            Shape::Many(many) => many.domains.get(&byte).copied(),
        }
    }

    /// Whether the byte is in this component.
    pub fn contains(&self, byte: InputByte) -> bool {
        self.domain(byte).is_some()
    }

    /// The literals over several bytes, in the order of their handles.
    pub fn literals(&self) -> impl Iterator<Item = Term> + '_ {
        let many = match &self.shape {
            Shape::One(..) => None,
            Shape::Many(many) => Some(many),
        };
        many.into_iter().flat_map(|many| many.literals.iter().copied())
    }

    /// How many literals over several bytes there are.
    pub fn literal_count(&self) -> usize {
        match &self.shape {
            Shape::One(..) => 0,
            Shape::Many(many) => many.literals.len(),
        }
    }

    /// How many bytes and literals it has: what it takes to keep it.
    pub fn size(&self) -> usize {
        self.len() + self.literal_count() + self.unary.len()
    }

    /// The literals over one byte that shaped the domains.
    pub fn unary_literals(&self) -> impl Iterator<Item = Term> + '_ {
        self.unary.iter().copied()
    }

    /// All literals: those over one byte first.
    pub fn all_literals(&self) -> impl Iterator<Item = Term> + '_ {
        self.unary_literals().chain(self.literals())
    }

    /// Whether the literal over several bytes is part of this component.
    pub fn has_literal(&self, literal: Term) -> bool {
        match &self.shape {
            Shape::One(..) => false,
            Shape::Many(many) => many.literals.contains(&literal),
        }
    }

    /// A number that equal problems share, and different ones practically never.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Whether the two have the same bytes, domains and literals over several bytes, and so the
    /// same solutions.
    pub fn same_problem(&self, other: &Component) -> bool {
        self.fingerprint == other.fingerprint
            && match (&self.shape, &other.shape) {
                (Shape::One(a, x), Shape::One(b, y)) => (a, x) == (b, y),
                (Shape::Many(a), Shape::Many(b)) => {
                    a.literals == b.literals && a.domains == b.domains
                }
                (Shape::One(..), Shape::Many(_)) | (Shape::Many(_), Shape::One(..)) => false,
            }
    }

    /// The component in plain vectors, for the stages.
    pub fn as_problem(&self) -> OwnedProblem {
        let (bytes, domains) = self.domains().unzip();
        OwnedProblem { bytes, domains, literals: self.literals().collect() }
    }

    /// Whether all bytes of the set are in this component.
    pub(crate) fn covers(&self, support: &Support) -> bool {
        match &self.shape {
            Shape::One(byte, _) => support.single() == Some(*byte),
            Shape::Many(many) => {
                let own = many.support.runs();
                support.runs().iter().all(|run| {
                    let after =
                        own.partition_point(|r| (r.source, r.start) <= (run.source, run.start));
                    after > 0 && {
                        let found = own[after - 1];
                        found.source == run.source && run.end <= found.end
                    }
                })
            }
        }
    }

    /// The component with a smaller domain for one of its bytes.
    pub(crate) fn narrowed(&self, byte: InputByte, domain: ByteSet, literal: Term) -> Component {
        let mut new = self.clone();
        let old = self.domain(byte).expect("the byte is in the component");
        new.unary.push_back(literal);
        let change = domain_print(byte, domain).wrapping_sub(domain_print(byte, old));
        new.fingerprint = new.fingerprint.wrapping_add(change);
        match &mut new.shape {
            Shape::One(_, own) => *own = domain,
            Shape::Many(many) => {
                many.domains.insert(byte, domain);
            }
        }
        new
    }

    /// The component that a literal over several bytes makes of the components that it touches
    /// (largest first) and of bytes that were free so far.
    pub(crate) fn joined(
        parts: &[Arc<Component>],
        free: &[InputByte],
        support: &Support,
        literal: Term,
    ) -> Component {
        let mut parts = parts.iter();
        let (mut many, mut unary, mut fingerprint) = match parts.next() {
            None => (Many::empty(), Vector::new(), 0),
            Some(largest) => (largest.to_many(), largest.unary.clone(), largest.fingerprint),
        };
        let mut whole: Option<Support> = None;
        for part in parts {
            for (byte, domain) in part.domains() {
                many.domains.insert(byte, domain);
            }
            for literal in part.literals() {
                many.literals.insert(literal);
            }
            unary.append(part.unary.clone());
            fingerprint = fingerprint.wrapping_add(part.fingerprint);
            let so_far = whole.as_ref().unwrap_or(&many.support);
            whole = Some(match &part.shape {
                Shape::One(byte, _) => so_far.union(&Support::of(*byte)),
                Shape::Many(part) => so_far.union(&part.support),
            });
        }
        for &byte in free {
            many.domains.insert(byte, ByteSet::ALL);
            fingerprint = fingerprint.wrapping_add(domain_print(byte, ByteSet::ALL));
        }
        if whole.is_some() || !free.is_empty() {
            let whole = whole.as_ref().unwrap_or(&many.support).union(support);
            many.support = Arc::new(whole);
        }
        if many.literals.insert(literal).is_none() {
            fingerprint = fingerprint.wrapping_add(literal_print(literal));
        }
        Component { shape: Shape::Many(many), unary, fingerprint }
    }

    fn to_many(&self) -> Many {
        match &self.shape {
            Shape::One(byte, domain) => Many {
                support: Arc::new(Support::of(*byte)),
                domains: OrdMap::unit(*byte, *domain),
                literals: OrdSet::new(),
            },
            Shape::Many(many) => many.clone(),
        }
    }
}

impl Many {
    fn empty() -> Many {
        Many {
            support: Arc::new(Support::default()),
            domains: OrdMap::new(),
            literals: OrdSet::new(),
        }
    }
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Component({} bytes, {} literals)", self.len(), self.literal_count())
    }
}

/// Components that a push took away and brought.
pub(crate) type Few = SmallVec<[Arc<Component>; 2]>;

fn domain_print(byte: InputByte, domain: ByteSet) -> u128 {
    let place = u64::from(byte.source) << 32 | u64::from(byte.offset);
    let [a, b, c, d] = domain.words();
    print(&[1, place, a, b, c, d])
}

fn literal_print(literal: Term) -> u128 {
    print(&[2, literal.index() as u64])
}

/// A hash of 128 bits. Prints are added up, so they must look random.
fn print(words: &[u64]) -> u128 {
    const ODD: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
    let mut state = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834_u128;
    for &word in words {
        state = (state ^ u128::from(word)).wrapping_mul(ODD);
        state ^= state >> 67;
    }
    state = state.wrapping_mul(ODD);
    state ^ state >> 61
}
