//! What file calls share: paths, lists of buffers, bytes to and from the program, and blocking.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::{Descriptors, FileId, Files, Halt, Moved, Node, Object, Place},
        signal::{SIGPIPE, Signal},
    },
    Answer,
};
use crate::memory::{Mark, Protection, TOP};

/// The most bytes that are held at a time.
pub(super) const CHUNK: usize = 1 << 20;
/// The most bytes that one call moves.
pub(super) const MOST: usize = 0x7fff_f000;
/// The most buffers in a list.
const MOST_PIECES: u64 = 1024;

/// A buffer of the program: its address and its size.
pub(super) type Piece = (u64, usize);

/// A path of the program, and the directory that it starts from.
pub(super) fn place(
    call: &mut Call<'_>,
    dirfd: i32,
    address: u64,
) -> Result<(Node, Vec<u8>), Errno> {
    let path = call.path(address)?;
    if path.is_empty() {
        return Err(Errno::ENOENT);
    }
    let base = base(call, dirfd, &path)?;
    Ok((base, path))
}

/// The same where `AT_EMPTY_PATH` may be given: then an empty path is the base itself.
pub(super) fn place_or_file(
    call: &mut Call<'_>,
    dirfd: i32,
    address: u64,
    flags: u32,
) -> Result<(Node, Vec<u8>), Errno> {
    let path = call.path(address)?;
    if path.is_empty() && flags & AT_EMPTY_PATH == 0 {
        return Err(Errno::ENOENT);
    }
    let base = base(call, dirfd, &path)?;
    Ok((base, path))
}

fn base(call: &mut Call<'_>, dirfd: i32, path: &[u8]) -> Result<Node, Errno> {
    if path.first() == Some(&b'/') {
        return Ok(call.kernel.files.root());
    }
    if dirfd == AT_FDCWD {
        return Ok(call.process().cwd);
    }
    let file = call.file(dirfd)?;
    call.kernel.files.node_of(file)
}

/// What a path names; an empty one names the base.
pub(super) fn find(
    call: &mut Call<'_>,
    (base, path): &(Node, Vec<u8>),
    follow: bool,
) -> Result<Node, Errno> {
    if path.is_empty() {
        return Ok(*base);
    }
    call.with_files(|files, caller| Ok(files.find(caller, *base, path, follow)?.node))
}

/// Runs `work` on the files and the caller's descriptors.
pub(super) fn with_table<T>(
    call: &mut Call<'_>,
    work: impl FnOnce(&mut Files, &mut Descriptors) -> T,
) -> T {
    let kernel = &mut *call.kernel;
    let process = kernel.processes.0.get_mut(&call.pid).expect("the caller exists");
    work(&mut kernel.files, &mut process.descriptors)
}

/// Gives a file the lowest free number; the reference goes with it.
pub(super) fn number(call: &mut Call<'_>, file: FileId, flags: u32) -> Answer {
    let close_on_exec = flags & O_CLOEXEC != 0;
    with_table(call, |files, table| files.number_file(table, file, close_on_exec, 0)).map(u64::from)
}

/// Gives two files numbers and stores these; if that fails, none of it happened.
pub(super) fn number_two(
    call: &mut Call<'_>,
    (a, b): (FileId, FileId),
    flags: u32,
    to: u64,
) -> Answer {
    let first = match number(call, a, flags) {
        Ok(first) => first,
        Err(errno) => {
            call.kernel.files.release(b);
            return Err(errno);
        }
    };
    let stored = number(call, b, flags).and_then(|second| {
        let bytes = [(first as u32).to_le_bytes(), (second as u32).to_le_bytes()].concat();
        call.put(to, &bytes).inspect_err(|_| {
            let _ = with_table(call, |files, table| files.close(table, second as i32));
        })
    });
    if let Err(errno) = stored {
        let _ = with_table(call, |files, table| files.close(table, first as i32));
        return Err(errno);
    }
    Ok(0)
}

/// What was written through mappings becomes part of the files, before one of them is read.
pub(super) fn settle(call: &mut Call<'_>) {
    if call.space().has_unsynced() {
        let pid = call.pid;
        call.kernel.sync_mappings(pid);
    }
}

/// A file was written: mappings of it show that.
pub(super) fn changed(call: &mut Call<'_>, file: FileId) {
    if let Ok(description) = call.kernel.files.description(file)
        && let Object::Inode(inode) = description.object
    {
        call.kernel.file_changed(inode.number(), None);
    }
}

/// Whether a file is a pipe, which takes and gives whole buffers only.
pub(super) fn is_pipe(call: &mut Call<'_>, file: FileId) -> bool {
    let description = call.kernel.files.description(file);
    let object = description.map(|it| &it.object);
    matches!(object, Ok(Object::Pipe(_) | Object::Feed(_) | Object::Sink(_)))
}

/// Whether a file is read and written at positions, so that a call goes on until it has all.
pub(super) fn has_positions(call: &mut Call<'_>, file: FileId) -> bool {
    let description = call.kernel.files.description(file);
    matches!(description.map(|it| &it.object), Ok(Object::Inode(_) | Object::Text(..)))
}

/// A list of buffers: `struct iovec`.
pub(super) fn pieces(call: &mut Call<'_>, at: u64, count: u64) -> Result<Vec<Piece>, Errno> {
    // The kernel counts them in 32 bits.
    let count = u64::from(count as u32);
    if count > MOST_PIECES {
        return Err(Errno::EINVAL);
    }
    let bytes = call.bytes(at, count as usize * 16)?;
    let mut list = Vec::with_capacity(count as usize);
    let mut room = MOST;
    for entry in bytes.chunks_exact(16) {
        let (address, length) = entry.split_at(8);
        let address = u64::from_le_bytes(address.try_into().expect("8 bytes"));
        let length = u64::from_le_bytes(length.try_into().expect("8 bytes"));
        if length > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        if address.checked_add(length).is_none_or(|end| end > TOP) {
            return Err(Errno::EFAULT);
        }
        let length = (length as usize).min(room);
        room -= length;
        list.push((address, length));
    }
    Ok(list)
}

/// One buffer. Its end must be where user memory can be.
pub(super) fn piece(address: u64, length: u64) -> Result<[Piece; 1], Errno> {
    if address.checked_add(length).is_none_or(|end| end > TOP) {
        return Err(Errno::EFAULT);
    }
    Ok([(address, (length as usize).min(MOST))])
}

/// How many bytes the buffers hold.
pub(super) fn size(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.1).sum()
}

/// How many bytes of the buffers, from the first on, the program may write.
pub(super) fn writable(call: &mut Call<'_>, pieces: &[Piece]) -> usize {
    let space = call.space();
    let mut total = 0;
    for &(address, length) in pieces {
        let end = address + length as u64;
        let mut at = address;
        while at < end {
            match space.region(at) {
                Some(region) if region.protection.contains(Protection::WRITE) => {
                    at = region.end.min(end);
                }
                _ => return total + (at - address) as usize,
            }
        }
        total += length;
    }
    total
}

/// Stores bytes that were read from a file at `place`: the one way from files to memory.
pub(super) fn deliver(
    call: &mut Call<'_>,
    address: u64,
    bytes: &[u8],
    place: Option<Place>,
) -> Result<(), Errno> {
    call.put(address, bytes)?;
    if let Some(place) = place
        && let Some(marks) = call.kernel.files.marks_at(place, bytes.len())
    {
        call.space().mark(address, &marks);
    }
    Ok(())
}

/// Stores bytes in the buffers, `skip` bytes into them.
pub(super) fn scatter(
    call: &mut Call<'_>,
    pieces: &[Piece],
    skip: usize,
    bytes: &[u8],
    place: Option<Place>,
) -> Result<(), Errno> {
    let mut before = skip;
    let mut done = 0;
    for &(address, length) in pieces {
        if before >= length {
            before -= length;
            continue;
        }
        let count = (length - before).min(bytes.len() - done);
        if count == 0 {
            break;
        }
        let from = place.map(|place| Place { offset: place.offset + done as u64, ..place });
        deliver(call, address + before as u64, &bytes[done..done + count], from)?;
        done += count;
        before = 0;
    }
    Ok(())
}

/// At most [`CHUNK`] bytes of the buffers, `skip` bytes into them; fewer if the next byte cannot
/// be read.
pub(super) fn gather(call: &mut Call<'_>, pieces: &[Piece], skip: usize) -> Vec<u8> {
    let mut before = skip;
    let mut bytes = Vec::new();
    for &(address, length) in pieces {
        if before >= length {
            before -= length;
            continue;
        }
        let from = bytes.len();
        let count = (length - before).min(CHUNK - from);
        if count == 0 {
            break;
        }
        let start = address + before as u64;
        bytes.resize(from + count, 0);
        if let Err(fault) = call.space().read(start, &mut bytes[from..]) {
            let good = fault.address.saturating_sub(start) as usize;
            bytes.truncate(from);
            let good = good.min(count);
            bytes.resize(from + good, 0);
            if call.space().read(start, &mut bytes[from..]).is_err() {
                bytes.truncate(from);
            }
            break;
        }
        before = 0;
    }
    bytes
}

/// What bytes of the buffers stand for, `skip` bytes into them; nothing if for their values alone.
/// Guards of memory stay where they are.
pub(super) fn marks_of(
    call: &mut Call<'_>,
    pieces: &[Piece],
    skip: usize,
    count: usize,
) -> Option<Vec<Option<Mark>>> {
    let space = call.space();
    if !space.has_marks() {
        return None;
    }
    let mut before = skip;
    let mut marks = Vec::new();
    for &(address, length) in pieces {
        let skipped = before.min(length);
        before -= skipped;
        let rest = (length - skipped).min(count - marks.len());
        let start = address + skipped as u64;
        let mark = |at| space.mark_of(at).filter(|mark| !mark.is_guard());
        marks.extend((start..start + rest as u64).map(mark));
    }
    marks.iter().any(Option::is_some).then_some(marks)
}

/// Bytes of the buffers were written: what they stand for goes along. A counter cannot carry that;
/// who reads it learns what was written. What nobody reads is not kept.
pub(super) fn carry(
    call: &mut Call<'_>,
    file: FileId,
    (pieces, skip): (&[Piece], usize),
    marks: Option<Vec<Option<Mark>>>,
    result: &Result<Moved, Halt>,
) {
    let Some(marks) = marks else { return };
    let files = &mut call.kernel.files;
    let (count, place) = match *result {
        Ok(moved) => (moved.count, moved.place),
        Err(Halt::Wait(wait)) => (wait.done, files.end_of_stream(file, wait.done)),
        Err(_) => return,
    };
    if let Some(place) = place {
        files.keep_marks(place, &marks[..count.min(marks.len())]);
    } else if matches!(files.description(file).map(|it| &it.object), Ok(Object::Event(_))) {
        let mut before = skip;
        for &(address, length) in pieces {
            let skipped = before.min(length);
            before -= skipped;
            call.space().look(address + skipped as u64, (length - skipped) as u64);
        }
    }
}

/// Nobody reads any more: a signal for the caller, unless it is told how much was taken.
pub(super) fn broken_pipe(call: &mut Call<'_>) -> Errno {
    let (pid, tid, uid) = (call.pid, call.tid, call.kernel.user.uid);
    call.kernel.send_to_thread(pid, tid, Signal::from_process(SIGPIPE, pid, uid, 0));
    Errno::EPIPE
}

/// How a call goes on that could not finish, when it has moved `done` bytes.
pub(super) fn halted(call: &mut Call<'_>, halt: Halt, done: usize) -> Flow {
    let errno = match halt {
        Halt::Wait(wait) => return block(call, wait.file, wait.events, done + wait.done),
        Halt::Error(errno) => errno,
        Halt::BrokenPipe => broken_pipe(call),
    };
    Flow::Done(if done > 0 { Ok(done as u64) } else { Err(errno) })
}

/// Whether a signal is about to be delivered to the caller.
pub(super) fn interrupted(call: &mut Call<'_>) -> bool {
    let shared = call.process().pending.set();
    let thread = call.thread();
    (thread.pending.set() | shared) & !thread.mask != 0
}

/// Sleeps until a file is ready, or its timer goes off, or its patience ends. A call that has
/// moved something is not interrupted: it ends with what it has.
fn block(call: &mut Call<'_>, file: FileId, events: u32, done: usize) -> Flow {
    if done > 0 && interrupted(call) {
        return Flow::Done(Ok(done as u64));
    }
    let now = call.kernel.clock.now();
    if let Some(rest) = call.kernel.files.timer_rest(file) {
        return call.block(done, Some(now.saturating_add(rest)));
    }
    let deadline = match call.deadline() {
        Some(deadline) => Some(deadline),
        None => patience(call, file, events).map(|time| now.saturating_add(time)),
    };
    if deadline.is_some_and(|deadline| deadline <= now) {
        return Flow::Done(if done > 0 { Ok(done as u64) } else { Err(Errno::EAGAIN) });
    }
    call.block(done, deadline)
}

/// How long a socket lets its callers wait, in nanoseconds.
fn patience(call: &mut Call<'_>, file: FileId, events: u32) -> Option<u64> {
    let files = &mut call.kernel.files;
    if !matches!(files.description(file).ok()?.object, Object::Socket(_)) {
        return None;
    }
    let name = if events & POLLIN != 0 { SO_RCVTIMEO } else { SO_SNDTIMEO };
    let value = files.socket_option(file, SOL_SOCKET, name).ok()?;
    let seconds = u64::from_le_bytes(*value.first_chunk()?);
    let micros = u64::from_le_bytes(*value.last_chunk()?);
    let time = seconds.saturating_mul(1_000_000_000).saturating_add(micros.saturating_mul(1000));
    Some(time).filter(|&time| time > 0)
}
