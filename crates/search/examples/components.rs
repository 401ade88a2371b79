//! debugging
use std::time::Instant;
use stunt_models::{Budget, Counter};
use stunt_path::{Original, Test, TestKind};
use stunt_search::PathCondition;
use stunt_terms::{Pool, smtlib};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut pool = Pool::new();
    let script = smtlib::parse_script(&mut pool, &std::fs::read_to_string(&arguments[0])?)?;
    let test = |condition| Test { condition, address: 0, kind: TestKind::Branch };
    let tests: Vec<Test> = script.assertions().into_iter().map(test).collect();
    let mut original = Original::new();
    original.push(std::fs::read(&arguments[1])?, Vec::new());
    let c = PathCondition::new(&mut pool, &tests, &original);
    let condition = c.condition().clone();
    drop(c);
    let mut counter = Counter::new(Budget::quick());
    for component in condition.components() {
        if component.single().is_some() { continue; }
        let b = Instant::now();
        let s = counter.space(&pool, component);
        let t = b.elapsed().as_secs_f64();
        let lits: Vec<_> = component.literals().collect();
        let nodes = pool.reachable(&lits).len();
        let biggest = lits.iter().map(|&l| pool.reachable(&[l]).len()).max().unwrap_or(0);
        if s.is_some() && t < 0.05 { continue }
        println!("{} bytes {} literals {nodes} nodes, largest {biggest}: {t:.2}s {}", component.len(), lits.len(), s.map_or("-", |s| s.stage()));
        if arguments.len() > 2 {
            let mut lits = lits.clone();
            lits.sort_by_key(|&l| pool.reachable(&[l]).len());
            for &l in &lits {
                let text = smtlib::print_term(&pool, l);
                println!("    {:4} {} {}", pool.reachable(&[l]).len(), pool.support(l).len(), &text[..text.len().min(400)]);
            }
        }
    }
    Ok(())
}
