//! A PostgreSQL of the test's own: a cluster in a folder, reached by a socket in that folder, so
//! that nothing meets anything else on the machine.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Folder;

/// A cluster that ends with the test.
pub struct Postgres {
    child: Child,
    folder: Folder,
}

/// A program of PostgreSQL; Debian keeps them out of PATH.
fn tool(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found = versions.map(|entry| entry.path().join("bin").join(name)).filter(|it| it.exists());
    found.max().unwrap_or_else(|| PathBuf::from(name))
}

/// PostgreSQL does not run as root: then it runs as the user that Debian made for it.
fn command(name: &str) -> Command {
    if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--"]);
        command.arg(tool(name));
        command
    } else {
        Command::new(tool(name))
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|data| {
        use std::os::unix::fs::MetadataExt;
        data.uid() == 0
    })
}

impl Postgres {
    /// Starts one, and waits until it answers.
    pub fn start() -> Postgres {
        let folder = Folder::new();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let data = folder.path().join("cluster");
        let made = command("initdb")
            .args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--locale=C", "--pgdata"])
            .arg(&data)
            .current_dir("/")
            .stdout(Stdio::null())
            .status()
            .expect("PostgreSQL is needed: apt-get install postgresql");
        assert!(made.success(), "initdb failed");
        let child = command("postgres")
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "max_connections=100", "-k"])
            .arg(folder.path())
            .current_dir("/")
            .stdout(Stdio::null())
            .stderr(Stdio::from(std::fs::File::create(folder.path().join("log")).unwrap()))
            .spawn()
            .unwrap();
        let postgres = Postgres { child, folder };
        for _ in 0..600 {
            if postgres.psql("postgres", "SELECT 1") {
                return postgres;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("PostgreSQL does not start");
    }

    fn psql(&self, database: &str, sql: &str) -> bool {
        Command::new(tool("psql"))
            .args(["--quiet", "--username=postgres", "--host"])
            .arg(self.folder.path())
            .args(["--dbname", database, "--command", sql])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// A new database, and how to reach it.
    pub fn database(&self, name: &str) -> String {
        assert!(self.psql("postgres", &format!("CREATE DATABASE {name}")));
        let folder = escaped(self.folder.path());
        format!("postgres://postgres@localhost/{name}?host={folder}")
    }
}

fn escaped(path: &Path) -> String {
    path.to_str().unwrap().replace('/', "%2F")
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT: end all sessions and stop in order.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.child.wait();
    }
}
