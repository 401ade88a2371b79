//! A contained run cannot do harm, although it really tries; what programs ordinarily do works.
//!
//! Every attempt is first made without containment where that harms nothing but what the test itself
//! has made, to see that it would have succeeded.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stunt_native::{Command, Containment, Copied, Guard, InputFile, Native, containment};
use stunt_path::{Ending, FailureKind};

use crate::build::{build, command};

/// What a run with these words says.
fn says(native: &Native, containment: Containment, words: &[&str]) -> String {
    let mut command = command(&build("harm.c", &["-O1"]), words);
    command.containment = containment;
    let run = native.run(&command).expect("it runs");
    assert_eq!(run.ending, Ending::Exit(0), "{words:?}");
    String::from_utf8(run.stdout.reveal().to_vec()).expect("text").trim().to_owned()
}

fn contained(native: &Native, words: &[&str]) -> String {
    says(native, Containment::Contained, words)
}

fn free(native: &Native, words: &[&str]) -> String {
    says(native, Containment::Free, words)
}

fn has(guard: Guard) -> bool {
    let has = containment().contains(&(guard, true));
    if !has {
        eprintln!("this host lacks a guard, which is not tested: {guard}");
    }
    has
}

/// A folder with a file in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-harm").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("inner")).expect("folders");
    fs::write(folder.join("file"), "as it was").expect("a file");
    folder
}

/// All that is in a folder: names, kinds, modes, owners, times, contents.
fn state(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let data = fs::symlink_metadata(&path).expect("data");
        let bytes = if data.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let (owner, changed) = ((data.uid(), data.gid()), (data.mtime(), data.mtime_nsec()));
        all.push(format!("{path:?} {:o} {owner:?} {changed:?} {bytes:?}", data.mode()));
    }
    all.sort();
    all
}

#[test]
fn files_of_the_host_stay_as_they_are() {
    if !has(Guard::Files) || !has(Guard::Calls) {
        return;
    }
    let native = Native::new();
    for (words, answer) in [
        (&["write", "file"][..], "EACCES"),
        (&["append", "file"], "EACCES"),
        (&["again", "file"], "EACCES"),
        (&["create", "new"], "EACCES"),
        (&["unnamed", "inner"], "EACCES"),
        (&["truncate", "file"], "EACCES"),
        (&["delete", "file"], "EACCES"),
        (&["rmdir", "inner"], "EACCES"),
        (&["mkdir", "new"], "EACCES"),
        (&["rename", "file", "new"], "EACCES"),
        (&["link", "file", "new"], "EACCES"),
        (&["symlink", "new"], "EACCES"),
        (&["fifo", "new"], "EACCES"),
        // Said to have been done.
        (&["chmod", "file"], "done"),
        (&["fchmod", "file"], "done"),
        (&["touch", "file"], "done"),
        (&["attribute", "file"], "EOPNOTSUPP"),
    ] {
        let folder = folder(words[0]);
        let paths: Vec<String> = words[1..]
            .iter()
            .map(|word| folder.join(word).to_str().expect("text").to_owned())
            .collect();
        let words: Vec<&str> =
            std::iter::once(words[0]).chain(paths.iter().map(String::as_str)).collect();
        let before = state(&folder);
        assert_eq!(contained(&native, &words), answer, "{words:?}");
        assert_eq!(state(&folder), before, "{words:?}");
        // It is the containment that keeps it from being done. (Not every file system has links
        // and attributes.)
        let really = free(&native, &words);
        assert!(
            really == "done" || ["attribute", "unnamed"].contains(&words[0]),
            "{words:?} {really}"
        );
        let unseen = ["write", "append", "again", "unnamed", "attribute"].contains(&words[0]);
        assert!(unseen || state(&folder) != before, "{words:?}");
    }
}

#[test]
fn in_its_own_folder_a_run_does_what_it_likes() {
    let native = Native::new();
    let program = build("harm.c", &["-O1"]);
    for words in [
        &["create", "new"][..],
        &["write", "input.csv"],
        &["truncate", "input.csv"],
        &["delete", "input.csv"],
        &["mkdir", "new"],
        &["rename", "input.csv", "new"],
        &["link", "input.csv", "new"],
        &["symlink", "new"],
        &["read", "input.csv"],
        &["null"],
    ] {
        let mut command = command(&program, words);
        command.files = vec![InputFile { name: "input.csv".into(), bytes: b"1;2\n"[..].into() }];
        command.folder = Some(Command::own_folder());
        command.containment = Containment::Contained;
        let run = native.run(&command).expect("it runs");
        assert_eq!(run.stdout.reveal(), b"done\n", "{words:?}");
    }
}

#[test]
fn its_own_folder_is_no_way_out() {
    if !has(Guard::Files) {
        return;
    }
    let native = Native::new();
    let host = folder("way-out");
    let file = host.join("file");
    let (file, before) = (file.to_str().expect("text"), state(&host));
    for (words, answers) in [
        // A node for a device is the device, wherever it is.
        (&["device", "node"][..], &["EACCES", "EPERM"][..]),
        (&["link", file, "mine"], &["EXDEV", "EACCES"]),
        (&["rename", file, "mine"], &["EXDEV", "EACCES"]),
        (&["rename", "input.csv", file], &["EXDEV", "EACCES"]),
    ] {
        let mut command = command(&build("harm.c", &["-O1"]), words);
        command.files = vec![InputFile { name: "input.csv".into(), bytes: b"1;2\n"[..].into() }];
        command.folder = Some(Command::own_folder());
        command.containment = Containment::Contained;
        let run = native.run(&command).expect("it runs");
        let said = String::from_utf8_lossy(run.stdout.reveal()).trim().to_owned();
        assert!(answers.contains(&said.as_str()), "{words:?} {said}");
    }
    assert_eq!(state(&host), before);
}

#[test]
fn what_a_run_writes_is_limited() {
    let native = Native::new();
    let mut command = command(&build("harm.c", &["-O1"]), &["fill", "large"]);
    command.folder = Some(Command::own_folder());
    command.containment = Containment::Contained;
    let run = native.run(&command).expect("it runs");
    assert_eq!(run.stdout.reveal(), format!("{}\nEFBIG\n", 256 << 20).as_bytes());
}

#[test]
fn what_a_run_may_fill_of_the_memory_is_limited() {
    let native = Native::new();
    // What is reserved is no matter, be it for writing or not: sanitizers reserve terabytes.
    assert_eq!(free(&native, &["memory"]), "done");
    assert_eq!(contained(&native, &["memory"]), "done");
    for copied in [Copied::Never, Copied::FromEntry, Copied::FromInput] {
        let mut command = command(&build("harm.c", &["-O1"]), &["gorge"]);
        command.containment = Containment::Contained;
        command.time = Duration::from_secs(60);
        command.memory = 256 << 20;
        command.copied = copied;
        for result in native.run_all(&vec![command; 3], &AtomicBool::new(false)) {
            let run = result.expect("it runs");
            assert_eq!((run.ending, run.failure), (Ending::TooMuchMemory, None));
        }
    }
}

#[test]
fn a_run_that_fills_its_folder_is_ended() {
    let native = Native::new();
    for copied in [Copied::Never, Copied::FromEntry, Copied::FromInput] {
        let mut command = command(&build("harm.c", &["-O1"]), &["flood"]);
        command.folder = Some(Command::own_folder());
        command.containment = Containment::Contained;
        command.time = Duration::from_secs(60);
        command.disk = 32 << 20;
        command.copied = copied;
        for result in native.run_all(&vec![command; 3], &AtomicBool::new(false)) {
            let run = result.expect("it runs");
            assert_eq!((run.ending, run.failure), (Ending::TooMuchWritten, None));
        }
    }
}

/// A process that is ours alone and waits until its input is closed.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        let mut cat = Process::new("/bin/cat");
        Self(cat.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a victim"))
    }

    fn number(&self) -> String {
        self.0.id().to_string()
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().expect("ours").is_none()
    }

    /// How it looks from outside: priority, limits, who traces it.
    fn state(&self) -> [String; 2] {
        let read = |file: &str| {
            let text = fs::read_to_string(format!("/proc/{}/{file}", self.0.id()));
            text.expect("it lives")
        };
        let status = read("status");
        let kept = |line: &&str| line.starts_with("TracerPid") || line.starts_with("NSpgid");
        [status.lines().filter(kept).collect::<String>(), read("limits")]
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn processes_of_the_host_are_left_alone() {
    if !has(Guard::Calls) {
        return;
    }
    let native = Native::new();
    for (way, answer) in [
        ("signal", "EPERM"),
        ("probe", "EPERM"),
        ("tgkill", "EPERM"),
        ("tkill", "EPERM"),
        ("queue", "EPERM"),
        ("pidfd", "ENOSYS"),
        ("owner", "EPERM"),
        ("renice", "EPERM"),
        ("limit", "EPERM"),
        ("trace", "EPERM"),
        ("group", "EPERM"),
    ] {
        let mut victim = Victim::new();
        let before = victim.state();
        let number = victim.number();
        assert_eq!(contained(&native, &[way, &number]), answer, "{way}");
        assert!(victim.lives(), "{way}");
        assert_eq!(victim.state(), before, "{way}");
        // Who stops a process has to let it go on again, and it leads no group that can be joined.
        if !["group", "trace"].contains(&way) {
            assert_eq!(free(&native, &[way, &number]), "done", "{way}");
        }
        if ["signal", "tgkill", "tkill", "queue", "pidfd"].contains(&way) {
            assert!(!victim.0.wait().expect("ours").success(), "{way}");
        }
    }
}

#[test]
fn a_group_of_the_host_is_left_alone() {
    use std::os::unix::process::CommandExt;
    if !has(Guard::Calls) {
        return;
    }
    // The victim leads a group of its own: that is what is named, and nobody else is in it.
    let mut cat = Process::new("/bin/cat");
    let cat = cat.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
    let mut victim = Victim(cat.spawn().expect("a victim"));
    let group = format!("-{}", victim.number());
    let native = Native::new();
    assert_eq!(contained(&native, &["signal", &group]), "EPERM");
    assert!(victim.lives());
    assert_eq!(contained(&native, &["group", &victim.number()]), "EPERM");
    assert_eq!(free(&native, &["group", &victim.number()]), "done");
    // Now that this is known to be refused: everybody, but with a signal that does nothing.
    assert_eq!(contained(&native, &["probe", "-1"]), "EPERM");
    assert_eq!(free(&native, &["signal", &group]), "done");
    assert!(!victim.0.wait().expect("ours").success());
}

#[test]
fn nothing_gets_away() {
    if !has(Guard::Calls) {
        return;
    }
    let native = Native::new();
    assert_eq!(contained(&native, &["escape"]), "-1\nEPERM");
    assert_eq!(contained(&native, &["clone3"]), "ENOSYS");
    assert_eq!(contained(&native, &["rights"]), "done");
}

#[test]
fn own_processes_are_ones_own() {
    let native = Native::new();
    for _ in 0..20 {
        // The parent names its child at once, before it has been seen.
        assert_eq!(contained(&native, &["own"]), "done");
    }
    let mut command = command(&build("harm.c", &["-O1"]), &["abort"]);
    command.containment = Containment::Contained;
    let run = native.run(&command).expect("it runs");
    assert_eq!(run.ending, Ending::Signal(6));
    assert_eq!(run.failure.map(|failure| failure.kind), Some(FailureKind::Abort));
}

#[test]
fn there_is_no_network() {
    if !has(Guard::Calls) {
        return;
    }
    let native = Native::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    let path = folder("socket").join("s");
    let local = UnixListener::bind(&path).expect("a socket");
    let path = path.to_str().expect("text");
    assert_eq!(contained(&native, &["connect", &port]), "EACCES");
    assert_eq!(contained(&native, &["local", path]), "EACCES");
    for family in [1, 2, 10, 16, 17, 38, 40] {
        assert_eq!(contained(&native, &["socket", &family.to_string()]), "EACCES", "{family}");
    }
    assert_eq!(contained(&native, &["pair"]), "done");
    for wait in [listener.set_nonblocking(true), local.set_nonblocking(true)] {
        wait.expect("set");
    }
    assert!(listener.accept().is_err() && local.accept().is_err(), "nobody came");
    assert_eq!(free(&native, &["connect", &port]), "done");
    assert_eq!(free(&native, &["local", path]), "done");
    assert!(listener.accept().is_ok() && local.accept().is_ok());
}

#[test]
fn the_system_stays_as_it_is() {
    if !has(Guard::Calls) {
        return;
    }
    let native = Native::new();
    let place = folder("mount").join("inner");
    let place = place.to_str().expect("text");
    for (words, answer) in [
        (&["mount", place][..], "EPERM"),
        (&["unshare"], "EPERM"),
        (&["chroot"], "EPERM"),
        (&["clock"], "EPERM"),
        (&["hostname"], "EPERM"),
        (&["shared"], "ENOSYS"),
        (&["ring"], "ENOSYS"),
        (&["flags", place], "ENOTTY"),
        (&["urgent"], "EPERM"),
        (&["sooner"], "EPERM"),
        (&["raise"], "EPERM"),
    ] {
        assert_eq!(contained(&native, words), answer, "{words:?}");
    }
    let mut mounts = String::new();
    let read =
        fs::File::open("/proc/self/mounts").and_then(|mut it| it.read_to_string(&mut mounts));
    assert!(read.is_ok() && !mounts.contains(place));
}

#[test]
fn failures_are_the_same_contained_or_not() {
    let native = Native::new();
    for (source, flags, ways) in [
        (
            "ways.c",
            &["-O1"][..],
            &[
                &["null"][..],
                &["assert"],
                &["nested", "9", "2"],
                &["endless"],
                &["free"],
                &["thread"],
                &["term"],
                &["handler"],
                &["child"],
                &["exec", "null"],
                &["exit", "3"],
                &["echo"],
            ][..],
        ),
        ("throws.cpp", &["-O1"], &[&["uncaught", "x"], &["rethrow", "x"], &["caught", "x"]]),
        ("panics.rs", &["-Copt-level=3"], &[&["index", "2"], &["thread"], &["abort"], &["again"]]),
    ] {
        let program = build(source, flags);
        for words in ways {
            let mut command = command(&program, words);
            let free = native.run(&command).expect("it runs");
            command.containment = Containment::Contained;
            let contained = native.run(&command).expect("it runs");
            assert_eq!(contained.ending, free.ending, "{words:?}");
            assert_eq!(contained.failure, free.failure, "{words:?}");
            assert_eq!(contained.stdout, free.stdout, "{words:?}");
        }
    }
}
