//! Descriptors and open files: closing, doubling, `fcntl`, `ioctl`, positions, syncing.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::{FileId, Lock, Object},
        numbers as n,
    },
    Answer, interfaces, limit,
    user::{changed, is_pipe, settle, with_table},
};

/// Commands of `fcntl` about whom signals go to, and the kinds of that.
const F_SETOWN_EX: u32 = 15;
const F_GETOWN_EX: u32 = 16;
const OWNER_THREAD: u32 = 0;
const OWNER_PROCESS: u32 = 1;
const OWNER_GROUP: u32 = 2;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let fd = call.int(0);
    let answer = match call.number {
        n::CLOSE => with_table(call, |files, table| files.close(table, fd)).map(|()| 0),
        n::CLOSE_RANGE => close_range(call, a as u32, b as u32, c as u32),
        n::DUP => with_table(call, |files, table| files.dup(table, fd, 0, false)).map(u64::from),
        n::DUP2 => with_table(call, |files, table| files.dup2(table, fd, b as i32)).map(u64::from),
        n::DUP3 => {
            if c as u32 & !O_CLOEXEC != 0 {
                Err(Errno::EINVAL)
            } else {
                let cloexec = c as u32 & O_CLOEXEC != 0;
                with_table(call, |files, table| files.dup3(table, fd, b as i32, cloexec))
                    .map(u64::from)
            }
        }
        n::FCNTL => control(call, fd, b as u32, c),
        n::IOCTL => device_control(call, fd, b as u32, c),
        n::LSEEK => call.file(fd).and_then(|file| call.kernel.files.seek(file, b as i64, c as u32)),
        n::FLOCK => {
            call.file(fd).and_then(|file| call.kernel.files.flock(file, b as u32)).map(|()| 0)
        }
        n::FSYNC | n::FDATASYNC => {
            settle(call);
            call.file(fd).and_then(|file| call.kernel.files.sync(file)).map(|()| 0)
        }
        n::SYNC => Ok(0),
        n::SYNCFS => call.file(fd).and_then(|file| usable(call, file)).map(|()| 0),
        n::SYNC_FILE_RANGE => sync_range(call, fd, b as i64, c as i64, d),
        n::FADVISE64 => advise(call, fd, c as i64, d),
        n::READAHEAD => read_ahead(call, fd),
        n::FTRUNCATE => {
            settle(call);
            call.file(fd).and_then(|file| {
                let size = call.kernel.files.file_stat(file)?.size;
                if call.kernel.files.description(file)?.writes() {
                    limit::grows(call, size, b as i64)?;
                }
                call.kernel.files.file_truncate(file, b as i64)?;
                changed(call, file);
                Ok(0)
            })
        }
        n::FALLOCATE => {
            settle(call);
            call.file(fd).and_then(|file| {
                call.kernel.files.allocate(file, b as u32, c as i64, d as i64)?;
                changed(call, file);
                Ok(0)
            })
        }
        _ => return None,
    };
    Some(answer.into())
}

/// An open file must be more than a place.
fn usable(call: &mut Call<'_>, file: FileId) -> Result<(), Errno> {
    let flags = call.kernel.files.status_flags(file)?;
    if flags & O_PATH != 0 { Err(Errno::EBADF) } else { Ok(()) }
}

fn close_range(call: &mut Call<'_>, first: u32, last: u32, flags: u32) -> Answer {
    const UNSHARE: u32 = 2;
    const CLOEXEC: u32 = 4;
    if first > last || flags & !(UNSHARE | CLOEXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    with_table(call, |files, table| {
        if flags & CLOEXEC == 0 {
            files.close_range(table, first, last);
            return;
        }
        let open: Vec<u32> =
            table.iter().map(|(fd, _)| fd).filter(|fd| (first..=last).contains(fd)).collect();
        for fd in open {
            let _ = table.set_close_on_exec(fd as i32, true);
        }
    });
    Ok(0)
}

fn control(call: &mut Call<'_>, fd: i32, command: u32, argument: u64) -> Answer {
    let slot = call.process().descriptors.slot(fd)?;
    let file = slot.file;
    if !matches!(command, F_DUPFD | F_DUPFD_CLOEXEC | F_GETFD | F_SETFD | F_GETFL) {
        usable(call, file)?;
    }
    let files = &mut call.kernel.files;
    match command {
        F_DUPFD | F_DUPFD_CLOEXEC => {
            let least = u32::try_from(argument).map_err(|_| Errno::EINVAL)?;
            let cloexec = command == F_DUPFD_CLOEXEC;
            with_table(call, |files, table| files.dup(table, fd, least, cloexec)).map(u64::from)
        }
        F_GETFD => Ok(slot.close_on_exec.into()),
        F_SETFD => {
            let on = argument as u32 & FD_CLOEXEC != 0;
            call.process().descriptors.set_close_on_exec(fd, on).map(|()| 0)
        }
        F_GETFL => files.status_flags(file).map(u64::from),
        F_SETFL => files.set_status_flags(file, argument as u32).map(|()| 0),
        F_GETLK | F_OFD_GETLK => {
            lock(call, argument)?;
            // Nobody else holds one.
            call.put(argument, &F_UNLCK.to_le_bytes()).map(|()| 0)
        }
        F_SETLK | F_SETLKW | F_OFD_SETLK | F_OFD_SETLKW => {
            let lock = lock(call, argument)?;
            call.kernel.files.lock(file, lock).map(|()| 0)
        }
        F_GETOWN => Ok(files.owner(file)? as u64),
        F_SETOWN => files.set_owner(file, argument as i32).map(|()| 0),
        // Nobody is a thread of its own here; a group is a negative number.
        F_GETOWN_EX => {
            let owner = files.owner(file)?;
            let kind = match owner {
                0 => OWNER_THREAD,
                1.. => OWNER_PROCESS,
                _ => OWNER_GROUP,
            };
            let owner = owner.unsigned_abs();
            call.put(argument, &[kind.to_le_bytes(), owner.to_le_bytes()].concat()).map(|()| 0)
        }
        F_SETOWN_EX => {
            let (kind, owner) = (call.half(argument)?, call.half(argument + 4)? as i32);
            let owner = match kind {
                OWNER_THREAD | OWNER_PROCESS => owner,
                OWNER_GROUP => owner.wrapping_neg(),
                _ => return Err(Errno::EINVAL),
            };
            call.kernel.files.set_owner(file, owner).map(|()| 0)
        }
        F_GETSIG => Ok(0),
        F_SETSIG => {
            if argument <= 64 {
                Ok(0)
            } else {
                Err(Errno::EINVAL)
            }
        }
        F_GETPIPE_SZ => files.pipe_size(file).map(|size| size as u64),
        F_SETPIPE_SZ => {
            let size = usize::try_from(argument as u32).map_err(|_| Errno::EINVAL)?;
            files.set_pipe_size(file, size).map(|size| size as u64)
        }
        F_ADD_SEALS => files.add_seals(file, argument as u32).map(|()| 0),
        F_GET_SEALS => files.seals(file).map(u64::from),
        F_GETLEASE => Ok(F_UNLCK.into()),
        F_SETLEASE => Err(Errno::EAGAIN),
        _ => Err(Errno::EINVAL),
    }
}

fn lock(call: &mut Call<'_>, at: u64) -> Result<Lock, Errno> {
    let bytes: [u8; 32] = call.bytes(at, 32)?.try_into().expect("32 bytes");
    Lock::decode(&bytes)
}

fn device_control(call: &mut Call<'_>, fd: i32, command: u32, argument: u64) -> Answer {
    let file = call.file(fd)?;
    usable(call, file)?;
    let files = &mut call.kernel.files;
    let object = &files.description(file)?.object;
    match command {
        FIOCLEX | FIONCLEX => {
            let on = command == FIOCLEX;
            call.process().descriptors.set_close_on_exec(fd, on).map(|()| 0)
        }
        FIONBIO => {
            let on = call.half(argument)? != 0;
            call.kernel.files.set_nonblocking(file, on).map(|()| 0)
        }
        FIOASYNC => call.half(argument).map(|_| 0),
        FIONREAD => {
            let count = files.readable_bytes(file)?;
            let count = i32::try_from(count).unwrap_or(i32::MAX);
            call.put(argument, &count.to_le_bytes()).map(|()| 0)
        }
        FIGETBSZ if matches!(object, Object::Inode(_)) => {
            call.put(argument, &(PAGE as u32).to_le_bytes()).map(|()| 0)
        }
        FICLONE | FICLONERANGE => Err(Errno::EOPNOTSUPP),
        // There are no terminals, and no other devices to control.
        _ => interfaces::control(call, file, command, argument).unwrap_or(Err(Errno::ENOTTY)),
    }
}

fn sync_range(call: &mut Call<'_>, fd: i32, offset: i64, length: i64, flags: u64) -> Answer {
    let file = call.file(fd)?;
    usable(call, file)?;
    let end = offset.checked_add(length);
    if flags & !7 != 0 || offset < 0 || length < 0 || end.is_none() {
        return Err(Errno::EINVAL);
    }
    match call.kernel.files.description(file)?.object {
        Object::Inode(_) => Ok(0),
        _ => Err(Errno::ESPIPE),
    }
}

fn advise(call: &mut Call<'_>, fd: i32, length: i64, advice: u64) -> Answer {
    let file = call.file(fd)?;
    usable(call, file)?;
    if is_pipe(call, file) {
        return Err(Errno::ESPIPE);
    }
    if length < 0 || advice > 5 {
        return Err(Errno::EINVAL);
    }
    Ok(0)
}

fn read_ahead(call: &mut Call<'_>, fd: i32) -> Answer {
    let file = call.file(fd)?;
    let description = call.kernel.files.description(file)?;
    if !description.reads() {
        return Err(Errno::EBADF);
    }
    match description.object {
        Object::Inode(_) => Ok(0),
        _ => Err(Errno::EINVAL),
    }
}
