//! The incident of a program with the hook, as stunt reads it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use stunt_record::{Copied, Maker, NotedEnding, State, Store};

/// The program of `examples/panics.rs`, which cargo builds with the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test");
    let folder = test.parent().and_then(Path::parent).expect("a folder");
    folder.join("examples/panics")
}

#[test]
fn a_panic_leaves_an_incident_without_its_message() {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hook");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("secret.txt"), "not-a-number-but-a-secret").unwrap();
    let run = |input: &str| {
        Command::new(program())
            .arg(input)
            .current_dir(&home)
            .env("XDG_STATE_HOME", home.join("state"))
            .output()
            .expect("the example runs")
    };
    let output = run("secret.txt");
    assert_eq!(output.status.code(), Some(101));
    // The hook that was there before had its turn.
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "the hook that was there before\n");
    let store = Store::at(home.join("state/stunt/incidents"));
    let kept = store.list().unwrap().remove(0).kept;
    let incident = &kept.incident;
    assert_eq!((incident.maker, incident.state), (Maker::Hook, State::Pending));
    assert_eq!(incident.ending, NotedEnding::Exit(101));
    assert_eq!(incident.program.path.path(), program().canonicalize().unwrap());
    let build_id = stunt_record::program(&program()).build_id;
    assert_eq!(incident.program.build_id, build_id);
    assert_eq!(incident.arguments.len(), 1);
    let words = &incident.failure.as_ref().unwrap().words;
    assert!(words.starts_with("panic at ") && words.contains("panics.rs:"), "{words}");
    assert!(incident.failure().is_none(), "a place is not an identity");
    let file = incident.files().next().expect("the file that was named");
    assert!(file.path.path().ends_with("secret.txt") && file.copied == Copied::Unread);
    let path = kept.folder.join("incident.json");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!fs::read_to_string(path).unwrap().contains("not-a-number"));
    // Without a panic there is nothing.
    fs::write(home.join("number.txt"), "42").unwrap();
    assert!(run("number.txt").status.success());
    assert_eq!(store.list().unwrap().len(), 1);
}
