//! Any text as SMT-LIB: it is refused in a sentence, or it is a script that can be printed and read again
//! as the same terms. The fuzz target for the reader is this, too.

use stunt_terms::Pool;
use stunt_terms::smtlib::{parse_script, print_script};

/// Panics if that does not hold.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut pool = Pool::new();
    match parse_script(&mut pool, &text) {
        Ok(script) => {
            let asserted = script.assertions();
            let printed = print_script(&pool, &asserted, true);
            let again = parse_script(&mut pool, &printed).expect("what is printed can be read");
            assert_eq!(again.assertions(), asserted, "it means something else when it is printed");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
        }
    }
}
