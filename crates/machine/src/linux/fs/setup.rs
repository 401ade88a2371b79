//! The first state of the files: the root, `/dev`, `/proc`, `/sys`, and the standard streams.

use std::path::Path;
use std::sync::Arc;

use imbl::OrdMap;

use super::content::Content;
use super::description::{Description, Object};
use super::descriptor::Descriptors;
use super::devices::{self, Device, Noise};
use super::ids::{InodeId, Node};
use super::inode::{Directory, Entry, Inode, Kind};
use super::procfs::{
    DEV_DEVICE, NoProcesses, PROC_DEVICE, PROC_FILES, ProcNode, SYS_DEVICE, SYS_FILES,
};
use super::socket::Network;
use super::{Caller, Clock, Config, FileId, Files, Stream, Timestamp, host};
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::linux::{Pid, Tid};

/// The first inode number of files that the program makes: above any that a host uses, and still
/// exact as a floating point number, as some scripts treat them.
const FIRST_INO: u64 = 1 << 40;
/// The device of the root where the host's is not known.
const ROOT_DEVICE: u64 = super::stat::device_number(254, 0);

impl Files {
    /// The files of a fresh machine, and the descriptors 0, 1 and 2 of its first process.
    pub fn new(config: Config) -> Result<(Files, Descriptors), Errno> {
        let none = InodeId(0);
        let noise = Noise::new(config.seed);
        let mut files = Files {
            config: Arc::new(config),
            clock: Clock {
                real: Timestamp { seconds: 1_000_000_000, nanoseconds: 0 },
                monotonic: 0,
            },
            inodes: OrdMap::new(),
            known: OrdMap::new(),
            root: none,
            proc_fixed: none,
            shm: none,
            descriptions: OrdMap::new(),
            pipes: OrdMap::new(),
            sockets: OrdMap::new(),
            events: OrdMap::new(),
            network: Arc::new(Network::default()),
            streams: [none; 3],
            fed: 0,
            drained: [0; 2],
            noise,
            next: 1,
            pages: 0,
            watched: Arc::default(),
            looked: false,
        };
        files.make_root()?;
        files.make_dev();
        files.proc_fixed = files.make_texts(PROC_DEVICE, PROC_FILES, Node::Proc(ProcNode::Root));
        files.mount(b"proc", Node::Proc(ProcNode::Root));
        let root = Node::Inode(files.root);
        let sys = files.make_texts(SYS_DEVICE, SYS_FILES, root);
        files.name_directory(sys, b"sys");
        files.mount(b"sys", Node::Inode(sys));
        let proc_fixed = files.proc_fixed;
        let mounts = files.fresh(Kind::Link(b"self/mounts"[..].into()), 0o777, PROC_DEVICE);
        files.put(proc_fixed, b"mounts", Node::Inode(mounts));
        files.make_scratch();
        files.place_files()?;
        files.record_connections();
        let descriptors = files.make_streams();
        Ok((files, descriptors))
    }

    /// A caller at the start of the machine: the current directory of the configuration.
    pub fn start(&mut self) -> Result<Node, Errno> {
        let config = self.config.clone();
        let caller = Caller {
            cwd: Node::Inode(self.root),
            umask: 0o022,
            pid: Pid(0),
            tid: Tid(0),
            user: &config.user,
            processes: &NoProcesses,
        };
        let node = self.find(&caller, caller.cwd, &config.cwd, true)?.node;
        match self.is_directory(node) {
            true => Ok(node),
            false => Err(Errno::ENOTDIR),
        }
    }

    /// Sets the time that changes of files are stamped with and timers go by.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// The time.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The root directory.
    pub fn root(&self) -> Node {
        Node::Inode(self.root)
    }

    /// The content of standard input: where its bytes come from.
    pub fn stdin_inode(&self) -> InodeId {
        self.streams[0]
    }

    /// Whether what is written to a file is what the machine's own output is made of, or lost.
    pub(crate) fn is_output(&self, file: FileId) -> bool {
        match self.description(file).map(|it| &it.object) {
            Ok(Object::Sink(_)) => true,
            Ok(Object::Inode(id)) => {
                self.streams[1..].contains(id)
                    || matches!(self.inode(*id).kind, Kind::Device(Device::Null))
            }
            _ => false,
        }
    }

    /// What has been written to standard output (1) or error (2) since the last call.
    pub fn drain(&mut self, stream: usize) -> Vec<u8> {
        let content = self.content_now(self.streams[stream]);
        let from = self.drained[stream - 1];
        let mut bytes = vec![0; content.len().saturating_sub(from) as usize];
        let count = content.read_at(from, &mut bytes).unwrap_or(0);
        bytes.truncate(count);
        self.drained[stream - 1] = from + count as u64;
        bytes
    }

    /// The next number for anything.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A new inode without a name, owned by the user of the configuration.
    pub(super) fn fresh(&mut self, kind: Kind, permissions: u32, dev: u64) -> InodeId {
        let number = self.number();
        let now = self.clock.real;
        let nlink = if matches!(kind, Kind::Directory(_)) { 2 } else { 1 };
        let inode = Inode {
            dev,
            ino: FIRST_INO + number,
            permissions,
            uid: 0,
            gid: 0,
            nlink,
            atime: now,
            mtime: now,
            ctime: now,
            btime: Some(now),
            opens: 0,
            temporary: false,
            host_blocks: None,
            kind,
        };
        self.inodes.insert(InodeId(number), Arc::new(inode));
        InodeId(number)
    }

    fn make_root(&mut self) -> Result<(), Errno> {
        let config = self.config.clone();
        let entry = host::look(&config.allow, Path::new("/"))?;
        let mut directory = Directory::new(Node::Inode(InodeId(0)), b"");
        if config.allow != super::Allow::Nothing {
            directory.host = Some(Path::new("/").into());
        }
        let root = self.fresh(Kind::Directory(directory), 0o755, ROOT_DEVICE);
        self.root = root;
        let inode = self.inode_mut(root);
        if let Kind::Directory(directory) = &mut inode.kind {
            directory.parent = Node::Inode(root);
        }
        if let Some(entry) = entry {
            inode.dev = entry.identity.0;
            inode.ino = entry.identity.1;
            inode.permissions = entry.mode & 0o7777;
            inode.nlink = entry.nlink;
            (inode.uid, inode.gid) = (entry.uid, entry.gid);
            [inode.atime, inode.mtime, inode.ctime] = entry.times;
            self.known.insert(entry.identity, root);
        }
        Ok(())
    }

    fn mount(&mut self, name: &[u8], node: Node) {
        let root = self.root;
        self.put(root, name, node);
    }

    /// Enters a name without any question.
    pub(super) fn put(&mut self, dir: InodeId, name: &[u8], node: Node) {
        if let Kind::Directory(directory) = &mut self.inode_mut(dir).kind {
            directory.entries.insert(name.into(), Entry::Present(node));
        }
    }

    fn name_directory(&mut self, dir: InodeId, name: &[u8]) {
        if let Kind::Directory(directory) = &mut self.inode_mut(dir).kind {
            directory.name = name.into();
        }
    }

    fn directory_in(&mut self, parent: InodeId, name: &str, permissions: u32) -> InodeId {
        let dev = self.inode(parent).dev;
        let directory = Directory::new(Node::Inode(parent), name.as_bytes());
        let made = self.fresh(Kind::Directory(directory), permissions, dev);
        self.put(parent, name.as_bytes(), Node::Inode(made));
        self.inode_mut(parent).nlink += 1;
        made
    }

    fn make_dev(&mut self) {
        let parent = Node::Inode(self.root);
        let directory = Kind::Directory(Directory::new(parent, b"dev"));
        let dev = self.fresh(directory, 0o755, DEV_DEVICE);
        self.mount(b"dev", Node::Inode(dev));
        for (name, device) in Device::ALL {
            let node = self.fresh(Kind::Device(device), 0o666, DEV_DEVICE);
            self.put(dev, name.as_bytes(), Node::Inode(node));
        }
        for (name, rdev) in [("tty", devices::TTY), ("ptmx", devices::PTMX)] {
            let node = self.fresh(Kind::Absent { kind: S_IFCHR, rdev }, 0o666, DEV_DEVICE);
            self.put(dev, name.as_bytes(), Node::Inode(node));
        }
        for (name, target) in devices::LINKS {
            let node = self.fresh(Kind::Link(target.as_bytes().into()), 0o777, DEV_DEVICE);
            self.put(dev, name.as_bytes(), Node::Inode(node));
        }
        self.directory_in(dev, "pts", 0o755);
        self.shm = self.directory_in(dev, "shm", 0o1777);
    }

    fn make_texts(&mut self, dev: u64, texts: &[(&str, &str)], parent: Node) -> InodeId {
        let top = self.fresh(Kind::Directory(Directory::new(parent, b"")), 0o555, dev);
        for (path, text) in texts {
            let mut dir = top;
            let mut parts: Vec<&str> = path.split('/').collect();
            let name = parts.pop().unwrap_or_default();
            for part in parts {
                let known = self.inode(dir).directory().and_then(|d| {
                    match d.entries.get(part.as_bytes()) {
                        Some(&Entry::Present(Node::Inode(id))) => Some(id),
                        _ => None,
                    }
                });
                let fixed_top = dir == top && parent == Node::Proc(ProcNode::Root);
                dir = match known {
                    Some(id) => id,
                    None => self.directory_in(dir, part, 0o555),
                };
                if fixed_top && let Kind::Directory(made) = &mut self.inode_mut(dir).kind {
                    made.parent = parent;
                }
            }
            let content = Content::from_bytes(text.as_bytes());
            let file = self.fresh(Kind::File(content), 0o444, dev);
            self.put(dir, name.as_bytes(), Node::Inode(file));
        }
        top
    }

    /// Directories in memory, where nothing of the host is visible.
    fn make_scratch(&mut self) {
        let config = self.config.clone();
        for path in &config.scratch {
            let mut dir = self.root;
            for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
                let next = match self.lookup(&NoProcesses, Node::Inode(dir), name) {
                    Ok(Some(Node::Inode(id))) => id,
                    Ok(None) => {
                        let Ok(text) = std::str::from_utf8(name) else { break };
                        self.directory_in(dir, text, 0o1777)
                    }
                    _ => break,
                };
                if self.inode(next).directory().is_none() {
                    break;
                }
                dir = next;
            }
        }
    }

    /// A file without a name that the machine itself keeps, whatever the program closes.
    pub(super) fn nameless(&mut self, bytes: &[u8]) -> InodeId {
        let user = self.config.user.clone();
        let inode = self.fresh(Kind::File(Content::from_bytes(bytes)), 0o600, ROOT_DEVICE);
        let owner = self.inode_mut(inode);
        (owner.uid, owner.gid, owner.opens) = (user.uid, user.gid, 1);
        inode
    }

    /// Puts files of the configuration where they belong, in folders that are made if need be.
    fn place_files(&mut self) -> Result<(), Errno> {
        let config = self.config.clone();
        let caller = Caller {
            cwd: Node::Inode(self.root),
            umask: 0o022,
            pid: Pid(0),
            tid: Tid(0),
            user: &config.user,
            processes: &NoProcesses,
        };
        for (path, bytes) in &config.placed {
            let mut names: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
            let name = names.pop().filter(|name| !name.is_empty()).ok_or(Errno::EINVAL)?;
            let mut folder = self.root;
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                let found = self.find(&caller, Node::Inode(folder), name, true);
                folder = match found.map(|found| found.node) {
                    Ok(Node::Inode(next)) if self.inode(next).directory().is_some() => next,
                    Err(Errno::ENOENT) => {
                        let text = std::str::from_utf8(name).map_err(|_| Errno::EINVAL)?;
                        self.directory_in(folder, text, 0o755)
                    }
                    Ok(_) => return Err(Errno::ENOTDIR),
                    Err(errno) => return Err(errno),
                };
            }
            let file = self.nameless(bytes);
            let owner = self.inode_mut(file);
            owner.permissions = 0o644;
            self.put(folder, name, Node::Inode(file));
        }
        Ok(())
    }

    fn make_streams(&mut self) -> Descriptors {
        let config = self.config.clone();
        let mut descriptors = Descriptors::default();
        for (number, &kind) in config.streams.iter().enumerate() {
            let input = number == 0;
            let bytes: &[u8] = if input { &config.stdin } else { &[] };
            let inode = self.nameless(bytes);
            self.streams[number] = inode;
            let object = match kind {
                Stream::Pipe if input => Object::Feed(inode),
                Stream::Pipe => Object::Sink(inode),
                Stream::File => Object::Inode(inode),
                Stream::Null => Object::Inode(self.null()),
            };
            let flags = if input { O_RDONLY } else { O_WRONLY };
            let file = self.describe(Description::new(object, flags));
            descriptors.install(number as u32, file, false);
        }
        descriptors
    }

    fn null(&mut self) -> InodeId {
        match self.lookup(&NoProcesses, Node::Inode(self.root), b"dev") {
            Ok(Some(dev)) => match self.lookup(&NoProcesses, dev, b"null") {
                Ok(Some(Node::Inode(null))) => null,
                _ => unreachable!("made above"),
            },
            _ => unreachable!("made above"),
        }
    }

    /// The description of a file, if it is still open.
    pub fn description(&self, file: FileId) -> Result<&Description, Errno> {
        self.descriptions.get(&file).map(|found| &**found).ok_or(Errno::EBADF)
    }
}
