//! Names and connections: `bind`, `listen`, `accept`, `connect`, `shutdown`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Address, HeldMarks, Socket, State, Style};
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::linux::fs::ids::{FileId, Halt, Node, SocketId, Wait};
use crate::linux::fs::inode::Kind;
use crate::linux::fs::{Caller, Files};

/// The first port that is given to a socket without one.
const FIRST_PORT: u16 = 32_768;

impl Files {
    /// `bind`.
    pub fn bind(
        &mut self,
        caller: &Caller<'_>,
        file: FileId,
        address: &Address,
    ) -> Result<(), Errno> {
        let id = self.socket_of(file)?;
        let socket = self.socket_mut(id)?;
        if socket.is_netlink() {
            return self.bind_netlink(caller.pid, id, address);
        }
        if address.family() != socket.family {
            let inet = socket.family != AF_UNIX;
            return Err(if inet { Errno::EAFNOSUPPORT } else { Errno::EINVAL });
        }
        if socket.local.is_some() {
            // A name in the tree is made before the socket is looked at.
            return Err(match address {
                Address::Path(path) if self.find(caller, caller.cwd, path, false).is_ok() => {
                    Errno::EADDRINUSE
                }
                _ => Errno::EINVAL,
            });
        }
        let bound = match address {
            Address::Path(path) => {
                self.bind_path(caller, id, path)?;
                address.clone()
            }
            Address::Abstract(name) => self.bind_name(id, name.clone())?,
            Address::Unnamed(_) => {
                let name = format!("{:05x}", id.number() & 0xf_ffff);
                self.bind_name(id, name.into_bytes())?
            }
            Address::Inet { .. } | Address::Inet6 { .. } => self.bind_port(id, address)?,
            Address::Netlink { .. } => return Err(Errno::EAFNOSUPPORT),
        };
        self.socket_mut(id)?.local = Some(bound);
        Ok(())
    }

    fn bind_path(&mut self, caller: &Caller<'_>, id: SocketId, path: &[u8]) -> Result<(), Errno> {
        let mode = S_IFSOCK | 0o777;
        match self.mknod(caller, caller.cwd, path, mode, 0) {
            Err(Errno::EEXIST) => return Err(Errno::EADDRINUSE),
            other => other?,
        }
        if let Node::Inode(inode) = self.find(caller, caller.cwd, path, false)?.node {
            self.inode_mut(inode).kind = Kind::Socket(Some(id));
            self.pin(inode);
            self.socket_mut(id)?.inode = Some(inode);
        }
        Ok(())
    }

    fn bind_name(&mut self, id: SocketId, name: Vec<u8>) -> Result<Address, Errno> {
        let network = Arc::make_mut(&mut self.network);
        if network.names.contains_key(&name) {
            return Err(Errno::EADDRINUSE);
        }
        network.names.insert(name.clone(), id);
        Ok(Address::Abstract(name))
    }

    pub(super) fn bind_port(&mut self, id: SocketId, address: &Address) -> Result<Address, Errno> {
        // Of the host on which connections were recorded, every address is one.
        if !address.is_here() && !self.has_connections() {
            return Err(Errno::EADDRNOTAVAIL);
        }
        let (stream, six) = self.port_space(id)?;
        let port = address.port().unwrap_or(0);
        if port != 0 && port < 1024 && self.config.user.uid != 0 {
            return Err(Errno::EACCES);
        }
        let network = Arc::make_mut(&mut self.network);
        let port = match port {
            0 => {
                let from = network.next_port.max(FIRST_PORT);
                let free = |port: &u16| !network.ports.contains_key(&(stream, six, *port));
                let found = (from..=u16::MAX).chain(FIRST_PORT..from).find(free);
                let port = found.ok_or(Errno::EADDRINUSE)?;
                network.next_port = port.checked_add(1).unwrap_or(FIRST_PORT);
                port
            }
            port if network.ports.contains_key(&(stream, six, port)) => {
                return Err(Errno::EADDRINUSE);
            }
            port => port,
        };
        network.ports.insert((stream, six, port), id);
        Ok(address.with_port(port))
    }

    fn port_space(&self, id: SocketId) -> Result<(bool, bool), Errno> {
        let socket = self.socket(id).ok_or(Errno::ENOTSOCK)?;
        Ok((socket.style == Style::Stream, socket.family == AF_INET6))
    }

    /// `listen`.
    pub fn listen(&mut self, file: FileId, most: i32) -> Result<(), Errno> {
        let id = self.socket_of(file)?;
        let socket = self.socket_mut(id)?;
        if socket.style == Style::Datagram {
            return Err(Errno::EOPNOTSUPP);
        }
        let most = most.clamp(0, 4096) as usize + 1;
        match &mut socket.state {
            State::Connected(_) | State::Recorded(_) => return Err(Errno::EINVAL),
            State::Listening(_, limit) => {
                *limit = most;
                return Ok(());
            }
            State::Idle => {}
        }
        if socket.local.is_none() {
            if socket.family == AF_UNIX {
                return Err(Errno::EINVAL);
            }
            let any = Address::any(socket.family);
            let bound = self.bind_port(id, &any)?;
            self.socket_mut(id)?.local = Some(bound);
        }
        self.socket_mut(id)?.state = State::Listening(VecDeque::new(), most);
        Ok(())
    }

    /// `accept4`: the new file, and the address of the other side.
    pub fn accept(&mut self, file: FileId, flags: u32) -> Result<(FileId, Address), Halt> {
        if flags & !(SOCK_CLOEXEC | SOCK_NONBLOCK) != 0 {
            return Err(Errno::EINVAL.into());
        }
        let nonblocking = self.description(file)?.nonblocking();
        let id = self.socket_of(file)?;
        let socket = self.socket_mut(id)?;
        if socket.style == Style::Datagram {
            return Err(Errno::EOPNOTSUPP.into());
        }
        let family = socket.family;
        let State::Listening(waiting, _) = &mut socket.state else {
            return Err(Errno::EINVAL.into());
        };
        let mut next = waiting.pop_front();
        if next.is_none()
            && let Some(number) = self.client_of(id)
        {
            next = Some(self.accept_recorded(id, number)?);
        }
        match next {
            Some(new) => {
                let remote = self.socket(new).and_then(|socket| socket.remote.clone());
                Ok((self.open_socket(new, flags), remote.unwrap_or(Address::Unnamed(family))))
            }
            None if nonblocking => Err(Errno::EAGAIN.into()),
            None => Err(Halt::Wait(Wait { file, events: POLLIN, done: 0 })),
        }
    }

    /// The socket that an address leads to.
    pub(super) fn socket_at(
        &mut self,
        caller: &Caller<'_>,
        address: &Address,
        stream: bool,
    ) -> Result<SocketId, Errno> {
        let refused = Errno::ECONNREFUSED;
        match address {
            Address::Path(path) => {
                let node = self.find(caller, caller.cwd, path, true)?.node;
                self.may(caller.user, node, W_OK)?;
                match node {
                    Node::Inode(inode) => match self.inode(inode).kind {
                        Kind::Socket(Some(id)) => Ok(id),
                        _ => Err(refused),
                    },
                    _ => Err(refused),
                }
            }
            Address::Abstract(name) => self.network.names.get(name).copied().ok_or(refused),
            Address::Unnamed(_) | Address::Netlink { .. } => Err(Errno::EINVAL),
            Address::Inet { .. } | Address::Inet6 { .. } if !address.is_here() => {
                Err(Errno::ENETUNREACH)
            }
            Address::Inet { port, .. } => {
                // A version 6 socket on any host takes version 4 as well.
                let ports = &self.network.ports;
                let four = ports.get(&(stream, false, *port)).copied();
                four.or_else(|| {
                    let six = ports.get(&(stream, true, *port)).copied()?;
                    let any = self.socket(six)?.local.as_ref()?.is_any();
                    any.then_some(six)
                })
                .ok_or(refused)
            }
            Address::Inet6 { port, .. } => {
                self.network.ports.get(&(stream, true, *port)).copied().ok_or(refused)
            }
        }
    }

    /// `connect`.
    pub fn connect(
        &mut self,
        caller: &Caller<'_>,
        file: FileId,
        address: &Address,
    ) -> Result<(), Halt> {
        let nonblocking = self.description(file)?.nonblocking();
        let id = self.socket_of(file)?;
        let socket = self.socket_mut(id)?;
        let (family, style) = (socket.family, socket.style);
        if socket.is_netlink() {
            return Ok(self.connect_netlink(caller.pid, id, address)?);
        }
        if address.family() == AF_UNSPEC {
            if style == Style::Datagram {
                socket.state = State::Idle;
                socket.remote = None;
            }
            return Ok(());
        }
        if address.family() != family {
            let inet = family != AF_UNIX;
            return Err(if inet { Errno::EAFNOSUPPORT } else { Errno::EINVAL }.into());
        }
        if style == Style::Datagram {
            return Ok(self.connect_datagram(caller, id, address)?);
        }
        match &socket.state {
            State::Connected(_) | State::Recorded(_) => return Err(Errno::EISCONN.into()),
            State::Listening(..) => {
                let inet = family != AF_UNIX;
                return Err(if inet { Errno::EISCONN } else { Errno::EINVAL }.into());
            }
            State::Idle => {}
        }
        match socket.error.take() {
            Some(error) if family != AF_UNIX => return Err(error.into()),
            _ => {}
        }
        let found = self.listener(caller, address, style);
        if matches!(found, Err(Errno::ECONNREFUSED | Errno::ENETUNREACH))
            && self.connect_recorded(id, address)?
        {
            return if nonblocking { Err(Errno::EINPROGRESS.into()) } else { Ok(()) };
        }
        let found = match found {
            // The Internet answers later to those who do not wait.
            Err(Errno::ECONNREFUSED) if family != AF_UNIX && nonblocking => {
                let socket = self.socket_mut(id)?;
                socket.error = Some(Errno::ECONNREFUSED);
                socket.activity += 1;
                return Err(Errno::EINPROGRESS.into());
            }
            other => other?,
        };
        let Some(listener) = found else {
            if nonblocking {
                return Err(Errno::EAGAIN.into());
            }
            return Err(Halt::Wait(Wait { file, events: 0, done: 0 }));
        };
        if family != AF_UNIX && self.socket(id).is_some_and(|socket| socket.local.is_none()) {
            let bound = self.bind_port(id, &Address::loopback(family))?;
            self.socket_mut(id)?.local = Some(bound);
        }
        self.join(caller, id, listener, address)?;
        if family != AF_UNIX && nonblocking { Err(Errno::EINPROGRESS.into()) } else { Ok(()) }
    }

    /// The listening socket at an address; none if its queue is full.
    fn listener(
        &mut self,
        caller: &Caller<'_>,
        address: &Address,
        style: Style,
    ) -> Result<Option<SocketId>, Errno> {
        let id = self.socket_at(caller, address, true)?;
        let socket = self.socket(id).ok_or(Errno::ECONNREFUSED)?;
        if socket.style != style {
            return Err(Errno::EPROTOTYPE);
        }
        match &socket.state {
            State::Listening(waiting, most) => Ok((waiting.len() < *most).then_some(id)),
            _ => Err(Errno::ECONNREFUSED),
        }
    }

    /// Makes the other side of a connection and leaves it with the listener.
    fn join(
        &mut self,
        caller: &Caller<'_>,
        id: SocketId,
        listener: SocketId,
        address: &Address,
    ) -> Result<(), Errno> {
        let client = self.socket(id).ok_or(Errno::ENOTSOCK)?.clone();
        let server = self.socket(listener).ok_or(Errno::ECONNREFUSED)?;
        let mut local = server.local.clone();
        if local.as_ref().is_some_and(Address::is_any) {
            local = Some(Address::loopback(client.family).with_port(address.port().unwrap_or(0)));
        }
        let accepted = Socket {
            state: State::Connected(Some(id)),
            local: local.clone(),
            remote: Some(client.local.clone().unwrap_or(Address::Unnamed(client.family))),
            inode: None,
            inbox: VecDeque::new(),
            waiting: 0,
            charged: 0,
            taken: 0,
            marks: HeldMarks::default(),
            peer_credentials: (caller.pid.0, caller.user.uid, caller.user.gid),
            activity: 0,
            ..server.clone()
        };
        let credentials = server.credentials;
        let new = self.add_socket(accepted);
        let client = self.socket_mut(id)?;
        client.state = State::Connected(Some(new));
        client.remote = local;
        client.peer_credentials = credentials;
        client.activity += 1;
        let server = self.socket_mut(listener)?;
        server.activity += 1;
        if let State::Listening(waiting, _) = &mut server.state {
            waiting.push_back(new);
        }
        Ok(())
    }

    fn connect_datagram(
        &mut self,
        caller: &Caller<'_>,
        id: SocketId,
        address: &Address,
    ) -> Result<(), Errno> {
        let family = address.family();
        let peer = match self.socket_at(caller, address, false) {
            // Nobody needs to be there for a datagram on the Internet.
            Err(Errno::ECONNREFUSED) if family != AF_UNIX => None,
            other => Some(other?),
        };
        if let Some(peer) = peer
            && family == AF_UNIX
            && self.socket(peer).is_some_and(|socket| socket.style != Style::Datagram)
        {
            return Err(Errno::EPROTOTYPE);
        }
        if family != AF_UNIX && self.socket(id).is_some_and(|socket| socket.local.is_none()) {
            let bound = self.bind_port(id, &Address::loopback(family))?;
            self.socket_mut(id)?.local = Some(bound);
        }
        let socket = self.socket_mut(id)?;
        socket.state = State::Connected(peer);
        socket.remote = Some(address.clone());
        Ok(())
    }

    /// `shutdown`.
    pub fn shutdown(&mut self, file: FileId, how: u32) -> Result<(), Errno> {
        let id = self.socket_of(file)?;
        if how > SHUT_RDWR {
            return Err(Errno::EINVAL);
        }
        let socket = self.socket_mut(id)?;
        if socket.is_netlink() {
            return Err(Errno::EOPNOTSUPP);
        }
        let peer = match socket.state {
            State::Connected(peer) => peer,
            State::Recorded(_) => None,
            _ if socket.family == AF_UNIX => None,
            _ => return Err(Errno::ENOTCONN),
        };
        let (reads, writes) = (how != SHUT_WR, how != SHUT_RD);
        socket.no_more_in |= reads;
        socket.no_more_out |= writes;
        socket.activity += 1;
        let mutual = socket.style != Style::Datagram;
        let local = socket.family == AF_UNIX;
        if let Some(peer) = peer.filter(|_| mutual)
            && let Ok(peer) = self.socket_mut(peer)
        {
            peer.no_more_in |= writes;
            peer.no_more_out |= reads && local;
            peer.activity += 1;
        }
        Ok(())
    }

    /// `getsockname`.
    pub fn local_address(&self, file: FileId) -> Result<Address, Errno> {
        let socket = self.socket(self.socket_of(file)?).ok_or(Errno::ENOTSOCK)?;
        if socket.is_netlink() {
            return Ok(Files::netlink_name(socket));
        }
        Ok(socket.local.clone().unwrap_or_else(|| Address::any(socket.family)))
    }

    /// `getpeername`.
    pub fn peer_address(&self, file: FileId) -> Result<Address, Errno> {
        let socket = self.socket(self.socket_of(file)?).ok_or(Errno::ENOTSOCK)?;
        match socket.state {
            _ if socket.is_netlink() => Ok(Address::any(AF_NETLINK)),
            State::Connected(_) | State::Recorded(_) => {
                Ok(socket.remote.clone().unwrap_or_else(|| Address::any(socket.family)))
            }
            _ => Err(Errno::ENOTCONN),
        }
    }
}
