//! Sockets: local ones, and an Internet that ends at the loopback device.
//!
//! Nothing leaves the machine: a connection goes to another socket of the same machine, to the
//! recorded side of one of an earlier run, or is refused; other hosts are unreachable. Streams hold back the writer when the reader's box is
//! full; datagrams arrive whole or not at all. A netlink socket talks to the kernel alone.

mod address;
mod connect;
mod netlink;
mod options;
mod recorded;
mod traffic;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

pub use address::Address;
pub use traffic::{Attached, Message, Received};

use super::Files;
use super::description::{Description, Object};
use super::ids::{FileId, InodeId, SocketId};
use super::marks::HeldMarks;
use crate::linux::Pid;
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::memory::Mark;

/// How many bytes wait for a reader at most, as on a fresh Linux.
const BOX: usize = 212_992;
/// The most of a packet that lies beside its books.
const LARGEST_HEAD: usize = PAGE - 320;
/// The most that goes into one packet of a stream.
const LARGEST_PACKET: usize = LARGEST_HEAD + 32_768;
/// How many datagrams wait for a reader at most, on local sockets that are not a pair.
const DATAGRAMS: usize = 11;

/// How a socket moves bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Stream,
    Datagram,
    Packets,
}

/// How a socket stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Neither connected nor listening.
    Idle,
    /// Waits for connections: those that have come, and how many may.
    Listening(VecDeque<SocketId>, usize),
    /// Has a partner; none once that is closed.
    Connected(Option<SocketId>),
    /// Its partner is a recorded one, by its number.
    Recorded(usize),
}

/// Bytes on their way to a reader.
#[derive(Clone)]
struct Packet {
    bytes: Vec<u8>,
    start: usize,
    from: Option<Address>,
    attached: Vec<FileId>,
    pid: Pid,
}

/// A socket.
#[derive(Clone)]
pub struct Socket {
    family: u32,
    style: Style,
    protocol: u32,
    state: State,
    local: Option<Address>,
    remote: Option<Address>,
    /// The name that it is bound to.
    inode: Option<InodeId>,
    inbox: VecDeque<Packet>,
    waiting: usize,
    /// What the kernel would count for all that waits, with its own books.
    charged: usize,
    /// How many bytes were ever taken from the inbox.
    taken: u64,
    /// What the bytes of the inbox stand for, by how many came before them.
    pub(super) marks: HeldMarks,
    no_more_in: bool,
    no_more_out: bool,
    error: Option<Errno>,
    /// Options that are kept and change nothing, by level and name.
    options: BTreeMap<(u32, u32), Vec<u8>>,
    talk: netlink::Talk,
    /// Who made it: process, user, group.
    credentials: (u32, u32, u32),
    peer_credentials: (u32, u32, u32),
    /// Counts events, for edge-triggered waits.
    pub(super) activity: u64,
}

/// Sizes only: what goes through a socket may be private.
impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket")
            .field("family", &self.family)
            .field("style", &self.style)
            .field("state", &self.state)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

/// Names of sockets outside the tree of files.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// By whether it is a stream, whether it is version 6, and port.
    ports: BTreeMap<(bool, bool, u16), SocketId>,
    names: BTreeMap<Vec<u8>, SocketId>,
    /// Ports of netlink sockets.
    netlink: BTreeMap<u32, SocketId>,
    next_port: u16,
    recorded: recorded::Recorded,
}

impl Socket {
    /// Whether it is connected to `other`.
    fn has_peer(&self, other: SocketId) -> bool {
        self.state == State::Connected(Some(other))
    }

    /// Whom it is connected to.
    pub(super) fn peer(&self) -> Option<SocketId> {
        if let State::Connected(peer) = self.state { peer } else { None }
    }

    /// How many bytes ever came.
    pub(super) fn received(&self) -> u64 {
        self.taken + self.waiting as u64
    }

    /// Gives marked bytes that wait for a reader other values.
    pub(super) fn give_values(&mut self, value: &mut impl FnMut(Mark) -> Option<u8>) {
        let mut at = self.taken;
        for packet in &mut self.inbox {
            for byte in &mut packet.bytes[packet.start..] {
                if let Some(new) = self.marks.get(at).and_then(&mut *value) {
                    *byte = new;
                }
                at += 1;
            }
        }
    }
}

/// What the kernel counts for a packet on a local socket: its books, and memory in whole chunks.
/// Only how soon a writer is held back depends on it.
fn charge(size: usize) -> usize {
    let books = 256;
    let in_pages = size.saturating_sub(LARGEST_HEAD).next_multiple_of(PAGE).min(size);
    let head = (size - in_pages).next_multiple_of(64) + 320;
    let head = if head <= 704 { 704 } else { head.next_power_of_two() };
    books + head + in_pages.next_multiple_of(PAGE)
}

impl Files {
    /// A socket that is open or on its way to be accepted.
    pub(super) fn socket(&self, id: SocketId) -> Option<&Socket> {
        self.sockets.get(&id).map(|socket| &**socket)
    }

    pub(super) fn socket_mut(&mut self, id: SocketId) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(&id).map(Arc::make_mut).ok_or(Errno::ENOTSOCK)
    }

    fn socket_of(&self, file: FileId) -> Result<SocketId, Errno> {
        let description = self.description(file)?;
        match description.object {
            _ if description.flags & O_PATH != 0 => Err(Errno::EBADF),
            Object::Socket(id) => Ok(id),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    fn new_socket_state(
        &self,
        pid: Pid,
        family: u32,
        kind: u32,
        protocol: u32,
    ) -> Result<Socket, Errno> {
        if kind & !(SOCK_TYPE_MASK | SOCK_CLOEXEC | SOCK_NONBLOCK) != 0 {
            return Err(Errno::EINVAL);
        }
        let style = match kind & SOCK_TYPE_MASK {
            SOCK_STREAM => Style::Stream,
            SOCK_DGRAM => Style::Datagram,
            SOCK_SEQPACKET => Style::Packets,
            SOCK_RAW => Style::Datagram,
            _ => return Err(Errno::EINVAL),
        };
        let raw = kind & SOCK_TYPE_MASK == SOCK_RAW;
        let protocol = match (family, style) {
            (AF_NETLINK, _) => Files::netlink_protocol(kind, protocol)?,
            (AF_UNIX, _) if protocol > 1 => return Err(Errno::EPROTONOSUPPORT),
            (AF_UNIX, _) => 0,
            (AF_INET | AF_INET6, _) if raw => return Err(Errno::EPERM),
            (AF_INET | AF_INET6, Style::Stream) => match protocol {
                IPPROTO_IP | IPPROTO_TCP => IPPROTO_TCP,
                _ => return Err(Errno::EPROTONOSUPPORT),
            },
            (AF_INET | AF_INET6, Style::Datagram) => match protocol {
                IPPROTO_IP | IPPROTO_UDP => IPPROTO_UDP,
                _ => return Err(Errno::EPROTONOSUPPORT),
            },
            (AF_INET | AF_INET6, Style::Packets) => return Err(Errno::ESOCKTNOSUPPORT),
            _ => return Err(Errno::EAFNOSUPPORT),
        };
        let user = &self.config.user;
        Ok(Socket {
            family,
            style,
            protocol,
            state: State::Idle,
            local: None,
            remote: None,
            inode: None,
            inbox: VecDeque::new(),
            waiting: 0,
            charged: 0,
            taken: 0,
            marks: HeldMarks::default(),
            no_more_in: false,
            no_more_out: false,
            error: None,
            options: BTreeMap::new(),
            talk: netlink::Talk::new(raw),
            credentials: (pid.0, user.uid, user.gid),
            peer_credentials: (0, u32::MAX, u32::MAX),
            activity: 0,
        })
    }

    fn add_socket(&mut self, socket: Socket) -> SocketId {
        let id = SocketId(self.number());
        self.sockets.insert(id, Arc::new(socket));
        id
    }

    fn open_socket(&mut self, id: SocketId, flags: u32) -> FileId {
        self.describe(Description::new(Object::Socket(id), O_RDWR | flags & O_NONBLOCK))
    }

    /// `socket`.
    pub fn new_socket(
        &mut self,
        pid: Pid,
        family: u32,
        kind: u32,
        protocol: u32,
    ) -> Result<FileId, Errno> {
        let socket = self.new_socket_state(pid, family, kind, protocol)?;
        let id = self.add_socket(socket);
        Ok(self.open_socket(id, kind))
    }

    /// `socketpair`.
    pub fn socket_pair(
        &mut self,
        pid: Pid,
        family: u32,
        kind: u32,
        protocol: u32,
    ) -> Result<(FileId, FileId), Errno> {
        let socket = self.new_socket_state(pid, family, kind, protocol)?;
        if family != AF_UNIX {
            return Err(Errno::EOPNOTSUPP);
        }
        let (a, b) = (self.add_socket(socket.clone()), self.add_socket(socket));
        for (one, other) in [(a, b), (b, a)] {
            let socket = self.socket_mut(one)?;
            socket.state = State::Connected(Some(other));
            socket.remote = Some(Address::Unnamed(AF_UNIX));
            socket.peer_credentials = socket.credentials;
        }
        Ok((self.open_socket(a, kind), self.open_socket(b, kind)))
    }

    /// Takes a socket down; gives the files that were on their way through it.
    pub(super) fn close_socket(&mut self, id: SocketId) -> Vec<FileId> {
        let mut orphans = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let Some(socket) = self.sockets.remove(&id) else { continue };
            let unread = !socket.inbox.is_empty();
            for packet in &socket.inbox {
                orphans.extend_from_slice(&packet.attached);
            }
            match &socket.state {
                State::Listening(waiting, _) => pending.extend(waiting.iter().copied()),
                State::Connected(Some(peer)) => self.lose_peer(*peer, id, unread),
                State::Recorded(_) => self.after_recorded(),
                State::Connected(None) | State::Idle => {}
            }
            let network = Arc::make_mut(&mut self.network);
            network.ports.retain(|_, &mut bound| bound != id);
            network.names.retain(|_, &mut bound| bound != id);
            network.netlink.retain(|_, &mut bound| bound != id);
            if let Some(inode) = socket.inode {
                self.inode_mut(inode).kind = super::inode::Kind::Socket(None);
                self.unpin(inode);
            }
        }
        orphans
    }

    /// Tells the partner of a closed socket.
    fn lose_peer(&mut self, peer: SocketId, gone: SocketId, unread: bool) {
        let Ok(socket) = self.socket_mut(peer) else { return };
        if socket.state != State::Connected(Some(gone)) {
            return;
        }
        socket.activity += 1;
        if socket.style == Style::Datagram {
            // A datagram socket is only told when it sends.
            socket.state = State::Connected(None);
            return;
        }
        socket.state = State::Connected(None);
        socket.no_more_in = true;
        if unread {
            socket.error = Some(Errno::ECONNRESET);
        }
    }

    /// Which `POLL` bits hold for a socket.
    pub(super) fn socket_ready(&self, id: SocketId) -> u32 {
        let Some(socket) = self.socket(id) else { return POLLNVAL };
        let mut bits = 0;
        if socket.error.is_some() {
            bits |= POLLERR;
        }
        if !socket.inbox.is_empty() || socket.no_more_in {
            bits |= POLLIN | POLLRDNORM;
        }
        if socket.no_more_in {
            bits |= POLLRDHUP;
        }
        let one_way = socket.style != Style::Datagram;
        match &socket.state {
            State::Listening(waiting, _) => {
                let comes = !waiting.is_empty() || self.client_of(id).is_some();
                return if comes { POLLIN | POLLRDNORM } else { 0 };
            }
            State::Recorded(number) if self.unread(socket, *number) > 0 => {
                bits |= POLLIN | POLLRDNORM;
            }
            State::Idle if one_way => return bits | POLLHUP | POLLOUT | POLLWRNORM,
            State::Connected(None) if one_way => {
                return bits | POLLHUP | POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM;
            }
            _ => {}
        }
        if socket.no_more_in && socket.no_more_out {
            bits |= POLLHUP;
        }
        if self.has_room(id, socket) {
            bits |= POLLOUT | POLLWRNORM;
        }
        if socket.is_netlink() {
            bits |= POLLWRBAND;
        }
        bits
    }

    /// Whether a send would go through, as far as `poll` tells.
    fn has_room(&self, id: SocketId, socket: &Socket) -> bool {
        let State::Connected(Some(peer)) = socket.state else { return true };
        let Some(peer) = self.socket(peer) else { return true };
        if socket.family != AF_UNIX {
            return peer.waiting < BOX;
        }
        // Local sockets call themselves writable while three quarters are free.
        peer.charged * 4 <= BOX && (peer.has_peer(id) || peer.inbox.len() < DATAGRAMS)
    }

    /// `FIONREAD` on a socket.
    pub(super) fn socket_bytes(&self, id: SocketId) -> Result<usize, Errno> {
        let socket = self.socket(id).ok_or(Errno::ENOTSOCK)?;
        match (&socket.state, socket.style) {
            _ if socket.is_netlink() => Err(Errno::ENOTTY),
            (State::Listening(..), _) => Err(Errno::EINVAL),
            (State::Recorded(number), _) => Ok(self.unread(socket, *number) as usize),
            (_, Style::Datagram | Style::Packets) => {
                Ok(socket.inbox.front().map_or(0, |packet| packet.bytes.len()))
            }
            _ => Ok(socket.waiting),
        }
    }
}
