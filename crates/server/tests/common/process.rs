//! A server in a process of its own, which a test can kill. The test's program itself becomes the
//! server when it is started with a variable set.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use stunt_server::{Config, Rate, command};

const FOLDER: &str = "STUNT_TEST_SERVER_FOLDER";
const DATABASE: &str = "STUNT_TEST_SERVER_DATABASE";
const IDENTITY: &str = "STUNT_TEST_SERVER_IDENTITY";

/// Serves and does not return if this process is to be a server.
pub fn serve_if_told() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mut config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), PathBuf::from(folder));
    config.database = std::env::var(DATABASE).ok();
    config.identity = std::env::var_os(IDENTITY).map(PathBuf::from);
    config.rate = Rate { per_minute: 0, burst: 0 };
    let served = command::serve(config, |address| println!("{address}"));
    match served {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

/// A server that can be killed.
pub struct Server {
    child: Child,
    pub base: String,
}

impl Server {
    /// Starts one in a folder, on the database of the folder or on another.
    pub fn start(folder: &Path, database: Option<&str>, identity: Option<&Path>) -> Server {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(FOLDER, folder).stdin(Stdio::null()).stdout(Stdio::piped());
        if let Some(database) = database {
            command.env(DATABASE, database);
        }
        if let Some(identity) = identity {
            command.env(IDENTITY, identity);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the server did not start");
        Server { child, base: format!("http://{}", line.trim()) }
    }

    /// The most memory that it has had so far, in bytes.
    pub fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    }

    /// SIGKILL: it ends wherever it is.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM: it ends in order, and says that all went well.
    pub fn stop(mut self) {
        self.tell();
        self.ended();
    }

    /// SIGTERM, without waiting.
    pub fn tell(&mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }

    /// Waits until it has ended, and said that all went well.
    pub fn ended(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
