//! What is left of a private input on the machine when stunt ends, however it ends.

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{CANARY, PARSER, Place};

/// The part of the canary that no program needs.
const SECRET: &[u8] = b"Wyczolkowska;Xhosa-Zwolle";

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        // What is swept or killed meanwhile is not there.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match fs::symlink_metadata(&path) {
                Ok(it) if it.is_dir() => folders.push(path),
                Ok(it) if it.is_file() => files.push(path),
                _ => {}
            }
        }
    }
    files
}

fn holds_secret(file: &Path) -> bool {
    let bytes = fs::read(file).unwrap_or_default();
    bytes.windows(SECRET.len()).any(|part| part == SECRET)
}

/// A place whose disk and memory are folders of their own.
struct Host {
    place: Place,
    memory: PathBuf,
    disk: PathBuf,
    program: String,
}

impl Host {
    fn new(name: &str) -> Host {
        let place = Place::new(name);
        let program = place.compile("parser", PARSER, &[]);
        place.write("private.txt", CANARY);
        let (memory, disk) = (place.path("memory"), place.path("disk"));
        for folder in [&memory, &disk] {
            fs::create_dir(folder).expect("a folder");
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("its mode");
        }
        Host { place, memory, disk, program }
    }

    fn start(&self, flags: &[&str]) -> Child {
        let words = [&["anonymize", "-i", "private.txt"], flags, &["--", &self.program, "@@"]];
        self.place
            .command(&words.concat())
            .env("XDG_RUNTIME_DIR", &self.memory)
            .env("TMPDIR", &self.disk)
            .env("HOME", &self.disk)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("stunt starts")
    }

    /// Nothing of the original is on the disk, and in memory it is its owner's alone.
    fn nothing_is_on_the_disk(&self) {
        for file in files(&self.place.path(".")) {
            if file.starts_with(&self.memory) || file.ends_with("private.txt") {
                continue;
            }
            assert!(!holds_secret(&file), "{} holds the original", file.display());
        }
        for entry in fs::read_dir(&self.memory).expect("a folder").flatten() {
            let mode = entry.metadata().map_or(0o700, |it| it.permissions().mode());
            assert_eq!(mode & 0o777, 0o700, "{}", entry.path().display());
        }
        for file in files(&self.memory).into_iter().filter(|file| holds_secret(file)) {
            let mode = file.metadata().map_or(0o600, |it| it.mode());
            assert_eq!(mode & 0o077, 0, "{} can be read by others", file.display());
        }
    }
}

#[test]
fn attack_stunt_is_killed_and_leaves_the_original() {
    let host = Host::new("killed");
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut seen = 0;
    for round in 0..200 {
        let mut child = host.start(&["--effort", "400"]);
        // A host with more to do gets longer, until something was seen.
        let longest = if seen == 0 { 150 * (1 + round / 20) } else { 150 };
        std::thread::sleep(Duration::from_millis(rng.gen_range(0..longest)));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        seen += files(&host.memory).len();
        host.nothing_is_on_the_disk();
    }
    // Some were killed while the original lay in memory: or this test has tried nothing.
    assert!(seen > 0);
    // Whoever comes next removes what the dead have left.
    let status = host.start(&["--effort", "50"]).wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert_eq!(files(&host.memory), Vec::<PathBuf>::new());
    assert_eq!(fs::read_dir(&host.memory).expect("a folder").count(), 0);
}

#[test]
fn attack_a_core_file_of_stunt_shows_the_original() {
    let host = Host::new("core");
    for signal in ["-SEGV", "-ABRT", "-QUIT"] {
        for left in fs::read_dir(&host.memory).expect("a folder").flatten() {
            fs::remove_dir_all(left.path()).expect("what the last one left");
        }
        let script = format!(
            "ulimit -c unlimited; exec {} anonymize -i private.txt -- {} @@",
            env!("CARGO_BIN_EXE_stunt"),
            host.program
        );
        let mut child = host
            .place
            .program("bash")
            .args(["-c", &script])
            .env("XDG_RUNTIME_DIR", &host.memory)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("bash is there");
        // Until it has read its input.
        while fs::read_dir(&host.memory).expect("a folder").count() == 0 {
            assert!(child.try_wait().expect("a child").is_none(), "it ended too soon");
            std::thread::sleep(Duration::from_millis(5));
        }
        let limits =
            fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("its limits");
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("one");
        let core: Vec<&str> = core.split_whitespace().collect();
        assert_eq!(core[4..6], ["1", "1"], "there is no core limit to give");
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().expect("kill is there");
        assert!(sent.success());
        let status = child.wait().expect("it ends");
        assert!(!status.core_dumped(), "{status}");
        host.nothing_is_on_the_disk();
    }
}

/// Whoever works for `stunt work` is asked to end before it is killed.
#[test]
fn attack_work_kills_its_child_which_leaves_the_original() {
    let host = Host::new("work-killed");
    // Slow enough for a search that is not over in time.
    let slow = PARSER.replace("int main(", "#include <unistd.h>\nint main(");
    let slow = slow.replacen("FILE *", "usleep(200000); FILE *", 1);
    assert!(slow.contains("usleep"));
    let program = host.place.compile("slow", &slow, &[]);
    let run = |words: &[&str]| {
        let output = host
            .place
            .command(words)
            .env("XDG_RUNTIME_DIR", &host.memory)
            .env("XDG_STATE_HOME", host.place.path("state"))
            .env("TMPDIR", &host.disk)
            .output()
            .expect("stunt starts");
        support::text(&output.stderr)
    };
    let said = run(&["record", "--", &program, "private.txt"]);
    assert!(said.contains("as incident"), "{said}");
    let said = run(&["work", "--time", "3s"]);
    assert!(said.contains("took too long, and stays pending"), "{said}");
    assert_eq!(files(&host.memory), Vec::<PathBuf>::new());
    assert_eq!(files(&host.disk), Vec::<PathBuf>::new());
}
