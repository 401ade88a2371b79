//! Receiving messages: `recvfrom`, `recvmsg`, `recvmmsg`.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::{FileId, Halt, NETLINK_PKTINFO, Received, SOL_NETLINK},
        time_calls,
    },
    messages::{
        CONTROL, HEADER, Header, MOST_CONTROL, MOST_MESSAGES, PLURAL, SCM_CREDENTIALS, SCM_RIGHTS,
        give_back, header,
    },
    sockets::put_address,
    user::{CHUNK, Piece, halted, interrupted, number, piece, scatter, size, writable},
};

/// A flag of `recvmmsg`: wait for the first message only.
const MSG_WAITFORONE: u32 = 0x1_0000;

fn is_stream(call: &mut Call<'_>, file: FileId) -> bool {
    let kind = call.kernel.files.socket_option(file, SOL_SOCKET, SO_TYPE);
    kind.is_ok_and(|kind| kind == SOCK_STREAM.to_le_bytes())
}

/// A stop, and how many bytes were moved before it.
pub(super) type Stopped = (Halt, usize);

/// Receives into buffers, `done` bytes into them.
fn receive(
    call: &mut Call<'_>,
    file: FileId,
    to: &[Piece],
    flags: u32,
    mut done: usize,
) -> Result<Received, Stopped> {
    let total = size(to);
    let room = writable(call, to);
    if room < total && room <= done {
        // Only what comes and cannot be stored is an error.
        let peek = flags & !MSG_WAITALL | MSG_PEEK;
        let received =
            call.kernel.files.receive(file, &mut [0], peek).map_err(|halt| (halt, done))?;
        let nothing = received.full == 0;
        give_back(call, received.attached.files.clone());
        if !nothing {
            return Err((Errno::EFAULT.into(), done));
        }
        return Ok(Received { count: done, full: done, attached: Default::default(), ..received });
    }
    let patient = flags & MSG_WAITALL != 0 && flags & MSG_PEEK == 0 && is_stream(call, file);
    loop {
        let mut buffer = vec![0; (room - done).min(CHUNK)];
        let files = &mut call.kernel.files;
        let mut received =
            files.receive(file, &mut buffer, flags & !MSG_WAITALL).map_err(|halt| (halt, done))?;
        let bytes = &buffer[..received.count];
        if let Err(errno) = scatter(call, to, done, bytes, received.place) {
            give_back(call, received.attached.files);
            return Err((errno.into(), done));
        }
        let last = received.count == 0 || !received.attached.files.is_empty();
        done += received.count;
        if !patient || last || done >= room {
            if received.full == received.count {
                received.full = done;
            }
            received.count = done;
            return Ok(received);
        }
    }
}

/// `recvfrom`.
pub(super) fn receive_from(call: &mut Call<'_>, file: FileId) -> Flow {
    let [_, to, length, flags, name, name_size] = call.arguments;
    let flags = flags as u32;
    let done = call.progress();
    let pieces = match piece(to, length) {
        Ok(pieces) => pieces,
        Err(errno) => return errno.into(),
    };
    let received = match receive(call, file, &pieces, flags, done) {
        Ok(received) => received,
        Err((halt, done)) => return halted(call, halt, done),
    };
    give_back(call, received.attached.files);
    if name != 0
        && let Err(errno) = put_address(call, received.from.as_ref(), name, name_size)
    {
        return errno.into();
    }
    let count = if flags & MSG_TRUNC != 0 { received.full } else { received.count };
    Flow::Done(Ok(count as u64))
}

/// `recvmsg`, with `done` bytes received before.
pub(super) fn receive_message(
    call: &mut Call<'_>,
    file: FileId,
    at: u64,
    flags: u32,
    done: usize,
) -> Result<usize, Stopped> {
    let failed = |errno: Errno| (Halt::Error(errno), 0);
    let header = header(call, at).map_err(failed)?;
    let mut received = receive(call, file, &header.pieces, flags, done)?;
    if header.name != 0 {
        put_address(call, received.from.as_ref(), header.name, at + 8).map_err(failed)?;
    }
    let mut out = flags & MSG_CMSG_CLOEXEC;
    if received.full > received.count {
        out |= MSG_TRUNC;
    }
    let (control, cut) = attachments(call, &header, &mut received, flags).map_err(failed)?;
    if cut {
        out |= MSG_CTRUNC;
    }
    if !control.is_empty() {
        call.put(header.control, &control).map_err(failed)?;
    }
    call.put(at + 40, &(control.len() as u64).to_le_bytes()).map_err(failed)?;
    call.put(at + 48, &out.to_le_bytes()).map_err(failed)?;
    Ok(if flags & MSG_TRUNC != 0 { received.full } else { received.count })
}

/// The control messages of a message, and whether some of it did not fit.
fn attachments(
    call: &mut Call<'_>,
    header: &Header,
    received: &mut Received,
    flags: u32,
) -> Result<(Vec<u8>, bool), Errno> {
    let room = if header.control == 0 { 0 } else { header.control_size.min(MOST_CONTROL) as usize };
    let mut out = Vec::new();
    let mut cut = false;
    if let Some(group) = received.attached.group {
        if room >= CONTROL + 4 {
            control(&mut out, (SOL_NETLINK, NETLINK_PKTINFO), &group.to_le_bytes(), room);
        } else {
            cut = true;
        }
    }
    if let Some((pid, uid, gid)) = received.attached.credentials {
        let body: Vec<u8> = [pid, uid, gid].iter().flat_map(|id| id.to_le_bytes()).collect();
        if room - out.len() >= CONTROL + body.len() {
            control(&mut out, (SOL_SOCKET, SCM_CREDENTIALS), &body, room);
        } else {
            cut = true;
        }
    }
    let files = std::mem::take(&mut received.attached.files);
    if files.is_empty() {
        return Ok((out, cut));
    }
    let fits = room.saturating_sub(out.len() + CONTROL) / 4;
    let cloexec = if flags & MSG_CMSG_CLOEXEC != 0 { O_CLOEXEC } else { 0 };
    let mut body = Vec::new();
    for (k, file) in files.into_iter().enumerate() {
        if k >= fits || cut {
            cut = true;
            call.kernel.files.release(file);
            continue;
        }
        // A number that is not to be had gives the reference back by itself.
        match number(call, file, cloexec) {
            Ok(fd) => body.extend_from_slice(&(fd as u32).to_le_bytes()),
            Err(_) => cut = true,
        }
    }
    if !body.is_empty() {
        control(&mut out, (SOL_SOCKET, SCM_RIGHTS), &body, room);
    }
    Ok((out, cut))
}

/// Appends one control message; the gap behind it counts as far as there is room.
fn control(out: &mut Vec<u8>, (level, kind): (u32, u32), body: &[u8], room: usize) {
    out.extend_from_slice(&((CONTROL + body.len()) as u64).to_le_bytes());
    out.extend_from_slice(&level.to_le_bytes());
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(body);
    out.resize(out.len().next_multiple_of(8).min(room), 0);
}

/// `recvmmsg`: how many messages it has is its progress.
pub(super) fn receive_messages(
    call: &mut Call<'_>,
    file: FileId,
    list: u64,
    count: u64,
    flags: u32,
) -> Flow {
    let count = u64::from(count as u32).min(MOST_MESSAGES);
    let timeout = call.arguments[4];
    let deadline = match timeout {
        0 => None,
        at => match time_calls::deadline(call, at, false, false) {
            Ok(deadline) => Some(call.deadline().unwrap_or(deadline)),
            Err(errno) => return errno.into(),
        },
    };
    let mut got = call.progress() as u64;
    while got < count {
        let at = list + got * PLURAL;
        let mut own = flags & !(MSG_WAITFORONE | MSG_WAITALL);
        if flags & MSG_WAITFORONE != 0 && got > 0 {
            own |= MSG_DONTWAIT;
        }
        let result = receive_message(call, file, at, own, 0);
        let late = deadline.is_some_and(|deadline| deadline <= call.kernel.clock.now());
        match result {
            Ok(size) => {
                if let Err(errno) = call.put(at + HEADER, &(size as u32).to_le_bytes()) {
                    return errno.into();
                }
                got += 1;
                if late {
                    break;
                }
            }
            Err((Halt::Wait(_), _)) if late || got > 0 && interrupted(call) => break,
            Err((Halt::Wait(_), _)) => return call.block(got as usize, deadline),
            Err(_) if got > 0 => break,
            Err((halt, _)) => return halted(call, halt, 0),
        }
    }
    Flow::Done(Ok(got))
}
