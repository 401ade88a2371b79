//! What a term's bits can be: anything with constants, `not`, `and` and `xor`.
//!
//! Always: equal bits may be represented twice, but one representation never means two functions.
//! What a bit is for, the trait does not know.

use stunt_terms::{InputByte, Table};

/// A Boolean algebra in which terms can be interpreted, bit by bit.
///
/// Every operation may stop (a node limit is reached, a form is not affine); then the term has no
/// meaning in this algebra, and the caller does something else. An algebra that never stops has
/// [`std::convert::Infallible`] as its `Stop`.
///
/// Implementations should fold constants: `and` with a constant, `xor` with a constant, and `and`
/// or `xor` of a bit with itself where they can tell. The operators rely on that for size, never
/// for correctness.
pub trait Algebra {
    /// A bit as a function of the input.
    type Bit: Clone;
    /// Why an operation has no result.
    type Stop;

    /// The constant bit.
    fn constant(&mut self, value: bool) -> Self::Bit;

    /// The value of the bit if it is known to be constant.
    fn known(&self, bit: &Self::Bit) -> Option<bool>;

    /// The eight bits of an input byte, lowest first.
    fn byte(&mut self, byte: InputByte) -> Result<[Self::Bit; 8], Self::Stop>;

    /// Complement.
    fn not(&mut self, a: &Self::Bit) -> Self::Bit;

    /// Conjunction.
    fn and(&mut self, a: &Self::Bit, b: &Self::Bit) -> Result<Self::Bit, Self::Stop>;

    /// Exclusive or.
    fn xor(&mut self, a: &Self::Bit, b: &Self::Bit) -> Result<Self::Bit, Self::Stop>;

    /// Disjunction.
    fn or(&mut self, a: &Self::Bit, b: &Self::Bit) -> Result<Self::Bit, Self::Stop> {
        let (not_a, not_b) = (self.not(a), self.not(b));
        let neither = self.and(&not_a, &not_b)?;
        Ok(self.not(&neither))
    }

    /// Conjunction of all of them; true if there are none.
    fn all(&mut self, bits: &[Self::Bit]) -> Result<Self::Bit, Self::Stop> {
        let mut all = self.constant(true);
        for bit in bits {
            all = self.and(&all, bit)?;
            if self.known(&all) == Some(false) {
                break;
            }
        }
        Ok(all)
    }

    /// `then` if `condition`, else `other`. As `other ^ (condition & (then ^ other))`, which is
    /// affine whenever `then ^ other` is constant.
    fn mux(
        &mut self,
        condition: &Self::Bit,
        then: &Self::Bit,
        other: &Self::Bit,
    ) -> Result<Self::Bit, Self::Stop> {
        let differ = self.xor(then, other)?;
        let flip = self.and(condition, &differ)?;
        self.xor(other, &flip)
    }

    /// The bits, lowest first, of the table's entry at the index (bits lowest first), where the
    /// algebra has a better way than a tree of multiplexers; `None` asks for that tree.
    #[allow(clippy::type_complexity)]
    fn table(
        &mut self,
        table: &Table,
        index: &[Self::Bit],
    ) -> Option<Result<Vec<Self::Bit>, Self::Stop>> {
        let _ = (table, index);
        None
    }
}
