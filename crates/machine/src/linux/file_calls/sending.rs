//! Sending messages: `sendto`, `sendmsg`, `sendmmsg`.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::{Address, FileId, Halt, Message},
    },
    messages::{
        CONTROL, HEADER, Header, MOST_CONTROL, MOST_MESSAGES, PLURAL, SCM_CREDENTIALS, SCM_RIGHTS,
        give_back, header,
    },
    sockets::address,
    user::{CHUNK, Piece, broken_pipe, carry, gather, halted, marks_of, piece, size},
};

/// The most files in a message.
const MOST_FILES: usize = 253;

/// `sendto`.
pub(super) fn send_to(call: &mut Call<'_>, file: FileId) -> Flow {
    let [_, from, length, flags, to, to_size] = call.arguments;
    let target = match to {
        0 => Ok(None),
        _ => address(call, to, to_size as u32).map(Some),
    };
    match piece(from, length).and_then(|pieces| Ok((pieces, target?))) {
        Ok((pieces, target)) => {
            send(call, file, &pieces, target.as_ref(), Vec::new(), flags as u32)
        }
        Err(errno) => errno.into(),
    }
}

/// Sends buffers; `files` are references that go along or are given back. A stream goes on behind
/// what it has sent.
fn send(
    call: &mut Call<'_>,
    file: FileId,
    from: &[Piece],
    to: Option<&Address>,
    mut files: Vec<FileId>,
    flags: u32,
) -> Flow {
    let total = size(from);
    let mut done = call.progress();
    if done > 0 {
        // They went with the first bytes.
        give_back(call, std::mem::take(&mut files));
    }
    loop {
        let bytes = gather(call, from, done);
        if bytes.len() < (total - done.min(total)).min(CHUNK) {
            give_back(call, files);
            return Flow::Done(if done > 0 { Ok(done as u64) } else { Err(Errno::EFAULT) });
        }
        let marks = marks_of(call, from, done, bytes.len());
        let message = Message { bytes: &bytes, to: to.cloned(), files };
        let result = call.with_files(|files, caller| files.send(caller, file, &message, flags));
        files = message.files;
        carry(call, file, (from, done), marks, &result);
        match result {
            Ok(moved) => {
                done += moved.count;
                files.clear();
                if done >= total || moved.count < bytes.len() {
                    return Flow::Done(Ok(done as u64));
                }
            }
            Err(halt) => {
                if !matches!(halt, Halt::Wait(wait) if wait.done > 0) {
                    give_back(call, files);
                }
                if halt == Halt::BrokenPipe && done > 0 {
                    broken_pipe(call);
                    return Flow::Done(Ok(done as u64));
                }
                return halted(call, halt, done);
            }
        }
    }
}

/// `sendmsg`.
pub(super) fn send_message(call: &mut Call<'_>, file: FileId, at: u64, flags: u32) -> Flow {
    let prepared = header(call, at).and_then(|header| {
        let to = match header.name {
            0 => None,
            name => Some(address(call, name, header.name_size)?),
        };
        let files = travellers(call, file, &header)?;
        Ok((header, to, files))
    });
    match prepared {
        Ok((header, to, files)) => send(call, file, &header.pieces, to.as_ref(), files, flags),
        Err(errno) => errno.into(),
    }
}

/// The open files that go with a message, one new reference each.
fn travellers(call: &mut Call<'_>, file: FileId, header: &Header) -> Result<Vec<FileId>, Errno> {
    if header.control == 0 || header.control_size == 0 {
        return Ok(Vec::new());
    }
    if header.control_size > MOST_CONTROL {
        return Err(Errno::ENOBUFS);
    }
    let bytes = call.bytes(header.control, header.control_size as usize)?;
    let family = call.kernel.files.socket_option(file, SOL_SOCKET, SO_DOMAIN)?;
    let local = family == AF_UNIX.to_le_bytes();
    let mut fds = Vec::new();
    let mut rest = &bytes[..];
    while rest.len() >= CONTROL {
        let length = u64::from_le_bytes(rest[..8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().expect("4 bytes"));
        if length < CONTROL as u64 || length > rest.len() as u64 {
            return Err(Errno::EINVAL);
        }
        let body = &rest[CONTROL..length as usize];
        match (half(8), half(12)) {
            (SOL_SOCKET, SCM_RIGHTS) if local => {
                let numbers = body.chunks_exact(4);
                fds.extend(numbers.map(|fd| i32::from_le_bytes(fd.try_into().expect("4 bytes"))));
            }
            (SOL_SOCKET, SCM_CREDENTIALS) if local && body.len() == 12 => {
                let pid = u32::from_le_bytes(body[..4].try_into().expect("4 bytes"));
                if pid != call.pid.0 && call.kernel.user.uid != 0 {
                    return Err(Errno::EPERM);
                }
            }
            (SOL_SOCKET, _) => return Err(Errno::EINVAL),
            _ => {}
        }
        rest = rest.get((length as usize).next_multiple_of(8)..).unwrap_or_default();
    }
    if fds.len() > MOST_FILES {
        return Err(Errno::EINVAL);
    }
    let files: Vec<FileId> = fds.into_iter().map(|fd| call.file(fd)).collect::<Result<_, _>>()?;
    for &file in &files {
        call.kernel.files.retain(file);
    }
    Ok(files)
}

/// `sendmmsg`: only the first message waits.
pub(super) fn send_messages(
    call: &mut Call<'_>,
    file: FileId,
    list: u64,
    count: u64,
    flags: u32,
) -> Flow {
    let count = (count as u32).min(MOST_MESSAGES as u32);
    let mut sent = 0;
    for k in 0..u64::from(count) {
        let at = list + k * PLURAL;
        let flags = if k == 0 { flags } else { flags | MSG_DONTWAIT };
        let flow = send_message(call, file, at, flags);
        // The next message starts at its first byte.
        let answer = match flow {
            Flow::Done(answer) => answer,
            flow => return flow,
        };
        call.thread().resumed = None;
        let stored = answer.and_then(|size| call.put(at + HEADER, &(size as u32).to_le_bytes()));
        match stored {
            Ok(()) => sent += 1,
            Err(_) if sent > 0 => break,
            Err(errno) => return errno.into(),
        }
    }
    Flow::Done(Ok(sent))
}
