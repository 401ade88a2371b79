//! Sockets: making, naming and connecting them, and their options.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::{Address, FileId},
        numbers as n,
    },
    Answer,
    user::{halted, number, number_two},
};

/// The largest address of any family.
const LARGEST_ADDRESS: u32 = 128;
/// More than any option needs.
const LARGEST_OPTION: usize = 4096;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, e, _] = call.arguments;
    let fd = a as i32;
    let answer = match call.number {
        n::SOCKET => socket(call, a as u32, b as u32, c as u32),
        n::SOCKETPAIR => pair(call, (a as u32, b as u32, c as u32), d),
        n::BIND => bind(call, fd, b, c as u32),
        n::LISTEN => {
            call.file(fd).and_then(|file| call.kernel.files.listen(file, b as i32)).map(|()| 0)
        }
        n::ACCEPT => return Some(accept(call, fd, b, c, 0)),
        n::ACCEPT4 => return Some(accept(call, fd, b, c, d as u32)),
        n::CONNECT => return Some(connect(call, fd, b, c as u32)),
        n::SHUTDOWN => {
            call.file(fd).and_then(|file| call.kernel.files.shutdown(file, b as u32)).map(|()| 0)
        }
        n::GETSOCKNAME => call
            .file(fd)
            .and_then(|file| call.kernel.files.local_address(file))
            .and_then(|address| put_address(call, Some(&address), b, c))
            .map(|()| 0),
        n::GETPEERNAME => call
            .file(fd)
            .and_then(|file| call.kernel.files.peer_address(file))
            .and_then(|address| put_address(call, Some(&address), b, c))
            .map(|()| 0),
        n::SETSOCKOPT => set_option(call, fd, (b as u32, c as u32), d, e as i32),
        n::GETSOCKOPT => option(call, fd, (b as u32, c as u32), d, e),
        _ => return None,
    };
    Some(answer.into())
}

/// An address of the program.
pub(super) fn address(call: &mut Call<'_>, at: u64, size: u32) -> Result<Address, Errno> {
    if size > LARGEST_ADDRESS {
        return Err(Errno::EINVAL);
    }
    let bytes = call.bytes(at, size as usize)?;
    Address::decode(&bytes)
}

/// Stores an address, cut to the room there is, and its full size. No address has no bytes.
pub(super) fn put_address(
    call: &mut Call<'_>,
    address: Option<&Address>,
    to: u64,
    size_at: u64,
) -> Result<(), Errno> {
    let room = call.half(size_at)? as i32;
    let room = usize::try_from(room).map_err(|_| Errno::EINVAL)?;
    let bytes = address.map(Address::encode).unwrap_or_default();
    call.put(to, &bytes[..bytes.len().min(room)])?;
    call.put(size_at, &(bytes.len() as u32).to_le_bytes())
}

fn socket(call: &mut Call<'_>, family: u32, kind: u32, protocol: u32) -> Answer {
    let pid = call.pid;
    let file = call.kernel.files.new_socket(pid, family, kind, protocol)?;
    number(call, file, kind)
}

fn pair(call: &mut Call<'_>, (family, kind, protocol): (u32, u32, u32), to: u64) -> Answer {
    let pid = call.pid;
    let ends = call.kernel.files.socket_pair(pid, family, kind, protocol)?;
    number_two(call, ends, kind, to)
}

fn is_socket(call: &mut Call<'_>, fd: i32) -> Result<FileId, Errno> {
    let file = call.file(fd)?;
    call.kernel.files.socket_option(file, SOL_SOCKET, SO_DOMAIN)?;
    Ok(file)
}

fn bind(call: &mut Call<'_>, fd: i32, at: u64, size: u32) -> Answer {
    let file = is_socket(call, fd)?;
    let address = address(call, at, size)?;
    call.with_files(|files, caller| files.bind(caller, file, &address)).map(|()| 0)
}

fn connect(call: &mut Call<'_>, fd: i32, at: u64, size: u32) -> Flow {
    let both = is_socket(call, fd).and_then(|file| Ok((file, address(call, at, size)?)));
    let (file, address) = match both {
        Ok(both) => both,
        Err(errno) => return errno.into(),
    };
    match call.with_files(|files, caller| files.connect(caller, file, &address)) {
        Ok(()) => Flow::Done(Ok(0)),
        Err(halt) => halted(call, halt, 0),
    }
}

fn accept(call: &mut Call<'_>, fd: i32, to: u64, size_at: u64, flags: u32) -> Flow {
    let file = match call.file(fd) {
        Ok(file) => file,
        Err(errno) => return errno.into(),
    };
    let (new, address) = match call.kernel.files.accept(file, flags) {
        Ok(accepted) => accepted,
        Err(halt) => return halted(call, halt, 0),
    };
    if to != 0
        && let Err(errno) = put_address(call, Some(&address), to, size_at)
    {
        call.kernel.files.release(new);
        return errno.into();
    }
    number(call, new, flags).into()
}

fn set_option(
    call: &mut Call<'_>,
    fd: i32,
    (level, name): (u32, u32),
    at: u64,
    size: i32,
) -> Answer {
    let file = is_socket(call, fd)?;
    let size = usize::try_from(size).map_err(|_| Errno::EINVAL)?;
    let value = call.bytes(at, size.min(LARGEST_OPTION))?;
    call.kernel.files.set_socket_option(file, level, name, &value).map(|()| 0)
}

fn option(
    call: &mut Call<'_>,
    fd: i32,
    (level, name): (u32, u32),
    to: u64,
    size_at: u64,
) -> Answer {
    let file = is_socket(call, fd)?;
    let room = call.half(size_at)? as i32;
    let room = usize::try_from(room).map_err(|_| Errno::EINVAL)?;
    let value = call.kernel.files.socket_option(file, level, name)?;
    let count = value.len().min(room);
    call.put(to, &value[..count])?;
    call.put(size_at, &(count as u32).to_le_bytes()).map(|()| 0)
}
