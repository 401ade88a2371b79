//! How a run failed, in a form that two runs can be compared by.
//!
//! Two failures are equal if their kinds are, and the places of the frames that count. Which frames
//! count is decided by whoever walked the stack ([`Role`]); the others are kept to be shown. Equal
//! failures have equal signatures, in every process and on every host.
//!
//! Nothing here holds text of a message or a value of the program: panics quote private input, and
//! an address outside of all modules may be a piece of one.

use std::fmt;
use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};

/// What kind of failure it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// A fatal signal, by its number.
    Signal(u8),
    /// `SIGABRT`: a failed assertion, `abort`, a check of the C library or of the compiler.
    Abort,
    /// A Rust panic that nobody caught.
    Panic,
    /// A C++ exception that nobody caught.
    Exception,
    /// Calls without end.
    StackOverflow,
    /// An access to memory that belongs to nobody, found by checking memory.
    InvalidAccess,
    /// What a sanitizer that was built into the program reports.
    Sanitizer,
    /// What the user said is a failure, in the user's words (`exit=3`).
    Stated(String),
}

impl FailureKind {
    /// The kind as one word, for programs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Signal(_) => "signal",
            Self::Abort => "abort",
            Self::Panic => "panic",
            Self::Exception => "exception",
            Self::StackOverflow => "stack-overflow",
            Self::InvalidAccess => "invalid-access",
            Self::Sanitizer => "sanitizer",
            Self::Stated(_) => "stated",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => f.write_str(name),
                None => write!(f, "signal {number}"),
            },
            Self::Abort => f.write_str("abort"),
            Self::Panic => f.write_str("panic"),
            Self::Exception => f.write_str("uncaught exception"),
            Self::StackOverflow => f.write_str("stack overflow"),
            Self::InvalidAccess => f.write_str("invalid memory access"),
            Self::Sanitizer => f.write_str("sanitizer report"),
            Self::Stated(text) => f.write_str(text),
        }
    }
}

/// What part a frame has in the identity of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Not a call: the panic itself names this source line, by a description in the module's data,
    /// whose place is part of the identity. Of a script's exception: its type, as the module; of a
    /// sanitizer's report: what it found.
    Site,
    /// Its place is part of the identity.
    Counts,
    /// The compiler put this call into the next frame, whose place it shares.
    Inlined,
    /// It belongs to the C library or to a language's library, not to the program.
    Library,
    /// It is one of the rounds of a recursion, of which the innermost counts.
    Repeated,
    /// It is too far out, or was not found with certainty.
    Beyond,
}

/// A place in source text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The file, without what names the host or a user.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// One call on the stack of a failed run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The file's name without its folder; empty if the address is in no file.
    pub module: String,
    /// The file's identity in hexadecimal digits, if its linker gave it one.
    pub build_id: Option<String>,
    /// The address in the file, the same in every run; 0 if there is no file.
    pub offset: u64,
    /// The function's name.
    pub symbol: Option<String>,
    /// The source line, to be shown.
    pub location: Option<Location>,
    /// Its part in the identity.
    pub role: Role,
}

impl Frame {
    /// What frames are compared by: the file's identity, else its name, and the offset in it.
    #[must_use]
    pub fn place(&self) -> (&str, u64) {
        (self.build_id.as_deref().unwrap_or(&self.module), self.offset)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.symbol {
            Some(symbol) => f.write_str(symbol)?,
            None if self.module.is_empty() => return f.write_str("no code"),
            None => write!(f, "{}+{:#x}", self.module, self.offset)?,
        }
        match &self.location {
            Some(Location { file, line }) => write!(f, " ({file}:{line})"),
            None => Ok(()),
        }
    }
}

/// How a run failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind it was.
    pub kind: FailureKind,
    /// From the failing frame outward; none if the user stated what a failure is.
    pub frames: Vec<Frame>,
}

impl Failure {
    /// A failure as the user stated it: the identity is the text of the condition.
    #[must_use]
    pub fn stated(condition: &str) -> Self {
        Self { kind: FailureKind::Stated(condition.into()), frames: Vec::new() }
    }

    /// The places that count, from the failing one outward. Those of a stack overflow go round, and
    /// where the stack ends is chance: they are sorted.
    #[must_use]
    pub fn identity(&self) -> Vec<(&str, u64)> {
        let counts = |role: Role| matches!(role, Role::Site | Role::Counts);
        let counting = self.frames.iter().filter(|frame| counts(frame.role));
        let mut places: Vec<_> = counting.map(Frame::place).collect();
        if self.kind == FailureKind::StackOverflow {
            places.sort_unstable();
            places.dedup();
        }
        places
    }

    /// Whether both are of one kind and failed at one place, whoever called.
    #[must_use]
    pub fn same_place(&self, other: &Self) -> bool {
        // A type alone is no place.
        let first = if self.title().is_some() { 2 } else { 1 };
        let (own, others) = (self.identity(), other.identity());
        self.kind == other.kind && own.iter().take(first).eq(others.iter().take(first))
    }

    /// The type of a script's exception, if it is one: the first frame carries it.
    #[must_use]
    pub fn exception_type(&self) -> Option<&str> {
        self.title().filter(|_| self.kind == FailureKind::Exception)
    }

    /// Whether only what was printed tells the failure: the process itself exits as it likes.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.title().is_some()
    }

    /// The type of a script's exception, or what a sanitizer found.
    fn title(&self) -> Option<&str> {
        let first = self.frames.first().filter(|frame| frame.role == Role::Site)?;
        let told = matches!(self.kind, FailureKind::Exception | FailureKind::Sanitizer);
        told.then_some(&first.module)
    }

    /// A short name of the identity: 16 hexadecimal digits.
    #[must_use]
    pub fn signature(&self) -> String {
        let mut hash = Sha256::new();
        // Lengths keep neighbouring texts apart.
        let mut text = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        text(self.kind.word());
        text(&self.kind.to_string());
        for (module, offset) in self.identity() {
            text(module);
            text(&format!("{offset:x}"));
        }
        hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The frame that tells a reader most: the innermost of the program's own, inlined or not.
    #[must_use]
    pub fn shown(&self) -> Option<&Frame> {
        let counts = self.frames.iter().position(|frame| frame.role == Role::Counts)?;
        let inlined = self.frames[..counts].iter().rev().take_while(|frame| {
            frame.place() == self.frames[counts].place()
                && matches!(frame.role, Role::Inlined | Role::Library)
        });
        inlined.filter(|frame| frame.role == Role::Inlined).last().or(self.frames.get(counts))
    }
}

impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.identity() == other.identity()
    }
}

impl Eq for Failure {}

impl Hash for Failure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.identity().hash(state);
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.title(), &self.kind) {
            (Some(name), FailureKind::Sanitizer) => f.write_str(name)?,
            (Some(name), _) => write!(f, "uncaught {name}")?,
            (None, kind) => write!(f, "{kind}")?,
        }
        let mut sites = self.frames.iter().filter(|frame| frame.role == Role::Site);
        let site = sites.find(|frame| frame.location.is_some());
        // A panic in a language's library is better shown by the call that led there.
        let own = |location: &&Location| !location.file.starts_with("library/");
        let site = site.and_then(|site| site.location.as_ref()).filter(own);
        match (self.shown(), site) {
            (Some(frame), Some(_)) => {
                let frame = Frame { location: site.cloned(), ..frame.clone() };
                write!(f, " in {frame}")
            }
            (Some(frame), None) => write!(f, " in {frame}"),
            (None, Some(Location { file, line })) => write!(f, " at {file}:{line}"),
            (None, None) => Ok(()),
        }
    }
}

/// The name of a signal of Linux on x86-64.
#[must_use]
pub fn signal_name(number: u8) -> Option<&'static str> {
    const NAMES: [&str; 31] = [
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    NAMES.get(usize::from(number).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(module: &str, offset: u64, role: Role) -> Frame {
        Frame {
            module: module.into(),
            build_id: None,
            offset,
            symbol: Some(format!("f{offset:x}")),
            location: Some(Location { file: "a.c".into(), line: 7 }),
            role,
        }
    }

    fn failure(kind: FailureKind, places: &[u64]) -> Failure {
        let frames = places.iter().map(|&offset| frame("prog", offset, Role::Counts)).collect();
        Failure { kind, frames }
    }

    #[test]
    fn only_what_counts_is_compared() {
        let plain = failure(FailureKind::Abort, &[1, 2]);
        let mut dressed = plain.clone();
        dressed.frames.insert(0, frame("libc.so.6", 9, Role::Library));
        dressed.frames.insert(2, frame("prog", 8, Role::Repeated));
        dressed.frames[1].symbol = None;
        dressed.frames[1].location = None;
        assert_eq!(plain, dressed);
        assert_eq!(plain.signature(), dressed.signature());
        for other in [
            failure(FailureKind::Abort, &[1, 3]),
            failure(FailureKind::Abort, &[1]),
            failure(FailureKind::Abort, &[2, 1]),
            failure(FailureKind::Panic, &[1, 2]),
            failure(FailureKind::Signal(6), &[1, 2]),
        ] {
            assert_ne!(plain, other);
            assert_ne!(plain.signature(), other.signature());
        }
        assert!(plain.same_place(&failure(FailureKind::Abort, &[1, 3])));
        assert!(!plain.same_place(&failure(FailureKind::Abort, &[3, 2])));
    }

    #[test]
    fn a_file_is_known_by_its_identity_before_its_name() {
        let with = |module: &str, identity: Option<&str>| {
            let mut failure = failure(FailureKind::Abort, &[1]);
            failure.frames[0].module = module.into();
            failure.frames[0].build_id = identity.map(Into::into);
            failure
        };
        assert_eq!(with("a", Some("00ff")), with("b", Some("00ff")));
        assert_ne!(with("a", Some("00ff")), with("a", Some("00fe")));
        assert_eq!(with("a", None), with("a", None));
        assert_ne!(with("a", None), with("b", None));
    }

    #[test]
    fn a_circle_has_no_beginning() {
        let circle = failure(FailureKind::StackOverflow, &[3, 1, 2]);
        assert_eq!(circle, failure(FailureKind::StackOverflow, &[1, 2, 3]));
        assert_eq!(circle.signature(), failure(FailureKind::StackOverflow, &[2, 3, 1]).signature());
        assert_ne!(circle, failure(FailureKind::StackOverflow, &[1, 2]));
        assert_ne!(circle, failure(FailureKind::Signal(11), &[1, 2, 3]));
    }

    #[test]
    fn the_type_of_an_exception_is_a_part_of_its_identity() {
        let of = |name: &str, places: &[u64]| {
            let mut failure = failure(FailureKind::Exception, places);
            let site = Frame { symbol: None, location: None, ..frame(name, 0, Role::Site) };
            failure.frames.insert(0, site);
            failure
        };
        let one = of("KeyError", &[7, 9]);
        assert_eq!(one.exception_type(), Some("KeyError"));
        assert_eq!(one.to_string(), "uncaught KeyError in f7 (a.c:7)");
        assert_ne!(one, of("ValueError", &[7, 9]));
        assert!(one.same_place(&of("KeyError", &[7, 8])));
        assert!(!one.same_place(&of("KeyError", &[6, 9])));
        assert!(!one.same_place(&of("ValueError", &[7, 9])));
        // An exception of a program has no type that is known.
        assert_eq!(failure(FailureKind::Exception, &[1]).exception_type(), None);
    }

    #[test]
    fn signatures_stay_what_they_are() {
        // Reports carry them: a change here makes old reports look like other failures.
        assert_eq!(Failure::stated("exit=3").signature(), "0b7fabc004a32be9");
        assert_eq!(failure(FailureKind::Signal(11), &[0x1234]).signature(), "9c4cd696509a34b5");
    }

    #[test]
    fn texts() {
        let mut text = failure(FailureKind::Signal(11), &[0x12]);
        assert_eq!(text.to_string(), "SIGSEGV in f12 (a.c:7)");
        text.frames.insert(0, Frame { symbol: Some("inner".into()), ..text.frames[0].clone() });
        text.frames[0].role = Role::Inlined;
        assert_eq!(text.to_string(), "SIGSEGV in inner (a.c:7)");
        text.frames[0].role = Role::Library;
        assert_eq!(text.to_string(), "SIGSEGV in f12 (a.c:7)");
        text.frames[1].symbol = None;
        text.frames[1].location = None;
        assert_eq!(text.to_string(), "SIGSEGV in prog+0x12");
        text.frames.clear();
        assert_eq!(text.to_string(), "SIGSEGV");
        assert_eq!(Failure::stated("exit=3").to_string(), "exit=3");
        assert_eq!(FailureKind::Signal(64).to_string(), "signal 64");
        assert_eq!(signal_name(0), None);
        assert_eq!(signal_name(31), Some("SIGSYS"));
    }
}
