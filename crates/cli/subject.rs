//! The flags that say what is run, and the subject that they describe.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use stunt_anonymize::{Wishes, secrets_of};
use stunt_record::{Incident, Kept, Transport};
use stunt_report::{Connection, SourceName, Way, command_line, visible};
use stunt_subject::{PLACE, Public, RunLimits, Subject};

use crate::found;
use crate::hints;
use crate::submit::terminal::{self, Answer};
use crate::{incident, inputs};

/// The longest input, in bytes: with terms for every byte, a longer one would not fit in memory.
const MOST_BYTES: u64 = 64 << 20;

/// The most files of a folder: a report has room for so many inputs.
const MOST_FILES: usize = 64;

/// What stunt does not see yet, where it says that it sees nothing.
const UNSEEN: &str = "What a program reads from files that it opens by itself, from folders, \
                      datagrams (UDP), local sockets, terminals and devices is not seen yet, and may \
                      be private: send nothing of this run, neither the input nor any of those.";

/// Flags that say what is run.
#[derive(clap::Args)]
#[group(skip)]
pub struct Arguments {
    /// The input on which the program fails; without it, standard input is read. May be given several
    /// times: @@1, @@2 stand for their paths then. Of a folder, all files are inputs, and @@ stands for
    /// its path
    #[arg(short, long, value_name = "FILE")]
    input: Vec<PathBuf>,
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
    /// or its folder, with a / in it, which must be yours and closed to others; or the recording of a user
    /// interface, a file
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

    /// Whether there are inputs beside a file and standard input.
    fn is_about_more(&self) -> bool {
        let Self { symbolic_arg, symbolic_env, client, server, .. } = self;
        !symbolic_arg.is_empty()
            || !symbolic_env.is_empty()
            || !client.is_empty()
            || !server.is_empty()
    }

    /// What the user wants the report to tell of the arguments of a subject. What looks like a secret is
    /// asked about, where there is somebody to ask, and hidden unless the answer is yes.
    pub fn wishes(&self, subject: &Subject) -> Result<Wishes> {
        let public = self.public_arg.clone();
        let words = subject.words().len();
        if let Some(number) = public.iter().find(|&&number| number == 0 || number >= words) {
            bail!("there is no argument {number} that could be told; the first has number 1");
        }
        let mut wishes = Wishes { keep: self.keep_arguments, public };
        if terminal::is_there() {
            for (number, what) in secrets_of(subject, &wishes) {
                let words = format!(
                    "Argument {number} looks like {what}. The report hides it, unless you say that it may \
                     be told. Tell it?"
                );
                if terminal::question(&words, false)? == Answer::Yes {
                    wishes.public.push(number);
                }
            }
        }
        Ok(wishes)
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
    /// The same as flags, for a command that is started with them.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec!["--timeout".to_owned(), self.timeout.to_string()];
        words.extend(["--memory".to_owned(), self.memory.to_string()]);
        if let Some(seconds) = self.machine_timeout {
            words.extend(["--machine-timeout".to_owned(), seconds.to_string()]);
        }
        words
    }

    /// The same for runs: following costs more than running, so a native second is given a minute.
    pub fn of_runs(&self) -> RunLimits {
        let timeout = Duration::from_secs(self.timeout.max(1));
        let most = timeout.saturating_mul(60).max(Duration::from_secs(60));
        let machine_timeout = self.machine_timeout.map_or(most, Duration::from_secs);
        RunLimits { timeout, machine_timeout, memory: self.memory, ..RunLimits::default() }
    }
}

/// The subject that the flags describe; it may be a script if somebody asks for that.
pub fn of(arguments: &Arguments, scripts: bool) -> Result<Subject> {
    let mut public = Public::parse(&arguments.public)?;
    if let Some(incident) = &arguments.incident {
        let kept = incident::find(incident)?;
        // For who sits there alone: logs need not have the arguments.
        if std::io::stderr().is_terminal() {
            let id = visible(&kept.incident.id);
            eprintln!("stunt: incident {id} runs {}", command_line(&incident::command(&kept).1));
        }
        return of_incident(&kept, public, scripts, arguments.limits.of_runs());
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let program = stunt_native::find(&arguments.command[0], &path)?;
    let mut words = arguments.command.clone();
    let given: Vec<PathBuf> = match &arguments.input[..] {
        [] if arguments.is_about_more() => Vec::new(),
        [] => found::find_input(&mut words)?.into_iter().collect(),
        [file] => {
            found::put_place(&mut words, file);
            vec![file.clone()]
        }
        several => several.to_vec(),
    };
    let has_place = words[1..].iter().any(|word| contains(word, PLACE));
    let places = match given.len() {
        0 | 1 => vec![has_place; given.len()],
        several => inputs::number(&mut words[1..], several)?,
    };
    let mut subject = Subject::new(program, words, scripts, arguments.limits.of_runs())?;
    for (index, (file, has_place)) in given.iter().zip(places).enumerate() {
        if file.is_dir() {
            add_folder(&mut subject, file, given.len() == 1 && has_place, &mut public)?;
            continue;
        }
        let bytes = read_input(file, has_place)?;
        if !has_place {
            subject.add_stdin(bytes, &mut public);
            continue;
        }
        let name = match given.len() {
            1 => SourceName::File,
            _ => SourceName::NumberedFile(index as u32 + 1),
        };
        let extension = file.extension().and_then(OsStr::to_str);
        subject.add_file(name, bytes, extension, std::path::absolute(file)?, &mut public);
    }
    match (given.first(), has_place) {
        (Some(_), _) => {}
        (None, true) => bail!(
            "there is @@ in the arguments, but no input: give one with -i, such as `stunt {} -i FILE -- {}`",
            hints::command(),
            command_line(subject.words())
        ),
        (None, false) if !arguments.is_about_more() => {
            let bytes = within_limit(std::io::stdin().lock(), "standard input")?;
            subject.add_stdin(bytes, &mut public);
        }
        (None, false) => {}
    }
    for (at, &number) in arguments.symbolic_arg.iter().enumerate() {
        if arguments.symbolic_arg[..at].contains(&number) {
            bail!("argument {number} is named twice");
        }
        let word = (number > 0).then(|| subject.words().get(number)).flatten();
        let bytes = word
            .filter(|word| !contains(word, PLACE))
            .ok_or_else(|| {
                anyhow!(
                    "there is no argument {number} that could be private; the first has number 1"
                )
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
    with_something_to_hide(subject, None)
}

/// An incident as a subject.
pub fn of_incident(
    kept: &Kept,
    mut public: Public,
    scripts: bool,
    limits: RunLimits,
) -> Result<Subject> {
    incident::check_program(kept)?;
    let (program, words) = incident::command(kept);
    let mut subject = Subject::new(program, words, scripts, limits)?;
    incident::fill(&mut subject, kept, &mut public)?;
    public.all_used()?;
    with_something_to_hide(subject, Some(&kept.incident))
}

/// Adds all files of a folder, in the order of their names. A double has names of its own, which are in the
/// same order: what the user's are called may be private.
fn add_folder(
    subject: &mut Subject,
    folder: &Path,
    is_alone: bool,
    public: &mut Public,
) -> Result<()> {
    let shown = folder.display();
    if !is_alone {
        bail!("the input {shown} is a folder: it must be the only input, with @@ for its path");
    }
    let entries =
        fs::read_dir(folder).with_context(|| format!("the folder {shown} cannot be read"))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if !path.is_file() {
            bail!(
                "the folder {shown} has more than files in it; give a folder with files alone, or the files \
                 one by one"
            );
        }
        files.push(path);
    }
    files.sort();
    if files.len() > MOST_FILES {
        bail!("the folder {shown} has {} files; stunt takes {MOST_FILES} at most", files.len());
    }
    for (index, file) in files.into_iter().enumerate() {
        let bytes = read_input(&file, true)?;
        let extension = file.extension().and_then(OsStr::to_str).map(str::to_owned);
        let name = SourceName::Member(index as u32 + 1);
        subject.add_file(name, bytes, extension.as_deref(), std::path::absolute(&file)?, public);
    }
    Ok(())
}

/// There must be an input, and something of it that is private. Whatever else the program reads
/// may be private all the same, so nobody is ever told to send it.
fn with_something_to_hide(subject: Subject, incident: Option<&Incident>) -> Result<Subject> {
    let nothing = if subject.sources.iter().all(|source| source.bytes == 0) {
        match incident {
            Some(incident) => unseen(incident),
            None => "the input is empty".to_owned(),
        }
    } else if subject.original.hidden_len() == 0 {
        "the whole input is public".to_owned()
    } else {
        return Ok(subject);
    };
    bail!("{nothing}, so there is nothing to make a double of. {UNSEEN}");
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

pub fn contains(word: &OsStr, part: &str) -> bool {
    word.as_bytes().windows(part.len()).any(|here| here == part.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_a_port_and_a_file() {
        let PortAndFile(port, file) = "80:a:b.http".parse().unwrap();
        assert_eq!((port, file), (80, PathBuf::from("a:b.http")));
        assert!("answer.http".parse::<PortAndFile>().is_err());
        assert!("70000:x".parse::<PortAndFile>().is_err());
    }
}
