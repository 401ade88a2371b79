//! What is noted while a program runs, and the draft of an incident that is made of it.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use object::Object;
use stunt_path::{Failure, Private};

use crate::failure::NotedFailure;
use crate::incident::{
    Copied, Draft, FailedIn, Incident, Maker, NotedEnding, NotedFile, NotedSocket, NotedStdin,
    Program, Schema, Source, State, StdinKind,
};
use crate::run::Recording;
use crate::run::connections::Connections;
use crate::run::opened::{Files, Snapshot};
use crate::run::streams::{Room, Stream};
use crate::store::now;
use crate::word::Word;

/// A pipe that the program opened by a name.
#[derive(Debug)]
pub struct Pipe {
    /// The name.
    pub path: PathBuf,
    /// Its device and node.
    pub node: (u64, u64),
    /// What came out of it.
    pub stream: Stream,
}

/// Standard input.
#[derive(Debug)]
pub struct Stdin {
    /// What it is.
    pub kind: StdinKind,
    /// Its device and node.
    pub node: Option<(u64, u64)>,
    /// What the program read, unless it is a file.
    pub stream: Stream,
    /// A file, and where in it the program begins to read.
    file: Option<(Snapshot, u64)>,
}

impl Stdin {
    /// Our own, which will be the program's.
    fn of_ours() -> Self {
        let path = Path::new("/proc/self/fd/0");
        let data = fs::metadata(path).ok();
        let kind = data.as_ref().map_or(StdinKind::Nothing, |data| {
            let kind = data.file_type();
            if kind.is_file() {
                StdinKind::File
            } else if kind.is_fifo() {
                StdinKind::Pipe
            } else if kind.is_socket() {
                StdinKind::Socket
            } else if io::IsTerminal::is_terminal(&io::stdin()) {
                StdinKind::Terminal
            } else if data.rdev() == NULL {
                StdinKind::Nothing
            } else {
                StdinKind::Other
            }
        });
        let file = (kind == StdinKind::File).then(|| Snapshot::of(path)).flatten();
        let file = file.map(|file| (file, position_of_stdin()));
        let node = data.map(|data| (data.dev(), data.ino()));
        Self { kind, node, stream: Stream::default(), file }
    }

    /// Whether what is read from it has to be seen when it is read.
    pub fn is_listened_to(&self) -> bool {
        !matches!(self.kind, StdinKind::File | StdinKind::Nothing)
    }

    fn describe(&self, draft: &mut Draft, largest: u64) -> Option<NotedStdin> {
        let kind = self.kind;
        if let Some((file, from)) = &self.file {
            let bytes = file.bytes(largest);
            let complete = bytes.is_some();
            let rest = |bytes: Private| {
                let from = usize::try_from(*from).unwrap_or(usize::MAX);
                Private::new(bytes.reveal().get(from..).unwrap_or_default().to_vec())
            };
            let stored = bytes.map(|bytes| draft.store(rest(bytes)));
            return Some(NotedStdin { kind, stored, complete, ended: true });
        }
        let Stream { complete, ended, .. } = self.stream;
        self.stream.is_used().then(|| {
            let stored = Some(draft.store(self.stream.bytes().clone()));
            NotedStdin { kind, stored, complete, ended }
        })
    }
}

/// The device number of `/dev/null`.
const NULL: u64 = 0x103;

/// Where a file that is standard input stands.
fn position_of_stdin() -> u64 {
    let information = fs::read_to_string("/proc/self/fdinfo/0").unwrap_or_default();
    let position = information.lines().find_map(|line| line.strip_prefix("pos:"));
    position.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// All that is noted.
pub struct Notes {
    /// Files that were opened.
    pub files: Files,
    /// Standard input.
    pub stdin: Stdin,
    /// Pipes with names.
    pub pipes: Vec<Pipe>,
    /// Connections.
    pub connections: Connections,
    /// How much more may be kept in memory.
    pub room: Room,
    /// Whether calls were made that nobody sees.
    pub ring: bool,
    /// Whether a descriptor could not be listened to.
    pub deaf: bool,
    what: Recording,
}

/// Who failed, and how.
pub struct Verdict<'a> {
    /// The process, and what it was.
    pub process: i32,
    /// Which one it was.
    pub failed_in: FailedIn,
    /// How it ended.
    pub ending: NotedEnding,
    /// How it failed, if that is known.
    pub failure: Option<&'a Failure>,
}

impl Notes {
    /// Nothing yet.
    pub fn new(what: &Recording) -> Self {
        Self {
            files: Files::new(what.largest_file),
            stdin: Stdin::of_ours(),
            pipes: Vec::new(),
            connections: Connections::default(),
            room: Room { left: what.room },
            ring: false,
            deaf: false,
            what: what.clone(),
        }
    }

    /// An incident of what is noted up to now.
    pub fn draft(&self, verdict: &Verdict<'_>) -> Draft {
        let what = &self.what;
        let (name, arguments) = what.words.split_first().map_or_else(
            || (Word::default(), Vec::new()),
            |(name, rest)| {
                (Word::from(name.clone()), rest.iter().cloned().map(Word::from).collect())
            },
        );
        let kept = what.keep_environment.iter().filter_map(|name| {
            let value = std::env::var_os(name)?;
            Some((name.clone(), Word::from(value)))
        });
        let incident = Incident {
            schema: Schema,
            id: String::new(),
            made: now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            maker: Maker::Record,
            program: program(&what.program),
            name,
            arguments,
            folder: std::env::current_dir().unwrap_or_default().into(),
            environment: kept.collect(),
            sources: Vec::new(),
            ending: verdict.ending,
            failed_in: verdict.failed_in.clone(),
            failure: verdict.failure.map(NotedFailure::from),
            fails_if: what.fails_if.clone(),
            request: None,
            state: State::Pending,
            notes: self.remarks(),
        };
        let mut draft = Draft { incident, data: Vec::new() };
        let mut sources: Vec<Source> =
            self.stdin.describe(&mut draft, what.room).map(Source::Stdin).into_iter().collect();
        let mut room = what.room;
        sources.extend(self.files.describe(&mut draft, &mut room).into_iter().map(Source::File));
        for pipe in self.pipes.iter().filter(|pipe| pipe.stream.is_used()) {
            let bytes = pipe.stream.bytes();
            let whole = pipe.stream.complete;
            sources.push(Source::File(NotedFile {
                path: Word::from(pipe.path.clone()),
                bytes: bytes.reveal().len() as u64,
                modified: None,
                written: false,
                copied: if whole { Copied::AsOpened } else { Copied::TooLarge },
                stored: whole.then(|| draft.store(bytes.clone())),
            }));
        }
        for (connection, ordinal) in self.connections.all.iter().zip(0..) {
            let stream = &connection.stream;
            let used = !stream.bytes().reveal().is_empty();
            sources.push(Source::Socket(NotedSocket {
                ordinal,
                way: connection.way.clone(),
                transport: connection.transport,
                stored: used.then(|| draft.store(stream.bytes().clone())),
                pieces: stream.pieces.clone(),
                complete: stream.complete,
                ended: stream.ended,
                of_failed: used && stream.last_user == verdict.process,
            }));
        }
        draft.incident.sources = sources;
        draft
    }

    fn remarks(&self) -> Vec<String> {
        let remarks = [
            (self.files.more, "The program opened more files than are noted."),
            (self.ring, "The program read through io_uring, which is not seen."),
            (self.deaf, "The program read from a descriptor that could not be listened to."),
        ];
        let holds = remarks.into_iter().filter(|(holds, _)| *holds);
        holds.map(|(_, remark)| remark.to_owned()).collect()
    }
}

/// A program, and its identity.
pub fn program(path: &Path) -> Program {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let bytes = fs::read(&path).unwrap_or_default();
    let file = object::File::parse(&*bytes).ok();
    let build_id = file.and_then(|file| file.build_id().ok().flatten().map(crate::word::hex));
    Program { path: Word::from(path), build_id }
}
