//! The number type of one lane: the smallest that holds every value of a program.
//!
//! All values are within the width of their terms, so a lane needs no width of its own except
//! where a result can leave it. Loops over arrays of lanes are plain, so that the compiler can
//! turn them into vector instructions.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// An unsigned number that holds a value.
pub(super) trait Lane:
    Copy
    + Ord
    + Default
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + From<u8>
    + From<bool>
    + 'static
{
    /// The lowest bits of a number.
    fn cut(value: u128) -> Self;
    fn wide(self) -> u128;
    /// The value as an index, if it fits one.
    fn index(self) -> Option<usize>;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Quotient; the divisor is not zero.
    fn over(self, other: Self) -> Self;
    /// Remainder; the divisor is not zero.
    fn modulo(self, other: Self) -> Self;
    /// Shift by less than the lane's bits.
    fn left(self, by: u32) -> Self;
    /// Shift by less than the lane's bits.
    fn right(self, by: u32) -> Self;
    /// All ones for true, zero for false.
    fn all_if(condition: bool) -> Self;
    /// The value as a shift amount, `most` if it is larger.
    fn amount(self, most: u32) -> u32;
}

macro_rules! lane {
    ($($number:ty),*) => {$(
        impl Lane for $number {
            fn cut(value: u128) -> Self {
                value as $number
            }
            fn wide(self) -> u128 {
                u128::from(self)
            }
            fn index(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn over(self, other: Self) -> Self {
                self / other
            }
            fn modulo(self, other: Self) -> Self {
                self % other
            }
            fn left(self, by: u32) -> Self {
                self.wrapping_shl(by)
            }
            fn right(self, by: u32) -> Self {
                self.wrapping_shr(by)
            }
            fn all_if(condition: bool) -> Self {
                <$number>::from(condition).wrapping_neg()
            }
            fn amount(self, most: u32) -> u32 {
                u32::try_from(self).unwrap_or(most).min(most)
            }
        }
    )*};
}

lane!(u8, u16, u32, u64, u128);
