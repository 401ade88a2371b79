//! A machine with files, one process, and its descriptors.

use std::path::{Path, PathBuf};

use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{
    Allow, Caller, Config, Descriptors, FileId, Files, Node, ProcLink, ProcText, Processes, User,
};
use stunt_machine::linux::{Pid, Tid};

/// The one process.
pub const OWN: Pid = Pid(42);

/// One process, whose descriptors `/proc` shows.
pub struct OneProcess(pub Vec<(u32, FileId)>);

impl Processes for OneProcess {
    fn pids(&self) -> Vec<Pid> {
        vec![OWN]
    }
    fn threads(&self, pid: Pid) -> Vec<Tid> {
        if pid == OWN { vec![OWN.first_thread()] } else { Vec::new() }
    }
    fn text(&self, pid: Pid, text: ProcText) -> Option<Vec<u8>> {
        (pid == OWN).then(|| format!("{}\n", text.name()).into_bytes())
    }
    fn link(&self, pid: Pid, link: ProcLink) -> Option<Vec<u8>> {
        let target = match link {
            ProcLink::Exe => "/usr/bin/env",
            ProcLink::Cwd | ProcLink::Root => "/",
        };
        (pid == OWN).then(|| target.into())
    }
    fn descriptors(&self, pid: Pid) -> Vec<(u32, FileId)> {
        if pid == OWN { self.0.clone() } else { Vec::new() }
    }
}

/// A process on the machine's files.
#[derive(Clone)]
pub struct Guest {
    pub files: Files,
    pub table: Descriptors,
    pub cwd: Node,
    pub user: User,
}

impl Guest {
    pub fn new(config: Config) -> Guest {
        let user = config.user.clone();
        let (mut files, table) = Files::new(config).expect("the files");
        let cwd = files.start().expect("the current directory");
        Guest { files, table, cwd, user }
    }

    /// A guest that sees one directory of the host and stands in it.
    pub fn under(dir: &Path) -> Guest {
        Guest::within(dir, dir)
    }

    /// A guest that sees one directory of the host and stands somewhere below it.
    pub fn within(seen: &Path, cwd: &Path) -> Guest {
        Guest::new(Config {
            allow: Allow::under([seen]),
            cwd: cwd.to_str().expect("plain").into(),
            user: host_user(),
            ..Config::default()
        })
    }

    /// Calls with the caller filled in.
    pub fn call<T>(&mut self, run: impl FnOnce(&mut Files, &Caller<'_>) -> T) -> T {
        let processes = OneProcess(self.table.iter().map(|(fd, slot)| (fd, slot.file)).collect());
        let caller = Caller {
            cwd: self.cwd,
            umask: 0o022,
            pid: OWN,
            tid: OWN.first_thread(),
            user: &self.user,
            processes: &processes,
        };
        run(&mut self.files, &caller)
    }

    pub fn open(&mut self, path: &str, flags: u32, mode: u32) -> Result<i32, Errno> {
        let cwd = self.cwd;
        let opened =
            self.call(|files, caller| files.open(caller, cwd, path.as_bytes(), flags, mode))?;
        assert!(!opened.awaits_peer);
        Ok(self.files.number_file(&mut self.table, opened.file, false, 0)? as i32)
    }

    pub fn file(&self, fd: i32) -> Result<FileId, Errno> {
        self.table.get(fd)
    }

    pub fn read_all(&mut self, path: &str) -> Result<Vec<u8>, Errno> {
        let fd = self.open(path, 0, 0)?;
        let file = self.file(fd)?;
        let mut bytes = Vec::new();
        let mut buffer = [0; 1000];
        loop {
            match self.files.read(file, &mut buffer) {
                Ok(moved) if moved.count == 0 => break,
                Ok(moved) => bytes.extend_from_slice(&buffer[..moved.count]),
                Err(halt) => {
                    self.files.close(&mut self.table, fd)?;
                    return Err(halt.errno());
                }
            }
        }
        self.files.close(&mut self.table, fd)?;
        Ok(bytes)
    }
}

/// As whom this test runs.
pub fn host_user() -> User {
    // SAFETY: both only read the credentials of this process.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    User { uid, gid, groups: Vec::new() }
}

/// A directory of its own, removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("stunt-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory for the test");
        Scratch(path.canonicalize().expect("its path"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
