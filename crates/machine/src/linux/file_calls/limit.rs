//! The largest file that a process may make (`RLIMIT_FSIZE`).
//!
//! Only what grows regular files asks here. Whoever goes beyond gets `SIGXFSZ` and `EFBIG`.

use super::super::{
    abi::{O_APPEND, S_IFREG},
    call::Call,
    errno::Errno,
    fs::FileId,
    signal::{SIGXFSZ, Signal},
};

/// The number of the limit.
const FILE_SIZE: u32 = 1;

/// The limit of the caller, in bytes; none if there is no end.
fn limit(call: &mut Call<'_>) -> Option<u64> {
    let limits = &call.process().limits;
    limits.get(&FILE_SIZE).map(|limit| limit.0).filter(|&limit| limit != u64::MAX)
}

fn exceeded(call: &mut Call<'_>) -> Errno {
    let (pid, tid, uid) = (call.pid, call.tid, call.kernel.user.uid);
    call.kernel.send_to_thread(pid, tid, Signal::from_process(SIGXFSZ, pid, uid, 0));
    Errno::EFBIG
}

/// How many of `count` bytes may be written to a file, at a position or at its own.
pub(super) fn writes(
    call: &mut Call<'_>,
    file: FileId,
    at: Option<i64>,
    count: usize,
) -> Result<usize, Errno> {
    let Some(limit) = limit(call) else { return Ok(count) };
    let stat = call.kernel.files.file_stat(file)?;
    if count == 0 || stat.kind() != S_IFREG {
        return Ok(count);
    }
    let description = call.kernel.files.description(file)?;
    let start = match at {
        _ if description.flags & O_APPEND != 0 => stat.size,
        Some(at) => at as u64,
        None => description.offset,
    };
    match limit.checked_sub(start) {
        None | Some(0) => Err(exceeded(call)),
        Some(room) => Ok(count.min(usize::try_from(room).unwrap_or(usize::MAX))),
    }
}

/// Whether a file of `size` bytes may become one of `new` bytes.
pub(super) fn grows(call: &mut Call<'_>, size: u64, new: i64) -> Result<(), Errno> {
    let new = u64::try_from(new).unwrap_or(0);
    match limit(call) {
        Some(limit) if new > size && new > limit => Err(exceeded(call)),
        _ => Ok(()),
    }
}
