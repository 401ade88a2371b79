//! A few cells that an address can mean: loads and stores there need not fix the address.
//!
//! A store gives each cell a term, the new value if the address is that cell's and the old one if not. A
//! load takes the value of whichever cell it is. Both ask nothing of the input beyond what bounds the
//! address already. With many cells the terms would grow with every access, so there is a limit; what is
//! constant is a table (`access.rs`), which has room for more.

use smallvec::SmallVec;
use stunt_terms::Term;

use crate::{
    code::Width,
    memory::{AddressSpace, Mark, Protection},
};

use super::{Symbolic, access::Address};

/// The most cells that an access is spread over.
const MOST_CELLS: u128 = 16;
/// Terms larger than this are not put into cells: every access would multiply them.
const MOST_SIZE: u32 = 200;

/// A cell: where it is, and what it holds.
#[derive(Clone, Copy)]
struct Cell {
    at: u64,
    holds: Term,
}

/// All cells that an address can mean.
pub(super) struct Cells {
    address: Term,
    all: SmallVec<[Cell; MOST_CELLS as usize]>,
}

impl Symbolic {
    /// The cells that an access can mean, if they are few and all of them can be written.
    pub(super) fn cells(
        &mut self,
        space: &mut AddressSpace,
        address: Address,
        w: Width,
    ) -> Option<Cells> {
        if !self.relax.reads {
            return None;
        }
        let term = address.term.filter(|term| !self.known.contains_key(term))?;
        let (min, max) = self.range(term);
        let low = self.pool.constant(64, min);
        let offset = self.pool.sub(term, low);
        let shift = (!self.pool.facts(offset).zeros).trailing_zeros().min(6);
        let count = ((max - min) >> shift) + 1;
        // Cells that overlap would have to be taken apart.
        if count > MOST_CELLS || 1 << shift < w.bytes() {
            return None;
        }
        let (start, end) = (min as u64, max as u64 + w.bytes());
        let region = space.region(start)?;
        let plain = region.protection == Protection::READ | Protection::WRITE && !region.shared;
        if !plain || end > region.end {
            return None;
        }
        if space.marked(start, end - start)
            && (start..end).any(|at| space.mark_of(at).is_some_and(Mark::is_guard))
        {
            return None;
        }
        let mut all = SmallVec::new();
        for number in 0..count as u64 {
            let at = start + (number << shift);
            let holds = match self.read_term(space, at, w.bytes()) {
                Some(term) if self.parts(term) > MOST_SIZE => return None,
                Some(term) => term,
                None => {
                    let mut bytes = [0; 8];
                    space.read(at, &mut bytes[..w.bytes() as usize]).ok()?;
                    self.pool.constant(w.bits() as u8, u128::from(u64::from_le_bytes(bytes)))
                }
            };
            all.push(Cell { at, holds });
        }
        Some(Cells { address: term, all })
    }

    /// What is in the cell that the address means.
    pub(super) fn select(&mut self, cells: &Cells) -> Term {
        let mut all = cells.all.iter().rev();
        let last = all.next().expect("an address means something").holds;
        all.fold(last, |rest, cell| {
            let here = self.pool.constant(64, u128::from(cell.at));
            let is_here = self.pool.eq(cells.address, here);
            self.pool.ite(is_here, cell.holds, rest)
        })
    }

    /// A value was stored in the cell that the address means; `cells` is what was there before.
    pub(super) fn spread(&mut self, space: &mut AddressSpace, cells: &Cells, value: Term) {
        for cell in &cells.all {
            let here = self.pool.constant(64, u128::from(cell.at));
            let is_here = self.pool.eq(cells.address, here);
            let holds = self.pool.ite(is_here, value, cell.holds);
            self.write_term(space, cell.at, holds);
        }
    }
}
