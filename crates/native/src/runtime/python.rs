//! CPython interprets as it is. Its hashes of texts have a seed, and it writes what it has compiled.

use super::{Runtime, Variable};

pub const RUNTIME: Runtime = Runtime {
    name: "CPython",
    programs: &["python"],
    variables: &[
        Variable { name: "PYTHONHASHSEED", value: "0", between: None },
        Variable { name: "PYTHONDONTWRITEBYTECODE", value: "1", between: None },
    ],
};
