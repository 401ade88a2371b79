//! `/proc`: what is fixed is a table of texts; what belongs to a process is asked of the caller.
//!
//! The host's `/proc` is never read. Texts are made when a file is opened and do not change under
//! an open file. Files that would give power over a process (`mem`, `pagemap`) do not exist.

use super::Files;
use super::ids::{FileId, Node};
use super::inode::{Directory, Entry};
use super::stat::{Stat, device_number};
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::linux::{Pid, Tid};

/// The device number of `/proc`.
pub const PROC_DEVICE: u64 = device_number(0, 22);
/// The device number of `/sys`.
pub const SYS_DEVICE: u64 = device_number(0, 21);
/// The device number of `/dev`.
pub const DEV_DEVICE: u64 = device_number(0, 5);

/// A place under `/proc` that depends on a process. Threads have places there as processes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProcNode {
    /// `/proc`
    Root,
    /// `/proc/self`
    SelfLink,
    /// `/proc/thread-self`
    ThreadSelf,
    /// `/proc/<pid>`
    Process(Pid),
    /// `/proc/<pid>/<text>`
    Text(Pid, ProcText),
    /// `/proc/<pid>/<link>`
    Link(Pid, ProcLink),
    /// `/proc/<pid>/fd`
    Descriptors(Pid),
    /// `/proc/<pid>/fd/<n>`
    Descriptor(Pid, u32),
    /// `/proc/<pid>/task`
    Threads(Pid),
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$item_doc:meta])* $item:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $($(#[$item_doc])* $item,)* }

        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$item,)*];

            /// What the file is called.
            pub const fn name(self) -> &'static str {
                match self { $($type::$item => $name,)* }
            }
        }
    };
}

named! {
    /// Texts about a process.
    ProcText {
        /// The auxiliary vector.
        Auxv = "auxv",
        /// Control groups.
        Cgroup = "cgroup",
        /// Arguments, each with a zero behind it.
        Cmdline = "cmdline",
        /// The name of the thread.
        Comm = "comm",
        /// The environment at the start.
        Environ = "environ",
        /// Resource limits.
        Limits = "limits",
        /// The memory map.
        Maps = "maps",
        /// Mounted file systems with their options.
        MountInfo = "mountinfo",
        /// Mounted file systems.
        Mounts = "mounts",
        /// How eagerly the process would be killed when memory is short.
        OomScoreAdj = "oom_score_adj",
        /// The memory map with sizes.
        Smaps = "smaps",
        /// Figures in one line.
        Stat = "stat",
        /// Memory in pages.
        Statm = "statm",
        /// Figures with names.
        Status = "status",
    }
}

named! {
    /// Links of a process.
    ProcLink {
        /// The current directory.
        Cwd = "cwd",
        /// The program.
        Exe = "exe",
        /// The root directory.
        Root = "root",
    }
}

/// What the files need to know about processes.
pub trait Processes {
    /// All processes, ascending.
    fn pids(&self) -> Vec<Pid>;
    /// The threads of a process, ascending; none if there is no such process.
    fn threads(&self, pid: Pid) -> Vec<Tid>;
    /// A text about a process or a thread; none if there is no such process.
    fn text(&self, pid: Pid, text: ProcText) -> Option<Vec<u8>>;
    /// Where a link of a process leads; none if there is no such process.
    fn link(&self, pid: Pid, link: ProcLink) -> Option<Vec<u8>>;
    /// The open descriptors of a process, ascending.
    fn descriptors(&self, pid: Pid) -> Vec<(u32, FileId)>;
}

/// No processes at all.
#[derive(Clone, Copy, Debug)]
pub struct NoProcesses;

impl Processes for NoProcesses {
    fn pids(&self) -> Vec<Pid> {
        Vec::new()
    }
    fn threads(&self, _: Pid) -> Vec<Tid> {
        Vec::new()
    }
    fn text(&self, _: Pid, _: ProcText) -> Option<Vec<u8>> {
        None
    }
    fn link(&self, _: Pid, _: ProcLink) -> Option<Vec<u8>> {
        None
    }
    fn descriptors(&self, _: Pid) -> Vec<(u32, FileId)> {
        Vec::new()
    }
}

const MOUNTS: &str = "\
/dev/root / ext4 rw,relatime 0 0
devtmpfs /dev devtmpfs rw,relatime 0 0
proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0
sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0
tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0
";
const MOUNT_INFO: &str = "\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
22 21 0:5 / /dev rw,relatime shared:2 - devtmpfs devtmpfs rw
23 21 0:22 / /proc rw,nosuid,nodev,noexec,relatime shared:3 - proc proc rw
24 21 0:21 / /sys rw,nosuid,nodev,noexec,relatime shared:4 - sysfs sysfs rw
25 22 0:23 / /dev/shm rw,nosuid,nodev shared:5 - tmpfs tmpfs rw
";

/// The fixed files below `/proc`, by path.
pub const PROC_FILES: &[(&str, &str)] = &[
    (
        "cpuinfo",
        "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 15\nmodel\t\t: 107\n\
         model name\t: stunt x86-64\nstepping\t: 1\ncpu MHz\t\t: 1000.000\ncache size\t: 512 KB\n\
         physical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\nfpu\t\t: yes\n\
         cpuid level\t: 1\nflags\t\t: fpu tsc msr cx8 cmov mmx fxsr sse sse2 syscall nx lm\n\
         bogomips\t: 2000.00\nclflush size\t: 64\ncache_alignment\t: 64\n\
         address sizes\t: 40 bits physical, 48 bits virtual\n\n",
    ),
    (
        "meminfo",
        "MemTotal:        8388608 kB\nMemFree:         4194304 kB\nMemAvailable:    6291456 kB\n\
         Buffers:          131072 kB\nCached:          2097152 kB\nSwapCached:            0 kB\n\
         SwapTotal:             0 kB\nSwapFree:              0 kB\n",
    ),
    (
        "filesystems",
        "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\nnodev\tpipefs\nnodev\tsockfs\n\
         \text4\n",
    ),
    ("loadavg", "0.00 0.00 0.00 1/1 1\n"),
    ("uptime", "1000.00 1000.00\n"),
    ("version", "Linux version 6.1.0 (stunt) #1 SMP\n"),
    ("cmdline", "\n"),
    (
        "stat",
        "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime 0\n\
         processes 1\nprocs_running 1\nprocs_blocked 0\n",
    ),
    ("net/if_inet6", "00000000000000000000000000000001 01 80 10 80       lo\n"),
    (
        "net/dev",
        "Inter-|   Receive                                                |  Transmit\n \
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs \
         drop fifo colls carrier compressed\n    \
         lo:       0       0    0    0    0     0          0         0        0       0    0    0 \
            0     0       0          0\n",
    ),
    ("sys/fs/file-max", "9223372036854775807\n"),
    ("sys/fs/nr_open", "1048576\n"),
    ("sys/fs/pipe-max-size", "1048576\n"),
    ("sys/kernel/cap_last_cap", "40\n"),
    ("sys/kernel/core_pattern", "core\n"),
    ("sys/kernel/hostname", "stunt\n"),
    ("sys/kernel/ngroups_max", "65536\n"),
    ("sys/kernel/osrelease", "6.1.0\n"),
    ("sys/kernel/ostype", "Linux\n"),
    ("sys/kernel/pid_max", "32768\n"),
    ("sys/kernel/random/boot_id", "00000000-0000-4000-8000-000000000000\n"),
    ("sys/kernel/random/entropy_avail", "256\n"),
    ("sys/kernel/random/uuid", "00000000-0000-4000-8000-000000000001\n"),
    ("sys/kernel/randomize_va_space", "0\n"),
    ("sys/kernel/threads-max", "65536\n"),
    ("sys/kernel/version", "#1 SMP\n"),
    ("sys/kernel/yama/ptrace_scope", "1\n"),
    ("sys/net/core/somaxconn", "4096\n"),
    ("sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    ("sys/vm/max_map_count", "65530\n"),
    ("sys/vm/mmap_min_addr", "65536\n"),
    ("sys/vm/overcommit_memory", "0\n"),
];

/// The fixed files below `/sys`, by path.
pub const SYS_FILES: &[(&str, &str)] = &[
    ("devices/system/cpu/kernel_max", "0\n"),
    ("devices/system/cpu/online", "0\n"),
    ("devices/system/cpu/possible", "0\n"),
    ("devices/system/cpu/present", "0\n"),
    ("devices/system/cpu/cpu0/topology/core_id", "0\n"),
    ("devices/system/node/online", "0\n"),
    ("devices/system/node/possible", "0\n"),
    ("kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n"),
    ("kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n"),
];

impl Files {
    /// An entry of a directory under `/proc`.
    pub(super) fn proc_lookup(
        &self,
        processes: &dyn Processes,
        dir: ProcNode,
        name: &[u8],
    ) -> Result<Option<Node>, Errno> {
        let number = std::str::from_utf8(name).ok().and_then(|name| {
            let plain = name == "0" || !name.starts_with(['0', '+']);
            if plain { name.parse::<u32>().ok() } else { None }
        });
        let node = match dir {
            ProcNode::Root => match (name, number) {
                (b"self", _) => Some(ProcNode::SelfLink),
                (b"thread-self", _) => Some(ProcNode::ThreadSelf),
                (_, Some(number)) => {
                    let (pid, tid) = (Pid(number), Tid(number));
                    // A thread has a directory, too, though no listing shows it.
                    let thread =
                        || processes.pids().iter().any(|&of| processes.threads(of).contains(&tid));
                    (processes.pids().contains(&pid) || thread()).then_some(ProcNode::Process(pid))
                }
                _ => return Ok(self.proc_fixed(name)),
            },
            ProcNode::Process(pid) => {
                let text = ProcText::ALL.iter().find(|text| text.name().as_bytes() == name);
                let link = ProcLink::ALL.iter().find(|link| link.name().as_bytes() == name);
                match (text, link) {
                    (Some(&text), _) => Some(ProcNode::Text(pid, text)),
                    (_, Some(&link)) => Some(ProcNode::Link(pid, link)),
                    _ if name == b"fd" => Some(ProcNode::Descriptors(pid)),
                    _ if name == b"task" => Some(ProcNode::Threads(pid)),
                    _ => None,
                }
            }
            ProcNode::Descriptors(pid) => number
                .filter(|&fd| processes.descriptors(pid).iter().any(|open| open.0 == fd))
                .map(|fd| ProcNode::Descriptor(pid, fd)),
            ProcNode::Threads(pid) => {
                let has = |tid: &u32| processes.threads(pid).contains(&Tid(*tid));
                number.filter(has).map(|tid| ProcNode::Process(Pid(tid)))
            }
            _ => return Err(Errno::ENOTDIR),
        };
        Ok(node.map(Node::Proc))
    }

    fn proc_fixed(&self, name: &[u8]) -> Option<Node> {
        let directory: &Directory = self.inodes.get(&self.proc_fixed)?.directory()?;
        match directory.entries.get(name) {
            Some(&Entry::Present(node)) => Some(node),
            _ => None,
        }
    }

    /// The entries of a directory under `/proc`, without `.` and `..`, sorted by name.
    pub(super) fn proc_list(
        &self,
        processes: &dyn Processes,
        dir: ProcNode,
    ) -> Result<Vec<(Vec<u8>, u64, u8)>, Errno> {
        let mut entries = Vec::new();
        let mut add = |name: String, node: ProcNode| {
            let kind = super::inode::entry_type(self.proc_mode(node));
            entries.push((name.into_bytes(), proc_number(node), kind));
        };
        match dir {
            ProcNode::Root => {
                add("self".into(), ProcNode::SelfLink);
                add("thread-self".into(), ProcNode::ThreadSelf);
                for pid in processes.pids() {
                    add(pid.to_string(), ProcNode::Process(pid));
                }
                if let Some(fixed) = self.inodes.get(&self.proc_fixed).and_then(|i| i.directory()) {
                    for (name, entry) in &fixed.entries {
                        if let Entry::Present(Node::Inode(id)) = entry {
                            let inode = self.inode(*id);
                            let kind = super::inode::entry_type(inode.mode());
                            entries.push((name.to_vec(), inode.ino, kind));
                        }
                    }
                }
            }
            ProcNode::Process(pid) => {
                for &text in ProcText::ALL {
                    add(text.name().into(), ProcNode::Text(pid, text));
                }
                for &link in ProcLink::ALL {
                    add(link.name().into(), ProcNode::Link(pid, link));
                }
                add("fd".into(), ProcNode::Descriptors(pid));
                add("task".into(), ProcNode::Threads(pid));
            }
            ProcNode::Descriptors(pid) => {
                for (fd, _) in processes.descriptors(pid) {
                    add(fd.to_string(), ProcNode::Descriptor(pid, fd));
                }
            }
            ProcNode::Threads(pid) => {
                for tid in processes.threads(pid) {
                    add(tid.to_string(), ProcNode::Process(Pid(tid.0)));
                }
            }
            _ => return Err(Errno::ENOTDIR),
        }
        entries.sort();
        Ok(entries)
    }

    /// The directory above.
    pub(super) fn proc_parent(&self, node: ProcNode) -> Node {
        match node {
            ProcNode::Root => Node::Inode(self.root),
            ProcNode::SelfLink | ProcNode::ThreadSelf | ProcNode::Process(_) => {
                Node::Proc(ProcNode::Root)
            }
            ProcNode::Text(pid, _)
            | ProcNode::Link(pid, _)
            | ProcNode::Descriptors(pid)
            | ProcNode::Threads(pid) => Node::Proc(ProcNode::Process(pid)),
            ProcNode::Descriptor(pid, _) => Node::Proc(ProcNode::Descriptors(pid)),
        }
    }

    /// The path of a place under `/proc`.
    pub(super) fn proc_path(node: ProcNode) -> String {
        match node {
            ProcNode::Root => "/proc".into(),
            ProcNode::SelfLink => "/proc/self".into(),
            ProcNode::ThreadSelf => "/proc/thread-self".into(),
            ProcNode::Process(pid) => format!("/proc/{pid}"),
            ProcNode::Text(pid, text) => format!("/proc/{pid}/{}", text.name()),
            ProcNode::Link(pid, link) => format!("/proc/{pid}/{}", link.name()),
            ProcNode::Descriptors(pid) => format!("/proc/{pid}/fd"),
            ProcNode::Descriptor(pid, fd) => format!("/proc/{pid}/fd/{fd}"),
            ProcNode::Threads(pid) => format!("/proc/{pid}/task"),
        }
    }

    /// Type and permissions.
    pub(super) fn proc_mode(&self, node: ProcNode) -> u32 {
        match node {
            ProcNode::Root | ProcNode::Process(_) | ProcNode::Threads(_) => S_IFDIR | 0o555,
            ProcNode::Descriptors(_) => S_IFDIR | 0o500,
            ProcNode::SelfLink | ProcNode::ThreadSelf | ProcNode::Link(..) => S_IFLNK | 0o777,
            ProcNode::Descriptor(..) => S_IFLNK | 0o700,
            ProcNode::Text(_, ProcText::Auxv | ProcText::Environ) => S_IFREG | 0o400,
            ProcNode::Text(_, ProcText::Comm | ProcText::OomScoreAdj) => S_IFREG | 0o644,
            ProcNode::Text(..) => S_IFREG | 0o444,
        }
    }

    /// What `stat` tells.
    pub(super) fn proc_stat(&self, node: ProcNode) -> Stat {
        let mode = self.proc_mode(node);
        let own = !matches!(node, ProcNode::Root | ProcNode::SelfLink | ProcNode::ThreadSelf);
        let time = self.clock.real;
        Stat {
            dev: PROC_DEVICE,
            ino: proc_number(node),
            mode,
            nlink: if mode & S_IFMT == S_IFDIR { 2 } else { 1 },
            uid: if own { self.config.user.uid } else { 0 },
            gid: if own { self.config.user.gid } else { 0 },
            size: if matches!(node, ProcNode::Descriptor(..)) { 64 } else { 0 },
            blksize: 1024,
            atime: time,
            mtime: time,
            ctime: time,
            ..Stat::default()
        }
    }

    /// A text, made now.
    pub(super) fn proc_text(
        &self,
        processes: &dyn Processes,
        pid: Pid,
        text: ProcText,
    ) -> Result<Vec<u8>, Errno> {
        match text {
            ProcText::Mounts => Ok(MOUNTS.into()),
            ProcText::MountInfo => Ok(MOUNT_INFO.into()),
            ProcText::Cgroup => Ok(b"0::/\n".to_vec()),
            ProcText::OomScoreAdj => Ok(b"0\n".to_vec()),
            _ => processes.text(pid, text).ok_or(Errno::ESRCH),
        }
    }
}

/// A fixed inode number for each place.
fn proc_number(node: ProcNode) -> u64 {
    let of = |pid: Pid, part: u64| (1 << 32) + (u64::from(pid.0) << 12) + part;
    match node {
        ProcNode::Root => 1,
        ProcNode::SelfLink => 2,
        ProcNode::ThreadSelf => 3,
        ProcNode::Process(pid) => of(pid, 0),
        ProcNode::Text(pid, text) => of(pid, 16 + text as u64),
        ProcNode::Link(pid, link) => of(pid, 64 + link as u64),
        ProcNode::Descriptors(pid) => of(pid, 1),
        ProcNode::Threads(pid) => of(pid, 2),
        ProcNode::Descriptor(pid, fd) => of(pid, 0) + (1 << 44) * (u64::from(fd) + 1),
    }
}
