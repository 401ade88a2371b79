//! Gates as clauses of CaDiCaL, made on the fly.
//!
//! Always: equal gates exist once; variable 1 is true; no gate has a constant operand, or two
//! operands on one variable. Wide conjunctions and multiplexers are gates of their own, because
//! they propagate better than trees of small ones. More gates than the limit are refused.

use cadical::Solver;
use rustc_hash::FxHashMap;
use stunt_circuit::Algebra;
use stunt_terms::InputByte;

use super::cadical::Deadline;

/// A literal of the SAT solver.
pub(super) type Lit = i32;

/// The literal that is always true.
pub(super) const TRUE: Lit = 1;

/// The gate limit is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge;

#[derive(PartialEq, Eq, Hash)]
enum Key {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Mux(Lit, Lit, Lit),
    All(Box<[Lit]>),
}

/// The SAT solver with the gates that it knows.
pub(super) struct Gates {
    pub(super) solver: Solver<Deadline>,
    made: FxHashMap<Key, Lit>,
    bytes: FxHashMap<InputByte, [Lit; 8]>,
    variables: Lit,
    limit: usize,
}

impl Gates {
    pub(super) fn new(limit: usize) -> Gates {
        let mut solver = Solver::new();
        solver.add_clause([TRUE]);
        let (made, bytes) = (FxHashMap::default(), FxHashMap::default());
        Gates { solver, made, bytes, variables: TRUE, limit }
    }

    /// How many variables there are.
    pub(super) fn variables(&self) -> usize {
        self.variables as usize
    }

    /// The bits of a byte, if it has any.
    pub(super) fn bits_of(&self, byte: InputByte) -> Option<[Lit; 8]> {
        self.bytes.get(&byte).copied()
    }

    fn fresh(&mut self) -> Result<Lit, TooLarge> {
        if self.variables() >= self.limit {
            return Err(TooLarge);
        }
        self.variables += 1;
        Ok(self.variables)
    }

    fn clauses<const N: usize>(&mut self, clauses: [&[Lit]; N]) {
        for clause in clauses {
            self.solver.add_clause(clause.iter().copied());
        }
    }
}

impl Algebra for Gates {
    type Bit = Lit;
    type Stop = TooLarge;

    fn constant(&mut self, value: bool) -> Lit {
        if value { TRUE } else { -TRUE }
    }

    fn known(&self, bit: &Lit) -> Option<bool> {
        match *bit {
            TRUE => Some(true),
            bit if bit == -TRUE => Some(false),
            _ => None,
        }
    }

    fn byte(&mut self, byte: InputByte) -> Result<[Lit; 8], TooLarge> {
        if let Some(&bits) = self.bytes.get(&byte) {
            return Ok(bits);
        }
        let mut bits = [TRUE; 8];
        for bit in &mut bits {
            *bit = self.fresh()?;
        }
        self.bytes.insert(byte, bits);
        Ok(bits)
    }

    fn not(&mut self, a: &Lit) -> Lit {
        -*a
    }

    fn and(&mut self, a: &Lit, b: &Lit) -> Result<Lit, TooLarge> {
        let (a, b) = (*a.min(b), *a.max(b));
        if a == b || b == TRUE {
            return Ok(a);
        }
        if a == TRUE {
            return Ok(b);
        }
        if a == -b || a == -TRUE || b == -TRUE {
            return Ok(-TRUE);
        }
        let key = Key::And(a, b);
        if let Some(&out) = self.made.get(&key) {
            return Ok(out);
        }
        let out = self.fresh()?;
        self.clauses([&[-out, a], &[-out, b], &[out, -a, -b]]);
        self.made.insert(key, out);
        Ok(out)
    }

    fn xor(&mut self, a: &Lit, b: &Lit) -> Result<Lit, TooLarge> {
        let flip = (*a < 0) ^ (*b < 0);
        let signed = |lit: Lit| if flip { -lit } else { lit };
        let (a, b) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
        if a == b {
            return Ok(signed(-TRUE));
        }
        if a == TRUE {
            return Ok(signed(-b));
        }
        let key = Key::Xor(a, b);
        if let Some(&out) = self.made.get(&key) {
            return Ok(signed(out));
        }
        let out = self.fresh()?;
        self.clauses([&[-out, a, b], &[-out, -a, -b], &[out, -a, b], &[out, a, -b]]);
        self.made.insert(key, out);
        Ok(signed(out))
    }

    fn all(&mut self, bits: &[Lit]) -> Result<Lit, TooLarge> {
        let mut bits: Vec<Lit> = bits.iter().copied().filter(|&bit| bit != TRUE).collect();
        // By variable, so that a literal and its complement are neighbours.
        bits.sort_unstable_by_key(|&bit| (bit.abs(), bit));
        bits.dedup();
        if bits.contains(&-TRUE) || bits.windows(2).any(|pair| pair[0] == -pair[1]) {
            return Ok(-TRUE);
        }
        match bits[..] {
            [] => return Ok(TRUE),
            [only] => return Ok(only),
            [a, b] => return self.and(&a, &b),
            _ => {}
        }
        let key = Key::All(bits.clone().into());
        if let Some(&out) = self.made.get(&key) {
            return Ok(out);
        }
        let out = self.fresh()?;
        for &bit in &bits {
            self.solver.add_clause([-out, bit]);
        }
        self.solver.add_clause(bits.iter().map(|bit| -bit).chain([out]));
        self.made.insert(key, out);
        Ok(out)
    }

    fn mux(&mut self, condition: &Lit, then: &Lit, other: &Lit) -> Result<Lit, TooLarge> {
        // The condition and the second branch are made positive.
        let (c, then, other) =
            if *condition < 0 { (-condition, *other, *then) } else { (*condition, *then, *other) };
        let flip = other < 0;
        let signed = |lit: Lit| if flip { -lit } else { lit };
        let (t, e) = (signed(then), signed(other));
        let known = self.known(&c).or(self.known(&t)).or(self.known(&e));
        let folded = match known {
            Some(_) => {
                // c & t | !c & e, where the gates fold the constant.
                let (with, without) = (self.and(&c, &t)?, self.and(&-c, &e)?);
                Some(self.or(&with, &without)?)
            }
            None if t == e => Some(t),
            None if t == -e => Some(self.xor(&c, &e)?),
            None if t == c => Some(self.or(&c, &e)?),
            None if t == -c => Some(self.and(&-c, &e)?),
            None if e == c => Some(self.and(&c, &t)?),
            None => None,
        };
        if let Some(out) = folded {
            return Ok(signed(out));
        }
        let key = Key::Mux(c, t, e);
        if let Some(&out) = self.made.get(&key) {
            return Ok(signed(out));
        }
        let out = self.fresh()?;
        self.clauses([&[-c, -t, out], &[-c, t, -out], &[c, -e, out], &[c, e, -out]]);
        // Not needed, but they tell the output when both branches agree.
        self.clauses([&[-t, -e, out], &[t, e, -out]]);
        self.made.insert(key, out);
        Ok(signed(out))
    }
}
