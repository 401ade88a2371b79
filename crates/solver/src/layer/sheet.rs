//! The terms of a part on one sheet, each at a place, so that values can be worked out in one go.
//!
//! First come the part's bytes in their order, then constants, then operators, operands before
//! their users. Every term that the part's literals consist of is on the sheet once, and a value is
//! as wide as its term. What an operator means is for `stunt_terms` to say; this file does not know
//! what values are tried, or why.

use stunt_terms::{InputByte, Kind, Op, Operator, Pool, Table, Term};

use super::{Part, Values};

/// Where a term is on its sheet.
pub(crate) type Place = u32;

/// An operator with the places of its operands; those that it does not have are 0.
#[derive(Clone, Copy)]
struct Step<'p> {
    operator: Operator<'p>,
    operands: [Place; 3],
}

/// Which terms were met, kept from sheet to sheet. Belongs to one pool.
#[derive(Default)]
pub(crate) struct Marks {
    /// For each term of the pool the round in which it was met last, and its place then.
    met: Vec<(u32, Place)>,
    round: u32,
    stack: Vec<Term>,
    found: Vec<Term>,
}

impl Marks {
    /// Puts the terms that `roots` consist of into `found`, operands before users.
    fn find(&mut self, pool: &Pool, roots: &[Term]) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.met.clear();
            1
        });
        if self.met.len() < pool.len() {
            self.met.resize(pool.len(), (0, 0));
        }
        self.found.clear();
        self.stack.extend_from_slice(roots);
        while let Some(term) = self.stack.pop() {
            let (round, _) = &mut self.met[term.index()];
            if *round != self.round {
                *round = self.round;
                self.found.push(term);
                self.stack.extend(pool.operands(term));
            }
        }
        // Operands have smaller handles than their users.
        self.found.sort_unstable();
    }

    fn put(&mut self, term: Term, place: Place) {
        self.met[term.index()].1 = place;
    }

    fn place(&self, term: Term) -> Place {
        self.met[term.index()].1
    }
}

/// The terms of a part, with a value for each.
pub(crate) struct Sheet<'p> {
    pool: &'p Pool,
    /// The term at each place from the end of the bytes on.
    terms: Vec<Term>,
    /// The operators, from the end of the constants on.
    steps: Vec<Step<'p>>,
    values: Vec<u128>,
    literals: Vec<Place>,
    bytes: usize,
}

impl<'p> Sheet<'p> {
    /// The sheet of a part; all bytes are zero, and nothing is worked out yet.
    pub(crate) fn new(pool: &'p Pool, marks: &mut Marks, part: &Part) -> Sheet<'p> {
        marks.find(pool, &part.literals);
        let found = std::mem::take(&mut marks.found);
        let bytes = part.domains.len();
        let mut values = Vec::with_capacity(bytes + found.len());
        values.resize(bytes, 0);
        let mut terms = Vec::with_capacity(found.len());
        for &term in &found {
            match pool.kind(term) {
                Kind::Byte => {
                    if let Op::Byte(byte) = pool.op(term) {
                        marks.put(term, part.place(byte));
                    }
                }
                Kind::Const => {
                    marks.put(term, values.len() as Place);
                    values.extend(pool.as_const(term));
                    terms.push(term);
                }
                _ => {}
            }
        }
        let base = values.len();
        let mut steps = Vec::with_capacity(found.len() - terms.len());
        for &term in &found {
            let Some(operator) = Operator::of(pool, term) else { continue };
            let mut operands = [0; 3];
            for (operand, place) in pool.operands(term).zip(&mut operands) {
                *place = marks.place(operand);
            }
            marks.put(term, (base + steps.len()) as Place);
            steps.push(Step { operator, operands });
            terms.push(term);
        }
        values.resize(base + steps.len(), 0);
        let literals = part.literals.iter().map(|&literal| marks.place(literal)).collect();
        marks.found = found;
        Sheet { pool, terms, steps, values, literals, bytes }
    }

    /// How many terms there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The places of the operators, operands before users.
    pub(crate) fn operators(&self) -> std::ops::Range<Place> {
        (self.len() - self.steps.len()) as Place..self.len() as Place
    }

    /// The places of the part's literals, in their order.
    pub(crate) fn literals(&self) -> &[Place] {
        &self.literals
    }

    /// The term at a place, unless it is a byte.
    pub(crate) fn term(&self, at: Place) -> Option<Term> {
        (at as usize).checked_sub(self.bytes).map(|at| self.terms[at])
    }

    /// What is at a place.
    pub(crate) fn kind(&self, at: Place) -> Kind {
        if let Some(step) = self.step(at) {
            return step.operator.kind();
        }
        if (at as usize) < self.bytes { Kind::Byte } else { Kind::Const }
    }

    /// The places of the operands; those that there are not are 0.
    pub(crate) fn operands(&self, at: Place) -> [Place; 3] {
        self.step(at).map_or([0; 3], |step| step.operands)
    }

    /// The value, if it is a constant.
    pub(crate) fn constant(&self, at: Place) -> Option<u128> {
        (self.kind(at) == Kind::Const).then(|| self.value(at))
    }

    /// The width; 1 for a Bool.
    pub(crate) fn width(&self, at: Place) -> u8 {
        self.term(at).map_or(8, |term| self.pool.width(term))
    }

    /// Whether it is a truth value.
    pub(crate) fn is_bool(&self, at: Place) -> bool {
        self.term(at).is_some_and(|term| self.pool.is_bool(term))
    }

    /// How many bytes the value depends on.
    pub(crate) fn weight(&self, at: Place) -> usize {
        self.term(at).map_or(1, |term| self.pool.support(term).len())
    }

    /// Where the sum of two terms is, if it is on the sheet.
    pub(crate) fn sum_of(&self, x: Place, y: Place) -> Option<Place> {
        let is_sum = |step: &Step<'_>| {
            let [a, b, _] = step.operands;
            step.operator.kind() == Kind::Add && ((a, b) == (x, y) || (a, b) == (y, x))
        };
        let at = self.steps.iter().position(is_sum)?;
        Some((self.len() - self.steps.len() + at) as Place)
    }

    /// The lowest bit that an extract takes; 0 for anything else.
    pub(crate) fn lowest_bit(&self, at: Place) -> u8 {
        self.step(at).map_or(0, |step| step.operator.lowest_bit())
    }

    /// The table, if it is a read from one.
    pub(crate) fn table(&self, at: Place) -> Option<&'p Table> {
        self.step(at)?.operator.table()
    }

    fn step(&self, at: Place) -> Option<&Step<'p>> {
        self.steps.get((at as usize).wrapping_sub(self.len() - self.steps.len()))
    }

    /// The value at a place, as last worked out.
    pub(crate) fn value(&self, at: Place) -> u128 {
        self.values[at as usize]
    }

    /// Gives a byte a value.
    pub(crate) fn set(&mut self, byte: Place, value: u8) {
        self.values[byte as usize] = value.into();
    }

    /// Works out all values from those of the bytes.
    pub(crate) fn work_out(&mut self) {
        let base = self.len() - self.steps.len();
        for (i, step) in self.steps.iter().enumerate() {
            let [a, b, c] = step.operands.map(|operand| self.values[operand as usize]);
            self.values[base + i] = step.operator.apply(a, b, c);
        }
    }

    /// Whether all literals held when the values were last worked out.
    pub(crate) fn holds(&self) -> bool {
        self.literals.iter().all(|&literal| self.value(literal) == 1)
    }

    /// The values of the part's bytes.
    pub(crate) fn bytes_of(&self, part: &Part) -> Values {
        let bytes = part.domains.iter().zip(&self.values);
        bytes.map(|(&(byte, _), &value)| (byte, value as u8)).collect()
    }
}

impl Part {
    /// The place of a byte of the part on its sheet.
    pub(crate) fn place(&self, byte: InputByte) -> Place {
        self.domains.partition_point(|&(other, _)| other < byte) as Place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use stunt_models::{Condition, Masks};
    use stunt_shapes::Random;
    use stunt_terms::{Assignment, Evaluator};

    #[test]
    fn values_are_those_of_the_evaluator() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut pool, mut masks, mut marks) = (Pool::new(), Masks::new(), Marks::default());
        let mut parts = 0;
        for _ in 0..300 {
            let mut condition = Condition::new();
            for _ in 0..4 {
                let literal =
                    Random::new(4, &[3, 8, 16, 32, 100], 64).truth(&mut pool, &mut rng, 3);
                condition.push(&pool, &mut masks, literal);
            }
            for component in condition.components() {
                let part = Part::of(component);
                let mut sheet = Sheet::new(&pool, &mut marks, &part);
                let input: [u8; 4] = rng.r#gen();
                for &(byte, _) in &part.domains {
                    sheet.set(part.place(byte), input[byte.offset as usize]);
                }
                sheet.work_out();
                let (mut evaluator, input) = (Evaluator::new(), Assignment::from_bytes(input));
                for at in part.domains.len()..sheet.len() {
                    let at = at as Place;
                    let term = sheet.term(at).expect("no byte");
                    assert_eq!(sheet.value(at), evaluator.eval(&pool, term, &input));
                    let operands = pool.op(term).operands();
                    for (place, operand) in sheet.operands(at).into_iter().zip(operands) {
                        assert_eq!(sheet.width(place), pool.width(operand));
                        assert_eq!(sheet.value(place), evaluator.eval(&pool, operand, &input));
                    }
                }
                let holds = part.literals.iter().all(|&t| evaluator.holds(&pool, t, &input));
                assert_eq!(sheet.holds(), holds);
                parts += usize::from(!part.literals.is_empty());
            }
        }
        assert!(parts > 200);
    }
}
