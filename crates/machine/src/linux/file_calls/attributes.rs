//! What is known about files: `stat` and its relatives, permissions, owners, times, sizes.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::{Node, SetTime, Stat, Times, Timestamp},
        numbers as n,
    },
    Answer, limit,
    user::{find, place, place_or_file, settle},
};

/// The longest name of an extended attribute.
const LONGEST_ATTRIBUTE: usize = 255;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, e, _] = call.arguments;
    let dirfd = a as i32;
    let answer = match call.number {
        n::NEWFSTATAT => stat_at(call, dirfd, b, c, d as u32),
        n::STAT => {
            stat(call, (AT_FDCWD, a), 0).and_then(|stat| call.put(b, &stat.encode())).map(|()| 0)
        }
        n::LSTAT => stat(call, (AT_FDCWD, a), AT_SYMLINK_NOFOLLOW)
            .and_then(|stat| call.put(b, &stat.encode()))
            .map(|()| 0),
        n::FSTAT => {
            let stat = call.file(dirfd).and_then(|file| call.kernel.files.file_stat(file));
            stat.and_then(|stat| call.put(b, &stat.encode())).map(|()| 0)
        }
        n::STATX => stat_more(call, dirfd, b, c as u32, d as u32, e),
        n::STATFS => place(call, AT_FDCWD, a)
            .and_then(|place| find(call, &place, true))
            .and_then(|node| file_system(call, node, b)),
        n::FSTATFS => node(call, dirfd).and_then(|node| file_system(call, node, b)),
        n::ACCESS => access(call, (AT_FDCWD, a), b, 0),
        n::FACCESSAT => access(call, (dirfd, b), c, 0),
        n::FACCESSAT2 => access(call, (dirfd, b), c, d as u32),
        n::CHMOD => on_path(call, (AT_FDCWD, a), 0, |call, node| mode(call, node, b)),
        n::FCHMOD => open_node(call, dirfd).and_then(|node| mode(call, node, b)),
        n::FCHMODAT => on_path(call, (dirfd, b), 0, |call, node| mode(call, node, c)),
        n::CHOWN => on_path(call, (AT_FDCWD, a), 0, |call, node| owner(call, node, b, c)),
        n::LCHOWN => {
            on_path(call, (AT_FDCWD, a), AT_SYMLINK_NOFOLLOW, |call, node| owner(call, node, b, c))
        }
        n::FCHOWN => open_node(call, dirfd).and_then(|node| owner(call, node, b, c)),
        n::FCHOWNAT => {
            if e as u32 & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
                Err(Errno::EINVAL)
            } else {
                on_path(call, (dirfd, b), e as u32, |call, node| owner(call, node, c, d))
            }
        }
        n::UTIMENSAT => times_precise(call, dirfd, b, c, d as u32),
        n::UTIME => times_old(call, a, b),
        n::UTIMES => times_micro(call, AT_FDCWD, a, b),
        n::FUTIMESAT => times_micro(call, dirfd, b, c),
        n::TRUNCATE => truncate(call, a, b as i64),
        n::GETXATTR => attribute(call, Named::Path(a, true), b),
        n::LGETXATTR => attribute(call, Named::Path(a, false), b),
        n::FGETXATTR => attribute(call, Named::File(dirfd), b),
        n::LISTXATTR => named(call, Named::Path(a, true)).map(|_| 0),
        n::LLISTXATTR => named(call, Named::Path(a, false)).map(|_| 0),
        n::FLISTXATTR => named(call, Named::File(dirfd)).map(|_| 0),
        n::SETXATTR => set_attribute(call, Named::Path(a, true), b),
        n::LSETXATTR => set_attribute(call, Named::Path(a, false), b),
        n::FSETXATTR => set_attribute(call, Named::File(dirfd), b),
        n::REMOVEXATTR => attribute(call, Named::Path(a, true), b),
        n::LREMOVEXATTR => attribute(call, Named::Path(a, false), b),
        n::FREMOVEXATTR => attribute(call, Named::File(dirfd), b),
        _ => return None,
    };
    Some(answer.into())
}

/// What a descriptor stands for, even if it is only a place.
fn node(call: &mut Call<'_>, fd: i32) -> Result<Node, Errno> {
    let file = call.file(fd)?;
    call.kernel.files.node_of(file)
}

/// What a descriptor stands for, if it is open in earnest.
fn open_node(call: &mut Call<'_>, fd: i32) -> Result<Node, Errno> {
    let file = call.file(fd)?;
    if call.kernel.files.status_flags(file)? & O_PATH != 0 {
        return Err(Errno::EBADF);
    }
    call.kernel.files.node_of(file)
}

fn on_path(
    call: &mut Call<'_>,
    (dirfd, path): (i32, u64),
    flags: u32,
    work: impl FnOnce(&mut Call<'_>, Node) -> Answer,
) -> Answer {
    let place = place_or_file(call, dirfd, path, flags)?;
    let node = find(call, &place, flags & AT_SYMLINK_NOFOLLOW == 0)?;
    work(call, node)
}

fn stat(call: &mut Call<'_>, (dirfd, path): (i32, u64), flags: u32) -> Result<Stat, Errno> {
    let place = place_or_file(call, dirfd, path, flags)?;
    let node = find(call, &place, flags & AT_SYMLINK_NOFOLLOW == 0)?;
    call.kernel.files.stat(node)
}

fn stat_at(call: &mut Call<'_>, dirfd: i32, path: u64, to: u64, flags: u32) -> Answer {
    let known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE;
    if flags & !known != 0 {
        return Err(Errno::EINVAL);
    }
    let stat = stat(call, (dirfd, path), flags)?;
    call.put(to, &stat.encode()).map(|()| 0)
}

fn stat_more(call: &mut Call<'_>, dirfd: i32, path: u64, flags: u32, mask: u32, to: u64) -> Answer {
    let known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE;
    let undecided = flags & AT_STATX_SYNC_TYPE == AT_STATX_SYNC_TYPE;
    if flags & !known != 0 || undecided || mask >> 31 != 0 {
        return Err(Errno::EINVAL);
    }
    let stat = stat(call, (dirfd, path), flags)?;
    call.put(to, &stat.encode_statx()).map(|()| 0)
}

fn file_system(call: &mut Call<'_>, node: Node, to: u64) -> Answer {
    let figures = call.kernel.files.statfs(node)?;
    call.put(to, &figures.encode()).map(|()| 0)
}

fn access(call: &mut Call<'_>, place: (i32, u64), wish: u64, flags: u32) -> Answer {
    let known = AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
    if wish & 0xffff_fff8 != 0 || flags & !known != 0 {
        return Err(Errno::EINVAL);
    }
    on_path(call, place, flags, |call, node| {
        call.with_files(|files, caller| files.access(caller.user, node, wish as u32)).map(|()| 0)
    })
}

fn mode(call: &mut Call<'_>, node: Node, mode: u64) -> Answer {
    call.with_files(|files, caller| files.chmod(caller.user, node, mode as u32)).map(|()| 0)
}

fn owner(call: &mut Call<'_>, node: Node, uid: u64, gid: u64) -> Answer {
    let id = |value: u64| Some(value as u32).filter(|&value| value != u32::MAX);
    let (uid, gid) = (id(uid), id(gid));
    call.with_files(|files, caller| files.chown(caller.user, node, uid, gid)).map(|()| 0)
}

const NOW: Times = Times { read: SetTime::Now, written: SetTime::Now };

fn set_times(call: &mut Call<'_>, node: Node, times: Times) -> Answer {
    call.with_files(|files, caller| files.set_times(caller.user, node, times)).map(|()| 0)
}

fn times_precise(call: &mut Call<'_>, dirfd: i32, path: u64, at: u64, flags: u32) -> Answer {
    let times = if at == 0 {
        NOW
    } else {
        let mut one = |at: u64| -> Result<SetTime, Errno> {
            let (seconds, nanoseconds) = (call.word(at)? as i64, call.word(at + 8)? as i64);
            Ok(match nanoseconds {
                UTIME_NOW => SetTime::Now,
                UTIME_OMIT => SetTime::Keep,
                0..1_000_000_000 => {
                    SetTime::To(Timestamp { seconds, nanoseconds: nanoseconds as u32 })
                }
                _ => return Err(Errno::EINVAL),
            })
        };
        Times { read: one(at)?, written: one(at + 16)? }
    };
    if times == (Times { read: SetTime::Keep, written: SetTime::Keep }) {
        return Ok(0);
    }
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL);
    }
    if path == 0 && dirfd != AT_FDCWD {
        if flags != 0 {
            return Err(Errno::EINVAL);
        }
        let node = open_node(call, dirfd)?;
        return set_times(call, node, times);
    }
    on_path(call, (dirfd, path), flags, |call, node| set_times(call, node, times))
}

/// `utime`: whole seconds.
fn times_old(call: &mut Call<'_>, path: u64, at: u64) -> Answer {
    let times = if at == 0 {
        NOW
    } else {
        let mut one = |at: u64| -> Result<SetTime, Errno> {
            Ok(SetTime::To(Timestamp { seconds: call.word(at)? as i64, nanoseconds: 0 }))
        };
        Times { read: one(at)?, written: one(at + 8)? }
    };
    on_path(call, (AT_FDCWD, path), 0, |call, node| set_times(call, node, times))
}

/// `utimes` and `futimesat`: seconds and microseconds.
fn times_micro(call: &mut Call<'_>, dirfd: i32, path: u64, at: u64) -> Answer {
    let times = if at == 0 {
        NOW
    } else {
        let mut one = |at: u64| -> Result<SetTime, Errno> {
            let (seconds, micros) = (call.word(at)? as i64, call.word(at + 8)?);
            if micros >= 1_000_000 {
                return Err(Errno::EINVAL);
            }
            Ok(SetTime::To(Timestamp { seconds, nanoseconds: micros as u32 * 1000 }))
        };
        Times { read: one(at)?, written: one(at + 16)? }
    };
    if path == 0 && dirfd != AT_FDCWD {
        let node = open_node(call, dirfd)?;
        return set_times(call, node, times);
    }
    on_path(call, (dirfd, path), 0, |call, node| set_times(call, node, times))
}

fn truncate(call: &mut Call<'_>, path: u64, length: i64) -> Answer {
    if length < 0 {
        return Err(Errno::EINVAL);
    }
    settle(call);
    on_path(call, (AT_FDCWD, path), 0, |call, node| {
        let stat = call.kernel.files.stat(node)?;
        if stat.kind() == S_IFREG {
            limit::grows(call, stat.size, length)?;
        }
        call.with_files(|files, caller| files.truncate(caller.user, node, length))?;
        if let Node::Inode(inode) = node {
            call.kernel.file_changed(inode.number(), None);
        }
        Ok(0)
    })
}

/// Whose extended attributes are asked for.
#[derive(Clone, Copy)]
enum Named {
    /// A path, and whether a link at its end is followed.
    Path(u64, bool),
    /// A descriptor.
    File(i32),
}

fn named(call: &mut Call<'_>, target: Named) -> Result<Node, Errno> {
    match target {
        Named::Path(path, follow) => {
            let place = place(call, AT_FDCWD, path)?;
            find(call, &place, follow)
        }
        Named::File(fd) => open_node(call, fd),
    }
}

fn attribute_name(call: &mut Call<'_>, at: u64) -> Result<Vec<u8>, Errno> {
    let name = call.string(at, LONGEST_ATTRIBUTE + 1)?;
    if name.is_empty() || name.len() > LONGEST_ATTRIBUTE {
        return Err(Errno::ERANGE);
    }
    Ok(name)
}

/// `getxattr` and `removexattr`: no file has any.
fn attribute(call: &mut Call<'_>, target: Named, name: u64) -> Answer {
    let name = attribute_name(call, name)?;
    let node = named(call, target)?;
    let value = call.kernel.files.get_attribute(node, &name)?;
    Ok(value.len() as u64)
}

/// `setxattr`: no file can have any.
fn set_attribute(call: &mut Call<'_>, target: Named, name: u64) -> Answer {
    attribute_name(call, name)?;
    named(call, target)?;
    Err(Errno::EOPNOTSUPP)
}
