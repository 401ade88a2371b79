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
use stunt_native::{Command, Containment, InputFile, Native, Stdin};
use stunt_path::Original;
use stunt_report::{Opened, Source, SourceName};

use crate::run::user;
use crate::scratch::Scratch;

/// The place of the input's path in the arguments.
const PLACE: &str = "@@";
/// The longest input, in bytes: with terms for every byte, a longer one would not fit in memory.
const MOST_BYTES: u64 = 64 << 20;

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
    #[command(flatten)]
    limits: Limits,
    /// The program and its arguments; @@ stands for the path of the input, without it the input is
    /// standard input
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// What a run may use.
#[derive(clap::Args)]
#[group(skip)]
pub struct Limits {
    /// How many seconds a run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// How much memory a run in the machine may use, such as 512M or 2G
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = crate::run::size)]
    memory: u64,
}

impl Limits {
    fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.max(1))
    }
}

/// A program with its inputs.
pub struct Subject {
    program: PathBuf,
    /// It is a script, which an interpreter runs.
    script: bool,
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

impl Subject {
    /// What the flags say.
    pub fn new(arguments: &Arguments, scripts: bool) -> Result<Self> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let program = stunt_native::find(&arguments.command[0], &path)?;
        let script = match stunt_native::check(&program) {
            Err(stunt_native::Error::Script { .. }) if scripts => true,
            checked => checked.map(|()| false)?,
        };
        let words = arguments.command.clone();
        let has_place = words[1..].iter().any(|word| contains_place(word));
        let mut subject = Self {
            program,
            script,
            words,
            sources: Vec::new(),
            public: Vec::new(),
            file: None,
            stdin: None,
            original: Original::new(),
            timeout: arguments.limits.timeout(),
            memory: arguments.limits.memory,
            scratch: Scratch::new()?,
        };
        let mut public = Public::parse(&arguments.public)?;
        match (&arguments.input, has_place) {
            (Some(file), place) => {
                let bytes = read_input(file, place)?;
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
                let bytes = within_limit(std::io::stdin().lock(), "standard input")?;
                subject.stdin = Some(bytes.clone().into());
                subject.add(SourceName::Stdin, bytes, None, &mut public);
            }
            (None, false) => {}
        }
        for (at, &number) in arguments.symbolic_arg.iter().enumerate() {
            if arguments.symbolic_arg[..at].contains(&number) {
                bail!("argument {number} is named twice");
            }
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
        for (at, name) in arguments.symbolic_env.iter().enumerate() {
            if arguments.symbolic_env[..at].contains(name) {
                bail!("the variable {name} is named twice");
            }
            let value = std::env::var_os(name)
                .with_context(|| format!("the environment has no variable {name}"))?;
            let name = SourceName::Environment(name.clone());
            subject.add(name, value.into_vec(), None, &mut public);
        }
        public.all_used()?;
        if subject.sources.iter().all(|source| source.bytes == 0) {
            bail!("the input is empty: there is nothing to hide, so send it as it is");
        }
        if subject.original.hidden().is_empty() {
            bail!("the whole input is public: there is nothing to hide, so send it as it is");
        }
        Ok(subject)
    }

    /// The program of a report, or another one, to be run on the report's doubles.
    pub fn of_report(
        opened: &Opened,
        program: PathBuf,
        words: Vec<OsString>,
        limits: &Limits,
    ) -> Result<Self> {
        let script = match stunt_native::check(&program) {
            Err(stunt_native::Error::Script { .. }) => true,
            checked => checked.map(|()| false)?,
        };
        let sources = opened.report.sources.clone();
        for source in &sources {
            match &source.name {
                SourceName::File if !words[1..].iter().any(|word| contains_place(word)) => bail!(
                    "the double is a file, but no argument says where its path belongs; write @@ there"
                ),
                SourceName::Argument(number) if *number as usize >= words.len() => bail!(
                    "the double is argument {number} of the program, but there are only {} arguments",
                    words.len() - 1
                ),
                _ => {}
            }
        }
        Ok(Self {
            program,
            script,
            words,
            public: vec![Vec::new(); sources.len()],
            sources,
            file: None,
            stdin: None,
            original: Original::new(),
            timeout: limits.timeout(),
            memory: limits.memory,
            scratch: Scratch::new()?,
        })
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

    /// Whether it is a script, which the machine cannot follow.
    pub fn is_script(&self) -> bool {
        self.script
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

    /// Who runs it natively: what runs need lies in the subject's own folder.
    pub fn native(&self) -> Native {
        Native::within(self.scratch.path())
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
                file = Some(self.scratch.write(source.file_name(), bytes)?);
            }
        }
        Ok(self.command(file.as_deref(), Some(double)))
    }

    /// A native run on an input that may make the program do anything: it is contained, and its file
    /// is there for this run alone.
    pub fn on_candidate(&self, input: &[Vec<u8>]) -> Command {
        let sources = self.sources.iter().zip(input);
        let file =
            sources.filter(|(source, _)| source.name == SourceName::File).map(|(source, bytes)| {
                InputFile { name: source.file_name().into(), bytes: bytes.as_slice().into() }
            });
        let files: Vec<InputFile> = file.collect();
        let place = (!files.is_empty()).then(|| PathBuf::from(Command::place(0)));
        let mut command = self.command(place.as_deref(), Some(input));
        command.files = files;
        command.containment = Containment::Contained;
        command.loaded_once = true;
        command
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
        command.scripts = self.script;
        command
    }

    /// A run in the machine on the original, and its inputs.
    pub fn in_machine(&self) -> Result<(Setup, Vec<Input>)> {
        let file = self.file.as_deref().unwrap_or(Path::new(""));
        Ok((self.setup(&self.on_original())?, self.inputs(file)))
    }

    /// A run in the machine on another input of the same shape.
    pub fn in_machine_on(&self, other: &Original) -> Result<(Setup, Vec<Input>)> {
        let command = self.on_double(&other.reveal())?;
        let name = self.sources.iter().find(|source| source.name == SourceName::File);
        let file = name.map(|source| self.scratch.path().join(source.file_name()));
        Ok((self.setup(&command)?, self.inputs(&file.unwrap_or_default())))
    }

    fn inputs(&self, file: &Path) -> Vec<Input> {
        let inputs = self.sources.iter().zip(&self.public).map(|(source, public)| {
            let place = match &source.name {
                SourceName::File => InputPlace::File(file.as_os_str().as_bytes().to_vec()),
                SourceName::Stdin => InputPlace::StandardInput,
                SourceName::Argument(number) => InputPlace::Argument(*number as usize),
                SourceName::Environment(name) => InputPlace::Variable(name.clone().into_bytes()),
            };
            Input { place, public: public.clone() }
        });
        inputs.collect()
    }

    /// A run in the machine on a double, whose inputs nobody follows.
    pub fn in_machine_on_double(&self, double: &[Vec<u8>]) -> Result<Setup> {
        self.setup(&self.on_double(double)?)
    }

    /// What is run natively, in the machine.
    fn setup(&self, command: &Command) -> Result<Setup> {
        let mut arguments = vec![self.words[0].as_bytes().to_vec()];
        arguments.extend(command.arguments.iter().map(|word| word.as_bytes().to_vec()));
        let variables = command.environment.iter();
        let environment =
            variables.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        let cwd = std::env::current_dir().context("there is no current directory")?;
        let (kind, stdin) = match &command.stdin {
            Stdin::Bytes(bytes) => (Stream::File, Arc::clone(bytes)),
            Stdin::Empty | Stdin::File(_) => (Stream::Null, Arc::default()),
        };
        Ok(Setup {
            files: Config {
                allow: Allow::Everything,
                user: user()?,
                cwd: cwd.into_os_string().into_vec(),
                scratch: vec![b"/tmp".to_vec()],
                streams: [kind, Stream::Pipe, Stream::Pipe],
                stdin,
                seed: 0,
            },
            program: self.program.as_os_str().as_bytes().to_vec(),
            arguments,
            environment: environment.collect(),
            memory: self.memory,
        })
    }

    /// Writes the doubles to files that stay, and says where they are.
    pub fn keep(&mut self, double: &[Vec<u8>]) -> Result<&Path> {
        for (source, bytes) in self.sources.iter().zip(double) {
            self.scratch.write(source.file_name(), bytes)?;
        }
        self.scratch.keep();
        Ok(self.scratch.path())
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

/// The bytes of an input. A file that a program opens by its path must be one that can be read
/// again and again.
fn read_input(file: &Path, by_path: bool) -> Result<Vec<u8>> {
    let unreadable = || format!("the input {} cannot be read", file.display());
    let data = fs::metadata(file).with_context(unreadable)?;
    if by_path && !data.is_file() && !data.is_dir() {
        bail!("the input {} is not a regular file; copy it into one", file.display());
    }
    let open = fs::File::open(file).with_context(unreadable)?;
    within_limit(open, &format!("the input {}", file.display()))
}

/// All that there is to read, unless it is too much.
fn within_limit(from: impl Read, what: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("{what} cannot be read"))?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!(
            "{what} is larger than {} MB, the most that stunt follows; shorten it first",
            MOST_BYTES >> 20
        );
    }
    Ok(bytes)
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
        let mut public =
            Public::parse(&["file:0-15".into(), "env:HOME:3".into(), "stdin".into()]).unwrap();
        assert_eq!(public.of(&SourceName::File, 100), vec![0..16; 1]);
        assert_eq!(public.of(&SourceName::Environment("HOME".into()), 9), vec![3..4; 1]);
        assert!(public.all_used().is_err());
        assert_eq!(public.of(&SourceName::Stdin, 7), vec![0..7; 1]);
        assert!(public.all_used().is_ok());
        assert!(Public::parse(&["file:9-3".into()]).is_err());
        assert!(Public::parse(&["file:9-x".into()]).is_err());
    }
}
