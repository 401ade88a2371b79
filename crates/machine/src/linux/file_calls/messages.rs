//! Messages through sockets: which call is which, and what they have in common.
//!
//! Open files travel with a message (`SCM_RIGHTS`): each holds one reference, which the message
//! takes along, or which is given back.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        errno::Errno,
        fs::FileId,
        numbers as n,
    },
    receiving::{receive_from, receive_message, receive_messages},
    sending::{send_message, send_messages, send_to},
    user::{Piece, halted, pieces},
};

/// Kinds of control messages.
pub(super) const SCM_RIGHTS: u32 = 1;
pub(super) const SCM_CREDENTIALS: u32 = 2;
/// Bytes of `struct msghdr`, of `struct mmsghdr`, and of the head of a control message.
pub(super) const HEADER: u64 = 56;
pub(super) const PLURAL: u64 = 64;
pub(super) const CONTROL: usize = 16;
/// The most bytes of control messages, and messages in a call.
pub(super) const MOST_CONTROL: u64 = 20_480;
pub(super) const MOST_MESSAGES: u64 = 1024;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let file = match call.number {
        n::SENDTO | n::RECVFROM | n::SENDMSG | n::RECVMSG | n::SENDMMSG | n::RECVMMSG => {
            call.file(a as i32).and_then(|file| {
                call.kernel.files.socket_option(file, SOL_SOCKET, SO_TYPE)?;
                Ok(file)
            })
        }
        _ => return None,
    };
    let file = match file {
        Ok(file) => file,
        Err(errno) => return Some(errno.into()),
    };
    Some(match call.number {
        n::SENDTO => send_to(call, file),
        n::RECVFROM => receive_from(call, file),
        n::SENDMSG => send_message(call, file, b, c as u32),
        n::RECVMSG => {
            let done = call.progress();
            match receive_message(call, file, b, c as u32, done) {
                Ok(count) => Flow::Done(Ok(count as u64)),
                Err((halt, done)) => halted(call, halt, done),
            }
        }
        n::SENDMMSG => send_messages(call, file, b, c, d as u32),
        _ => receive_messages(call, file, b, c, d as u32),
    })
}

/// Gives references back that no message took along.
pub(super) fn give_back(call: &mut Call<'_>, files: Vec<FileId>) {
    for file in files {
        call.kernel.files.release(file);
    }
}

/// `struct msghdr`.
pub(super) struct Header {
    pub(super) name: u64,
    pub(super) name_size: u32,
    pub(super) pieces: Vec<Piece>,
    pub(super) control: u64,
    pub(super) control_size: u64,
}

/// Reads a header and the list of buffers that it names.
pub(super) fn header(call: &mut Call<'_>, at: u64) -> Result<Header, Errno> {
    let bytes = call.bytes(at, HEADER as usize)?;
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    if word(24) > 1024 {
        return Err(Errno::EMSGSIZE);
    }
    let pieces = pieces(call, word(16), word(24))?;
    Ok(Header {
        name: word(0),
        name_size: word(8) as u32,
        pieces,
        control: word(32),
        control_size: word(40),
    })
}
