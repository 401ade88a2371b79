//! The searches over paths, on programs written as graphs.

mod clauses;
mod figures;
mod graph;
mod long;
mod random;
mod run;
