//! What is run: a program, its arguments, and the inputs that are private.
//!
//! The same subject is run natively and in the machine, on the original and on doubles. Doubles are
//! put in place of the inputs; a double of a file lies in a folder of its own that goes away with
//! the subject.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{IsTerminal, Read};
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use stunt_machine::linux::fs::{Allow, Config, Stream};
use stunt_machine::linux::{Input, Setup};
use stunt_native::{
    Command, Containment, Copied, InputFile, Manner, NO_LEAKS, Native, Stdin, is_sanitized,
};
use stunt_path::{Failure, Original};
use stunt_record::{Incident, Transport};
use stunt_report::{Connection, Opened, Source, SourceName, Way, command_line, quoted, visible};

use crate::arguments::{self, Owner, Told, Wishes};
use crate::confined::Confined;
use crate::fails_if::FailsIf;
use crate::incident;
use crate::public::Public;
use crate::run::user;
use crate::scratch::Scratch;

/// The place of the input's path in the arguments.
const PLACE: &str = "@@";
/// The longest input, in bytes: with terms for every byte, a longer one would not fit in memory.
const MOST_BYTES: u64 = 64 << 20;

/// What stunt does not see yet, where it says that it sees nothing.
const UNSEEN: &str = "What a program reads from files that it opens by itself, from folders, \
                      datagrams (UDP), local sockets, terminals and devices is not seen yet, and may \
                      be private: send nothing of this run, neither the input nor any of those.";

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
    /// Tell an argument in the report as it is, by its number from 1: without it, the report tells
    /// names of options, flags, small numbers and common words, and hides the rest
    #[arg(long, value_name = "N")]
    public_arg: Vec<usize>,
    /// Tell all arguments in the report, but for those that look like a secret or name you
    #[arg(long)]
    keep_arguments: bool,
    /// What a client sends to the program, which is a server; may be given several times. Clients come
    /// one after the other, in a network in which there is nothing else
    #[arg(long, value_name = "FILE")]
    client: Vec<PathBuf>,
    /// The port that clients connect to; without it, the first that the program listens on
    #[arg(long, value_name = "N", requires = "client")]
    port: Option<u16>,
    /// What a server answers to the program, which connects to this port; may be given several times
    #[arg(long, value_name = "PORT:FILE")]
    server: Vec<PortAndFile>,
    /// Clients and servers do not say that they have sent all
    #[arg(long)]
    keep_open: bool,
    #[command(flatten)]
    limits: Limits,
    /// An incident, in place of a program and its input: its name, the first letters of it, `last`,
    /// or its folder, with a / in it, which must be yours and closed to others
    #[arg(value_name = "INCIDENT", conflicts_with_all = [
        "input", "symbolic_arg", "symbolic_env", "client", "server", "command"
    ])]
    incident: Option<OsString>,
    /// The program and its arguments; @@ stands for the path of the input, without it the input is
    /// standard input
    #[arg(required_unless_present = "incident", last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl Arguments {
    /// The incident, if it is about one.
    pub fn incident(&self) -> Option<&OsStr> {
        self.incident.as_deref()
    }
}

/// What a server answers, and at which port.
#[derive(Clone, Debug)]
pub struct PortAndFile(u16, PathBuf);

impl std::str::FromStr for PortAndFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = text.split_once(':').and_then(|(port, file)| Some((port.parse().ok()?, file)));
        let (port, file) =
            both.ok_or("a port and a file belong here, such as 80:answer.http".to_owned())?;
        Ok(Self(port, file.into()))
    }
}

/// What a run may use.
#[derive(Clone, clap::Args)]
#[group(skip)]
pub struct Limits {
    /// How many seconds a run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// How much memory a run in the machine, or all of a job, may use, such as 512M or 2G
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = crate::run::size)]
    memory: u64,
    /// How many seconds a run in the machine may take; without it, a minute for each second of
    /// --timeout
    #[arg(long, value_name = "SECONDS", hide = true)]
    machine_timeout: Option<u64>,
}

impl Limits {
    /// How long a native run may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.max(1))
    }

    /// Following costs more than running: a native second is given a minute.
    fn machine_timeout(&self) -> Duration {
        let most = self.timeout().saturating_mul(60).max(Duration::from_secs(60));
        self.machine_timeout.map_or(most, Duration::from_secs)
    }
}

/// A program with its inputs.
pub struct Subject {
    program: PathBuf,
    /// It is a script, which an interpreter runs.
    script: bool,
    /// It was built with a sanitizer.
    sanitized: bool,
    words: Vec<OsString>,
    /// What the report may tell of them.
    wishes: Wishes,
    /// Where the inputs come from, in the order of the sources of the original.
    pub sources: Vec<Source>,
    public: Vec<Vec<Range<u64>>>,
    /// Where the originals are that the program reads as files, by source.
    files: Vec<Option<PathBuf>>,
    stdin: Option<Arc<[u8]>>,
    /// The folder to run in, if it is not this one.
    folder: Option<PathBuf>,
    /// Variables that the program had when it failed.
    variables: Vec<(OsString, OsString)>,
    /// What the program may read and know of this machine; everything if absent.
    confined: Option<Confined>,
    /// Files that the program read and that are no inputs, as they were.
    beside: Vec<(PathBuf, Arc<[u8]>)>,
    /// How the program failed when it was recorded, if it was.
    pub recorded: Option<Failure>,
    /// What counted as the failure then, if the user said so.
    pub fails_if: Option<FailsIf>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// The private input.
    pub original: Original,
    timeout: Duration,
    machine_timeout: Duration,
    memory: u64,
    scratch: Scratch,
}

impl Subject {
    /// What the flags say.
    pub fn new(arguments: &Arguments, scripts: bool) -> Result<Self> {
        let mut public = Public::parse(&arguments.public)?;
        if let Some(incident) = &arguments.incident {
            let kept = incident::find(incident)?;
            incident::check_program(&kept)?;
            let (program, words) = incident::command(&kept);
            // For who sits there alone: logs need not have the arguments.
            if std::io::stderr().is_terminal() {
                let id = visible(&kept.incident.id);
                eprintln!("stunt: incident {id} runs {}", command_line(&words));
            }
            let mut subject = Self::bare(program, words, scripts, &arguments.limits)?;
            subject.wish(arguments)?;
            incident::fill(&mut subject, &kept, &mut public)?;
            public.all_used()?;
            return subject.with_something_to_hide(Some(&kept.incident));
        }
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let program = stunt_native::find(&arguments.command[0], &path)?;
        let words = arguments.command.clone();
        let has_place = words[1..].iter().any(|word| contains(word, PLACE));
        let mut subject = Self::bare(program, words, scripts, &arguments.limits)?;
        subject.wish(arguments)?;
        match (&arguments.input, has_place) {
            (Some(file), place) => {
                let bytes = read_input(file, place)?;
                let extension = file.extension().and_then(OsStr::to_str);
                if place {
                    let file = std::path::absolute(file)?;
                    subject.add_file(SourceName::File, bytes, extension, file, &mut public);
                } else {
                    subject.add_stdin(bytes, &mut public);
                }
            }
            (None, true) => bail!("there is @@ in the arguments, but no input: give one with -i"),
            (None, false)
                if arguments.symbolic_arg.is_empty()
                    && arguments.symbolic_env.is_empty()
                    && arguments.client.is_empty()
                    && arguments.server.is_empty() =>
            {
                let bytes = within_limit(std::io::stdin().lock(), "standard input")?;
                subject.add_stdin(bytes, &mut public);
            }
            (None, false) => {}
        }
        for (at, &number) in arguments.symbolic_arg.iter().enumerate() {
            if arguments.symbolic_arg[..at].contains(&number) {
                bail!("argument {number} is named twice");
            }
            let word = (number > 0).then(|| subject.words.get(number)).flatten();
            let bytes = word
                .filter(|word| !contains(word, PLACE))
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
        let closes = !arguments.keep_open;
        let clients = arguments.client.iter().map(|file| (file, Way::Accepted, arguments.port));
        let servers =
            arguments.server.iter().map(|PortAndFile(port, file)| (file, Way::Made, Some(*port)));
        for (file, way, port) in clients.chain(servers) {
            let bytes = read_input(file, false)?;
            subject.add_connection(bytes, Connection { way, port, closes }, &mut public);
        }
        public.all_used()?;
        subject.with_something_to_hide(None)
    }

    /// What the user wants the report to tell of the arguments.
    fn wish(&mut self, arguments: &Arguments) -> Result<()> {
        let public = arguments.public_arg.clone();
        if let Some(number) =
            public.iter().find(|&&number| number == 0 || number >= self.words.len())
        {
            bail!("there is no argument {number} that could be told; the first has number 1");
        }
        self.wishes = Wishes { keep: arguments.keep_arguments, public };
        Ok(())
    }

    /// A program without inputs.
    fn bare(
        program: PathBuf,
        words: Vec<OsString>,
        scripts: bool,
        limits: &Limits,
    ) -> Result<Self> {
        let script = match stunt_native::check(&program) {
            Err(stunt_native::Error::Script { .. }) if scripts => true,
            checked => checked.map(|()| false)?,
        };
        Ok(Self {
            sanitized: is_sanitized(&program),
            program,
            script,
            words,
            wishes: Wishes::default(),
            sources: Vec::new(),
            public: Vec::new(),
            files: Vec::new(),
            stdin: None,
            folder: None,
            variables: Vec::new(),
            confined: None,
            beside: Vec::new(),
            recorded: None,
            fails_if: None,
            notes: Vec::new(),
            original: Original::new(),
            timeout: limits.timeout(),
            machine_timeout: limits.machine_timeout(),
            memory: limits.memory,
            scratch: Scratch::new()?,
        })
    }

    /// There must be an input, and something of it that is private. Whatever else the program reads
    /// may be private all the same, so nobody is ever told to send it.
    fn with_something_to_hide(self, incident: Option<&Incident>) -> Result<Self> {
        let nothing = if self.sources.iter().all(|source| source.bytes == 0) {
            match incident {
                Some(incident) => unseen(incident),
                None => "the input is empty".to_owned(),
            }
        } else if self.original.hidden().is_empty() {
            "the whole input is public".to_owned()
        } else {
            return Ok(self);
        };
        bail!("{nothing}, so there is nothing to make a double of. {UNSEEN}");
    }

    /// The program of a report, or another one, to be run on the report's doubles.
    pub fn of_report(
        opened: &Opened,
        program: PathBuf,
        words: Vec<OsString>,
        limits: &Limits,
    ) -> Result<Self> {
        let sources = opened.report.sources.clone();
        for source in &sources {
            match (&source.name, source.name.place()) {
                (_, Some(place)) if !words[1..].iter().any(|word| contains(word, &place)) => {
                    bail!(
                        "the double is a file, but no argument says where its path belongs; write \
                         {place} there"
                    )
                }
                // A report puts nothing in the place of what its reader has written.
                (SourceName::Argument(number), _)
                    if words
                        .get(*number as usize)
                        .is_none_or(|word| *word != *source.name.placeholder()) =>
                {
                    let place = quoted(source.name.placeholder());
                    bail!("the double is argument {number} of the program; write {place} there")
                }
                _ => {}
            }
        }
        let mut subject = Self::bare(program, words, true, limits)?;
        subject.public = vec![Vec::new(); sources.len()];
        subject.files = vec![None; sources.len()];
        subject.sources = sources;
        Ok(subject)
    }

    fn add(
        &mut self,
        name: SourceName,
        bytes: Vec<u8>,
        extension: Option<&str>,
        public: &mut Public,
    ) {
        let source = Source::new(name, bytes.len() as u64, extension);
        self.add_source(source, bytes, None, public);
    }

    /// Adds a file that the program opens by its path, with `@@` or the like in the words for it.
    pub fn add_file(
        &mut self,
        name: SourceName,
        bytes: Vec<u8>,
        extension: Option<&str>,
        file: PathBuf,
        public: &mut Public,
    ) {
        let source = Source::new(name, bytes.len() as u64, extension);
        self.add_source(source, bytes, Some(file), public);
    }

    /// Adds standard input.
    pub fn add_stdin(&mut self, bytes: Vec<u8>, public: &mut Public) {
        self.stdin = Some(bytes.clone().into());
        self.add(SourceName::Stdin, bytes, None, public);
    }

    /// Adds what the other side of the next connection sends.
    pub fn add_connection(&mut self, bytes: Vec<u8>, connection: Connection, public: &mut Public) {
        let number = self.sources.iter().filter(|source| source.connection.is_some()).count();
        let source = Source::of_connection(number as u32, bytes.len() as u64, connection);
        self.add_source(source, bytes, None, public);
    }

    fn add_source(
        &mut self,
        source: Source,
        bytes: Vec<u8>,
        file: Option<PathBuf>,
        public: &mut Public,
    ) {
        let ranges = public.of(&source.name, bytes.len() as u64);
        self.sources.push(source);
        self.files.push(file);
        self.public.push(ranges.clone());
        self.original.push(bytes, ranges);
    }

    /// Keeps a copy of an original that is no longer where it was, and says where it is.
    pub fn keep_original(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        self.scratch.write(name, bytes)
    }

    /// The folder to run in, and variables to run with.
    pub fn set_surroundings(&mut self, folder: PathBuf, variables: Vec<(OsString, OsString)>) {
        (self.folder, self.variables) = (Some(folder), variables);
    }

    /// From now on the program reads what is listed and nothing else, natively where it is contained and
    /// in the machine, and a run takes no longer than this, wherever it is.
    pub fn confine(&mut self, confined: Confined, most: Duration) {
        self.confined = Some(confined);
        (self.timeout, self.machine_timeout) = (most, most);
    }

    /// A file that the program reads and that is no input, as it was.
    pub fn add_beside(&mut self, path: PathBuf, bytes: Arc<[u8]>) {
        self.beside.push((path, bytes));
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

    /// What a report tells of the arguments: `@@` for an input file, the name of the source for an
    /// argument that is itself an input, and of the others what says nothing about anybody.
    pub fn told_arguments(&self) -> Vec<Told> {
        let words = &self.words[1..];
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        let script = arguments::script(name, words, self.folder.as_deref());
        let owner = Owner::of_this_process(self.folder.as_deref());
        let mut all = arguments::told(words, script, &self.wishes, &owner);
        for source in &self.sources {
            if let SourceName::Argument(number) = source.name {
                all[number as usize - 1] = Told { text: source.name.placeholder(), hidden: None };
            }
        }
        all
    }

    /// Who runs it natively: what runs need lies in the subject's own folder.
    pub fn native(&self) -> Native {
        Native::within(self.scratch.path())
    }

    /// A native run on the original.
    pub fn on_original(&self) -> Command {
        self.command(&self.files, None)
    }

    /// A native run on a double.
    pub fn on_double(&self, double: &[Vec<u8>]) -> Result<Command> {
        let mut files = Vec::new();
        for (source, bytes) in self.sources.iter().zip(double) {
            let is_file = source.name.is_file();
            let file = is_file.then(|| self.scratch.write(source.file_name(), bytes));
            files.push(file.transpose()?);
        }
        Ok(self.command(&files, Some(double)))
    }

    /// The same run as nobody watches it, if it can be had: a program that serves needs somebody at the
    /// other side of its connections who knows what it does.
    pub fn plainly(&self, mut command: Command) -> Option<Command> {
        if !command.connections.is_empty() {
            return None;
        }
        (command.manner, command.copied) = (Manner::Plain, Copied::Never);
        // What was set for runs that are followed is as it was.
        for name in [QUIET.0, NO_LEAKS.0] {
            let own = SourceName::Environment(name.to_owned());
            if self.sources.iter().any(|source| source.name == own) {
                continue;
            }
            let kept = self.variables.iter().find(|(it, _)| it == name);
            let value = kept.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name));
            command.environment.retain(|(it, _)| it != name);
            command.environment.extend(value.map(|value| (name.into(), value)));
        }
        command.environment.sort();
        Some(command)
    }

    /// Whether a program can be given this input at all: arguments and variables end at their first zero.
    pub fn can_be_given(&self, input: &[Vec<u8>]) -> bool {
        let mut sources = self.sources.iter().zip(input);
        sources.all(|(source, bytes)| !source.name.is_text() || !bytes.contains(&0))
    }

    /// A native run on an input that may make the program do anything: it is contained, and its files
    /// are there for this run alone.
    pub fn on_candidate(&self, input: &[Vec<u8>]) -> Command {
        debug_assert!(self.can_be_given(input), "arguments end at a zero");
        let (mut files, mut places) = (Vec::new(), Vec::new());
        for (source, bytes) in self.sources.iter().zip(input) {
            places.push(source.name.is_file().then(|| PathBuf::from(Command::place(files.len()))));
            if source.name.is_file() {
                let (name, bytes) = (source.file_name().into(), bytes.as_slice().into());
                files.push(InputFile { name, bytes });
            }
        }
        let mut command = self.command(&places, Some(input));
        command.files = files;
        command.containment = Containment::Contained;
        command.copied = Copied::FromEntry;
        command
    }

    /// A native run on a double or on the original, with files at these paths, by source.
    fn command(&self, files: &[Option<PathBuf>], double: Option<&[Vec<u8>]>) -> Command {
        let mut command = Command::new(&self.program);
        command.name = Some(self.words[0].clone());
        let places = self
            .sources
            .iter()
            .zip(files)
            .filter_map(|(source, file)| Some((source.name.place()?, file.as_deref()?)));
        let places: Vec<(String, &Path)> = places.collect();
        command.arguments = self.words[1..].iter().map(|word| placed(word, &places)).collect();
        let mut environment = environment();
        if let Some(confined) = &self.confined {
            environment.retain(|name, _| confined.knows(name));
            command.reads = Some(confined.reads.iter().cloned().collect());
        }
        environment.extend(self.variables.iter().cloned());
        if self.sanitized {
            let (name, option) = NO_LEAKS;
            let options = environment.entry(name.into()).or_default();
            if !options.is_empty() {
                options.push(":");
            }
            options.push(option);
        }
        command.stdin = match &self.stdin {
            Some(bytes) => Stdin::Bytes(Arc::clone(bytes)),
            None => Stdin::Empty,
        };
        let original = double.is_none().then(|| self.original.reveal());
        let bytes = double.or(original.as_deref()).unwrap_or_default();
        for (source, bytes) in self.sources.iter().zip(bytes) {
            match &source.name {
                SourceName::File | SourceName::NumberedFile(_) => {}
                SourceName::Stdin => command.stdin = Stdin::Bytes(bytes.as_slice().into()),
                SourceName::Argument(number) => {
                    command.arguments[*number as usize - 1] = OsString::from_vec(bytes.clone());
                }
                SourceName::Environment(name) => {
                    environment.insert(name.into(), OsString::from_vec(bytes.clone()));
                }
                SourceName::Socket(_) => {
                    command.connections.extend(source.connection.map(|it| other_side(it, bytes)));
                }
            }
        }
        command.environment = environment.into_iter().collect();
        command.folder.clone_from(&self.folder);
        command.time = self.timeout;
        command.scripts = self.script;
        command
    }

    /// A run in the machine on the original, and its inputs.
    pub fn in_machine(&self) -> Result<(Setup, Vec<Input>)> {
        // Below /dev the machine has files of its own, and not the host's.
        let all = self.files.iter().zip(self.original.reveal());
        let hidden = all.filter_map(|(file, bytes)| {
            let path = std::path::absolute(file.as_ref()?).ok()?;
            path.starts_with("/dev").then(|| (path.into_os_string().into_vec(), Arc::from(bytes)))
        });
        Ok((self.setup(&self.on_original(), hidden.collect())?, self.inputs(&self.files)))
    }

    /// A run in the machine on another input of the same shape.
    pub fn in_machine_on(&self, other: &Original) -> Result<(Setup, Vec<Input>)> {
        self.in_machine_on_bytes(&other.reveal())
    }

    /// The same, on bytes.
    pub fn in_machine_on_bytes(&self, bytes: &[Vec<u8>]) -> Result<(Setup, Vec<Input>)> {
        let files = self.scratch_files();
        Ok((self.setup_on(bytes, &files)?, self.inputs(&files)))
    }

    /// Where the files of a double are, by source.
    fn scratch_files(&self) -> Vec<Option<PathBuf>> {
        let place = |source: &Source| self.scratch.path().join(source.file_name());
        self.sources.iter().map(|it| it.name.is_file().then(|| place(it))).collect()
    }

    /// A run in the machine on these bytes: files are put into the machine alone, not on the host.
    fn setup_on(&self, bytes: &[Vec<u8>], files: &[Option<PathBuf>]) -> Result<Setup> {
        let command = self.command(files, Some(bytes));
        let placed = files.iter().zip(bytes).filter_map(|(file, bytes)| {
            let path = file.as_ref()?.as_os_str().as_bytes().to_vec();
            Some((path, Arc::from(bytes.as_slice())))
        });
        self.setup(&command, placed.collect())
    }

    fn inputs(&self, files: &[Option<PathBuf>]) -> Vec<Input> {
        let all = self.sources.iter().zip(files).zip(&self.public);
        let inputs = all.map(|((source, file), public)| {
            let place = match &source.name {
                SourceName::File | SourceName::NumberedFile(_) => {
                    let path = file.as_deref().unwrap_or(Path::new(""));
                    stunt_path::Source::File(path.as_os_str().as_bytes().to_vec())
                }
                SourceName::Stdin => stunt_path::Source::StandardInput,
                SourceName::Argument(number) => stunt_path::Source::Argument(*number as usize),
                SourceName::Environment(name) => {
                    stunt_path::Source::Variable(name.clone().into_bytes())
                }
                SourceName::Socket(number) => stunt_path::Source::Connection(*number as usize),
            };
            Input { place, public: public.clone() }
        });
        inputs.collect()
    }

    /// A run in the machine on a double, whose inputs nobody follows.
    pub fn in_machine_on_double(&self, double: &[Vec<u8>]) -> Result<Setup> {
        self.setup_on(double, &self.scratch_files())
    }

    /// What is run natively, in the machine, with these files beside the host's.
    fn setup(&self, command: &Command, mut placed: Vec<(Vec<u8>, Arc<[u8]>)>) -> Result<Setup> {
        let mut arguments = vec![self.words[0].as_bytes().to_vec()];
        arguments.extend(command.arguments.iter().map(|word| word.as_bytes().to_vec()));
        let variables = command.environment.iter();
        let environment =
            variables.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        let cwd = match &self.folder {
            Some(folder) => folder.clone(),
            None => std::env::current_dir().context("there is no current directory")?,
        };
        let beside = self.beside.iter();
        placed.extend(
            beside.map(|(path, bytes)| (path.as_os_str().as_bytes().to_vec(), Arc::clone(bytes))),
        );
        let (kind, stdin) = match &command.stdin {
            Stdin::Bytes(bytes) => (Stream::File, Arc::clone(bytes)),
            Stdin::Empty | Stdin::File(_) => (Stream::Null, Arc::default()),
        };
        Ok(Setup {
            files: Config {
                allow: match &self.confined {
                    Some(confined) => Allow::under(
                        confined.reads.iter().map(PathBuf::as_path).chain([self.scratch.path()]),
                    ),
                    None => Allow::Everything,
                },
                user: user()?,
                cwd: cwd.into_os_string().into_vec(),
                scratch: vec![b"/tmp".to_vec()],
                streams: [kind, Stream::Pipe, Stream::Pipe],
                stdin,
                connections: command.connections.clone(),
                placed,
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

    /// How much memory may be used.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// How long a run in the machine may take.
    pub fn machine_timeout(&self) -> Duration {
        self.machine_timeout
    }
}

/// What keeps a Rust program from telling its stack.
const QUIET: (&str, &str) = ("RUST_BACKTRACE", "0");

/// The environment of every run that is followed. A Rust program that panics shall not look for its source lines:
/// stunt does that itself.
fn environment() -> BTreeMap<OsString, OsString> {
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    all.insert(QUIET.0.into(), QUIET.1.into());
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

/// What a recorded run took in, none of which is an input.
fn unseen(incident: &Incident) -> String {
    let files = incident.files().filter(|file| file.stored.is_some()).count();
    let sockets = incident.sockets().filter(|it| it.transport != Transport::Tcp).count();
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let all = [
        counted(files, "file that no argument names", "files that no argument names"),
        counted(sockets, "socket that is not TCP", "sockets that are not TCP"),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() {
        return "the recorded run took in nothing that stunt knows".to_owned();
    }
    format!("the recorded run took in {}, and no other input", all.join(" and "))
}

/// The other side of a connection that sends these bytes.
fn other_side(connection: Connection, bytes: &[u8]) -> stunt_path::Connection {
    stunt_path::Connection {
        way: match connection.way {
            Way::Accepted => stunt_path::Way::Accepted,
            Way::Made => stunt_path::Way::Made,
        },
        port: connection.port,
        bytes: bytes.into(),
        closes: connection.closes,
    }
}

fn contains(word: &OsStr, part: &str) -> bool {
    contains_bytes(word, part.as_bytes())
}

fn contains_bytes(word: &OsStr, part: &[u8]) -> bool {
    word.as_bytes().windows(part.len()).any(|here| here == part)
}

/// The word with the paths of inputs in their places.
fn placed(word: &OsStr, places: &[(String, &Path)]) -> OsString {
    // `@@12` is not `@@1` and a 2.
    let mut places: Vec<_> = places.iter().collect();
    places.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
    let mut rest = word.as_bytes();
    let mut bytes = Vec::new();
    while let Some(&first) = rest.first() {
        match places.iter().find(|(place, _)| rest.starts_with(place.as_bytes())) {
            Some((place, path)) => {
                bytes.extend_from_slice(path.as_os_str().as_bytes());
                rest = &rest[place.len()..];
            }
            None => {
                bytes.push(first);
                rest = &rest[1..];
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_takes_every_place() {
        let path = [("@@".to_owned(), Path::new("/x"))];
        assert_eq!(placed(OsStr::new("--in=@@,@@."), &path), "--in=/x,/x.");
        assert_eq!(placed(OsStr::new("plain"), &path), "plain");
        assert_eq!(placed(OsStr::new("@@"), &[]), "@@");
        let many = [("@@1", "/a"), ("@@12", "/l"), ("@@2", "/b")];
        let many = many.map(|(place, path)| (place.to_owned(), Path::new(path)));
        assert_eq!(placed(OsStr::new("@@1:@@12:@@2"), &many), "/a:/l:/b");
    }

    #[test]
    fn servers_have_a_port_and_a_file() {
        let PortAndFile(port, file) = "80:a:b.http".parse().unwrap();
        assert_eq!((port, file), (80, PathBuf::from("a:b.http")));
        assert!("answer.http".parse::<PortAndFile>().is_err());
        assert!("70000:x".parse::<PortAndFile>().is_err());
    }
}
