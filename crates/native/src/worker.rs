//! One thread that runs one command after the other.
//!
//! It owns what must not be shared between runs at a time: a folder for their files, and a process
//! that is loaded and copied, if that is wanted ([`Loaded`]). Always holds: between two runs nothing
//! of them is left but that process; with the worker, that goes, too.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use stunt_path::{Ending, Failure, Private, Run};
use stunt_tracee::{self as tracee, Event, Onward};

use crate::check::{check, kind};
use crate::command::{Command, Manner, Paths, Stdin};
use crate::contain::{Containment, has_filters};
use crate::error::Error;
use crate::files::Files;
use crate::filter::filter;
use crate::folders::{Folders, Place};
use crate::follow::{Follow, kill_and_wait_for_all};
use crate::harmless::Surroundings;
use crate::loaded::{Key, Loaded, Unfit};
use crate::members::Members;
use crate::network::OwnNetwork;
use crate::orphans::Orphans;
use crate::os;
use crate::peer::{Peer, Prepared, Processes, Verdict};
use crate::start::{Cage, NoNetwork, Plan, start};
use crate::watch::{Clock, Cut, Ends, Heard, Limits, Slot, Watch};

/// Processor time that all threads of a run together may have, as a multiple of its time.
const PROCESSORS: u64 = 16;

/// Bytes of memory that a contained process may fill: several of them go on at a time, and a random
/// number in an input is soon taken for a size.
const MEMORY_CONTAINED: u64 = 2 << 30;

/// What a thread keeps from one run to the next.
pub struct Worker<'a> {
    files: &'a Files,
    folders: &'a Folders,
    slot: &'a Slot,
    /// What is not to be copied before its input.
    not_late: &'a Unfit,
    place: Option<Place>,
    loaded: Option<Loaded>,
    /// What was run last, and what cannot be copied.
    last: Option<Key>,
    unfit: Option<Key>,
}

/// A run that is over, and what it printed.
type Followed = (Ending, Option<Failure>, io::Result<Heard>);

impl<'a> Worker<'a> {
    /// For the thread that calls, and for no other.
    pub fn new(
        files: &'a Files,
        folders: &'a Folders,
        slot: &'a Slot,
        not_late: &'a Unfit,
    ) -> Self {
        Self { files, folders, slot, not_late, place: None, loaded: None, last: None, unfit: None }
    }

    /// Runs a command to its end.
    pub fn run(&mut self, command: &Command) -> Result<Run, Error> {
        if command.scripts {
            kind(&command.program)?;
        } else {
            check(&command.program)?;
        }
        let paths = self.prepare(command)?;
        let begun = Instant::now();
        let clock = &Arc::new(Clock::new(begun));
        let followed = match command.manner {
            Manner::Plain => self.plainly(command, &paths, clock)?,
            Manner::Followed => match self.copy(command, &paths, clock) {
                Some(followed) => followed?,
                None => self.start(command, &paths, clock)?,
            },
        };
        let (ending, failure, heard) = followed;
        let duration = begun.elapsed();
        let Heard { stdout, stderr, cut } =
            heard.map_err(|source| not_followed(command, source))?;
        let (stdout, stderr) = (Private::new(stdout), Private::new(stderr));
        let (ending, failure) = match cut {
            None => (ending, failure),
            Some(Cut::Expired) => (Ending::TimedOut, None),
            Some(Cut::Starved) => (Ending::Unsupported, None),
            Some(Cut::TooMuchWritten) => (Ending::TooMuchWritten, None),
            Some(Cut::TooMuchMemory) => (Ending::TooMuchMemory, None),
            Some(Cut::Stopped) => return Err(Error::Stopped),
        };
        let inputs = command.inputs.clone();
        Ok(Run { ending, failure, stdout, stderr, duration, inputs })
    }

    /// The run's own folder, if it has one, with its files.
    fn prepare(&mut self, command: &Command) -> Result<Paths, Error> {
        if !command.has_own_folder() {
            return Ok(Paths::default());
        }
        let failed = |source| Error::Files { source };
        let place = match &mut self.place {
            Some(place) => place,
            none => none.insert(self.folders.take().map_err(failed)?),
        };
        let files = place.prepare(&command.files).map_err(failed)?;
        Ok(Paths { folder: place.path().to_owned(), files })
    }

    /// What binds a run that is contained.
    fn cage(&self, command: &Command) -> Result<Option<Cage>, Error> {
        if command.containment == Containment::Free {
            return Ok(None);
        }
        let network = !command.connections.is_empty();
        let rule = match &self.place {
            Some(place) if let Some(reads) = &command.reads => {
                place.rule_for_reading(reads, network)
            }
            Some(place) if network => place.rule_with_network(),
            place => place.as_ref().and_then(Place::rule).map(OwnedFd::try_clone).transpose(),
        };
        let rule = rule.map_err(|source| Error::Files { source })?;
        let filter = if has_filters() { filter(network) } else { Vec::new() };
        Ok(Some(Cage { rule, own_entry: command.reads.is_some(), filter }))
    }

    /// Starts a process and follows it to its end.
    fn start(
        &mut self,
        command: &Command,
        paths: &Paths,
        clock: &Arc<Clock>,
    ) -> Result<Followed, Error> {
        self.unload();
        let (ends, [stdout, stderr]) =
            Ends::new().map_err(|source| not_followed(command, source))?;
        let plan = plan(command, paths, self.cage(command)?)?;
        let descriptors = [stdin(command)?.into(), stdout, stderr];
        let (follow, peer) = self.begin(command, &plan, &descriptors, &ends, clock)?;
        // The pipes' other ends are the program's alone from now on.
        drop(descriptors);
        let finished = follow.finish(clock);
        let verdict = peer.and_then(Peer::end);
        let heard = self.slot.end().map_or_else(|| Ok(Heard::default()), Watch::finish);
        let (ending, failure) = finished.map_err(|source| not_followed(command, source))?;
        // Whoever failed by itself did so before it could be ended.
        let (ending, failure) = match verdict {
            Some(_) if ending != Ending::Signal(libc::SIGKILL as u8) => (ending, failure),
            Some(Verdict::Idle) => (Ending::Idle, None),
            Some(Verdict::Expired) => (Ending::TimedOut, None),
            None => (ending, failure),
        };
        Ok((ending, failure, heard))
    }

    /// Starts a process and waits for its end, without a look at it. Its group ends with it.
    fn plainly(
        &mut self,
        command: &Command,
        paths: &Paths,
        clock: &Arc<Clock>,
    ) -> Result<Followed, Error> {
        if command.containment == Containment::Contained || !command.connections.is_empty() {
            return Err(Error::NotPlain);
        }
        self.unload();
        let not_waited = |source| not_followed(command, source);
        let (ends, [stdout, stderr]) = Ends::new().map_err(not_waited)?;
        let plan = plan(command, paths, None)?;
        let descriptors = [stdin(command)?.into(), stdout, stderr];
        let orphans = Orphans::adopt();
        let first = begun(command, &plan, &descriptors)?;
        drop(descriptors);
        let members = Arc::new(Members::default());
        members.add(first);
        let watched = self.watch(command, first, members, &ends, clock);
        if watched.is_err() {
            // Without a handle nobody could end the run in time.
            tracee::kill(-first);
        }
        let ended = os::wait_plainly(first);
        orphans.end();
        let heard = self.slot.end().map_or_else(|| Ok(Heard::default()), Watch::finish);
        watched.map_err(not_waited)?;
        let ending = match ended.map_err(not_waited)? {
            Event::Exited(status) => Ending::Exit(status),
            Event::Killed(number) => Ending::Signal(number),
            Event::Stopped(..) => return Err(not_waited(io::Error::other("it has not ended"))),
        };
        Ok((ending, None, heard))
    }

    /// Starts a process; from now on its time is kept.
    fn begin(
        &self,
        command: &Command,
        plan: &Plan,
        descriptors: &[OwnedFd; 3],
        ends: &Arc<Ends>,
        clock: &Arc<Clock>,
    ) -> Result<(Follow<'a>, Option<Peer>), Error> {
        let first = begun(command, plan, descriptors)?;
        let members = Arc::new(Members::default());
        let abandon = || {
            // Nobody has waited for it: the number is still its own.
            tracee::kill(first);
            let _ = tracee::wait(Some(first));
        };
        let prepared = plan.network.as_ref().map(|network| {
            network.sockets().and_then(|sockets| Prepared::new(&command.connections, sockets))
        });
        let prepared = prepared.transpose().map_err(|source| {
            abandon();
            Error::Network { source }
        })?;
        let processes = prepared.as_ref().map(|_| Arc::new(Processes::default()));
        let followed =
            Follow::new(self.files, first, command.tasks, Arc::clone(&members), processes.clone());
        let follow = followed.map_err(|source| {
            abandon();
            not_followed(command, source)
        })?;
        if let Err(source) = self.watch(command, first, members, ends, clock) {
            // Without a handle nobody could end the run in time.
            tracee::kill(first);
            let _ = follow.finish(clock);
            return Err(not_followed(command, source));
        }
        let peer = prepared.zip(processes).map(|(prepared, processes)| {
            prepared.begin(processes, Arc::clone(clock), command.time)
        });
        Ok((follow, peer))
    }

    fn watch(
        &self,
        command: &Command,
        process: i32,
        members: Arc<Members>,
        ends: &Arc<Ends>,
        clock: &Arc<Clock>,
    ) -> io::Result<()> {
        let process = tracee::handle(process)?;
        let folder = self.place.as_ref().filter(|_| command.has_own_folder());
        let folder = folder.map(|place| (place.path().to_owned(), command.disk));
        let most = match command.containment {
            Containment::Free => command.memory,
            Containment::Contained => command.memory.min(MEMORY_CONTAINED),
        };
        let (time, output, memory) = (command.time, command.output, (members, most));
        let limits = Limits { time, own_time: command.own_time, output, folder, memory };
        self.slot.begin(Watch::new(Arc::clone(clock), limits, process, Arc::clone(ends)));
        Ok(())
    }

    /// The run as a copy of a process that is loaded. Nothing if that is not wanted or not possible:
    /// then it is as if nothing had been tried.
    fn copy(
        &mut self,
        command: &Command,
        paths: &Paths,
        clock: &Arc<Clock>,
    ) -> Option<Result<Followed, Error>> {
        let remade = self.place.as_ref().map_or(0, Place::remade);
        let Some(mut key) = Key::of(command, remade) else {
            self.last = None;
            return None;
        };
        if key.is_late() && self.not_late.has(&key) {
            key = key.at_entry();
        }
        if self.loaded.as_ref().is_none_or(|loaded| *loaded.key() != key) {
            // What is run once need not be loaded for more.
            let again = self.last.as_ref() == Some(&key) && self.unfit.as_ref() != Some(&key);
            self.last = Some(key.clone());
            self.unload();
            if !again {
                return None;
            }
            // The run itself has not begun.
            let looking = clock.look();
            self.loaded = self.load(command, paths, key.clone());
            if self.loaded.is_none() && key.is_late() {
                self.not_late.add(key.clone());
                key = key.at_entry();
                self.last = Some(key.clone());
                self.loaded = self.load(command, paths, key.clone());
            }
            drop(looking);
            if self.loaded.is_none() {
                self.unfit = Some(key);
                return None;
            }
        }
        let loaded = self.loaded.as_mut()?;
        let copy = loaded.set_stdin(&command.stdin).and_then(|()| loaded.copy());
        let Ok((process, memory)) = copy else {
            // It may have been killed, by the run before or by anybody.
            self.unload();
            return None;
        };
        let (waiting, ends) = (loaded.waiting(), Arc::clone(loaded.ends()));
        let members = Arc::new(Members::default());
        let (files, tasks) = (self.files, command.tasks);
        let follow = Follow::copy_of(waiting, files, process, memory, tasks, Arc::clone(&members));
        let watched = self.watch(command, process, members, &ends, clock);
        if let Err(source) = watched.and_then(|()| tracee::go_on(process, Onward::Free, 0)) {
            self.slot.end();
            self.unload();
            return Some(Err(not_followed(command, source)));
        }
        let (finished, alone) = follow.finish_beside(clock);
        if !alone {
            self.unload();
            // A program that always begins others would be loaded in vain.
            self.unfit = Some(key);
        }
        let heard = self.slot.end().map_or_else(|| Ok(Heard::default()), Watch::finish);
        let finished = finished.map_err(|source| not_followed(command, source));
        Some(finished.map(|(ending, failure)| (ending, failure, heard)))
    }

    /// A process that has been loaded for this command and waits. It may take as long as a run.
    fn load(&self, command: &Command, paths: &Paths, key: Key) -> Option<Loaded> {
        let clock = &Arc::new(Clock::new(Instant::now()));
        let (ends, [stdout, stderr]) = Ends::new().ok()?;
        let plan = plan(command, paths, self.cage(command).ok()?).ok()?;
        let stdin: File = stdin(command).ok()?;
        let descriptors = [OwnedFd::from(stdin), stdout, stderr];
        let (follow, _) = self.begin(command, &plan, &descriptors, &ends, clock).ok()?;
        let folder = command.has_own_folder().then_some(&*paths.folder);
        let input = key.is_late().then(|| {
            let no_sockets = plan.cage.as_ref().is_some_and(|cage| !cage.filter.is_empty());
            Surroundings::new(folder, key.has_stdin(), no_sockets)
        });
        let waiting = follow.until(input.as_ref()).ok().flatten();
        let heard = self.slot.end().and_then(|watch| watch.finish().ok());
        let waiting = waiting?;
        let process = waiting.process;
        // What is printed while loading belongs to every run.
        let silent = heard.is_some_and(|it| it.stdout.is_empty() && it.stderr.is_empty());
        let loaded = Loaded::new(key, waiting, descriptors, ends);
        let loaded = loaded.ok().flatten().filter(|_| silent);
        if loaded.is_none() {
            tracee::kill(process);
            let _ = kill_and_wait_for_all();
        }
        loaded
    }

    /// Ends the process that is loaded, and whatever else this thread follows.
    fn unload(&mut self) {
        if let Some(loaded) = self.loaded.take() {
            tracee::kill(loaded.waiting().process);
            // Everything dies that is waited for; what is gone already is no error.
            let _ = kill_and_wait_for_all();
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.unload();
        if let Some(place) = self.place.take() {
            self.folders.give_back(place);
        }
    }
}

/// Starts a process.
fn begun(command: &Command, plan: &Plan, descriptors: &[OwnedFd; 3]) -> Result<i32, Error> {
    let first = start(plan, [0, 1, 2].map(|at: usize| descriptors[at].as_fd()));
    first.map_err(|source| match source.raw_os_error() {
        Some(libc::EPERM) => Error::NotPermitted,
        _ if matches!(source.get_ref(), Some(it) if it.is::<NoNetwork>()) => {
            Error::Network { source }
        }
        _ => Error::Start { path: command.program.clone(), source },
    })
}

fn not_followed(command: &Command, source: io::Error) -> Error {
    Error::Follow { path: command.program.clone(), source }
}

/// The process to be, without its descriptors.
fn plan(command: &Command, paths: &Paths, cage: Option<Cage>) -> Result<Plan, Error> {
    let failed = |source| Error::Start { path: command.program.clone(), source };
    // No text of a program can have a null in it.
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(|it| failed(it.into()));
    // The folder is entered before the program is looked for.
    let absolute = std::path::absolute(&command.program).map_err(failed)?;
    let name = command.name.as_deref().unwrap_or(command.program.as_os_str());
    let arguments: Vec<OsString> =
        command.arguments.iter().map(|word| paths.placed(word)).collect();
    let words = std::iter::once(name).chain(arguments.iter().map(|word| &**word));
    let environment = command.environment.iter().map(|(name, value)| {
        let mut both = name.clone();
        both.push("=");
        both.push(paths.placed(value));
        text(&both)
    });
    let folder = command.folder.as_ref().map(|it| PathBuf::from(paths.placed(it.as_os_str())));
    if let Some(folder) = &folder {
        let entered = std::fs::read_dir(folder).map(|_| ());
        entered.map_err(|source| Error::Folder { path: folder.clone(), source })?;
    }
    let sockets = Prepared::sockets(&command.connections);
    let network = (sockets > 0).then(|| OwnNetwork::new(sockets));
    Ok(Plan {
        program: text(absolute.as_os_str())?,
        words: words.map(text).collect::<Result<_, _>>()?,
        environment: environment.collect::<Result<_, _>>()?,
        folder: folder.map(|folder| text(folder.as_os_str())).transpose()?,
        manner: command.manner,
        seconds: (command.time.as_secs() + 1).saturating_mul(PROCESSORS),
        fixed_addresses: command.fixed_addresses,
        cage,
        network: network.transpose().map_err(|source| Error::Network { source })?,
    })
}

/// Standard input.
fn stdin(command: &Command) -> Result<File, Error> {
    let file = match &command.stdin {
        Stdin::Empty => File::open("/dev/null"),
        Stdin::Bytes(bytes) => os::file_of(bytes),
        Stdin::File(path) => File::open(path),
    };
    file.map_err(|source| Error::Input { source })
}
