//! Reads a document with a release of `rrule` that panics on some documents.

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    let Ok(text) = String::from_utf8(data) else {
        println!("not utf-8");
        std::process::exit(2)
    };
    let (mut good, mut bad) = (0, 0);
    for block in text.split("\n\n") {
        match block.trim().parse::<rrule::RRuleSet>() {
            Ok(rule) => good += rule.all().len().min(1),
            Err(_) => bad += 1,
        }
    }
    println!("ok good={good} bad={bad}");
}
