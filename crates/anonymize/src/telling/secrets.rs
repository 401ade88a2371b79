//! What looks like a secret: names of options that ask for one, and values that have its shape.
//!
//! A guess, and only ever a reason to hide more: what is not found here is not told for that.

use std::sync::LazyLock;

use regex::Regex;

/// Parts of names, and what is asked for.
const NAMES: &[(&str, &str)] = &[
    ("pass", "a password"),
    ("pwd", "a password"),
    ("secret", "a secret"),
    ("token", "a token"),
    ("apikey", "a key"),
    ("credential", "a secret"),
    ("cookie", "a cookie"),
    ("bearer", "a token"),
    ("session", "a token"),
    ("auth", "a secret"),
    ("private", "a secret"),
    ("signature", "a secret"),
    ("license", "a key"),
    ("email", "an address"),
    ("phone", "a telephone number"),
    ("iban", "an account"),
    ("account", "an account"),
    ("customer", "a name"),
    ("user", "a name"),
    ("login", "a name"),
];

/// Whole words of names, which as parts of others mean nothing: `monkey`, `opinion`.
const WORDS: &[(&str, &str)] = &[
    ("key", "a key"),
    ("keys", "a key"),
    ("pin", "a password"),
    ("otp", "a password"),
    ("pw", "a password"),
    ("sid", "a token"),
    ("jwt", "a token"),
    ("salt", "a secret"),
    ("mail", "an address"),
    ("card", "an account"),
    ("cvv", "a secret"),
    ("ssn", "a name"),
];

/// Shapes of values.
static SHAPES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let shapes = [
        (r"(?i)[a-z][a-z0-9+.-]*://[^/\s@]+@", "an address with a password"),
        (r"(?i)[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z0-9.-]*[a-z]", "an e-mail address"),
        (r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+", "a token (JWT)"),
        (r"\b(AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{12,}", "an access key"),
        (
            r"\b(gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|sk_live_|sk_test_|pk_live_|AIza|ya29\.|npm_|stunt_)[A-Za-z0-9_-]{8,}",
            "an access token",
        ),
        (r"-----BEGIN", "a key"),
        (r"(?i)\b(bearer|basic|digest)\s+\S", "a header with a password"),
        (
            r"(?i)(pass(word|wd)?|pwd|secret|token|api-?_?key|auth|sig|session)[a-z_-]*\s*[=:]\s*\S",
            "a secret",
        ),
        (r"\b[A-Z]{2}\d{2}[ ]?([A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4}\b", "an account (IBAN)"),
        (r"\+\d[\d ()/-]{6,}\d", "a telephone number"),
        (r"\b[0-9a-fA-F]{16,}\b", "a key"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "an identity"),
        (r"^[^:/\s]{1,64}:[^:/\s]*[^:/\s\d][^:/\s]*$", "a name with a password"),
    ];
    let built = shapes.map(|(shape, what)| (Regex::new(shape).expect("a fixed expression"), what));
    built.into_iter().collect()
});

/// From this length on, a text without an order is taken for a key.
const LONG: usize = 16;
/// Bits for each character of such a text; words of a language have fewer.
const ENTROPY: f64 = 3.5;

/// What the name of an option asks for, if that is a secret.
pub fn in_name(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let parts = NAMES.iter().find(|(part, _)| lower.contains(part));
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let whole = || words.find_map(|word| WORDS.iter().find(|(it, _)| *it == word));
    parts.or_else(whole).map(|(_, what)| *what)
}

/// What a value looks like, if that is a secret.
pub fn in_value(text: &str) -> Option<&'static str> {
    if let Some((_, what)) = SHAPES.iter().find(|(shape, _)| shape.is_match(text)) {
        return Some(what);
    }
    if is_card(text) {
        return Some("the number of a card");
    }
    let dense = |part: &str| part.len() >= LONG && is_mixed(part) && entropy(part) >= ENTROPY;
    text.split(|c: char| c.is_whitespace() || "/=:,;&?".contains(c)).any(dense).then_some("a key")
}

/// Thirteen to nineteen digits whose checksum (Luhn) is right.
fn is_card(text: &str) -> bool {
    let digits: Vec<u32> =
        text.chars().filter(|c| !matches!(c, ' ' | '-')).map_while(|c| c.to_digit(10)).collect();
    let only = text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-'));
    let sum: u32 = (0..)
        .zip(digits.iter().rev())
        .map(|(at, &digit)| match at % 2 {
            0 => digit,
            _ if digit > 4 => 2 * digit - 9,
            _ => 2 * digit,
        })
        .sum();
    only && (13..=19).contains(&digits.len()) && sum.is_multiple_of(10)
}

/// Letters of both cases, or letters and digits.
fn is_mixed(text: &str) -> bool {
    let has = |test: fn(&u8) -> bool| text.as_bytes().iter().any(test);
    let (small, large) = (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    (small && large) || ((small || large) && has(u8::is_ascii_digit))
}

/// Bits for each character, by how often each one comes.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let all = text.len() as f64;
    let share = |&count: &u32| f64::from(count) / all;
    counts.iter().filter(|&&count| count > 0).map(share).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_ask_for_secrets() {
        for name in
            ["--password", "--db-passwd", "API_KEY", "--key", "--auth-token", "--user", "--pin"]
        {
            assert!(in_name(name).is_some(), "{name}");
        }
        for name in ["--verbose", "--monkey", "--opinion", "--size", "--sidebar"] {
            assert_eq!(in_name(name), None, "{name}");
        }
    }

    #[test]
    fn values_that_look_like_secrets() {
        for value in [
            "https://alice:hunter2@example.org/x",
            "alice@example.org",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_abcdefghij0123456789",
            "Bearer abc",
            "x?token=abc",
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "4111 1111 1111 1111",
            "+49 170 1234567",
            "d41d8cd98f00b204e9800998ecf8427e",
            "wJalrXUtnFEMIK7MDENGbPxRfiCY",
            "root:toor",
        ] {
            assert!(in_value(value).is_some(), "{value}");
        }
        for value in ["json", "10", "parse", "640x480", "/usr/share/dict/words", "notes.txt", "a:1"]
        {
            assert_eq!(in_value(value), None, "{value}");
        }
    }
}
