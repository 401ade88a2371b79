//! Call stacks: unwinding, symbols and build identities of a stopped program.
//!
//! ```text
//! thread, modules ──► walk ──► addresses ──► symbols ──► CallStack
//!                                 │ image, cfi, step       │ symtab, lines, debugfile, demangle
//! ```
//!
//! Give [`Symbols::call_stack`] a stopped [`Thread`] and the list of its [`Module`]s. Frames are found by call frame information, else by frame
//! pointer, else by searching the stack, and each says how ([`Trust`]).
//!
//! Everything that is read may be hostile: files, tables and memory can make a stack poorer or
//! wrong, but never make this module panic or run without end. It does not know the machine that
//! runs the program: stacks of native processes are walked by the same code.

mod bytes;
mod cfi;
mod debugfile;
mod demangle;
mod frame;
mod functions;
mod image;
mod lines;
mod memory;
mod module;
mod quick;
mod registers;
mod step;
mod symbols;
mod symtab;
mod thread;
mod walk;

pub use bytes::Bytes;
pub use debugfile::ReadFile;
pub use frame::{BuildId, CallStack, End, Frame, Gap, InModule, InSymbol, Kind, Location, Trust};
pub use functions::{Function, FunctionKind, functions, ranges};
pub use module::{Load, Mapping, Module, ModuleSource};
pub use quick::CallerRule;
pub use registers::Registers;
pub use symbols::Symbols;
pub use thread::Thread;
pub use walk::{Limits, Walk, WalkedFrame};
