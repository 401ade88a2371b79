//! From an input that fails to a small and plain one that fails in the same way.
//!
//! A [`reduce`]r knows bytes, a few shapes that bytes often have (lines, words, brackets, tags, length-prefixed
//! records, checksums), documents, and an [`Oracle`] that runs the program. It must not know what a
//! program is, how it is followed, what a term or a condition is, nor what any of it reveals.
//!
//! [`blank`] and [`pad`] are for inputs whose length is fixed: the one makes an input plain where it stands, the
//! other makes a reduced one as long as it was.

mod blank;
mod documents;
mod driver;
mod edit;
mod leaves;
mod oracle;
mod pad;
mod pass;
mod passes;
mod sums;

pub use blank::{At, blank};
pub use driver::{Budget, Reduced, reduce};
pub use leaves::{Leaf, OverLeaves, Place, Rendering, Written};
pub use oracle::{Broken, InVain, Oracle, Remembering};
pub use pad::pad;
pub use pass::FAMILIES;
