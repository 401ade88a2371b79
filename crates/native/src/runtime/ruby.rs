//! Ruby interprets unless it is asked to compile; the user's options may ask for that.

use super::{Runtime, Variable};

pub const RUNTIME: Runtime = Runtime {
    name: "Ruby",
    programs: &["ruby"],
    variables: &[Variable { name: "RUBYOPT", value: "--disable-jit", between: Some(" ") }],
};
