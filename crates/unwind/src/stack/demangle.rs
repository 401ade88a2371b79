//! Names as a programmer wrote them, from names as a linker sees them.
//!
//! Names come from hostile files: results are bounded in length, whatever a name claims to expand
//! to, and contain no control characters, so that a stack can be shown on a terminal.

use std::fmt::{self, Write};

/// Characters of a demangled name; C++ templates are known to reach thousands.
const LONGEST: usize = 2_048;

/// The readable form of a symbol's name. Rust's hash is left out, and so is a C symbol's version.
pub(super) fn demangle(name: &str) -> String {
    let mut text = Bounded::default();
    // A C library's table has `memcpy@@GLIBC_2.14`.
    let plain = match name.find('@') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    };
    if let Ok(rust) = rustc_demangle::try_demangle(plain) {
        let _ = write!(text, "{rust:#}");
    } else if plain.starts_with("_Z") && !write_cpp(plain, &mut text) {
        text = Bounded::default();
    }
    if text.0.is_empty() {
        let _ = text.write_str(plain);
    }
    text.0
}

/// Writes the readable form of a C++ name, if it is one.
fn write_cpp(name: &str, text: &mut Bounded) -> bool {
    let Ok(symbol) = cpp_demangle::BorrowedSymbol::new_with_options(
        name.as_bytes(),
        &cpp_demangle::ParseOptions::default().recursion_limit(64),
    ) else {
        return false;
    };
    let options = cpp_demangle::DemangleOptions::new().no_return_type().recursion_limit(64);
    symbol.structured_demangle(text, &options).is_ok() || text.0.len() >= LONGEST
}

/// A string that takes no more than its share, and nothing that moves a cursor.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for character in more.chars() {
            if self.0.len() >= LONGEST {
                return Err(fmt::Error);
            }
            self.0.push(if character.is_control() { '?' } else { character });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable() {
        for (name, readable) in [
            ("main", "main"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("@odd", "@odd"),
            ("_ZN4core9panicking5panic17h0123456789abcdefE", "core::panicking::panic"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_ZN5outer5innerEi", "outer::inner(int)"),
            (
                "_ZNSt6vectorIiSaIiEE2atEm",
                "std::vector<int, std::allocator<int> >::at(unsigned long)",
            ),
            ("_Z", "_Z"),
            ("_Zgarbage", "_Zgarbage"),
            ("bell\x07", "bell?"),
            ("", ""),
        ] {
            assert_eq!(demangle(name), readable);
        }
    }

    #[test]
    fn a_name_that_doubles_itself_stays_short() {
        // f(pair<A, A>, pair<pair<A, A>, pair<A, A>>, …): each level names the one before twice.
        let mut bomb = String::from("_Z1f1AS_");
        let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        for &digit in &digits[..24] {
            let level = format!("S{}_", digit as char);
            bomb += &format!("1BI{level}{level}E");
        }
        assert!(demangle(&bomb).len() <= LONGEST + 4);
        assert!(demangle(&"_Z1f".repeat(10_000)).len() <= LONGEST + 4);
        assert!(demangle(&format!("_Z1f{}i", "P".repeat(100_000))).len() <= LONGEST + 4);
    }
}
