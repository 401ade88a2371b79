//! A process that has closed itself off: what it still can do, and every way out that was thought of.
//!
//! The test's program itself becomes the closed process when it is started with a variable set: it says
//! a line for each thing that it tries, with what came of it, and the test compares.
#![allow(unsafe_code)] // Attacks are system calls; none of them touches memory but its own.

mod attempts;

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

const FOLDER: &str = "STUNT_TEST_CLOSED_FOLDER";
const ATTACK: &str = "STUNT_TEST_CLOSED_ATTACK";

fn main() {
    if let (Some(folder), Ok(attack)) = (std::env::var_os(FOLDER), std::env::var(ATTACK)) {
        attempts::closed(Path::new(&folder), &attack);
        return;
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("a_closed_process_keeps_to_itself", a_closed_process_keeps_to_itself),
        Trial::test("threads_would_stay_outside", threads_would_stay_outside),
        Trial::test("attack_cage_changes_files_outside", attack_cage_changes_files_outside),
        Trial::test("attack_cage_makes_namespaces", attack_cage_makes_namespaces),
        Trial::test("attack_cage_leaves_a_process_behind", attack_cage_leaves_a_process_behind),
        Trial::test("attack_cage_speaks_other_dialects", attack_cage_speaks_other_dialects),
        Trial::test("attack_cage_makes_unlisted_calls", attack_cage_makes_unlisted_calls),
        Trial::test(
            "attack_cage_gets_more_than_it_was_given",
            attack_cage_gets_more_than_it_was_given,
        ),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

/// A folder for a closed process, and a private file beside it; both go away.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Result<Place, Failed> {
        let path = std::env::temp_dir().join(format!("stunt-cage-{}-{name}", std::process::id()));
        std::fs::create_dir_all(path.join("own"))?;
        std::fs::write(path.join("own/given"), "x")?;
        std::fs::write(path.join("own.outside"), "private")?;
        Ok(Place(path))
    }

    /// What the closed process says, and that it ended by itself.
    fn says(&self, attack: &str) -> Result<String, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        let output = command.env(FOLDER, self.0.join("own")).env(ATTACK, attack).output()?;
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{attack}: {} {complaint}", output.status);
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The same, where everything that it tries must fail.
    fn fails(&self, attack: &str) -> Result<(), Failed> {
        let said = self.says(attack)?;
        let tried = said.lines().count();
        assert!(tried > 0 && said.ends_with('\n'), "{attack}: {said}");
        for line in said.lines() {
            assert!(line.ends_with(": refused"), "{attack}: {line}");
        }
        Ok(())
    }

    fn outside(&self) -> PathBuf {
        self.0.join("own.outside")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A folder that stays behind in a test's temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn a_closed_process_keeps_to_itself() -> Result<(), Failed> {
    let place = Place::new("keeps")?;
    let expected = "read the folder: true\nwrite the folder: true\nread a library: true\n\
        read passwords: false\nread elsewhere: false\nlisten: false\nconnect: false\nsend: false\n\
        write a large file: true\nmap much: false\nstart a thread: true\ntell the time: true\n";
    assert_eq!(place.says("ordinary")?, expected);
    Ok(())
}

fn threads_would_stay_outside() -> Result<(), Failed> {
    let said = Place::new("threads")?.says("threads")?;
    assert_eq!(said, "with another thread: refused\n");
    Ok(())
}

fn attack_cage_changes_files_outside() -> Result<(), Failed> {
    let place = Place::new("files")?;
    let mode = std::fs::metadata(place.outside())?.permissions();
    place.fails("files")?;
    assert_eq!(std::fs::read(place.outside())?, b"private");
    assert_eq!(std::fs::metadata(place.outside())?.permissions(), mode);
    Ok(())
}

fn attack_cage_makes_namespaces() -> Result<(), Failed> {
    Place::new("namespaces")?.fails("namespaces")
}

fn attack_cage_leaves_a_process_behind() -> Result<(), Failed> {
    Place::new("processes")?.fails("processes")
}

fn attack_cage_speaks_other_dialects() -> Result<(), Failed> {
    Place::new("dialects")?.fails("dialects")
}

fn attack_cage_makes_unlisted_calls() -> Result<(), Failed> {
    Place::new("calls")?.fails("calls")
}

fn attack_cage_gets_more_than_it_was_given() -> Result<(), Failed> {
    Place::new("more")?.fails("more")
}
