//! Copies inside the kernel: `sendfile`, `copy_file_range`, `splice`.

use super::{
    super::{
        call::{Call, Flow},
        errno::Errno,
        fs::{FileId, Halt, Object},
        numbers as n,
    },
    user::{MOST, changed, halted, settle},
};

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, e, f] = call.arguments;
    let flow = match call.number {
        n::SENDFILE => start(call, b, a).map(|(from, to)| send(call, from, to, c, d)),
        n::COPY_FILE_RANGE => start(call, a, c).map(|(from, to)| {
            copy(call, (from, b), (to, d), e, false, |call, from, to, most| {
                let files = &mut call.kernel.files;
                files.copy_range(from.0, from.1, to.0, to.1, most, f as u32)
            })
        }),
        n::SPLICE if f & !0xf != 0 => Err(Errno::EINVAL),
        // Nothing to move is no question to ask.
        n::SPLICE if e == 0 => Ok(Flow::Done(Ok(0))),
        n::SPLICE => start(call, a, c).map(|(from, to)| {
            let at_once = f & 2 != 0;
            copy(call, (from, b), (to, d), e, at_once, |call, from, to, most| {
                call.kernel.files.splice(from.0, from.1, to.0, to.1, most)
            })
        }),
        _ => return None,
    };
    Some(flow.unwrap_or_else(Flow::from))
}

/// Source and target.
fn start(call: &mut Call<'_>, from: u64, to: u64) -> Result<(FileId, FileId), Errno> {
    settle(call);
    Ok((call.file(from as i32)?, call.file(to as i32)?))
}

/// `sendfile` goes on until it has sent all, also when it has to wait in between; only a pipe gets
/// no more than it can take at once.
fn send(call: &mut Call<'_>, from: FileId, to: FileId, at: u64, count: u64) -> Flow {
    let count = (count as usize).min(MOST);
    let mut done = call.progress();
    let mut offset = match at {
        0 => None,
        _ => match call.word(at) {
            Ok(offset) => Some((offset as i64).saturating_add(done as i64)),
            Err(errno) => return errno.into(),
        },
    };
    if offset.is_some_and(|offset| offset < 0) {
        return Errno::EINVAL.into();
    }
    let description = call.kernel.files.description(to);
    let to_pipe = matches!(description.map(|it| &it.object), Ok(Object::Pipe(_)));
    let flow = loop {
        match call.kernel.files.send_file(to, from, offset.as_mut(), count - done) {
            Ok(0) => break Flow::Done(Ok(done as u64)),
            Ok(moved) => {
                done += moved;
                if done >= count {
                    break Flow::Done(Ok(done as u64));
                }
            }
            Err(Halt::Wait(_)) if to_pipe && done > 0 => break Flow::Done(Ok(done as u64)),
            Err(halt) => break halted(call, halt, done),
        }
    };
    changed(call, to);
    match (flow, offset) {
        (Flow::Done(Ok(done)), Some(offset)) => {
            call.put(at, &offset.to_le_bytes()).map(|()| done).into()
        }
        (flow, _) => flow,
    }
}

/// One side of a copy: the file, and its own position if it has one.
type Side<'a> = (FileId, Option<&'a mut i64>);

/// Copies until nothing more comes at once; waits only before the first byte.
fn copy(
    call: &mut Call<'_>,
    (from, from_at): (FileId, u64),
    (to, to_at): (FileId, u64),
    count: u64,
    at_once: bool,
    mut step: impl FnMut(&mut Call<'_>, Side<'_>, Side<'_>, usize) -> Result<usize, Halt>,
) -> Flow {
    let count = usize::try_from(count).unwrap_or(MOST).min(MOST);
    let offset = |call: &mut Call<'_>, at: u64| -> Result<Option<i64>, Errno> {
        Ok(if at == 0 { None } else { Some(call.word(at)? as i64) })
    };
    let positions = offset(call, from_at).and_then(|from| Ok((from, offset(call, to_at)?)));
    let (mut from_offset, mut to_offset) = match positions {
        Ok(both) => both,
        Err(errno) => return errno.into(),
    };
    if from_offset.is_some_and(|at| at < 0) || to_offset.is_some_and(|at| at < 0) {
        return Errno::EINVAL.into();
    }
    let mut done = 0;
    let flow = loop {
        let sides = ((from, from_offset.as_mut()), (to, to_offset.as_mut()));
        match step(call, sides.0, sides.1, count - done) {
            Ok(0) => break Flow::Done(Ok(done as u64)),
            Ok(moved) => {
                done += moved;
                if done >= count || !more(call, from) {
                    break Flow::Done(Ok(done as u64));
                }
            }
            Err(_) if done > 0 => break Flow::Done(Ok(done as u64)),
            Err(Halt::Wait(_)) if at_once => break Errno::EAGAIN.into(),
            Err(halt) => break halted(call, halt, 0),
        }
    };
    changed(call, to);
    if let Flow::Done(Ok(_)) = flow {
        for (at, offset) in [(from_at, from_offset), (to_at, to_offset)] {
            if let Some(offset) = offset
                && let Err(errno) = call.put(at, &offset.to_le_bytes())
            {
                return errno.into();
            }
        }
    }
    flow
}

/// Whether a source may have more at once. A stream is not asked twice: what comes next would
/// have to be taken from it for good.
fn more(call: &mut Call<'_>, from: FileId) -> bool {
    match call.kernel.files.description(from).map(|it| &it.object) {
        Ok(Object::Inode(_) | Object::Text(..)) => true,
        Ok(_) => call.kernel.files.readable_bytes(from).is_ok_and(|count| count > 0),
        Err(_) => false,
    }
}
