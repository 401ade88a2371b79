//! The tests that a followed run makes are places of the run that a debugger goes through: instructions are
//! counted alike.

mod support;

use std::sync::Arc;

use stunt_machine::{Following, Options, linux::Input, symbolic::Relaxations};
use stunt_path::{Execution, Original, Source, Stop};
use stunt_terms::Pool;
use stunt_unwind::stack::Symbols;
use support::{INPUT, Program, patient};

/// The longest piece of straight code, in instructions.
const PIECE: u64 = 64;

#[test]
fn a_test_is_at_its_place() {
    let program = Program::build("parse");
    let mut input = Original::new();
    input.push(INPUT.to_vec(), Vec::new());
    let inputs = [Input { place: Source::StandardInput, public: Vec::new() }];
    let mut pool = Pool::new();
    let options = Options { relax: Relaxations::NONE, ..Options::default() };
    let symbols = Arc::new(Symbols::of_host());
    let machine = program.machine();
    let mut at =
        Following::start(machine, &inputs, &input.assignment(), symbols, options, &mut pool)
            .unwrap_or_else(|errno| panic!("{}", errno.text()));
    let mut travel = program.travel();
    let mut count = 0;
    while let Stop::Test(junction) = at.stop() {
        let address = junction.test.address;
        // A followed run counts the whole piece of straight code in which it makes a test.
        travel.goto(at.executed(), &mut patient());
        let thread = travel.thread();
        let is_there = (0..=PIECE).any(|_| {
            let rip = travel.processor(thread).expect("it is there").rip();
            rip == address || {
                travel.back_step(thread, &mut patient());
                false
            }
        });
        assert!(is_there, "{address:#x} is not before {}", at.executed());
        count += 1;
        at.advance(&mut pool);
    }
    assert!(count > 5, "{count} tests");
}
