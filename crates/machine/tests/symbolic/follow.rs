//! A run in the machine, followed or not: the one place of this test that drives the machine.
//!
//! The program sees what it is given here and nothing else. A followed run is checked: each term is
//! compared with the value that it stands for, and a difference is a panic that names the address.

use std::path::PathBuf;
use std::sync::Arc;

use stunt_machine::Machine;
use stunt_machine::linux::fs::{Allow, Config, Stream};
use stunt_machine::linux::{Ending, Input, Limits, Setup};
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_path::Source;
use stunt_terms::{Assignment, InputByte};

/// Far above what any run needs; who gets here runs in circles.
const MOST_INSTRUCTIONS: u64 = 2_000_000_000;

/// A program with all that it sees.
#[derive(Clone)]
pub struct Subject {
    /// The program's path, in full or from `folder`.
    pub program: PathBuf,
    /// All words, the program's name first.
    pub words: Vec<Vec<u8>>,
    /// The environment, as `NAME=VALUE`.
    pub environment: Vec<Vec<u8>>,
    /// Where it starts.
    pub folder: PathBuf,
    /// Standard input, if it is a file.
    pub stdin: Option<Vec<u8>>,
    /// How many bytes of each input are followed.
    pub most: u64,
}

/// What can be seen of a run from outside.
#[derive(PartialEq, Eq)]
pub struct Seen {
    /// How it ended; a failure without its address counts by its signal alone.
    pub ending: Ending,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// A run, done.
pub struct Done {
    /// What can be seen of it.
    pub seen: Seen,
    /// What it gathered, if it was followed.
    pub symbolic: Option<Symbolic>,
    /// Instructions executed.
    pub executed: u64,
}

impl Subject {
    fn machine(&self) -> Result<Machine, String> {
        use std::os::unix::ffi::OsStrExt;
        let files = Config {
            allow: Allow::Everything,
            cwd: self.folder.as_os_str().as_bytes().to_vec(),
            streams: [
                if self.stdin.is_some() { Stream::File } else { Stream::Null },
                Stream::Pipe,
                Stream::Pipe,
            ],
            stdin: Arc::from(self.stdin.clone().unwrap_or_default()),
            ..Config::default()
        };
        let setup = Setup {
            files,
            program: self.program.as_os_str().as_bytes().to_vec(),
            arguments: self.words.clone(),
            environment: self.environment.clone(),
            memory: 4 << 30,
        };
        Machine::new(setup)
            .map_err(|errno| format!("{} cannot be started: {errno:?}", self.program.display()))
    }

    /// Runs it as it is.
    pub fn run(&self) -> Result<Done, String> {
        Ok(done(self.machine()?))
    }

    /// Follows the beginnings of inputs, and compares every term with its value.
    pub fn follow(&self, inputs: &[Source], relax: Relaxations) -> Result<Done, String> {
        self.follow_with(inputs, Symbolic::new(relax))
    }

    /// The same with checked memory.
    pub fn follow_checked(&self, inputs: &[Source], relax: Relaxations) -> Result<Done, String> {
        let mut symbolic = Symbolic::new(relax);
        symbolic.check_memory();
        self.follow_with(inputs, symbolic)
    }

    fn follow_with(&self, inputs: &[Source], mut symbolic: Symbolic) -> Result<Done, String> {
        let mut machine = self.machine()?;
        symbolic.check_against(self.assignment(inputs)?);
        let public: Vec<_> = std::iter::once(self.most..u64::MAX).collect();
        let inputs: Vec<Input> = inputs
            .iter()
            .map(|place| Input { place: place.clone(), public: public.clone() })
            .collect();
        machine.follow(&inputs, symbolic).map_err(|errno| format!("no such input: {errno:?}"))?;
        Ok(done(machine))
    }

    /// What the inputs are in this run.
    fn assignment(&self, inputs: &[Source]) -> Result<Assignment, String> {
        let mut all = Assignment::new();
        for (place, source) in inputs.iter().zip(0..) {
            for (&value, offset) in self.content(place)?.iter().zip(0..) {
                all.set(InputByte::new(source, offset), value);
            }
        }
        Ok(all)
    }

    fn content(&self, place: &Source) -> Result<Vec<u8>, String> {
        use std::os::unix::ffi::OsStrExt;
        match place {
            Source::File(path) => {
                let path = self.folder.join(std::ffi::OsStr::from_bytes(path));
                std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
            }
            Source::Connection(_) => Err("connections have a test of their own".to_owned()),
            Source::StandardInput => Ok(self.stdin.clone().unwrap_or_default()),
            Source::Argument(number) => Ok(self.words[*number].clone()),
            Source::Variable(name) => {
                let mut all = self.environment.iter();
                let value = all.find_map(|entry| entry.strip_prefix(&name[..])?.strip_prefix(b"="));
                value.map(<[u8]>::to_vec).ok_or_else(|| "no such variable".to_owned())
            }
        }
    }
}

fn done(mut machine: Machine) -> Done {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ending = machine.run_watched(Limits { instructions: MOST_INSTRUCTIONS }, &mut |kernel| {
        stdout.extend(kernel.files().drain(1));
        stderr.extend(kernel.files().drain(2));
    });
    stdout.extend(machine.kernel().files().drain(1));
    stderr.extend(machine.kernel().files().drain(2));
    let executed = machine.kernel().executed();
    let symbolic = machine.take_symbolic();
    Done { seen: Seen { ending, stdout, stderr }, symbolic, executed }
}

/// The first thing that two runs do not have in common.
pub fn difference(plain: &Seen, followed: &Seen) -> Option<String> {
    if plain.ending != followed.ending {
        return Some(format!("ends as {:?}, followed as {:?}", plain.ending, followed.ending));
    }
    for (name, a, b) in [
        ("standard output", &plain.stdout, &followed.stdout),
        ("standard error", &plain.stderr, &followed.stderr),
    ] {
        if a != b {
            let at = a.iter().zip(b).take_while(|(a, b)| a == b).count();
            return Some(format!(
                "{name} differs from byte {at} on, of {} and {} followed",
                a.len(),
                b.len()
            ));
        }
    }
    None
}
