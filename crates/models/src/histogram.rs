//! Histograms of values, for terms in which every byte is read once.
//!
//! A checksum is a sum of many bytes, compared with a number that other bytes spell. How many
//! assignments give which sum is a histogram, and histograms of terms that share no byte combine
//! without looking at assignments. The stage declines where histograms grow too large: it is for
//! sums and digits, not for values that keep all information of many bytes.

use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use rand::RngCore;
use rustc_hash::FxHashMap;
use stunt_terms::{Op, Term};

use crate::budget::Budget;
use crate::byteset::ByteSet;
use crate::code::Code;
use crate::space::{Problem, Space};

mod hist;
mod index;
mod sum;
mod tree;
mod vertex;

use hist::Hist;
use tree::{Parts, Shape, Shapes};
use vertex::{Order, Rule, Vertex};

/// The most tuples of a function's parts.
const MOST_TUPLES: u64 = 1 << 20;
/// Relations between so few values need no rule of their own.
const FEW_PAIRS: u64 = 4096;
/// The most 64-bit words of all histograms together, for each value that one may have.
const WORDS_PER_ENTRY: usize = 24;

/// The solutions by histograms; `None` if the literals are not made of small independent parts.
pub fn solve(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    if problem.literals.is_empty() {
        return None;
    }
    let builder = Builder::new(problem, budget);
    let tree = builder.build()?;
    Some(Arc::new(tree))
}

struct Builder<'a, 'p> {
    problem: &'a Problem<'p>,
    budget: &'a Budget,
    limbs: usize,
    shapes: Shapes<'a, 'p>,
    vertices: Vec<Vertex>,
    vertex_of: FxHashMap<Term, usize>,
    additions: u64,
    words: usize,
}

impl<'a, 'p> Builder<'a, 'p> {
    fn new(problem: &'a Problem<'p>, budget: &'a Budget) -> Builder<'a, 'p> {
        let cases: BigUint = problem.domains.iter().map(|d| BigUint::from(d.len())).product();
        Builder {
            problem,
            budget,
            limbs: cases.bits() as usize / 64 + 1,
            shapes: Shapes::new(problem, budget),
            vertices: Vec::new(),
            vertex_of: FxHashMap::default(),
            additions: 0,
            words: 0,
        }
    }

    fn build(mut self) -> Option<Tree> {
        // Several literals together are one function of their common parts.
        let (parts, single) = match self.problem.literals {
            [only] => (Parts { terms: vec![*only], low_bits: Vec::new() }, true),
            all => (self.shapes.parts(all.iter().copied())?, false),
        };
        let mut stack: Vec<(Term, Option<Shape>)> =
            parts.terms.iter().map(|&part| (part, None)).collect();
        while let Some((term, shape)) = stack.pop() {
            match shape {
                _ if self.vertex_of.contains_key(&term) => {}
                None => {
                    let shape = self.shapes.shape(term)?;
                    let parts = shape.parts();
                    stack.push((term, Some(shape)));
                    stack.extend(parts.into_iter().map(|part| (part, None)));
                }
                Some(shape) => {
                    let vertex = self.vertex(term, &shape)?;
                    self.vertex_of.insert(term, self.vertices.len());
                    self.vertices.push(vertex);
                }
            }
        }
        if !single {
            let root = self.function(self.problem.literals, &parts)?;
            self.vertices.push(root);
        }
        let mut place_of = vec![None; self.problem.bytes.len()];
        for (at, vertex) in self.vertices.iter().enumerate() {
            if let Rule::Byte(position) = vertex.rule {
                place_of[position] = Some(at);
            }
        }
        // A byte that no literal looks at has no vertex: then this is not a component.
        let place_of: Option<Vec<usize>> = place_of.into_iter().collect();
        let root = self.vertices.last()?;
        let truth = root.hist.find(1);
        let count = truth.map_or(BigUint::ZERO, |truth| root.hist.counts.big(truth));
        let vertices = self.vertices;
        Some(Tree { vertices, place_of: place_of?, truth, count, marginals: OnceLock::new() })
    }

    /// The vertex of a term whose parts have theirs.
    fn vertex(&mut self, term: Term, shape: &Shape) -> Option<Vertex> {
        match shape {
            Shape::Byte(position) => {
                let domain: &ByteSet = &self.problem.domains[*position];
                let values = domain.iter().map(u128::from).collect();
                let mut hist = Hist::over(8, self.limbs, values);
                for value in domain.iter() {
                    let at = hist.find(value.into()).expect("the value was given");
                    hist.increment(at);
                }
                Some(Vertex { rule: Rule::Byte(*position), hist })
            }
            Shape::Sum(parts, constant) => self.sum(term, parts, *constant),
            Shape::Equal(a, b) | Shape::Less(a, b, _) => {
                let sizes = [a, b].map(|part| self.hist(*part).len() as u64);
                if sizes[0] * sizes[1] <= FEW_PAIRS.min(self.budget.cases) {
                    let parts = Parts { terms: vec![*a, *b], low_bits: Vec::new() };
                    return self.function(&[term], &parts);
                }
                self.additions += sizes[0] + sizes[1];
                let (left, right) = (self.vertex_of[a], self.vertex_of[b]);
                let rule = match shape {
                    Shape::Less(_, _, true) => {
                        Rule::Less(left, right, Order::Signed(self.problem.pool.width(*a)))
                    }
                    Shape::Less(_, _, false) => Rule::Less(left, right, Order::Unsigned),
                    _ => Rule::Equal(left, right),
                };
                let yes = vertex::relation_count(&rule, &self.vertices, self.limbs)?;
                let all = hist::big(&self.hist(*a).total()) * hist::big(&self.hist(*b).total());
                let hist = vertex::truth(self.limbs, &yes, &all.to_u64_digits());
                Some(Vertex { rule, hist })
            }
            Shape::Function(parts) => self.function(&[term], parts),
        }
    }

    fn hist(&self, term: Term) -> &Hist {
        &self.vertices[self.vertex_of[&term]].hist
    }

    /// Notes work and memory; `None` if there is too much.
    fn spend(&mut self, additions: u64, entries: usize) -> Option<()> {
        self.additions = self.additions.saturating_add(additions);
        self.words = self.words.saturating_add(entries.saturating_mul(self.limbs));
        let fits = self.additions <= self.budget.additions
            && entries <= self.budget.entries
            && self.words <= self.budget.entries.saturating_mul(WORDS_PER_ENTRY);
        fits.then_some(())
    }

    fn sum(&mut self, term: Term, parts: &[(Term, bool)], constant: u128) -> Option<Vertex> {
        let width = self.problem.pool.width(term);
        let mut start = Hist::over(width, self.limbs, vec![constant & stunt_terms::mask(width)]);
        start.increment(0);
        let mut before = vec![start];
        for &(part, minus) in parts {
            let part = vertex::signed(self.hist(part), minus);
            let so_far = before.last().expect("the constant comes first");
            let (cost, len) = so_far.sum_cost(&part);
            self.spend(cost, len)?;
            let next = before[before.len() - 1].sum(&part);
            before.push(next);
        }
        let hist = before.pop().expect("a sum has parts");
        let rule = Rule::Sum {
            parts: parts.iter().map(|(part, _)| self.vertex_of[part]).collect(),
            negated: parts.iter().map(|&(_, minus)| minus).collect(),
            before,
        };
        Some(Vertex { rule, hist })
    }

    /// The conjunction of `terms` (or the one term) as a function of parts, tuple by tuple.
    fn function(&mut self, terms: &[Term], parts: &Parts) -> Option<Vertex> {
        let pool = self.problem.pool;
        let places: Vec<usize> = parts.terms.iter().map(|part| self.vertex_of[part]).collect();
        let sizes = places.iter().map(|&part| self.vertices[part].hist.len() as u64);
        let tuples = sizes.fold(1, u64::saturating_mul);
        if tuples > MOST_TUPLES {
            return None;
        }
        let work = pool_size(self.problem, terms, &parts.terms);
        self.spend(tuples.saturating_mul(work), 0)?;
        let code = Code::compile_with(pool, terms, &parts.terms, &parts.low_bits)?;
        let mut registers = code.registers();
        let mut results = Vec::with_capacity(tuples as usize);
        vertex::tuples(&self.vertices, &places, |tuple| {
            for (at, (&part, &place)) in places.iter().zip(tuple).enumerate() {
                registers[at] = self.vertices[part].hist.value(place);
            }
            code.run(&mut registers);
            results.push(match terms {
                [_] => code.output(&registers, 0),
                all => u128::from((0..all.len()).all(|at| code.output(&registers, at) == 1)),
            });
        });
        let mut values = results.clone();
        values.sort_unstable();
        values.dedup();
        let width = if terms.len() == 1 { pool.width(terms[0]) } else { 1 };
        let mut hist = Hist::over(width, self.limbs, values);
        self.spend(tuples, hist.len())?;
        let find = |value: &u128| hist.find(*value).expect("every result is a value") as u32;
        let results: Vec<u32> = results.iter().map(find).collect();
        let part = |at: usize| &self.vertices[places[at]].hist.counts;
        let mut next = results.iter();
        vertex::tuples(&self.vertices, &places, |tuple| {
            let result = *next.next().expect("a result for every tuple") as usize;
            match tuple {
                [x] => hist.counts.add_product(result, part(0).get(*x), &[1]),
                [x, y] => hist.counts.add_product(result, part(0).get(*x), part(1).get(*y)),
                more => {
                    let counts = more.iter().enumerate().map(|(at, &place)| part(at).big(place));
                    let ways: BigUint = counts.product();
                    hist.counts.add_product(result, &ways.to_u64_digits(), &[1]);
                }
            }
        });
        let index = OnceLock::new();
        Some(Vertex { rule: Rule::Function { parts: places, results, index }, hist })
    }
}

/// How many operators lie between terms and parts, at least 1.
fn pool_size(problem: &Problem<'_>, terms: &[Term], parts: &[Term]) -> u64 {
    let mut seen: rustc_hash::FxHashSet<Term> = parts.iter().copied().collect();
    let mut stack = terms.to_vec();
    let mut size = 1;
    while let Some(term) = stack.pop() {
        if seen.insert(term) && !matches!(problem.pool.op(term), Op::Const(_)) {
            size += 1;
            stack.extend(problem.pool.op(term).operands());
        }
    }
    size
}

/// The solutions: assignments for which the last vertex is true.
struct Tree {
    vertices: Vec<Vertex>,
    /// For each byte its vertex.
    place_of: Vec<usize>,
    /// The place of the truth value true in the last vertex's histogram.
    truth: Option<usize>,
    count: BigUint,
    marginals: OnceLock<Vec<Vec<BigUint>>>,
}

impl Tree {
    fn all_marginals(&self) -> Vec<Vec<BigUint>> {
        let mut marginals = vec![vec![BigUint::ZERO; 256]; self.place_of.len()];
        let mut weights: Vec<Vec<BigUint>> = vec![Vec::new(); self.vertices.len()];
        if let (Some(truth), Some(root)) = (self.truth, self.vertices.len().checked_sub(1)) {
            weights[root] = vec![BigUint::ZERO; self.vertices[root].hist.len()];
            weights[root][truth] = BigUint::from(1u8);
        }
        for at in (0..self.vertices.len()).rev() {
            let own = std::mem::take(&mut weights[at]);
            if own.is_empty() {
                continue;
            }
            let vertex = &self.vertices[at];
            if let Rule::Byte(position) = vertex.rule {
                for (place, weight) in own.iter().enumerate() {
                    if !vertex.hist.counts.is_zero(place) {
                        let value = vertex.hist.value(place) as usize;
                        marginals[position][value] = weight.clone();
                    }
                }
            }
            vertex::weigh(&self.vertices, at, &own, |part, given| weights[part] = given);
        }
        marginals
    }
}

impl Space for Tree {
    fn stage(&self) -> &'static str {
        "histogram"
    }

    fn count(&self) -> &BigUint {
        &self.count
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        let truth = self.truth.expect("there is a solution");
        let mut pending = vec![(self.vertices.len() - 1, truth)];
        while let Some((at, place)) = pending.pop() {
            if let Rule::Byte(position) = self.vertices[at].rule {
                out[position] = self.vertices[at].hist.value(place) as u8;
            }
            vertex::draw(&self.vertices, at, place, rng, |part, place| pending.push((part, place)));
        }
    }

    fn work(&self) -> usize {
        self.vertices.iter().map(|vertex| vertex::work(&self.vertices, &vertex.rule)).sum()
    }

    fn marginal(&self, position: usize) -> Vec<BigUint> {
        self.marginals.get_or_init(|| self.all_marginals())[position].clone()
    }
}
