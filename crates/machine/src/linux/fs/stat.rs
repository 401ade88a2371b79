//! What `stat` and its relatives tell about a file, and how the kernel lays it out in memory.
//!
//! The layouts are those of x86-64; the tests compare them with the host's structures.

use crate::linux::abi::*;

/// A point in time: seconds since 1970 and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Whole seconds.
    pub seconds: i64,
    /// The rest, below a thousand million.
    pub nanoseconds: u32,
}

/// Everything that can be asked about a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The device that holds it.
    pub dev: u64,
    /// Its number there.
    pub ino: u64,
    /// Type and permissions.
    pub mode: u32,
    /// How many names it has.
    pub nlink: u64,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Which device it stands for.
    pub rdev: u64,
    /// Bytes.
    pub size: u64,
    /// The size of block that transfers should use.
    pub blksize: u64,
    /// Room taken up, in units of 512 bytes.
    pub blocks: u64,
    /// Last read.
    pub atime: Timestamp,
    /// Last written.
    pub mtime: Timestamp,
    /// Last changed in any way.
    pub ctime: Timestamp,
    /// Made, if known.
    pub btime: Option<Timestamp>,
}

/// The number of a device, as the kernel packs it.
pub const fn device_number(major: u64, minor: u64) -> u64 {
    (minor & 0xff) | ((major & 0xfff) << 8) | ((minor & !0xff) << 12)
}

/// The major part of a device number.
pub const fn major(device: u64) -> u32 {
    ((device >> 8) & 0xfff) as u32
}

/// The minor part of a device number.
pub const fn minor(device: u64) -> u32 {
    ((device & 0xff) | ((device >> 12) & 0xfff00)) as u32
}

/// Little-endian fields at fixed offsets.
struct Layout<const N: usize>([u8; N]);

impl<const N: usize> Layout<N> {
    fn put16(&mut self, at: usize, value: u16) {
        self.0[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    fn put32(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    fn put64(&mut self, at: usize, value: u64) {
        self.0[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
}

impl Stat {
    /// The type bits of the mode.
    pub fn kind(&self) -> u32 {
        self.mode & S_IFMT
    }

    /// `struct stat`.
    pub fn encode(&self) -> [u8; 144] {
        let mut out = Layout([0; 144]);
        out.put64(0, self.dev);
        out.put64(8, self.ino);
        out.put64(16, self.nlink);
        out.put32(24, self.mode);
        out.put32(28, self.uid);
        out.put32(32, self.gid);
        out.put64(40, self.rdev);
        out.put64(48, self.size);
        out.put64(56, self.blksize);
        out.put64(64, self.blocks);
        for (at, time) in [(72, self.atime), (88, self.mtime), (104, self.ctime)] {
            out.put64(at, time.seconds as u64);
            out.put64(at + 8, u64::from(time.nanoseconds));
        }
        out.0
    }

    /// `struct statx`, with all basic fields and the birth time where it is known.
    pub fn encode_statx(&self) -> [u8; 256] {
        let mut out = Layout([0; 256]);
        let birth = if self.btime.is_some() { STATX_BTIME } else { 0 };
        out.put32(0, STATX_BASIC_STATS | birth);
        out.put32(4, self.blksize as u32);
        out.put32(16, self.nlink as u32);
        out.put32(20, self.uid);
        out.put32(24, self.gid);
        out.put16(28, self.mode as u16);
        out.put64(32, self.ino);
        out.put64(40, self.size);
        out.put64(48, self.blocks);
        let times = [
            (64, Some(self.atime)),
            (80, self.btime),
            (96, Some(self.ctime)),
            (112, Some(self.mtime)),
        ];
        for (at, time) in times {
            let time = time.unwrap_or_default();
            out.put64(at, time.seconds as u64);
            out.put32(at + 8, time.nanoseconds);
        }
        out.put32(128, major(self.rdev));
        out.put32(132, minor(self.rdev));
        out.put32(136, major(self.dev));
        out.put32(140, minor(self.dev));
        out.0
    }
}

/// What `statfs` tells: fixed figures, so that a run does not depend on how full a disk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatFs {
    /// The magic number of the kind of file system.
    pub kind: u64,
    /// The size of a block.
    pub block: u64,
    /// How many blocks there are, and how many are free.
    pub blocks: (u64, u64),
    /// How many files fit, and how many more.
    pub files: (u64, u64),
}

impl StatFs {
    /// ext4, half empty.
    pub const DISK: StatFs =
        StatFs { kind: 0xef53, block: 4096, blocks: (1 << 26, 1 << 25), files: (1 << 24, 1 << 23) };
    /// procfs.
    pub const PROC: StatFs = StatFs { kind: 0x9fa0, block: 4096, blocks: (0, 0), files: (0, 0) };
    /// sysfs.
    pub const SYS: StatFs =
        StatFs { kind: 0x6265_6572, block: 4096, blocks: (0, 0), files: (0, 0) };
    /// tmpfs, as on `/dev` and `/dev/shm`.
    pub const MEMORY: StatFs = StatFs {
        kind: 0x0102_1994,
        block: 4096,
        blocks: (1 << 19, 1 << 19),
        files: (1 << 19, 1 << 19),
    };
    /// The pseudo file system of pipes.
    pub const PIPE: StatFs =
        StatFs { kind: 0x5049_5045, block: 4096, blocks: (0, 0), files: (0, 0) };
    /// The pseudo file system of sockets.
    pub const SOCKET: StatFs =
        StatFs { kind: 0x534f_434b, block: 4096, blocks: (0, 0), files: (0, 0) };
    /// The pseudo file system of everything else without a name.
    pub const ANONYMOUS: StatFs =
        StatFs { kind: 0x0904_1934, block: 4096, blocks: (0, 0), files: (0, 0) };

    /// `struct statfs`.
    pub fn encode(&self) -> [u8; 120] {
        let mut out = Layout([0; 120]);
        out.put64(0, self.kind);
        out.put64(8, self.block);
        out.put64(16, self.blocks.0);
        out.put64(24, self.blocks.1);
        out.put64(32, self.blocks.1);
        out.put64(40, self.files.0);
        out.put64(48, self.files.1);
        out.put64(64, NAME_MAX as u64);
        out.put64(72, self.block);
        // ST_VALID | ST_RELATIME
        out.put64(80, 0x20 | 0x1000);
        out.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn layouts_are_the_hosts() {
        assert_eq!(size_of::<libc::stat>(), 144);
        assert_eq!(offset_of!(libc::stat, st_nlink), 16);
        assert_eq!(offset_of!(libc::stat, st_mode), 24);
        assert_eq!(offset_of!(libc::stat, st_rdev), 40);
        assert_eq!(offset_of!(libc::stat, st_size), 48);
        assert_eq!(offset_of!(libc::stat, st_blocks), 64);
        assert_eq!(offset_of!(libc::stat, st_ctime), 104);
        assert_eq!(size_of::<libc::statx>(), 256);
        assert_eq!(offset_of!(libc::statx, stx_mode), 28);
        assert_eq!(offset_of!(libc::statx, stx_size), 40);
        assert_eq!(offset_of!(libc::statx, stx_btime), 80);
        assert_eq!(offset_of!(libc::statx, stx_mtime), 112);
        assert_eq!(offset_of!(libc::statx, stx_rdev_major), 128);
        assert_eq!(size_of::<libc::statfs>(), 120);
        assert_eq!(offset_of!(libc::statfs, f_files), 40);
        assert_eq!(offset_of!(libc::statfs, f_namelen), 64);
        let device = device_number(259, 300_000);
        assert_eq!(device, libc::makedev(259, 300_000));
        assert_eq!((major(device), minor(device)), (259, 300_000));
    }

    #[test]
    fn fields_arrive_at_their_places() {
        let stat = Stat { dev: 1, ino: 2, mode: 0o100644, nlink: 3, size: 77, ..Stat::default() };
        let bytes = stat.encode();
        assert_eq!(bytes[48], 77);
        assert_eq!(bytes[16], 3);
        let bytes = stat.encode_statx();
        assert_eq!(bytes[40], 77);
        assert_eq!(u16::from_le_bytes([bytes[28], bytes[29]]), 0o100644);
        assert_eq!(StatFs::DISK.encode()[0], 0x53);
    }
}
