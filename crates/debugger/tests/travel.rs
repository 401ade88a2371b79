//! The engine: a place has one state, however the run gets there, and what was done last is found.
//!
//! A C program with threads, handlers, timers and system calls is built here, and run in the machine.

mod support;

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_debugger::Halt;
use stunt_machine::{
    linux::Ending,
    stepping::{Touch, Watch},
};
use support::{Program, digest, patient};

fn story() -> Program {
    Program::build("story")
}

#[test]
fn a_place_has_one_state() {
    let program = story();
    let mut travel = program.travel();
    let Halt::End(Ending::Killed(signal)) = travel.goto_end(&mut patient()) else {
        panic!("it does not fail");
    };
    assert_eq!(signal.number, 8);
    let (end, _) = travel.end().expect("it is known");
    assert!(end > 1_000_000, "{end} instructions");
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut known: BTreeMap<u64, u64> = BTreeMap::new();
    for round in 0..24 {
        let place =
            if round % 4 == 0 { end - random.gen_range(0..50) } else { random.gen_range(0..=end) };
        travel.goto(place, &mut patient());
        assert_eq!(travel.position(), place);
        let there = digest(&mut travel);
        assert_eq!(*known.entry(place).or_insert(there), there, "{place} was another one before");
        if round % 3 == 0 {
            let mut fresh = program.travel();
            fresh.goto(place, &mut patient());
            assert_eq!(digest(&mut fresh), there, "{place} is another one from the start");
        }
        if place == 0 {
            continue;
        }
        let thread = travel.thread();
        let halt = travel.back_step(thread, &mut patient());
        assert!(matches!(halt, Halt::Stepped | Halt::Start), "{halt:?}");
        let back = travel.position();
        assert!(back < place);
        known.entry(back).or_insert_with(|| digest(&mut travel));
        // The thread that made the step makes it again.
        if halt == Halt::Stepped && travel.thread() == thread {
            let halt = travel.forward(Some(thread), &mut patient());
            assert!(matches!(halt, Halt::Stepped | Halt::Fault(_)), "{halt:?}");
            travel.goto(place, &mut patient());
            assert_eq!(digest(&mut travel), there, "{place} is another one after a step back");
        }
    }
}

#[test]
fn steps_and_stretches_are_the_same_run() {
    let program = story();
    let mut stretches = program.travel();
    let mut steps = program.travel();
    stretches.goto_end(&mut patient());
    let (end, _) = stretches.end().expect("it is known");
    // Around the first fault, where handlers are entered and left.
    let first = loop {
        match steps.forward(None, &mut patient()) {
            Halt::Fault(signal) if signal.number == 11 => break steps.position(),
            halt => assert!(matches!(halt, Halt::Fault(_)), "{halt:?}"),
        }
    };
    assert!(first < end);
    for place in first..first + 300 {
        assert_eq!(steps.position(), place);
        if place % 37 < 3 {
            stretches.goto(place, &mut patient());
            let there = digest(&mut stretches);
            steps.goto(place, &mut patient());
            assert_eq!(digest(&mut steps), there, "{place}");
        }
        steps.goto(place + 1, &mut patient());
    }
}

#[test]
fn breakpoints_are_met_in_both_directions() {
    let program = story();
    let mut travel = program.travel();
    let add = program.address("add");
    travel.set_stops([add], Vec::new());
    let mut there = Vec::new();
    loop {
        match travel.forward(None, &mut patient()) {
            Halt::Breakpoint => {
                let thread = travel.thread();
                assert_eq!(travel.processor(thread).expect("it is there").rip(), add);
                there.push((travel.position(), digest(&mut travel)));
            }
            Halt::Fault(_) => {}
            Halt::End(_) => break,
            halt => panic!("{halt:?}"),
        }
    }
    assert_eq!(there.len(), 40, "each of two threads calls it 20 times");
    for (position, there) in there.iter().rev() {
        assert_eq!(travel.back(&mut patient()), Halt::Breakpoint);
        assert_eq!((travel.position(), digest(&mut travel)), (*position, *there));
    }
    assert_eq!(travel.back(&mut patient()), Halt::Start);
    assert_eq!(travel.position(), 0);
}

#[test]
fn the_last_change_is_found() {
    let program = story();
    for (name, length, changes) in
        [("counter", 4, 40), ("copied", 44, 1), ("got", 8, 1), ("ticks", 4, 3)]
    {
        let address = program.address(name);
        let watch = Watch { range: address..address + length, touch: Touch::Change };
        let mut travel = program.travel();
        travel.set_stops([], vec![watch.clone()]);
        let value = |travel: &mut stunt_debugger::TimeTravel| {
            let mut bytes = vec![0; length as usize];
            let _ = travel.memory().expect("it is there").peek(address, &mut bytes);
            bytes
        };
        let mut there = vec![(0, value(&mut travel))];
        loop {
            match travel.forward(None, &mut patient()) {
                Halt::Watch(0) => there.push((travel.position(), value(&mut travel))),
                Halt::Fault(_) => {}
                Halt::End(_) => break,
                halt => panic!("{halt:?}"),
            }
        }
        assert!(there.len() > changes, "{name} changed {} times", there.len() - 1);
        for pair in there.windows(2).rev() {
            assert_ne!(pair[0].1, pair[1].1, "{name}");
            assert_eq!(travel.back(&mut patient()), Halt::Watch(0), "{name}");
            // Backwards it stands before the change.
            assert_eq!((travel.position() + 1, value(&mut travel)), (pair[1].0, pair[0].1.clone()));
        }
        // The loader fills in what is not zero at the start.
        assert!(matches!(travel.back(&mut patient()), Halt::Start), "{name}");
        // Who watches does not change the run.
        let mut plain = program.travel();
        let place = there.last().expect("it changed").0;
        plain.goto(place, &mut patient());
        travel.set_stops([], Vec::new());
        travel.goto(place, &mut patient());
        assert_eq!(digest(&mut travel), digest(&mut plain), "{name}");
    }
}

#[test]
fn reads_are_watched_too() {
    let program = story();
    let address = program.address("copied");
    let mut travel = program.travel();
    let range = address + 8..address + 9;
    travel.set_stops([], vec![Watch { range, touch: Touch::Read }]);
    // It is copied there, and then printed.
    let halt = loop {
        match travel.forward(None, &mut patient()) {
            Halt::Fault(_) => {}
            halt => break halt,
        }
    };
    assert_eq!(halt, Halt::Watch(0));
    let mut byte = [0];
    assert_eq!(travel.memory().expect("it is there").peek(address + 8, &mut byte), 1);
    assert_eq!(byte[0], b'g');
}

#[test]
fn what_is_changed_belongs_to_its_place() {
    let program = story();
    let spoil = program.address("spoil");
    let mut travel = program.travel();
    travel.set_stops([spoil], Vec::new());
    while travel.forward(None, &mut patient()) != Halt::Breakpoint {}
    let place = travel.position();
    let thread = travel.thread();
    // The pointer is turned to something else: the division works now.
    let mut cpu = travel.processor(thread).expect("it is there").clone();
    cpu.set(7, program.address("ticks"));
    travel.write_processor(thread, cpu);
    assert_eq!(travel.end(), None, "what came after is dropped");
    let Halt::End(Ending::Exited(code)) = travel.goto_end(&mut patient()) else {
        panic!("it still fails");
    };
    assert_eq!(code, 100 / 12);
    let (end, _) = travel.end().expect("it is known");
    let there = digest(&mut travel);
    travel.goto(place - 5, &mut patient());
    travel.goto(end, &mut patient());
    assert_eq!(digest(&mut travel), there, "it is changed again on the way");
    // A change of memory, which is what the program sees.
    travel.goto(place - 5, &mut patient());
    let counter = program.address("counter");
    assert!(travel.write_memory(counter, &7_u32.to_le_bytes()));
    assert!(!travel.write_memory(8, &[0]));
    assert!(matches!(travel.goto_end(&mut patient()), Halt::End(Ending::Killed(_))));
}
