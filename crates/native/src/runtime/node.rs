//! Node.js: V8 without its compilers; that leaves the interpreter for regular expressions, too.

use super::{Runtime, Variable};

pub const RUNTIME: Runtime = Runtime {
    name: "Node.js",
    programs: &["node"],
    variables: &[Variable { name: "NODE_OPTIONS", value: "--jitless", between: Some(" ") }],
};
