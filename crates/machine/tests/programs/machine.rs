//! A run in the machine: the one place of this test that knows how the machine is driven.
//!
//! The program sees the same folder, words, environment, standard input and user as natively. The
//! host is read only; what the program leaves is read out of the machine's own files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use stunt_machine::Machine;
use stunt_machine::linux::abi::{S_IFDIR, S_IFLNK, S_IFREG};
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Allow, Caller, Config, Files, NoProcesses, Node, Stream, User};
use stunt_machine::linux::{self, Limits, Pid, Setup, Tid, syscall_name};
use stunt_unwind::stack::{CallStack, Symbols};

use crate::outcome::{Left, Outcome};
use crate::place::Place;
use crate::table::Ending;

/// Far above what any run of the tables needs; who gets here runs in circles.
const MOST_INSTRUCTIONS: u64 = 2_000_000_000;

/// The program in the machine, about to start.
fn start(place: &Place) -> Result<(Machine, User), String> {
    let say = |error: std::io::Error| format!("{}: {error}", place.folder.display());
    let stdin = place.stdin.as_ref().map(fs::read).transpose().map_err(say)?;
    let owner = fs::metadata(&place.folder).map_err(say)?;
    let user = User { uid: owner.uid(), gid: owner.gid(), groups: Vec::new() };
    let files = Config {
        allow: Allow::Everything,
        user: user.clone(),
        cwd: place.folder.as_os_str().as_bytes().to_vec(),
        scratch: Vec::new(),
        streams: [
            if stdin.is_some() { Stream::File } else { Stream::Null },
            Stream::Pipe,
            Stream::Pipe,
        ],
        stdin: Arc::from(stdin.unwrap_or_default()),
        seed: 0,
        ..Config::default()
    };
    let environment = place.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let setup = Setup {
        files,
        program: place.program.as_os_str().as_bytes().to_vec(),
        arguments: place.words.iter().map(|word| word.clone().into_bytes()).collect(),
        environment: environment.map(String::into_bytes).collect(),
        memory: 4 << 30,
    };
    let machine = Machine::new(setup)
        .map_err(|errno| format!("{} cannot be started: {errno:?}", place.program.display()))?;
    Ok((machine, user))
}

/// The call stack of the program where it dies in the machine.
pub fn call_stack(place: &Place, symbols: &Symbols) -> Result<CallStack, String> {
    let (mut machine, _) = start(place)?;
    let ending = machine.run(Limits { instructions: MOST_INSTRUCTIONS });
    machine.call_stack(symbols).ok_or_else(|| format!("no signal killed it: {ending:?}"))
}

/// Runs the program in the machine.
pub fn run_in_machine(place: &Place) -> Result<Outcome, String> {
    let (mut machine, user) = start(place)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ending = machine.run_watched(Limits { instructions: MOST_INSTRUCTIONS }, &mut |kernel| {
        stdout.extend(kernel.files().drain(1));
        stderr.extend(kernel.files().drain(2));
    });
    stdout.extend(machine.kernel().files().drain(1));
    stderr.extend(machine.kernel().files().drain(2));
    let ending = match ending {
        linux::Ending::Exited(code) => Ending::Exit(code),
        linux::Ending::Killed(signal) => Ending::Signal(signal.number as u8),
        other => {
            let why = match other {
                linux::Ending::Unsupported(address) => {
                    format!("unsupported: {:?}", machine.instruction_at(address))
                }
                other => format!("{other:?}"),
            };
            let missing = missing(&mut machine);
            let stderr = String::from_utf8_lossy(&stderr);
            return Err(format!("the machine stopped: {why}; {missing}\n{stderr}"));
        }
    };
    let files = left_behind(machine.kernel().files(), &user)
        .map_err(|errno| format!("the machine's files cannot be read: {errno:?}"))?;
    Ok(Outcome { ending, stdout, stderr, files })
}

/// The system calls that the program asked for in vain, for the message of a failure.
fn missing(machine: &mut Machine) -> String {
    let calls = machine.kernel().missing_calls().iter();
    let calls: Vec<String> = calls
        .map(|(&number, missing)| {
            let name = syscall_name(number).map_or_else(|| number.to_string(), str::to_string);
            format!("{name} {} times", missing.count)
        })
        .collect();
    format!("missing calls: {calls:?}")
}

/// All files below the folder in which the program was started, as it would see them now.
fn left_behind(files: &mut Files, user: &User) -> Result<BTreeMap<String, Left>, Errno> {
    let folder = files.start()?;
    let caller = Caller {
        cwd: folder,
        umask: 0o022,
        pid: Pid(0),
        tid: Tid(0),
        user,
        processes: &NoProcesses,
    };
    let mut left = BTreeMap::new();
    let mut open = vec![(Vec::new(), folder)];
    while let Some((path, dir)) = open.pop() {
        for (name, _) in files.names(&caller, dir)? {
            let node = files.find(&caller, dir, &name, false)?.node;
            let path = if path.is_empty() { name } else { [&path[..], b"/", &name].concat() };
            let stat = files.stat(node)?;
            let (kind, content) = match (stat.kind(), node) {
                (S_IFDIR, _) => {
                    open.push((path.clone(), node));
                    ("folder", Vec::new())
                }
                (S_IFLNK, _) => ("link", files.read_link(&caller, folder, &path)?),
                (S_IFREG, Node::Inode(id)) => {
                    let content = files.content(id)?;
                    let mut bytes = vec![0; content.len() as usize];
                    let have = content.read_at(0, &mut bytes)?;
                    bytes.truncate(have);
                    ("file", bytes)
                }
                _ => ("other", Vec::new()),
            };
            let path = String::from_utf8_lossy(&path).into_owned();
            left.insert(path, Left { kind, mode: stat.mode & 0o7777, content });
        }
    }
    Ok(left)
}
