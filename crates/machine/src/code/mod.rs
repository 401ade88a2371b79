//! From bytes to operations: each piece of code is decoded once, and run many times.
//!
//! ```text
//! bytes ──(iced-x86)──► instruction ──(lift)──► ops ──(polish)──► block ──► cache
//! ```
//!
//! An [`Op`] is small, has its registers and constants resolved, and means the same to every
//! executor. This module must not know what an op does to a value, only what it says.

mod block;
mod cache;
mod effects;
pub(crate) mod lift;
mod op;
mod polish;
mod slot;

pub use block::{Block, End, Trap};
pub use cache::{Code, Compile, Model};
pub(crate) use cache::{LONGEST, NONE};
pub use effects::{Effects, SlotSet};
pub use op::{
    Bit, BitOp, Condition, Float, Helper, Op, Repeat, Shift, StringOp, VectorOp, Width, X87Op,
};
pub use slot::{Slot, slots};
