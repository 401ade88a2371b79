//! What is run: a program, its arguments, and the inputs that are private.
//!
//! The same subject is run natively and in the machine, on the original and on doubles. Doubles are
//! put in place of the inputs; a double of a file lies in a folder of its own that goes away with
//! the subject.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use stunt_machine::linux::fs::{Allow, Config, Stream};
use stunt_machine::linux::{Input, InputPlace, Setup};
use stunt_native::{Command, Stdin};
use stunt_path::Original;
use stunt_report::{Source, SourceName};

use crate::run::user;

/// The place of the input's path in the arguments.
const PLACE: &str = "@@";

/// Flags that say what is run.
#[derive(clap::Args)]
#[group(skip)]
pub struct Arguments {
    /// The input on which the program fails; without it, standard input is read
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// An argument of the program is private as well, by its number from 1
    #[arg(long, value_name = "N")]
    symbolic_arg: Vec<usize>,
    /// An environment variable is private as well
    #[arg(long, value_name = "NAME")]
    symbolic_env: Vec<String>,
    /// A part of the input that need not be hidden, such as file:0-15, stdin, arg1 or env:HOME:0-3
    #[arg(long, value_name = "SOURCE[:FROM-TO]")]
    public: Vec<String>,
    /// How many seconds a run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// How much memory a run in the machine may use, such as 512M or 2G
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = crate::run::size)]
    memory: u64,
    /// The program and its arguments; @@ stands for the path of the input, without it the input is
    /// standard input
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// A program with its inputs.
pub struct Subject {
    program: PathBuf,
    words: Vec<OsString>,
    /// Where the inputs come from, in the order of the sources of the original.
    pub sources: Vec<Source>,
    public: Vec<Vec<Range<u64>>>,
    /// The input's path, if the program reads it as a file.
    file: Option<PathBuf>,
    stdin: Option<Arc<[u8]>>,
    /// The private input.
    pub original: Original,
    timeout: Duration,
    memory: u64,
    scratch: Scratch,
}

/// A folder that goes away.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        for attempt in 0..1000 {
            let name = format!("stunt-{}-{attempt}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!("cannot make a folder in {}", std::env::temp_dir().display())
                    });
                }
            }
        }
        bail!("there are too many folders of stunt in {}", std::env::temp_dir().display())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left there are doubles.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Subject {
    /// What the flags say.
    pub fn new(arguments: &Arguments) -> Result<Self> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let program = stunt_native::find(&arguments.command[0], &path)?;
        stunt_native::check(&program)?;
        let words = arguments.command.clone();
        let has_place = words[1..].iter().any(|word| contains_place(word));
        let mut subject = Self {
            program,
            words,
            sources: Vec::new(),
            public: Vec::new(),
            file: None,
            stdin: None,
            original: Original::new(),
            timeout: Duration::from_secs(arguments.timeout.max(1)),
            memory: arguments.memory,
            scratch: Scratch::new()?,
        };
        let mut public = Public::parse(&arguments.public)?;
        match (&arguments.input, has_place) {
            (Some(file), place) => {
                let bytes = fs::read(file)
                    .with_context(|| format!("the input {} cannot be read", file.display()))?;
                let extension = file.extension().and_then(OsStr::to_str);
                if place {
                    subject.add(SourceName::File, bytes, extension, &mut public);
                    subject.file = Some(std::path::absolute(file)?);
                } else {
                    subject.stdin = Some(bytes.clone().into());
                    subject.add(SourceName::Stdin, bytes, None, &mut public);
                }
            }
            (None, true) => bail!("there is @@ in the arguments, but no input: give one with -i"),
            (None, false)
                if arguments.symbolic_arg.is_empty() && arguments.symbolic_env.is_empty() =>
            {
                let mut bytes = Vec::new();
                std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
                subject.stdin = Some(bytes.clone().into());
                subject.add(SourceName::Stdin, bytes, None, &mut public);
            }
            (None, false) => {}
        }
        for &number in &arguments.symbolic_arg {
            let word = (number > 0).then(|| subject.words.get(number)).flatten();
            let bytes = word
                .filter(|word| !contains_place(word))
                .ok_or_else(|| {
                    anyhow!("there is no argument {number} that could be private; the first has number 1")
                })?
                .as_bytes()
                .to_vec();
            subject.add(SourceName::Argument(number as u32), bytes, None, &mut public);
        }
        for name in &arguments.symbolic_env {
            let value = std::env::var_os(name)
                .with_context(|| format!("the environment has no variable {name}"))?;
            let name = SourceName::Environment(name.clone());
            subject.add(name, value.into_vec(), None, &mut public);
        }
        public.all_used()?;
        if subject.original.hidden().is_empty() {
            bail!("the input is empty: there is nothing to hide, so send it as it is");
        }
        Ok(subject)
    }

    fn add(
        &mut self,
        name: SourceName,
        bytes: Vec<u8>,
        extension: Option<&str>,
        public: &mut Public,
    ) {
        let ranges = public.of(&name, bytes.len() as u64);
        self.sources.push(Source::new(name, bytes.len() as u64, extension));
        self.public.push(ranges.clone());
        self.original.push(bytes, ranges);
    }

    /// The program's file name.
    pub fn name(&self) -> String {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The arguments as they may be shown: without private ones, and with `@@` for the input.
    pub fn shown_arguments(&self) -> Vec<String> {
        let private = |number: usize| {
            self.sources.iter().find(|it| it.name == SourceName::Argument(number as u32))
        };
        let shown = |(number, word): (usize, &OsString)| match private(number) {
            Some(source) => source.name.placeholder(),
            None => word.to_string_lossy().into_owned(),
        };
        self.words.iter().enumerate().skip(1).map(shown).collect()
    }

    /// A native run on the original.
    pub fn on_original(&self) -> Command {
        self.command(self.file.as_deref(), None)
    }

    /// A native run on a double.
    pub fn on_double(&self, double: &[Vec<u8>]) -> Result<Command> {
        let mut file = None;
        for (source, bytes) in self.sources.iter().zip(double) {
            if source.name == SourceName::File {
                let path = self.scratch.0.join(source.file_name());
                fs::write(&path, bytes).with_context(|| {
                    format!("cannot write to {}: the double must be run", self.scratch.0.display())
                })?;
                file = Some(path);
            }
        }
        Ok(self.command(file.as_deref(), Some(double)))
    }

    fn command(&self, file: Option<&Path>, double: Option<&[Vec<u8>]>) -> Command {
        let mut command = Command::new(&self.program);
        command.name = Some(self.words[0].clone());
        command.arguments = self.words[1..].iter().map(|word| placed(word, file)).collect();
        let mut environment = environment();
        command.stdin = match &self.stdin {
            Some(bytes) => Stdin::Bytes(Arc::clone(bytes)),
            None => Stdin::Empty,
        };
        for (source, bytes) in self.sources.iter().zip(double.unwrap_or_default()) {
            match &source.name {
                SourceName::File => {}
                SourceName::Stdin => command.stdin = Stdin::Bytes(bytes.as_slice().into()),
                SourceName::Argument(number) => {
                    command.arguments[*number as usize - 1] = OsString::from_vec(bytes.clone());
                }
                SourceName::Environment(name) => {
                    environment.insert(name.into(), OsString::from_vec(bytes.clone()));
                }
            }
        }
        command.environment = environment.into_iter().collect();
        command.time = self.timeout;
        command
    }

    /// A run in the machine on the original, and its inputs.
    pub fn in_machine(&self) -> Result<(Setup, Vec<Input>)> {
        let words = self.words[1..].iter().map(|word| placed(word, self.file.as_deref()));
        let mut arguments = vec![self.words[0].as_bytes().to_vec()];
        arguments.extend(words.map(OsString::into_vec));
        let environment = environment();
        let environment =
            environment.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        let cwd = std::env::current_dir().context("there is no current directory")?;
        let stdin = if self.stdin.is_some() { Stream::File } else { Stream::Null };
        let setup = Setup {
            files: Config {
                allow: Allow::Everything,
                user: user()?,
                cwd: cwd.into_os_string().into_vec(),
                scratch: vec![b"/tmp".to_vec()],
                streams: [stdin, Stream::Pipe, Stream::Pipe],
                stdin: self.stdin.clone().unwrap_or_default(),
                seed: 0,
            },
            program: self.program.as_os_str().as_bytes().to_vec(),
            arguments,
            environment: environment.collect(),
            memory: self.memory,
        };
        let inputs = self.sources.iter().zip(&self.public).map(|(source, public)| {
            let place = match &source.name {
                SourceName::File => {
                    let file = self.file.as_deref().unwrap_or(Path::new("")).as_os_str();
                    InputPlace::File(file.as_bytes().to_vec())
                }
                SourceName::Stdin => InputPlace::StandardInput,
                SourceName::Argument(number) => InputPlace::Argument(*number as usize),
                SourceName::Environment(name) => InputPlace::Variable(name.clone().into_bytes()),
            };
            Input { place, public: public.clone() }
        });
        Ok((setup, inputs.collect()))
    }

    /// How long a run may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// The environment of every run. A Rust program that panics shall not look for its source lines:
/// stunt does that itself.
fn environment() -> BTreeMap<OsString, OsString> {
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    all.insert("RUST_BACKTRACE".into(), "0".into());
    all
}

fn contains_place(word: &OsStr) -> bool {
    word.as_bytes().windows(PLACE.len()).any(|part| part == PLACE.as_bytes())
}

/// The word with the input's path in its place.
fn placed(word: &OsStr, file: Option<&Path>) -> OsString {
    let Some(file) = file else { return word.to_owned() };
    let mut rest = word.as_bytes();
    let mut bytes = Vec::new();
    while let Some(at) = rest.windows(PLACE.len()).position(|part| part == PLACE.as_bytes()) {
        bytes.extend_from_slice(&rest[..at]);
        bytes.extend_from_slice(file.as_os_str().as_bytes());
        rest = &rest[at + PLACE.len()..];
    }
    bytes.extend_from_slice(rest);
    OsString::from_vec(bytes)
}

/// What the user does not want to hide.
struct Public(Vec<(String, Option<Range<u64>>, bool)>);

impl Public {
    fn parse(texts: &[String]) -> Result<Self> {
        let mut all = Vec::new();
        for text in texts {
            let (source, range) = match text.rsplit_once(':') {
                Some((source, range)) if range.starts_with(|c: char| c.is_ascii_digit()) => {
                    let (first, last) = range.split_once('-').unwrap_or((range, range));
                    let number = |digits: &str| {
                        digits.parse::<u64>().ok().with_context(|| {
                            format!("--public {text}: a range is two offsets, such as 0-15")
                        })
                    };
                    let (first, last) = (number(first)?, number(last)?);
                    if first > last {
                        bail!("--public {text}: the range ends before it begins");
                    }
                    (source, Some(first..last + 1))
                }
                _ => (text.as_str(), None),
            };
            all.push((source.to_owned(), range, false));
        }
        Ok(Self(all))
    }

    fn of(&mut self, name: &SourceName, length: u64) -> Vec<Range<u64>> {
        let own = match name {
            SourceName::File => "file".to_owned(),
            SourceName::Stdin => "stdin".to_owned(),
            SourceName::Argument(number) => format!("arg{number}"),
            SourceName::Environment(name) => format!("env:{name}"),
        };
        let mut ranges = Vec::new();
        for (source, range, used) in self.0.iter_mut().filter(|(source, ..)| *source == own) {
            let _ = source;
            *used = true;
            ranges.push(range.clone().unwrap_or(0..length));
        }
        ranges
    }

    fn all_used(&self) -> Result<()> {
        match self.0.iter().find(|(.., used)| !used) {
            Some((source, ..)) => bail!(
                "--public names `{source}`, which is no input; inputs are file, stdin, argN and env:NAME"
            ),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_takes_every_place() {
        let path = Some(Path::new("/x"));
        assert_eq!(placed(OsStr::new("--in=@@,@@."), path), "--in=/x,/x.");
        assert_eq!(placed(OsStr::new("plain"), path), "plain");
        assert_eq!(placed(OsStr::new("@@"), None), "@@");
    }

    #[test]
    fn public_parts_are_ranges_of_known_sources() {
        let mut public = Public::parse(&["file:0-15".into(), "env:HOME:3".into(), "stdin".into()]).unwrap();
        assert_eq!(public.of(&SourceName::File, 100), [0..16]);
        assert_eq!(public.of(&SourceName::Environment("HOME".into()), 9), [3..4]);
        assert!(public.all_used().is_err());
        assert_eq!(public.of(&SourceName::Stdin, 7), [0..7]);
        assert!(public.all_used().is_ok());
        assert!(Public::parse(&["file:9-3".into()]).is_err());
        assert!(Public::parse(&["file:9-x".into()]).is_err());
    }
}
