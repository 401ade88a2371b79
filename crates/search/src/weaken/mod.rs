//! weaken: the condition that is left when every test that the failure does not need is gone.
//!
//! Ours. A path condition says much more than a failure needs: it describes one path, and most
//! tests on it could have come out otherwise. Here the tests are dropped, group after group, and
//! real runs on random solutions of what is left say what that costs. With `W` for the tests still
//! kept, `α` for the part of all inputs that satisfies them, and `p` for the share of those that
//! fail in the same way, a double reveals `-log2 α(W) - log2 p(W)`; a group is dropped if that sum
//! surely falls. Samples cross all paths at once, so none has to be enumerated, and what chance
//! could never meet (keywords, lengths, checksums) stays in `W`, to be solved.
//!
//! Groups are stretches of neighbours, first long ones, then halves of them: in the order of the
//! input's bytes, of the code (a function's tests are neighbours), and of the path. Pins and
//! relaxations take part as tests. What is asked of a byte under a sum goes without the sum. Stretches of
//! bytes that cannot be free may still be any text, or any digits; bytes that are still fixed after that
//! get the set of values with which the program fails, as far as trying some of each kind shows it. In the end, what is needed may move: where the program
//! finds it elsewhere, too, the inputs of all layouts are drawn from (`layout.rs`).
//!
//! Guarantees: the double is drawn uniformly from the inputs that satisfy `W` and fail, or from a plain part of
//! them (`plain.rs`), by rejection, with fresh randomness; so it tells at most what its description and the share of
//! that part say. `p` is measured at the end, on runs by which nothing was accepted. Whoever calls may measure several
//! conditions, up to [`MOST_MEASURED`], and take the one with the lowest figure, or the path condition if
//! that is lower: each has its part of the doubt, so that the one that is taken holds with a confidence of
//! 99 %.
//!
//! Departures from nothing: there is no paper. Tests: `tests/weaken.rs`, and the privacy bench,
//! which compares the figure with what an attacker really learns.

mod classes;
mod confidence;
mod drawn;
mod groups;
mod layout;
mod leaves;
mod lengths;
mod moves;
mod parts;
mod plain;
mod schedule;
mod search;
mod unpacked;

pub use confidence::Share;
pub use drawn::DrawnFrom;
pub use leaves::{blackbox_leaves, weaken_leaves};
pub use lengths::{length_bits, other_length_bits, same_length_bits};
pub use plain::Readable;
pub use schedule::{MOVES, Tally};
pub use search::{
    Lengths, Limits, MOST_MEASURED, Price, Progress, Room, Weakened, blackbox, weaken,
};
pub use unpacked::{of_documents, unpacked};
