//! `read`, `write` and their relatives with positions and with lists of buffers.

use super::{
    super::{
        abi::{PAGE, S_IFCHR},
        call::{Call, Flow},
        errno::Errno,
        fs::{Description, FileId, Halt, Object, device_number},
        numbers as n,
    },
    limit,
    user::{
        CHUNK, Piece, carry, changed, gather, halted, has_positions, is_pipe, marks_of, piece,
        pieces, scatter, settle, size, writable,
    },
};

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [_, a, b, c, _, e] = call.arguments;
    let one = |_: &mut Call<'_>| Ok(piece(a, b)?.to_vec());
    let list = |call: &mut Call<'_>| pieces(call, a, b);
    let at = Some(c as i64);
    Some(match call.number {
        n::READ => run(call, Way::In, None, one),
        n::PREAD64 => run(call, Way::In, at, one),
        n::READV => run(call, Way::In, None, list),
        n::PREADV => run(call, Way::In, at, list),
        n::WRITE => run(call, Way::Out, None, one),
        n::PWRITE64 => run(call, Way::Out, at, one),
        n::WRITEV => run(call, Way::Out, None, list),
        n::PWRITEV => run(call, Way::Out, at, list),
        n::PREADV2 | n::PWRITEV2 => {
            let way = if call.number == n::PREADV2 { Way::In } else { Way::Out };
            match second_form(c, e) {
                Ok(at) => run(call, way, at, list),
                Err(errno) => errno.into(),
            }
        }
        n::VMSPLICE => vmsplice(call),
        _ => return None,
    })
}

/// The position of `preadv2` and `pwritev2`: minus one is the file's own. The flags that are
/// known ask for speed or safety, of which there is enough.
fn second_form(at: u64, flags: u64) -> Result<Option<i64>, Errno> {
    if flags & !0xf != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(if at == u64::MAX { None } else { Some(at as i64) })
}

/// Which way bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From the file to the program.
    In,
    /// From the program to the file.
    Out,
}

fn run(
    call: &mut Call<'_>,
    way: Way,
    at: Option<i64>,
    buffers: impl FnOnce(&mut Call<'_>) -> Result<Vec<Piece>, Errno>,
) -> Flow {
    let prepared = call.file(call.int(0)).and_then(|file| {
        // The kernel looks at the file before it looks at the buffers.
        allowed(call, file, at, way)?;
        let buffers = buffers(call)?;
        if at.is_some_and(|at| at.checked_add(size(&buffers) as i64).is_none()) {
            return Err(Errno::EINVAL);
        }
        Ok((file, buffers))
    });
    match (prepared, way) {
        (Ok((file, buffers)), Way::In) => read(call, file, at, &buffers),
        (Ok((file, buffers)), Way::Out) => write(call, file, at, &buffers),
        (Err(errno), _) => errno.into(),
    }
}

fn allowed(call: &mut Call<'_>, file: FileId, at: Option<i64>, way: Way) -> Result<(), Errno> {
    if at.is_some_and(|at| at < 0) {
        return Err(Errno::EINVAL);
    }
    let description = call.kernel.files.description(file)?;
    let positions = matches!(
        description.object,
        Object::Inode(_) | Object::Text(..) | Object::ProcDirectory(_)
    );
    if at.is_some() && !positions && !matches!(description.object, Object::Path(_)) {
        return Err(Errno::ESPIPE);
    }
    let may = if way == Way::Out { description.writes() } else { description.reads() };
    if may { Ok(()) } else { Err(Errno::EBADF) }
}

/// Reads into buffers: all of it from files, what is there from streams.
pub(super) fn read(call: &mut Call<'_>, file: FileId, at: Option<i64>, to: &[Piece]) -> Flow {
    settle(call);
    let total = size(to);
    let room = writable(call, to);
    if room == 0 && total > 0 {
        return read_nowhere(call, file, at);
    }
    if room < total && is_pipe(call, file) {
        // What does not fit stays in the pipe, all of it.
        let available = call.kernel.files.readable_bytes(file).unwrap_or(0);
        if room < total.min(available) {
            return Errno::EFAULT.into();
        }
    }
    let fills = has_positions(call, file);
    let mut buffer = Vec::new();
    let mut done = 0;
    loop {
        let want = (room - done).min(CHUNK);
        buffer.resize(want, 0);
        let files = &mut call.kernel.files;
        let result = match at {
            Some(at) => files.read_at(file, at.saturating_add(done as i64), &mut buffer),
            None => files.read(file, &mut buffer),
        };
        let moved = match result {
            Ok(moved) => moved,
            Err(Halt::Wait(_)) if done > 0 => break,
            Err(halt) => return halted(call, halt, done),
        };
        if let Err(errno) = scatter(call, to, done, &buffer[..moved.count], moved.place) {
            return Flow::Done(if done > 0 { Ok(done as u64) } else { Err(errno) });
        }
        done += moved.count;
        if moved.count < want || done == room || !fills {
            break;
        }
    }
    Flow::Done(Ok(done as u64))
}

/// A read into memory that cannot be written: an error, unless there is nothing to read.
fn read_nowhere(call: &mut Call<'_>, file: FileId, at: Option<i64>) -> Flow {
    let files = &mut call.kernel.files;
    let result = match files.description(file) {
        Err(errno) => return errno.into(),
        Ok(description) if matches!(description.object, Object::Inode(_) | Object::Text(..)) => {
            let at = at.unwrap_or(description.offset as i64);
            files.read_at(file, at, &mut [0])
        }
        Ok(_) => files.read(file, &mut []),
    };
    let ends = has_positions(call, file);
    match result {
        Ok(moved) if moved.count == 0 && ends => Flow::Done(Ok(0)),
        Ok(_) => Errno::EFAULT.into(),
        Err(halt) => halted(call, halt, 0),
    }
}

/// Writes buffers. A call that had to wait goes on behind what it has written.
pub(super) fn write(call: &mut Call<'_>, file: FileId, at: Option<i64>, from: &[Piece]) -> Flow {
    settle(call);
    let mut done = call.progress();
    let total = match limit::writes(call, file, at, size(from)) {
        Ok(total) => total,
        Err(errno) => return errno.into(),
    };
    let flow = loop {
        let mut bytes = gather(call, from, done);
        bytes.truncate(total - done.min(total));
        if bytes.len() < (total - done.min(total)).min(CHUNK) && is_pipe(call, file) {
            // A page of a pipe is filled, or it is not used.
            bytes.truncate(bytes.len() / PAGE * PAGE);
        }
        if bytes.is_empty() && done < total {
            if swallows(call, file) {
                break match call.kernel.files.write(file, &[0]) {
                    Ok(_) => Flow::Done(Ok(total as u64)),
                    Err(halt) => halted(call, halt, done),
                };
            }
            break Flow::Done(if done > 0 { Ok(done as u64) } else { Err(Errno::EFAULT) });
        }
        let marks = marks_of(call, from, done, bytes.len());
        let files = &mut call.kernel.files;
        let result = match at {
            Some(at) => files.write_at(file, at.saturating_add(done as i64), &bytes),
            None => files.write(file, &bytes),
        };
        carry(call, file, (from, done), marks, &result);
        match result {
            Ok(moved) => {
                done += moved.count;
                if moved.count < bytes.len() || done >= total {
                    break Flow::Done(Ok(done as u64));
                }
            }
            Err(halt) => break halted(call, halt, done),
        }
    };
    changed(call, file);
    flow
}

/// Whether a file is a device that does not even look at what is written to it.
fn swallows(call: &mut Call<'_>, file: FileId) -> bool {
    let devices = [3, 5, 7].map(|minor| device_number(1, minor));
    let stat = call.kernel.files.file_stat(file);
    stat.is_ok_and(|stat| stat.kind() == S_IFCHR && devices.contains(&stat.rdev))
}

/// `vmsplice`: pages go into a pipe or out of one; a copy of them is as good.
fn vmsplice(call: &mut Call<'_>) -> Flow {
    let [_, list, count, ..] = call.arguments;
    let file = match call.file(call.int(0)) {
        Ok(file) => file,
        Err(errno) => return errno.into(),
    };
    if !is_pipe(call, file) {
        return Errno::EBADF.into();
    }
    let writes = call.kernel.files.description(file).is_ok_and(Description::writes);
    match pieces(call, list, count) {
        Ok(buffers) if writes => write(call, file, None, &buffers),
        Ok(buffers) => read(call, file, None, &buffers),
        Err(errno) => errno.into(),
    }
}
