//! What is known of a program and its inputs, wherever they come from.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use stunt_machine::linux::errno::Errno;
use stunt_native::{Executed, Texts, is_sanitized, runtimes};
use stunt_path::{Failure, Original};
use stunt_report::{Connection, Opened, Source, SourceName, quoted};

use crate::confined::Confined;
use crate::error::Error;
use crate::fails_if::FailsIf;
use crate::public::Public;
use crate::scratch::Scratch;

/// The place of the input's path in the arguments.
pub const PLACE: &str = "@@";

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// How long a native run may take.
    pub timeout: Duration,
    /// Whether the time of a native run is the program's own, however busy the host is.
    pub own_time: bool,
    /// How long a run in the machine may take.
    pub machine_timeout: Duration,
    /// How much memory a run in the machine may use, in bytes.
    pub memory: u64,
    /// How much memory each process of a native run may fill, if it is not the usual.
    pub native_memory: Option<u64>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            own_time: false,
            machine_timeout: Duration::from_secs(600),
            memory: 4 << 30,
            native_memory: None,
        }
    }
}

/// A program with its inputs.
pub struct Subject {
    pub(crate) program: PathBuf,
    /// It is a script, which an interpreter runs.
    pub(crate) script: bool,
    /// It was built with a sanitizer.
    pub(crate) sanitized: bool,
    pub(crate) words: Vec<OsString>,
    /// Where the inputs come from, in the order of the sources of the original.
    pub sources: Vec<Source>,
    pub(crate) public: Vec<Vec<Range<u64>>>,
    /// Where the originals are that the program reads as files, by source.
    pub(crate) files: Vec<Option<PathBuf>>,
    pub(crate) stdin: Option<Arc<[u8]>>,
    /// The folder to run in, if it is not this one.
    pub(crate) folder: Option<PathBuf>,
    /// Variables that the program had when it failed.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// What the program may read and know of this machine; everything if absent.
    pub(crate) confined: Option<Confined>,
    /// Files that the program read and that are no inputs, as they were.
    pub(crate) beside: Vec<(PathBuf, Arc<[u8]>)>,
    /// How the program failed when it was recorded, if it was.
    pub recorded: Option<Failure>,
    /// What counted as the failure then, if the user said so.
    pub fails_if: Option<FailsIf>,
    /// Constants of the program and of what runs it.
    pub texts: Arc<Texts>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// The private input.
    pub original: Original,
    pub(crate) limits: RunLimits,
    pub(crate) scratch: Scratch,
}

impl Subject {
    /// A program without inputs.
    ///
    /// # Errors
    /// It cannot be run, or is a script where none may be.
    pub fn new(
        program: PathBuf,
        words: Vec<OsString>,
        scripts: bool,
        limits: RunLimits,
    ) -> Result<Self, Error> {
        let script = match stunt_native::check(&program) {
            Err(stunt_native::Error::Script { .. }) if scripts => true,
            checked => checked.map(|()| false)?,
        };
        let (texts, scratch) = (Arc::new(Texts::default()), Scratch::new()?);
        texts.exclude(scratch.path());
        texts.learn(executed(&program, &words));
        Ok(Self {
            sanitized: is_sanitized(&program),
            program,
            script,
            words,
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
            texts,
            notes: Vec::new(),
            original: Original::new(),
            limits,
            scratch,
        })
    }

    /// The program of a report, or another one, to be run on the report's doubles.
    ///
    /// # Errors
    /// The words have no place for a double, or the program cannot be run.
    pub fn of_report(
        opened: &Opened,
        program: PathBuf,
        words: Vec<OsString>,
        limits: RunLimits,
    ) -> Result<Self, Error> {
        let sources = opened.report.sources.clone();
        for source in &sources {
            match (&source.name, source.name.place()) {
                (_, Some(place)) if !words[1..].iter().any(|word| contains(word, &place)) => {
                    return Err(Error::NoPlaceFor(place));
                }
                // A report puts nothing in the place of what its reader has written.
                (SourceName::Argument(number), _)
                    if words
                        .get(*number as usize)
                        .is_none_or(|word| *word != *source.name.placeholder()) =>
                {
                    let place = quoted(source.name.placeholder());
                    return Err(Error::NoPlaceForArgument { number: *number, place });
                }
                _ => {}
            }
        }
        let mut subject = Self::new(program, words, true, limits)?;
        subject.public = vec![Vec::new(); sources.len()];
        subject.files = vec![None; sources.len()];
        subject.sources = sources;
        Ok(subject)
    }

    /// Adds an input that is no file: an argument or a variable.
    pub fn add(
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
        if let Some(file) = &file {
            self.texts.exclude(file);
            self.texts.exclude(Path::new(source.file_name()));
        }
        self.sources.push(source);
        self.files.push(file);
        self.public.push(ranges.clone());
        self.original.push(bytes, ranges);
    }

    /// Keeps a copy of an original that is no longer where it was, and says where it is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_original(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
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
        (self.limits.timeout, self.limits.machine_timeout) = (most, most);
    }

    /// What counts as the failure may be a limit that a run reaches: then runs have that limit.
    pub fn limit_by(&mut self, fails_if: &FailsIf) {
        if let Some(time) = fails_if.time() {
            (self.limits.timeout, self.limits.own_time) = (time, true);
        }
        self.limits.native_memory = fails_if.memory().or(self.limits.native_memory);
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

    /// Whether a runtime interprets it, whatever it was begun by.
    pub fn is_managed(&self) -> bool {
        self.script || !runtimes(&self.texts.executed()).is_empty()
    }

    /// Whether it is a script.
    pub fn is_script(&self) -> bool {
        self.script
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The program, and the files that its arguments name, such as a script; not the inputs.
    pub fn program_files(&self) -> Vec<PathBuf> {
        let folder = self.folder.clone().unwrap_or_default();
        let named = self.words.iter().skip(1).map(|word| folder.join(word));
        let is_input = |path: &PathBuf| {
            let own = |file: &PathBuf| fs::canonicalize(file).ok() == fs::canonicalize(path).ok();
            self.files.iter().flatten().any(own)
        };
        let named = named.filter(|path| path.is_file() && !is_input(path));
        [self.program.clone()].into_iter().chain(named).collect()
    }

    /// Writes the doubles to files that stay, and says where they are.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn keep(&mut self, double: &[Vec<u8>]) -> Result<&Path, Error> {
        for (source, bytes) in self.sources.iter().zip(double) {
            self.scratch.write(&scratch_name(source), bytes)?;
        }
        self.scratch.keep();
        Ok(self.scratch.path())
    }

    /// The machine cannot load it.
    pub fn not_started(&self, errno: Errno) -> Error {
        Error::Machine { program: self.program.clone(), errno }
    }

    /// The words of the command line, the program's name first.
    pub fn words(&self) -> &[OsString] {
        &self.words
    }

    /// The folder to run in, if it is not this process's.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// How long a native run may take.
    pub fn timeout(&self) -> Duration {
        self.limits.timeout
    }

    /// How long a run in the machine may take.
    pub fn machine_timeout(&self) -> Duration {
        self.limits.machine_timeout
    }

    /// How much memory may be used.
    pub fn memory(&self) -> u64 {
        self.limits.memory
    }
}

/// Where a double of a source lies in the scratch folder. Files of a folder have one of their own, in which
/// nothing else is.
pub(crate) fn scratch_name(source: &Source) -> String {
    let folder = if source.name.is_member() { "folder/" } else { "" };
    format!("{folder}{}", source.file_name())
}

/// What is executed, if nothing is in between.
fn executed(program: &Path, words: &[OsString]) -> Option<Executed> {
    let folder = std::env::current_dir().ok()?;
    Some(Executed { program: program.canonicalize().ok()?, words: words.to_vec(), folder })
}

/// Whether a word has such a part.
pub(crate) fn contains(word: &OsStr, part: &str) -> bool {
    word.as_bytes().windows(part.len()).any(|here| here == part.as_bytes())
}
