//! Where code and data are, at the same addresses on the host and in the machine.
//!
//! All of it is below 2 GiB, so that every kind of address can name it. Around the data there is
//! nothing, for as far as any operand reaches that is not made to go further.

/// The page of code.
pub const CODE: u64 = 0x1000_0000;
/// Where the instruction starts: in the middle, so that jumps go both ways.
pub const START: u64 = CODE + 0x800;
/// Data that can be read and written: two pages. What is before and behind is not mapped.
pub const DATA: u64 = 0x1010_0000;
/// Behind the last of the data.
pub const DATA_END: u64 = DATA + 0x2000;
/// A page of data that can only be read.
pub const CONSTANT: u64 = 0x1020_0000;
/// Behind it.
pub const CONSTANT_END: u64 = CONSTANT + 0x1000;
/// The base of `gs`.
pub const GS: u64 = 0x0345_6780;
