//! How many runs a second the machine makes of a program on inputs of other lengths, from before it looks
//! at them: `again INPUT PROGRAM ARGUMENTS…`, with `@@` for the input's path. The environment is the caller's.

use std::{os::unix::ffi::OsStringExt, sync::Arc, time::Instant};

use stunt_machine::{
    Again, Machine,
    linux::{
        Input, Limits, Setup,
        fs::{Allow, Config, User},
    },
    symbolic::{Relaxations, Symbolic},
};
use stunt_path::Source;
use stunt_unwind::stack::Symbols;

const RUNS: u32 = 20;

fn main() {
    let mut words = std::env::args_os().skip(1).map(OsStringExt::into_vec);
    let input = words.next().expect("an input");
    let path = String::from_utf8(input.clone()).expect("a path");
    let words: Vec<Vec<u8>> =
        words.map(|word| if word == b"@@" { input.clone() } else { word }).collect();
    let bytes = std::fs::read(&path).expect("the input can be read");
    let variable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        [name.into_vec(), b"=".to_vec(), value.into_vec()].concat()
    };
    let cwd = std::env::current_dir().expect("a folder").into_os_string().into_vec();
    let files = Config {
        allow: Allow::Everything,
        user: User::default(),
        cwd,
        placed: vec![(input.clone(), Arc::from(&*bytes))],
        ..Config::default()
    };
    let setup = Setup {
        files,
        program: words[0].clone(),
        arguments: words,
        environment: std::env::vars_os().map(variable).collect(),
        memory: 4 << 30,
    };
    let mut machine = Machine::new(setup).expect("it starts");
    let place = Source::File(input);
    let inputs = [Input { place, public: Vec::new() }];
    machine.follow(&inputs, Symbolic::new(Relaxations::NONE)).expect("the input is there");
    let mut again = Again::new(machine, Arc::new(Symbols::of_host())).expect("no input yet");
    let limits = Limits { instructions: 1 << 36 };
    let begun = Instant::now();
    let run = again.run(std::slice::from_ref(&bytes), limits);
    let all = again.kernel().executed();
    println!(
        "from the start: {:?}, {all} instructions, {:.3} s",
        run.ending,
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    let early = again.go_on_before_look(std::slice::from_ref(&bytes), limits, &|| false);
    println!("prepared: {early}, {:.3} s", begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let mut before = 0;
    for run in 0..RUNS {
        let mut input = bytes.clone();
        input.extend(std::iter::repeat_n(b'\n', run as usize % 3));
        let left = again.run(&[input], limits);
        if run == 0 {
            println!("{:?}, {} bytes of standard error", left.ending, left.stderr.reveal().len());
            let first = begun.elapsed().as_secs_f64();
            println!("the first: {first:.3} s");
        }
        before = again.kernel().executed();
    }
    let each = begun.elapsed().as_secs_f64() / f64::from(RUNS);
    println!("to {before} instructions: {:.1} ms each, {:.1} runs/s", each * 1e3, 1.0 / each);
}
