//! The Java virtual machine: its interpreter, one collector that runs when memory is used up, and no file
//! in which it keeps its figures. It says on standard error that it has picked this up.

use super::{Runtime, Variable};

pub const RUNTIME: Runtime = Runtime {
    name: "the JVM",
    programs: &["java"],
    variables: &[Variable {
        name: "JAVA_TOOL_OPTIONS",
        value: "-Xint -XX:+UseSerialGC -XX:-UsePerfData",
        between: Some(" "),
    }],
};
