//! Why a job ends without a double: a closed list. What cannot be done at all is an [`Error`].

use stunt_path::{Ending, Failure};
use stunt_reduce::Broken;
use stunt_subject::{MissingCall, Stopped};

/// Why there is no double. Each is a sentence for the user.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    /// The program does not fail on the original.
    #[error("the program does not fail on this input: it {ending}{}", hint(*.ending, .fails_if.as_deref()))]
    NoFailure {
        /// How it ends instead.
        ending: Ending,
        /// What would count, if the user said so.
        fails_if: Option<String>,
    },
    /// It fails in another way than it did when it was recorded.
    #[error(
        "the program does not fail as it did when it was recorded: then it was {then}, now it is {now}"
    )]
    NotAsRecorded {
        /// How it failed then.
        then: Failure,
        /// How it fails now.
        now: Failure,
    },
    /// It fails only while it is watched.
    #[error(
        "the program fails with {failure} only while stunt watches it; started plainly, it does not \
         fail in this way{}. That is no failure of the program, and nothing can be proved about it.",
        .plainly.map_or_else(String::new, |ending| format!(": it {ending}"))
    )]
    OnlyWatched {
        /// How it fails then.
        failure: Failure,
        /// How it ends otherwise.
        plainly: Option<Ending>,
    },
    /// It fails only while nobody watches it.
    #[error(
        "the program fails only while nobody watches it: started plainly, {plainly}; followed, it \
         {watched}. A double cannot be proved then. (Leaks are looked for by programs that nobody \
         follows.)"
    )]
    OnlyUnwatched {
        /// What it does then, in words.
        plainly: String,
        /// How it ends otherwise.
        watched: Ending,
    },
    /// It fails in several ways.
    #[error(
        "the program fails differently each time: {0}, then {1}. A double cannot be \
         proved then; try --fails-if."
    )]
    Unsteady(Failure, Failure),
    /// It fails on harmless inputs as well.
    #[error(
        "the program fails with {0} on any input: on an empty one as well, and on harmless ones \
         as long as this. So the failure does not come from this input, and a double would prove \
         nothing. Nothing is handed out; --even-if-any-input-fails makes a double all the same."
    )]
    AnyInput(Failure),
    /// The run in the machine does not come to its end.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// In the machine it does something else.
    #[error(
        "the program fails with {failure} natively, but in the machine{}, it {how}. This is \
         a limit of stunt, not a bug of the program.", lacks(.missing)
    )]
    OtherInMachine {
        /// How it fails natively.
        failure: Failure,
        /// What it does in the machine, in words.
        how: String,
        /// What the machine does not have.
        missing: Vec<MissingCall>,
    },
    /// It does not fail when it is contained, and random inputs are tried in no other way.
    #[error("{}{}", and(.why, "; and "), UNCONTAINED)]
    Uncontained {
        /// Why it was not followed either, if that was tried.
        why: String,
    },
    /// No solution of the path condition fails as the original does.
    #[error(
        "no double could be proved: {drawn} solutions of the path condition do not fail natively \
         as the original does. Nothing is handed out."
    )]
    Unproved {
        /// How many were tried.
        drawn: u32,
        /// How many doubles failed only while they were watched.
        only_watched: u32,
    },
    /// What was found by runs alone does not fail as the original does.
    #[error(
        "{}no double could be proved: the program does not fail natively as it does on the \
         original. Nothing is handed out.", and(.why, "; and by running the program alone, ")
    )]
    UnprovedAlone {
        /// Why it was not followed, if that was tried.
        why: String,
        /// How many doubles failed only while they were watched.
        only_watched: u32,
    },
    /// The only double is the original itself.
    #[error(
        "the failure needs every bit of this input, as far as was found: a double would be the \
         original itself. {OPTIONS}"
    )]
    IsOriginal,
    /// The double would tell too much.
    #[error(
        "the double would tell {share:.1} % of the original, and above {most} % it is none. {OPTIONS}"
    )]
    TellsTooMuch {
        /// What it would tell, in percent.
        share: f64,
        /// The most that it may.
        most: u8,
    },
    /// The user has cut the search short, and what there is by then is not worth having.
    #[error(
        "the search was cut short, and the best double by then tells {share:.0} % of the original: above {most} % \
         that is not handed out. Nothing was written; let it search on, or allow more with --max-share."
    )]
    CutShort {
        /// What it would tell, in percent.
        share: f64,
        /// The most that it may.
        most: u8,
    },
    /// Too much of the original's content stands in the double.
    #[error(
        "{share:.1} % of the words and numbers of this input still stand in the best double that was found \
         ({count} of {of}, among them {some}), and above {most} % or {most_words} it is not handed out. Tried were {}other content \
         in the place of what is left. More --time may help; --accept-remains allows more.",
        if *.cut { "cutting out what is not needed, and " } else { "" }
    )]
    TooMuchRemains {
        /// How much, in percent of the letters and digits.
        share: f64,
        /// The most that may remain.
        most: u8,
        /// How many words and numbers may remain of however large an original.
        most_words: usize,
        /// How many words and numbers.
        count: usize,
        /// Of how many.
        of: usize,
        /// Some of them; they are private.
        some: String,
        /// Whether something was cut out.
        cut: bool,
    },
    /// The double looks too much like the original.
    #[error(
        "{residue:.1} % of the double's bytes are the original's, and above {most} % it is none. {OPTIONS}"
    )]
    TooAlike {
        /// How much of it is the original's, in percent.
        residue: f64,
        /// The most that may be.
        most: u8,
    },
}

const UNCONTAINED: &str = "the program does not fail in a run that is kept from writing to files and from the \
                           network, and random inputs are tried in no other way";

const OPTIONS: &str = "Nothing is handed out; more --time may help, and --max-share allows more.";

/// What may be meant, if a program does not fail.
fn hint(ending: Ending, fails_if: Option<&str>) -> String {
    match (fails_if, ending) {
        (Some(condition), _) => format!("; --fails-if {condition} does not hold"),
        (None, Ending::Exit(code)) if code > 0 => {
            format!("; if that is the failure, say --fails-if exit={code}")
        }
        (None, Ending::TimedOut) => {
            "; give it more with --timeout, or say --fails-if hang=10s if that is \
                                     the failure"
                .to_owned()
        }
        (None, Ending::TooMuchMemory) => "; if that is the failure, say --fails-if oom".to_owned(),
        (None, _) => String::new(),
    }
}

fn lacks(missing: &[MissingCall]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let named = |call: &MissingCall| format!("{} (at {})", call.name, call.place);
    let calls: Vec<String> = missing.iter().map(named).collect();
    format!(", which does not have the system call {}", calls.join(", "))
}

/// A reason, and what joins it to what follows.
fn and(why: &str, joined: &str) -> String {
    if why.is_empty() { String::new() } else { format!("{}{joined}", why.trim_end_matches('.')) }
}

impl Refusal {
    /// How many doubles failed only while they were watched.
    pub fn only_watched(&self) -> u32 {
        match self {
            Refusal::Unproved { only_watched, .. }
            | Refusal::UnprovedAlone { only_watched, .. } => *only_watched,
            _ => 0,
        }
    }
}

/// Why a job ends without [`Made`](crate::Made).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no double.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The program cannot be used.
    #[error(transparent)]
    Subject(stunt_subject::Error),
    /// A candidate cannot be run.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// A condition cannot be solved.
    #[error(transparent)]
    Search(#[from] stunt_search::Error),
    /// The path condition has no canonical form.
    #[error("the path condition cannot be read back; this is a mistake in stunt")]
    Canonical(#[source] Broken),
    /// Canonical doubles are of paths.
    #[error(
        "--canonical is for programs that can be followed: equal paths give equal doubles. \
         Leave it out, or choose another --algorithm"
    )]
    NoPath,
    /// Methods that keep to a path keep to a length.
    #[error(
        "--resize is for --algorithm weaken and blackbox: others keep to a path, and so to a length"
    )]
    NoResize,
    /// The report is not about the run on the double.
    #[error(
        "the report says something that the run on the double did not show; this is a mistake in stunt, \
         and nothing was written"
    )]
    Told,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::Refused(Box::new(refusal))
    }
}

impl From<stunt_subject::Error> for Error {
    fn from(error: stunt_subject::Error) -> Self {
        match error {
            stunt_subject::Error::Stopped(stopped) => Refusal::Stopped(stopped).into(),
            error => Error::Subject(error),
        }
    }
}

impl From<stunt_native::Error> for Error {
    fn from(error: stunt_native::Error) -> Self {
        Error::Subject(error.into())
    }
}

/// What came of a step that the job can go on without: nothing if it was refused.
pub(crate) fn unless_refused<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
