//! What walking, forking and binding cost.

use std::process::ExitCode;
use std::time::Instant;

use stunt_machine::symbolic::Relaxations;
use stunt_path::{Execution, Stop};
use stunt_terms::Pool;

use crate::cases::{self, cases};
use crate::subject::walk;

/// The memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|field| field.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// Programs of which ten thousand nodes are kept.
pub const KEPT: [&str; 3] =
    ["small-webserver-O2-private", "libyaml-assert-O2-minimal", "sqlite-div0-O2-minimal"];

/// Ten thousand nodes that have all gone on a little fit in 4 GB.
pub fn ten_thousand(name: &str) -> Result<(), String> {
    const NODES: usize = 10_000;
    const MOST: u64 = 4_000_000_000;
    let case = cases().into_iter().find(|case| case.name == name).ok_or("there is no case")?;
    let subject = case.subject("forks", Relaxations::STEPWISE)?;
    let mut pool = Pool::new();
    let mut path = subject.start(&mut pool)?;
    let mut first = path.fork();
    walk(&mut path, &mut pool, usize::MAX);
    let mut path = first.fork();
    let before = resident();
    let mut kept = Vec::new();
    while kept.len() < NODES {
        let mut node = path.fork();
        node.advance(&mut pool);
        kept.push(node);
        path.advance(&mut pool);
        if !matches!(path.stop(), Stop::Test(_)) {
            path = first.fork();
        }
    }
    let all = resident().saturating_sub(before);
    println!("{name}: {} bytes a node", all / NODES as u64);
    if all > MOST {
        return Err(format!("{NODES} nodes need {all} bytes"));
    }
    Ok(())
}

/// Prints figures of all cases, or of those whose name has one of the words in it, or of a program
/// and an input by their paths.
pub fn figures(names: &[String]) -> ExitCode {
    println!(
        "{:<36} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "case",
        "tests",
        "follow ms",
        "walk ms",
        "again ms",
        "end ms",
        "fork µs",
        "bind µs",
        "next µs"
    );
    if let [program, input] = names
        && program.contains('/')
    {
        match line(&cases::given(program, input)) {
            Ok(text) => println!("{program:<36} {text}"),
            Err(why) => println!("{program:<36} {why}"),
        }
        return ExitCode::SUCCESS;
    }
    let chosen = |name: &str| names.is_empty() || names.iter().any(|word| name.contains(word));
    for case in cases().into_iter().filter(|case| chosen(&case.name)) {
        match line(&case) {
            Ok(text) => println!("{:<36} {text}", case.name),
            Err(why) => println!("{:<36} {why}", case.name),
        }
    }
    ExitCode::SUCCESS
}

fn line(case: &cases::Case) -> Result<String, String> {
    let subject =
        case.subject("figures", Relaxations { comparisons: false, ..Relaxations::STEPWISE })?;
    let mut pool = Pool::new();
    let begun = Instant::now();
    subject.follow(&mut pool)?;
    let follow = begun.elapsed().as_secs_f64();
    let mut pool = Pool::new();
    let begun = Instant::now();
    let mut following = subject.start(&mut pool)?;
    let mut first = following.fork();
    let path = walk(&mut following, &mut pool, usize::MAX);
    let whole = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let tests = path.junctions.len();
    walk(&mut first, &mut pool, tests - 1);
    let again = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    first.advance(&mut pool);
    let end = begun.elapsed().as_secs_f64();
    let mut middle = subject.start(&mut pool)?;
    walk(&mut middle, &mut pool, tests / 2);
    let (mut fork, mut bind, mut advance) = (f64::MAX, f64::MAX, f64::MAX);
    let input = subject.assignment();
    for _ in 0..100 {
        let begun = Instant::now();
        let mut child = middle.fork();
        fork = fork.min(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        child.bind(&mut pool, &input);
        bind = bind.min(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        child.advance(&mut pool);
        advance = advance.min(begun.elapsed().as_secs_f64());
    }
    Ok(format!(
        "{tests:>8} {:>9.1} {:>9.1} {:>9.2} {:>9.2} {:>9.1} {:>9.1} {:>9.1}",
        1e3 * follow,
        1e3 * whole,
        1e3 * again,
        1e3 * end,
        1e6 * fork,
        1e6 * bind,
        1e6 * advance
    ))
}
