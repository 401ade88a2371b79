//! `ioctl`s on sockets that are about the network's interfaces.

use super::{
    super::{
        abi::*,
        call::Call,
        errno::Errno,
        fs::{FileId, interface},
    },
    Answer,
};

/// Answers an `ioctl`, if it is one about interfaces and the file is a socket.
pub(super) fn control(
    call: &mut Call<'_>,
    file: FileId,
    command: u32,
    argument: u64,
) -> Option<Answer> {
    let family = call.kernel.files.socket_option(file, SOL_SOCKET, SO_DOMAIN).ok()?;
    let family = u32::from_le_bytes(*family.first_chunk()?);
    match command {
        SIOCGIFCONF => Some(list(call, argument)),
        _ if interface::concerns(command) => Some(one(call, family, command, argument)),
        _ => None,
    }
}

fn one(call: &mut Call<'_>, family: u32, command: u32, at: u64) -> Answer {
    let bytes = call.bytes(at, interface::REQUEST)?;
    let mut request = bytes.try_into().map_err(|_| Errno::EFAULT)?;
    interface::answer(family, command, &mut request)?;
    call.put(at, &request).map(|()| 0)
}

/// `SIOCGIFCONF`: whoever has no room is told how much it takes.
fn list(call: &mut Call<'_>, at: u64) -> Answer {
    let (room, to) = (call.half(at)? as i32, call.word(at + 8)?);
    let listed = interface::listed();
    let size = listed.len() as i32;
    let told = if to == 0 {
        size
    } else if room >= size {
        call.put(to, &listed)?;
        size
    } else {
        0
    };
    call.put(at, &told.to_le_bytes()).map(|()| 0)
}
