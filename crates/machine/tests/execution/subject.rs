//! A program and its input, to be walked from test to test, or followed in one go.
//!
//! The program sees the same on every input: the same path, environment and folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stunt_machine::linux::fs::{Allow, Config, Stream};
use stunt_machine::linux::{Input, Limits, Setup};
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_machine::{Following, Machine, Options};
use stunt_path::{Execution, Failure, Junction, Source, Stop, Test};
use stunt_terms::{Assignment, Pool};
use stunt_unwind::stack::Symbols;

/// Far above what any run needs.
const MOST_INSTRUCTIONS: u64 = 400_000_000;

/// How the input reaches the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// As standard input.
    StandardInput,
    /// As a file, whose name is an argument.
    File,
    /// As an argument.
    Argument,
    /// As the value of a variable.
    Variable,
}

/// A program and its input.
#[derive(Clone)]
pub struct Subject {
    /// The program.
    pub program: PathBuf,
    /// How the input reaches it.
    pub via: Via,
    /// The input.
    pub input: Vec<u8>,
    /// A folder of its own.
    pub folder: PathBuf,
    /// Which relaxations are made.
    pub relax: Relaxations,
    /// Whether memory is checked.
    pub check_memory: bool,
    /// Whether every term is compared with its value.
    pub check_terms: bool,
}

/// A path from some stop on.
pub struct Walked {
    /// The tests that were passed.
    pub junctions: Vec<Junction>,
    /// Where it stands.
    pub stop: Stop,
}

impl Subject {
    fn path(&self) -> PathBuf {
        self.folder.join("input")
    }

    fn machine(&self, input: &[u8]) -> Result<(Machine, Vec<Input>), String> {
        use std::os::unix::ffi::OsStrExt;
        let say = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(&self.folder).map_err(say)?;
        let mut arguments = vec![b"program".to_vec()];
        let mut environment =
            vec![b"LC_ALL=C.UTF-8".to_vec(), b"RUST_BACKTRACE=0".to_vec(), b"TZ=UTC".to_vec()];
        let place = match self.via {
            Via::StandardInput => Source::StandardInput,
            Via::File => {
                // Machines that run already keep the old file.
                std::fs::write(self.folder.join("fresh"), input).map_err(say)?;
                std::fs::rename(self.folder.join("fresh"), self.path()).map_err(say)?;
                let path = self.path().as_os_str().as_bytes().to_vec();
                arguments.push(path.clone());
                Source::File(path)
            }
            Via::Argument => {
                arguments.extend([b"-".to_vec(), input.to_vec()]);
                Source::Argument(2)
            }
            Via::Variable => {
                environment.push([b"INPUT=", input].concat());
                Source::Variable(b"INPUT".to_vec())
            }
        };
        let stdin = self.via == Via::StandardInput;
        let files = Config {
            allow: Allow::Everything,
            cwd: self.folder.as_os_str().as_bytes().to_vec(),
            streams: [if stdin { Stream::File } else { Stream::Null }, Stream::Pipe, Stream::Pipe],
            stdin: Arc::from(if stdin { input } else { &[] }),
            ..Config::default()
        };
        let setup = Setup {
            files,
            program: self.program.as_os_str().as_bytes().to_vec(),
            arguments,
            environment,
            memory: 4 << 30,
        };
        let machine = Machine::new(setup)
            .map_err(|errno| format!("{} cannot be started: {errno:?}", self.program.display()))?;
        Ok((machine, vec![Input { place, public: Vec::new() }]))
    }

    /// Starts on another input than its own.
    pub fn start_on(&self, input: &Assignment, pool: &mut Pool) -> Result<Following, String> {
        let mut bytes = input.source(0).to_vec();
        bytes.resize(self.input.len(), 0);
        let (machine, inputs) = self.machine(&bytes)?;
        let options = Options {
            relax: self.relax,
            check_memory: self.check_memory,
            check_terms: self.check_terms,
            instructions: MOST_INSTRUCTIONS,
            ..Options::default()
        };
        let symbols = Arc::new(symbols());
        Following::start(machine, &inputs, input, symbols, options, pool)
            .map_err(|errno| format!("no such input: {errno:?}"))
    }

    /// Starts on its input.
    pub fn start(&self, pool: &mut Pool) -> Result<Following, String> {
        self.start_on(&self.assignment(), pool)
    }

    /// Its input.
    pub fn assignment(&self) -> Assignment {
        Assignment::from_bytes(self.input.clone())
    }

    /// Follows it in one go: all tests, and how it failed.
    pub fn follow(&self, pool: &mut Pool) -> Result<(Vec<Test>, Option<Failure>), String> {
        let (mut machine, inputs) = self.machine(&self.input)?;
        let mut symbolic = Symbolic::new(self.relax);
        symbolic.set_input(self.assignment());
        symbolic.keep_tests();
        if self.check_memory {
            symbolic.check_memory();
        }
        std::mem::swap(&mut symbolic.pool, pool);
        machine.follow(&inputs, symbolic).map_err(|errno| format!("no such input: {errno:?}"))?;
        let ending = machine.run(Limits { instructions: MOST_INSTRUCTIONS });
        let failure = machine.failure(ending, &symbols());
        let mut symbolic = machine.take_symbolic().ok_or("it was not followed")?;
        std::mem::swap(&mut symbolic.pool, pool);
        Ok((symbolic.tests().to_vec(), failure))
    }
}

fn symbols() -> Symbols {
    Symbols::new(Box::new(|path| std::fs::read(path).ok().map(Arc::from)))
}

/// Walks to the end, or past so many tests.
pub fn walk(following: &mut Following, pool: &mut Pool, most: usize) -> Walked {
    let mut junctions = Vec::new();
    while let &Stop::Test(junction) = following.stop() {
        if junctions.len() >= most {
            break;
        }
        junctions.push(junction);
        following.advance(pool);
    }
    Walked { junctions, stop: following.stop().clone() }
}

/// Where this test may write.
pub fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("execution")
}
