//! The papers' examples: what a double reveals that keeps the path (castro), and one of the relaxed
//! condition, side by side in `tests/golden/examples.txt`. `STUNT_BLESS=1` rewrites it.
//!
//! The figures depend on the code that the compiler makes, and on nothing else: not on where the project
//! lies, nor on chance.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Place, subject, text};

/// The examples, and how their inputs end.
const EXAMPLES: [(&str, &str); 7] = [
    ("small-addressbook", "csv"),
    ("small-cruise", "txt"),
    ("small-luhn", "txt"),
    ("small-processcard", "txt"),
    ("small-score", "txt"),
    ("small-searchclients", "txt"),
    ("small-webserver", "http"),
];

/// A line of the table: the figures of one way, with the words that a report has for them.
fn figures(place: &Place, program: &str, flags: &[&str]) -> String {
    let mut words = vec!["anonymize", "--seed", "1", "--json", "-i", "in", "-o", "r.zip"];
    words.extend(flags);
    words.extend(["--", program, "@@"]);
    let output = place.stunt(&words);
    assert_eq!(output.status.code(), Some(0), "{program} {flags:?}: {}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let leak = &json["leak"];
    let bits = leak["bits"].as_f64().expect("a figure");
    let kind = leak["kind"].as_str().expect("a word");
    format!("{kind} {bits:.1} ({} tests, {} pins)", json["tests"], json["pins"])
}

#[test]
fn the_papers_examples_reveal_what_they_did() {
    let mut table = String::from("of = bits of the input\n");
    for (name, ending) in EXAMPLES {
        let place = Place::new(&format!("example-{name}"));
        let file = format!("c/{name}/inputs/private.{ending}");
        let (program, input) = subject(&format!("{name}-O1"), &file);
        let size = 8 * fs::metadata(&input).expect("the input").len();
        fs::copy(input, place.path("in")).expect("a copy");
        table += &format!("\n{name}-O1, of {size}\n");
        for algorithm in ["castro", "relaxed"] {
            let figures = figures(&place, &program, &["--algorithm", algorithm]);
            table += &format!("  {algorithm:<8} {figures}\n");
        }
        if name == "small-webserver" {
            for algorithm in ["castro", "relaxed"] {
                let flags = ["--check-memory", "--algorithm", algorithm];
                let figures = figures(&place, &program, &flags);
                table += &format!("  {algorithm:<8} {figures}, with checked memory\n");
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/examples.txt");
    if std::env::var_os("STUNT_BLESS").is_some() {
        fs::write(&path, table).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        table,
        expected,
        "{} differs. If the new text is right: STUNT_BLESS=1 cargo test --test examples",
        path.display()
    );
}
