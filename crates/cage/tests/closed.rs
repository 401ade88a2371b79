//! A process that has closed itself off: what it still can do, and what it cannot.
//!
//! The test's program itself becomes the closed process when it is started with a variable set.

mod common;

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;

use common::Folder;
use libtest_mimic::{Arguments, Failed, Trial};
use stunt_server::{Guards, close_off};

const FOLDER: &str = "STUNT_TEST_CLOSED_FOLDER";

fn main() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        closed(Path::new(&folder));
        return;
    }
    let arguments = Arguments::from_args();
    let trials = vec![Trial::test("a_closed_process_keeps_to_itself", keeps_to_itself)];
    libtest_mimic::run(&arguments, trials).exit();
}

/// What is tried; a line for each, with whether it worked.
fn closed(folder: &Path) {
    let parent = std::os::unix::process::parent_id().to_string();
    let outside = folder.with_extension("outside");
    let guards = Guards { seconds: 20, memory: 2 << 30, file: 1 << 20 };
    close_off(folder, guards).expect("the kernel has Landlock and seccomp");
    let say = |what: &str, worked: bool| println!("{what}: {worked}");
    say("read the folder", std::fs::read(folder.join("given")).is_ok());
    say("write the folder", std::fs::write(folder.join("made"), "x").is_ok());
    say("read a library", std::fs::read("/usr/lib/os-release").is_ok());
    say("read passwords", std::fs::read("/etc/passwd").is_ok());
    say("read elsewhere", std::fs::read(&outside).is_ok());
    say("write elsewhere", std::fs::write(&outside, "y").is_ok());
    say("remove elsewhere", std::fs::remove_file(&outside).is_ok());
    say("listen", TcpListener::bind("127.0.0.1:0").is_ok());
    say(
        "connect",
        TcpStream::connect("127.0.0.1:1").is_err_and(|error| is_refused_by_peer(&error)),
    );
    say("send", UdpSocket::bind("127.0.0.1:0").is_ok());
    let killed = Command::new("/bin/kill").args(["-0", &parent]).status();
    say("reach the parent", killed.is_ok_and(|status| status.success()));
    say("write a large file", std::fs::write(folder.join("large"), vec![0; 1 << 20]).is_ok());
    say("map much", map(4 << 30));
}

/// The answer of a network, which a closed process does not get.
fn is_refused_by_peer(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::ConnectionRefused
}

fn map(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

fn keeps_to_itself() -> Result<(), Failed> {
    let folder = Folder::new();
    let inner = folder.path().join("own");
    std::fs::create_dir(&inner)?;
    std::fs::write(inner.join("given"), "x")?;
    let outside = inner.with_extension("outside");
    std::fs::write(&outside, "private")?;
    let output = Command::new(std::env::current_exe()?).env(FOLDER, &inner).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let expected = "read the folder: true\nwrite the folder: true\nread a library: true\n\
        read passwords: false\nread elsewhere: false\nwrite elsewhere: false\n\
        remove elsewhere: false\nlisten: false\nconnect: false\nsend: false\n\
        reach the parent: false\nwrite a large file: true\nmap much: false\n";
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read(&outside)?, b"private");
    Ok(())
}
