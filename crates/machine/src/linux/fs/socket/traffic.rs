//! Bytes through sockets: `sendmsg`, `recvmsg`, and `read` and `write` on streams.

use super::{Address, DATAGRAMS, Packet, State, Style};
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::linux::fs::ids::{FileId, Halt, Moved, Place, SocketId, SourceId, Wait};
use crate::linux::fs::{Caller, Files, NoProcesses};
use crate::linux::{Pid, Tid};

/// The largest datagram on the Internet.
const LARGEST_DATAGRAM: usize = 65_507;

/// What comes beside the bytes of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attached {
    /// Open files (`SCM_RIGHTS`), one reference each.
    pub files: Vec<FileId>,
    /// Who sent it: process, user, group (`SCM_CREDENTIALS`), if the receiver asked for that.
    pub credentials: Option<(u32, u32, u32)>,
    /// The group that it went to (`NETLINK_PKTINFO`), if the receiver asked for that.
    pub group: Option<u32>,
}

/// A message to send.
#[derive(Clone, Debug, Default)]
pub struct Message<'a> {
    /// What it says.
    pub bytes: &'a [u8],
    /// Whom to, where the socket does not know that.
    pub to: Option<Address>,
    /// Open files to go with it; one reference each goes along if the message is taken.
    pub files: Vec<FileId>,
}

/// A message received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// How many bytes were filled in.
    pub count: usize,
    /// How many bytes the message had; more than `count` if it did not fit.
    pub full: usize,
    /// Who sent it, where that is told.
    pub from: Option<Address>,
    /// What came with it.
    pub attached: Attached,
    /// Where the bytes came from.
    pub place: Option<Place>,
}

impl Received {
    pub(super) fn end() -> Received {
        let attached = Attached::default();
        Received { count: 0, full: 0, from: None, attached, place: None }
    }
}

impl Files {
    /// `write` on a socket.
    pub(in crate::linux::fs) fn send_stream(
        &mut self,
        file: FileId,
        bytes: &[u8],
    ) -> Result<Moved, Halt> {
        let user = self.config.user.clone();
        let caller = Caller {
            cwd: self.root(),
            umask: 0,
            pid: Pid(0),
            tid: Tid(0),
            user: &user,
            processes: &NoProcesses,
        };
        self.send(&caller, file, &Message { bytes, to: None, files: Vec::new() }, 0)
    }

    /// `read` on a socket.
    pub(in crate::linux::fs) fn receive_stream(
        &mut self,
        file: FileId,
        into: &mut [u8],
    ) -> Result<Moved, Halt> {
        let received = self.receive(file, into, 0)?;
        // Files that nobody can take hold of are closed.
        for file in received.attached.files {
            self.release(file);
        }
        Ok(Moved { count: received.count, place: received.place })
    }

    /// `sendto` and `sendmsg`. A broken pipe is reported as such unless `MSG_NOSIGNAL` is set.
    pub fn send(
        &mut self,
        caller: &Caller<'_>,
        file: FileId,
        message: &Message<'_>,
        flags: u32,
    ) -> Result<Moved, Halt> {
        let id = self.socket_of(file)?;
        let nonblocking = self.description(file)?.nonblocking() || flags & MSG_DONTWAIT != 0;
        let socket = self.socket_mut(id)?;
        if socket.is_netlink() {
            let what = (message.bytes, message.to.as_ref());
            return Ok(self.send_netlink(caller, id, what, flags)?);
        }
        if let Some(error) = socket.error.take() {
            return Err(error.into());
        }
        let broken = if flags & MSG_NOSIGNAL != 0 || socket.style == Style::Datagram {
            Halt::Error(Errno::EPIPE)
        } else {
            Halt::BrokenPipe
        };
        if socket.no_more_out {
            return Err(broken);
        }
        let style = socket.style;
        let target = match (&socket.state, style) {
            (State::Connected(peer), Style::Stream | Style::Packets) => {
                if message.to.is_some() && style == Style::Stream && socket.family == AF_UNIX {
                    return Err(Errno::EISCONN.into());
                }
                match *peer {
                    Some(peer) => peer,
                    None => return Err(broken),
                }
            }
            // Nobody is there who would want to know what is said.
            (State::Recorded(_), _) => return Ok(Moved::bytes(message.bytes.len())),
            (_, Style::Stream) if socket.family != AF_UNIX => return Err(broken),
            (_, Style::Stream | Style::Packets) => return Err(Errno::ENOTCONN.into()),
            (state, Style::Datagram) => {
                let state = state.clone();
                match self.datagram_target(caller, id, &state, message)? {
                    Some(target) => target,
                    // On the Internet nobody says that nobody was there.
                    None => return Ok(Moved::bytes(message.bytes.len())),
                }
            }
        };
        self.deliver(caller, file, id, target, message, nonblocking)
    }

    fn datagram_target(
        &mut self,
        caller: &Caller<'_>,
        id: SocketId,
        state: &State,
        message: &Message<'_>,
    ) -> Result<Option<SocketId>, Halt> {
        let socket = self.socket_mut(id)?;
        let (family, bound) = (socket.family, socket.local.is_some());
        if family != AF_UNIX && message.bytes.len() > LARGEST_DATAGRAM {
            return Err(Errno::EMSGSIZE.into());
        }
        let to = match (&message.to, state) {
            (Some(to), _) if to.family() != family => {
                let inet = family != AF_UNIX;
                return Err(if inet { Errno::EAFNOSUPPORT } else { Errno::EINVAL }.into());
            }
            (Some(to), _) => to.clone(),
            (None, State::Connected(Some(peer))) => return Ok(Some(*peer)),
            (None, State::Connected(None)) if family == AF_UNIX => {
                return Err(Errno::ECONNREFUSED.into());
            }
            (None, State::Connected(None)) => {
                let remote = socket.remote.clone().ok_or(Errno::EDESTADDRREQ)?;
                match self.socket_at(caller, &remote, false) {
                    Ok(target) => return Ok(Some(target)),
                    Err(error) => {
                        // The answer comes with the next call.
                        self.socket_mut(id)?.error = Some(error);
                        return Ok(None);
                    }
                }
            }
            (None, _) if family == AF_UNIX => return Err(Errno::ENOTCONN.into()),
            (None, _) => return Err(Errno::EDESTADDRREQ.into()),
        };
        if family != AF_UNIX && !bound {
            let any = Address::any(family);
            let local = self.bind_port(id, &any)?;
            self.socket_mut(id)?.local = Some(local);
        }
        match self.socket_at(caller, &to, false) {
            Ok(target) => {
                let is_datagram =
                    self.socket(target).is_some_and(|socket| socket.style == Style::Datagram);
                if is_datagram { Ok(Some(target)) } else { Err(Errno::EPROTOTYPE.into()) }
            }
            Err(Errno::ECONNREFUSED) if family != AF_UNIX => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    fn deliver(
        &mut self,
        caller: &Caller<'_>,
        file: FileId,
        from: SocketId,
        target: SocketId,
        message: &Message<'_>,
        nonblocking: bool,
    ) -> Result<Moved, Halt> {
        let sender = self.socket(from).ok_or(Errno::ENOTSOCK)?;
        let (style, family) = (sender.style, sender.family);
        let mut address = sender.local.clone();
        if address.as_ref().is_some_and(Address::is_any) {
            let port = address.as_ref().and_then(Address::port).unwrap_or(0);
            address = Some(Address::loopback(family).with_port(port));
        }
        let receiver = self.socket(target).ok_or(Errno::ECONNREFUSED)?;
        if receiver.no_more_in && style == Style::Datagram && family == AF_UNIX {
            return Err(Errno::EPIPE.into());
        }
        if style != Style::Stream && message.bytes.len() > super::BOX {
            return Err(Errno::EMSGSIZE.into());
        }
        let offset = receiver.received();
        let local = family == AF_UNIX;
        let paired = receiver.has_peer(from);
        let mut files = message.files.clone();
        let mut count = 0;
        let finished = loop {
            let rest = &message.bytes[count..];
            let stream = style == Style::Stream;
            if stream && rest.is_empty() {
                break true;
            }
            let receiver = self.socket_mut(target)?;
            let room = super::BOX.saturating_sub(receiver.waiting);
            let size = match (stream, local) {
                (true, true) => rest.len().min(super::LARGEST_PACKET),
                (true, false) => rest.len().min(room),
                (false, _) => rest.len(),
            };
            let full = if local {
                let crowded = !stream && !paired && receiver.inbox.len() >= DATAGRAMS;
                receiver.charged >= super::BOX || crowded
            } else {
                size == 0 && !rest.is_empty() || size > room
            };
            if full && !local && !stream {
                // The Internet loses what does not fit.
                return Ok(Moved::bytes(rest.len()));
            }
            if full {
                break false;
            }
            let taken = receiver.taken;
            receiver.marks.forget_before(taken);
            receiver.waiting += size;
            receiver.charged += super::charge(size);
            receiver.inbox.push_back(Packet {
                bytes: rest[..size].to_vec(),
                start: 0,
                from: address.clone(),
                attached: std::mem::take(&mut files),
                pid: caller.pid,
            });
            receiver.activity += 1;
            count += size;
            if !stream {
                break true;
            }
        };
        if finished || nonblocking && count > 0 {
            let place = Some(Place { source: SourceId::Socket(target), offset });
            return Ok(Moved { count, place });
        }
        if nonblocking {
            return Err(Errno::EAGAIN.into());
        }
        Err(Halt::Wait(Wait { file, events: POLLOUT | POLLERR | POLLHUP, done: count }))
    }

    /// `recvfrom` and `recvmsg`.
    pub fn receive(&mut self, file: FileId, into: &mut [u8], flags: u32) -> Result<Received, Halt> {
        let id = self.socket_of(file)?;
        let nonblocking = self.description(file)?.nonblocking() || flags & MSG_DONTWAIT != 0;
        if flags & MSG_OOB != 0 {
            let errno = if self.is_netlink(file) { Errno::EOPNOTSUPP } else { Errno::EINVAL };
            return Err(errno.into());
        }
        let peek = flags & MSG_PEEK != 0;
        let socket = self.socket_mut(id)?;
        if let State::Recorded(number) = socket.state {
            return self.receive_recorded(file, id, number, into, (nonblocking, peek));
        }
        let connected = matches!(socket.state, State::Connected(_));
        if socket.style != Style::Datagram && !connected {
            if let Some(error) = socket.error.take() {
                return Err(error.into());
            }
            let local_stream = socket.family == AF_UNIX && socket.style == Style::Stream;
            return Err(if local_stream { Errno::EINVAL } else { Errno::ENOTCONN }.into());
        }
        let passes = socket.options.get(&(SOL_SOCKET, SO_PASSCRED));
        let passes = passes.is_some_and(|value| value.iter().any(|&byte| byte != 0));
        if socket.style == Style::Stream && into.is_empty() {
            return Ok(Received::end());
        }
        // Packets are not looked for before an error is told; a stream gives its bytes first.
        if socket.style != Style::Stream
            && let Some(error) = socket.error.take()
        {
            return Err(error.into());
        }
        if socket.inbox.is_empty() {
            if let Some(error) = socket.error.take() {
                return Err(error.into());
            }
            // Datagrams have no end; only who would sleep for ever is told.
            if socket.no_more_in && (socket.style != Style::Datagram || !nonblocking) {
                return Ok(Received::end());
            }
            if nonblocking {
                return Err(Errno::EAGAIN.into());
            }
            return Err(Halt::Wait(Wait { file, events: POLLIN | POLLHUP | POLLERR, done: 0 }));
        }
        let place = Some(Place { source: SourceId::Socket(id), offset: socket.taken });
        let mut received = Received { place, ..Received::end() };
        // The kernel is nobody's process, and its own user.
        let credentials = if socket.is_netlink() { (0, 0, 0) } else { socket.credentials };
        let tells_group = socket.tells_group();
        let stream = socket.style == Style::Stream;
        let mut index = 0;
        while let Some(packet) = socket.inbox.get_mut(index) {
            // Files stay with the bytes that they came with: a read ends before the next ones.
            let first = received.count == 0;
            if !first && (!packet.attached.is_empty() || !received.attached.files.is_empty()) {
                break;
            }
            let rest = &packet.bytes[packet.start..];
            let size = rest.len().min(into.len() - received.count);
            into[received.count..received.count + size].copy_from_slice(&rest[..size]);
            received.count += size;
            received.full += if stream { size } else { rest.len() };
            if first {
                received.from.clone_from(&packet.from);
                let pid = packet.pid;
                received.attached.group = tells_group.then_some(0);
                received.attached.credentials =
                    passes.then_some((pid.0, credentials.1, credentials.2));
            }
            let whole = !stream || size == rest.len();
            if peek {
                received.attached.files.extend_from_slice(&packet.attached);
                index += 1;
            } else {
                received.attached.files.append(&mut packet.attached);
                packet.start += size;
                let gone = if stream { size } else { packet.bytes.len() };
                let charge = super::charge(packet.bytes.len());
                if whole {
                    socket.inbox.pop_front();
                    socket.charged -= charge;
                }
                socket.waiting -= gone;
                socket.taken += gone as u64;
            }
            if !stream || received.count == into.len() {
                break;
            }
        }
        if stream {
            received.from = None;
        }
        if socket.is_netlink() {
            socket.go_on();
        }
        let peer = match socket.state {
            State::Connected(Some(peer)) if !peek => Some(peer),
            _ => None,
        };
        if peek {
            for &file in &received.attached.files {
                self.retain(file);
            }
        } else if let Some(peer) = peer
            && let Ok(peer) = self.socket_mut(peer)
        {
            // There is room again.
            peer.activity += 1;
        }
        Ok(received)
    }
}
