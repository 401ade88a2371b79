//! Opening, and files that come without a name: pipes and memory files.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::{Object, Opened, ProcNode},
        numbers as n,
    },
    Answer,
    user::{changed, interrupted, number, number_two, place, with_table},
};

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let answer = match call.number {
        n::OPENAT => return Some(open(call, a as i32, b, c as u32, d as u32)),
        n::OPEN => return Some(open(call, AT_FDCWD, a, b as u32, c as u32)),
        n::CREAT => {
            let flags = O_CREAT | O_WRONLY | O_TRUNC;
            return Some(open(call, AT_FDCWD, a, flags, b as u32));
        }
        n::OPENAT2 => return Some(open_how(call, a as i32, b, c, d)),
        n::PIPE => pipe(call, a, 0),
        n::PIPE2 => pipe(call, a, b as u32),
        n::MEMFD_CREATE => memory_file(call, a, b as u32),
        _ => return None,
    };
    Some(answer.into())
}

fn open(call: &mut Call<'_>, dirfd: i32, path: u64, flags: u32, mode: u32) -> Flow {
    // A named pipe waits for its other end under its number, which is kept as the progress.
    if let Some(fd) = call.progress().checked_sub(1) {
        return match call.file(fd as i32) {
            Ok(file) if call.kernel.files.has_peer(file) => Flow::Done(Ok(fd as u64)),
            Ok(_) if interrupted(call) => {
                // The signal decides whether it is opened again: this time it was not.
                let _ = with_table(call, |files, table| files.close(table, fd as i32));
                call.thread().resumed = None;
                Flow::Block(None)
            }
            Ok(_) => call.block(fd + 1, None),
            Err(errno) => errno.into(),
        };
    }
    let opened = place(call, dirfd, path).and_then(|(base, path)| {
        call.with_files(|files, caller| files.open(caller, base, &path, flags, mode & 0o7777))
    });
    let Opened { file, awaits_peer } = match opened {
        Ok(opened) => opened,
        Err(errno) => return errno.into(),
    };
    if flags & O_TRUNC != 0 {
        changed(call, file);
    }
    if let Ok(Object::Text(ProcNode::Text(_, text), _)) =
        call.kernel.files.description(file).map(|it| &it.object)
    {
        // Arguments and environment are told as they were; the text cannot say what they stand for.
        let told: Vec<_> = call.kernel.inputs.told_by(text.name()).to_vec();
        told.into_iter().for_each(|(mark, value)| call.space().look_elsewhere(mark, value));
    }
    match number(call, file, flags) {
        Ok(fd) if awaits_peer => call.block(fd as usize + 1, None),
        answer => answer.into(),
    }
}

/// `openat2`: a structure of flags, mode, and how links are followed.
fn open_how(call: &mut Call<'_>, dirfd: i32, path: u64, how: u64, size: u64) -> Flow {
    const KNOWN: u64 = (O_ACCMODE
        | O_CREAT
        | O_EXCL
        | O_NOCTTY
        | O_TRUNC
        | O_APPEND
        | O_NONBLOCK
        | O_SYNC
        | O_ASYNC
        | O_DIRECT
        | O_LARGEFILE
        | O_NOFOLLOW
        | O_NOATIME
        | O_CLOEXEC
        | O_PATH
        | O_TMPFILE) as u64;
    if size < 24 {
        return Errno::EINVAL.into();
    }
    if size > 4096 {
        return Errno::E2BIG.into();
    }
    let bytes = match call.bytes(how, size as usize) {
        Ok(bytes) => bytes,
        Err(errno) => return errno.into(),
    };
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let (flags, mode, resolve) = (word(0), word(8), word(16));
    if bytes[24..].iter().any(|&byte| byte != 0) {
        return Errno::E2BIG.into();
    }
    let makes =
        flags & u64::from(O_CREAT) != 0 || flags & u64::from(O_TMPFILE) == u64::from(O_TMPFILE);
    // Restrictions on the way to the file are not kept, so they are not promised.
    if flags & !KNOWN != 0 || mode & !0o7777 != 0 || mode != 0 && !makes || resolve != 0 {
        return Errno::EINVAL.into();
    }
    open(call, dirfd, path, flags as u32, mode as u32)
}

fn pipe(call: &mut Call<'_>, to: u64, flags: u32) -> Answer {
    let ends = call.kernel.files.new_pipe(flags)?;
    number_two(call, ends, flags, to)
}

fn memory_file(call: &mut Call<'_>, name: u64, flags: u32) -> Answer {
    let name = call.string(name, 250)?;
    let file = call.with_files(|files, caller| files.memory_file(caller, &name, flags))?;
    number(call, file, if flags & MFD_CLOEXEC != 0 { O_CLOEXEC } else { 0 })
}
