//! Perl interprets as it is. Its hashes have a seed, and an order of keys that is drawn.

use super::{Runtime, Variable};

pub const RUNTIME: Runtime = Runtime {
    name: "Perl",
    programs: &["perl"],
    variables: &[
        Variable { name: "PERL_HASH_SEED", value: "0", between: None },
        Variable { name: "PERL_PERTURB_KEYS", value: "0", between: None },
    ],
};
