//! Netlink sockets: their ports, and the way of a request to the kernel and of its answers back.
//!
//! The kernel is the only one to talk to, and it answers before `send` returns: what it says waits in
//! the inbox like the datagrams of other sockets. A list that takes several datagrams waits beside
//! it, and goes on when the program has taken one; until then the socket can ask for no other list.
//! What does not fit into the box is lost, and the program is told so once (`ENOBUFS`). No news ever
//! comes to the groups that a socket belongs to: the network does not change. What bytes of a request
//! stand for does not go with them where an answer repeats them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Address, BOX, Packet, Socket};
use crate::linux::Pid;
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::linux::fs::ids::{FileId, Moved, SocketId};
use crate::linux::fs::netlink::{self, Answer, Asker, Refusal, Requests};
use crate::linux::fs::{Caller, Files};

/// The first of the ports for those whose process has one already; the next ones are below it.
const FIRST_FREE_PORT: u32 = -4097i32 as u32;
/// What the kernel keeps of the room for a message.
const SEND_OVERHEAD: usize = 32;
/// The kernel itself, as an address.
const KERNEL: Address = Address::Netlink { port: 0, groups: 0 };
/// Groups beyond those that an address can name.
const MOST_GROUPS: u32 = 64;

/// What only a netlink socket has.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    /// Whether it was made as a raw socket; the two kinds are one.
    pub(super) raw: bool,
    /// The groups that it belongs to, a bit each.
    groups: u64,
    /// What is left of a list.
    list: VecDeque<Vec<u8>>,
    /// Something was lost, and nothing more comes until the box is empty.
    congested: bool,
}

impl Talk {
    pub(super) fn new(raw: bool) -> Talk {
        Talk { raw, ..Talk::default() }
    }
}

impl Socket {
    pub(super) fn is_netlink(&self) -> bool {
        self.family == AF_NETLINK
    }

    fn is_on(&self, name: u32) -> bool {
        let value = self.options.get(&(netlink::SOL_NETLINK, name));
        value.is_some_and(|value| value.iter().any(|&byte| byte != 0))
    }

    /// Whether messages come with the group that they went to.
    pub(super) fn tells_group(&self) -> bool {
        self.is_on(netlink::NETLINK_PKTINFO)
    }

    /// Puts a datagram of the kernel into the inbox, if there is room.
    fn hear(&mut self, bytes: Vec<u8>) {
        let charge = super::charge(bytes.len());
        let full = !self.inbox.is_empty() && self.charged + charge > BOX;
        if full || self.talk.congested {
            if !self.talk.congested && !self.is_on(netlink::NETLINK_NO_ENOBUFS) {
                self.talk.congested = true;
                self.error = Some(Errno::ENOBUFS);
                self.activity += 1;
            }
            return;
        }
        self.waiting += bytes.len();
        self.charged += charge;
        self.activity += 1;
        let packet =
            Packet { bytes, start: 0, from: Some(KERNEL), attached: Vec::new(), pid: Pid(0) };
        self.inbox.push_back(packet);
    }

    /// The next part of a list, if there is one and room for it.
    pub(super) fn go_on(&mut self) {
        if self.inbox.is_empty() {
            self.talk.congested = false;
        }
        if self.charged < BOX
            && !self.talk.congested
            && let Some(part) = self.talk.list.pop_front()
        {
            self.hear(part);
        }
    }

    /// The kernel's answers to what was sent.
    fn answer(&mut self, asker: &Asker, bytes: &[u8]) {
        for request in Requests::of(bytes) {
            let busy = Err(Refusal::from(Errno::EBUSY));
            let done = match netlink::answer(&request, asker) {
                Answer::All(_) if !self.talk.list.is_empty() => busy,
                Answer::All(parts) => {
                    self.talk.list = parts.into();
                    self.go_on();
                    continue;
                }
                Answer::One(reply) => {
                    self.hear(reply);
                    Ok(())
                }
                Answer::Done(done) => done,
            };
            if done.is_err() || request.flags & netlink::NLM_F_ACK != 0 {
                self.hear(netlink::acknowledgement(&request, asker, done.err()));
            }
        }
    }
}

impl Files {
    /// The protocol of a new netlink socket.
    pub(super) fn netlink_protocol(kind: u32, protocol: u32) -> Result<u32, Errno> {
        match kind & SOCK_TYPE_MASK {
            SOCK_RAW | SOCK_DGRAM if protocol == netlink::NETLINK_ROUTE => Ok(protocol),
            SOCK_RAW | SOCK_DGRAM => Err(Errno::EPROTONOSUPPORT),
            _ => Err(Errno::ESOCKTNOSUPPORT),
        }
    }

    /// Gives a socket a port: the wanted one, or that of its process, or any.
    fn take_netlink_port(&mut self, id: SocketId, wanted: u32, pid: Pid) -> Result<u32, Errno> {
        let ports = &mut Arc::make_mut(&mut self.network).netlink;
        let port = match wanted {
            0 => std::iter::once(pid.0)
                .chain((0..=FIRST_FREE_PORT).rev())
                .find(|port| *port != 0 && !ports.contains_key(port))
                .ok_or(Errno::EADDRINUSE)?,
            taken if ports.contains_key(&taken) => return Err(Errno::EADDRINUSE),
            free => free,
        };
        ports.insert(port, id);
        self.socket_mut(id)?.local = Some(Address::Netlink { port, groups: 0 });
        Ok(port)
    }

    /// The port of a socket, which has one from now on.
    fn netlink_port(&mut self, id: SocketId, pid: Pid) -> Result<u32, Errno> {
        let socket = self.socket(id).ok_or(Errno::ENOTSOCK)?;
        match socket.local {
            Some(Address::Netlink { port, .. }) => Ok(port),
            _ => {
                // Who writes to a socket without a name is not told here; its maker is as good.
                let pid = if pid == Pid(0) { Pid(socket.credentials.0) } else { pid };
                self.take_netlink_port(id, 0, pid)
            }
        }
    }

    /// `bind`.
    pub(super) fn bind_netlink(
        &mut self,
        pid: Pid,
        id: SocketId,
        address: &Address,
    ) -> Result<(), Errno> {
        let &Address::Netlink { port, groups } = address else { return Err(Errno::EINVAL) };
        match self.socket(id).ok_or(Errno::ENOTSOCK)?.local {
            Some(Address::Netlink { port: bound, .. }) if bound != port => {
                return Err(Errno::EINVAL);
            }
            Some(_) => {}
            None => drop(self.take_netlink_port(id, port, pid)?),
        }
        let talk = &mut self.socket_mut(id)?.talk;
        talk.groups = talk.groups & !u64::from(u32::MAX) | u64::from(groups);
        Ok(())
    }

    /// `connect`: to the kernel, which it is already. To talk to others takes privileges.
    pub(super) fn connect_netlink(
        &mut self,
        pid: Pid,
        id: SocketId,
        address: &Address,
    ) -> Result<(), Errno> {
        match *address {
            Address::Unnamed(AF_UNSPEC) => Ok(()),
            Address::Netlink { port: 0, groups: 0 } => self.netlink_port(id, pid).map(drop),
            Address::Netlink { .. } => Err(Errno::EPERM),
            _ => Err(Errno::EINVAL),
        }
    }

    /// `getsockname`.
    pub(super) fn netlink_name(socket: &Socket) -> Address {
        let port = match socket.local {
            Some(Address::Netlink { port, .. }) => port,
            _ => 0,
        };
        Address::Netlink { port, groups: socket.talk.groups as u32 }
    }

    /// `sendto` and `sendmsg`: the answers are there at once.
    pub(super) fn send_netlink(
        &mut self,
        caller: &Caller<'_>,
        id: SocketId,
        (bytes, to): (&[u8], Option<&Address>),
        flags: u32,
    ) -> Result<Moved, Errno> {
        if flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        if bytes.is_empty() {
            return Err(Errno::ENODATA);
        }
        match to {
            None | Some(&KERNEL) => {}
            Some(Address::Netlink { .. }) => return Err(Errno::EPERM),
            Some(_) => return Err(Errno::EINVAL),
        }
        let port = self.netlink_port(id, caller.pid)?;
        let uid = caller.user.uid;
        let socket = self.socket_mut(id)?;
        let room = socket.options.get(&(SOL_SOCKET, SO_SNDBUF));
        let room = room.and_then(|value| value.first_chunk()).copied().map(u32::from_le_bytes);
        if bytes.len() > room.map_or(BOX, |room| room as usize).saturating_sub(SEND_OVERHEAD) {
            return Err(Errno::EMSGSIZE);
        }
        let asker = Asker {
            port,
            uid,
            strict: socket.is_on(netlink::NETLINK_GET_STRICT_CHK),
            extended: socket.is_on(netlink::NETLINK_EXT_ACK),
            capped: socket.is_on(netlink::NETLINK_CAP_ACK),
        };
        socket.answer(&asker, bytes);
        Ok(Moved::bytes(bytes.len()))
    }

    /// `getsockopt` of netlink's own options.
    pub(super) fn netlink_option(socket: &Socket, name: u32) -> Result<Vec<u8>, Errno> {
        match name {
            netlink::NETLINK_BROADCAST_ERROR
            | netlink::NETLINK_NO_ENOBUFS
            | netlink::NETLINK_LISTEN_ALL_NSID
            | netlink::NETLINK_CAP_ACK
            | netlink::NETLINK_EXT_ACK
            | netlink::NETLINK_PKTINFO
            | netlink::NETLINK_GET_STRICT_CHK => {
                Ok(u32::from(socket.is_on(name)).to_le_bytes().to_vec())
            }
            netlink::NETLINK_LIST_MEMBERSHIPS => Ok(socket.talk.groups.to_le_bytes().to_vec()),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    /// `setsockopt` of netlink's own options.
    pub(super) fn set_netlink_option(
        socket: &mut Socket,
        name: u32,
        value: &[u8],
    ) -> Result<(), Errno> {
        // A value that is too short to be a number is zero.
        let value = value.first_chunk().copied().map_or(0, u32::from_le_bytes);
        match name {
            netlink::NETLINK_ADD_MEMBERSHIP | netlink::NETLINK_DROP_MEMBERSHIP => {
                if value == 0 || value > MOST_GROUPS {
                    return Err(Errno::EINVAL);
                }
                let bit = 1 << (value - 1);
                if name == netlink::NETLINK_ADD_MEMBERSHIP {
                    socket.talk.groups |= bit;
                } else {
                    socket.talk.groups &= !bit;
                }
                return Ok(());
            }
            netlink::NETLINK_LISTEN_ALL_NSID => return Err(Errno::EPERM),
            netlink::NETLINK_BROADCAST_ERROR
            | netlink::NETLINK_NO_ENOBUFS
            | netlink::NETLINK_CAP_ACK
            | netlink::NETLINK_EXT_ACK
            | netlink::NETLINK_PKTINFO
            | netlink::NETLINK_GET_STRICT_CHK => {}
            _ => return Err(Errno::ENOPROTOOPT),
        }
        if name == netlink::NETLINK_NO_ENOBUFS && value != 0 {
            socket.talk.congested = false;
        }
        let value = u32::from(value != 0).to_le_bytes().to_vec();
        socket.options.insert((netlink::SOL_NETLINK, name), value);
        Ok(())
    }

    /// Whether an open file is a netlink socket.
    pub(in crate::linux) fn is_netlink(&self, file: FileId) -> bool {
        let id = self.socket_of(file);
        id.ok().and_then(|id| self.socket(id)).is_some_and(Socket::is_netlink)
    }
}
