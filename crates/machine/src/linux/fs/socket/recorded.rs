//! Recorded connections: what the other side said in an earlier run is said again.
//!
//! The other side of such a connection is no socket: its bytes are the content of a file without a
//! name, so that they can be followed and exchanged as those of any input, and whatever the program
//! sends is taken and forgotten. Clients come one after the other: the next one when the program has
//! closed the connection with the last, or waits for something else for ever. Datagrams are not
//! recorded.

use std::sync::Arc;

use stunt_path::{Connection, Way};

use super::{Address, Received, Socket, State, Style};
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::linux::fs::Files;
use crate::linux::fs::ids::{FileId, Halt, InodeId, Place, SocketId, SourceId, Wait};

/// The port of the first client; the next ones follow it.
const FIRST_CLIENT: u16 = 40_000;

/// How far the recorded connections have come.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    /// What the other sides send, in the order of the connections.
    contents: Arc<[InodeId]>,
    /// Which have begun.
    begun: Vec<bool>,
    /// The next client comes although the last is still there.
    due: bool,
}

impl Files {
    /// Keeps what the other sides will send.
    pub(in crate::linux::fs) fn record_connections(&mut self) {
        let config = self.config.clone();
        let contents: Vec<InodeId> =
            config.connections.iter().map(|it| self.nameless(&it.bytes)).collect();
        let recorded = &mut Arc::make_mut(&mut self.network).recorded;
        recorded.begun = vec![false; contents.len()];
        recorded.contents = contents.into();
    }

    /// What the other side of a connection sends: where its bytes come from.
    pub fn connection_inode(&self, number: usize) -> Option<InodeId> {
        self.network.recorded.contents.get(number).copied()
    }

    /// Whether there are recorded connections.
    pub(crate) fn has_connections(&self) -> bool {
        !self.config.connections.is_empty()
    }

    /// Whether all of them are over.
    pub(crate) fn connections_are_over(&self) -> bool {
        self.network.recorded.begun.iter().all(|&begun| begun) && !self.has_open_connection()
    }

    fn has_open_connection(&self) -> bool {
        self.sockets.values().any(|socket| matches!(socket.state, State::Recorded(_)))
    }

    /// Whether a client is there.
    fn has_client(&self) -> bool {
        let ways = &self.config.connections;
        self.sockets.values().any(|socket| match socket.state {
            State::Recorded(number) => ways[number].way == Way::Accepted,
            _ => false,
        })
    }

    /// The next connection that is made in this way.
    fn next_connection(&self, way: Way) -> Option<(usize, &Connection)> {
        let all = self.config.connections.iter().enumerate();
        let mut left = all.filter(|&(number, _)| !self.network.recorded.begun[number]);
        left.find(|(_, connection)| connection.way == way)
    }

    /// The socket that the next client connects to, and the number of the connection. The first that
    /// listens, if the port is not known.
    fn next_client(&self) -> Option<(SocketId, usize)> {
        let (number, connection) = self.next_connection(Way::Accepted)?;
        let listens = |socket: &Socket| {
            let port = socket.local.as_ref().and_then(Address::port);
            socket.family != AF_UNIX
                && matches!(socket.state, State::Listening(..))
                && connection.port.is_none_or(|wanted| port == Some(wanted))
        };
        let server = self.sockets.iter().find(|(_, socket)| listens(socket))?;
        Some((*server.0, number))
    }

    /// The connection that waits for this socket to accept it.
    pub(super) fn client_of(&self, listener: SocketId) -> Option<usize> {
        let (server, number) = self.next_client()?;
        let now = self.network.recorded.due || !self.has_client();
        (server == listener && now).then_some(number)
    }

    /// Nobody can go on: lets the next client come, if there is one. Gives whether there is.
    pub(crate) fn let_next_client_come(&mut self) -> bool {
        let Some((server, _)) = self.next_client().filter(|_| !self.network.recorded.due) else {
            return false;
        };
        Arc::make_mut(&mut self.network).recorded.due = true;
        self.notice_client(server);
        true
    }

    /// A connection is closed: the next client may come.
    pub(super) fn after_recorded(&mut self) {
        if let Some((server, _)) = self.next_client() {
            self.notice_client(server);
        }
    }

    fn notice_client(&mut self, server: SocketId) {
        if let Ok(socket) = self.socket_mut(server) {
            socket.activity += 1;
        }
    }

    fn begin(&mut self, number: usize) -> bool {
        let recorded = &mut Arc::make_mut(&mut self.network).recorded;
        recorded.begun[number] = true;
        recorded.due = false;
        self.config.connections[number].closes
    }

    /// The connection with a client, made.
    pub(super) fn accept_recorded(
        &mut self,
        listener: SocketId,
        number: usize,
    ) -> Result<SocketId, Errno> {
        let closes = self.begin(number);
        let server = self.socket(listener).ok_or(Errno::ENOTSOCK)?.clone();
        let (family, port) = (server.family, server.local.as_ref().and_then(Address::port));
        let client = FIRST_CLIENT.wrapping_add(number as u16);
        let mut local = server.local.clone();
        if local.as_ref().is_some_and(Address::is_any) {
            local = Some(Address::loopback(family).with_port(port.unwrap_or(0)));
        }
        Ok(self.add_socket(Socket {
            state: State::Recorded(number),
            local,
            remote: Some(Address::loopback(family).with_port(client)),
            no_more_in: closes,
            activity: 0,
            ..server
        }))
    }

    /// Connects a socket to a recorded server, if the next one is at this address.
    pub(super) fn connect_recorded(
        &mut self,
        id: SocketId,
        address: &Address,
    ) -> Result<bool, Errno> {
        let next = self.next_connection(Way::Made).filter(|(_, connection)| {
            connection.port.is_none_or(|wanted| address.port() == Some(wanted))
        });
        let Some((number, _)) = next else { return Ok(false) };
        let socket = self.socket(id).ok_or(Errno::ENOTSOCK)?;
        if socket.family == AF_UNIX || socket.style != Style::Stream {
            return Ok(false);
        }
        if socket.local.is_none() {
            let bound = self.bind_port(id, &Address::loopback(address.family()))?;
            self.socket_mut(id)?.local = Some(bound);
        }
        let closes = self.begin(number);
        let socket = self.socket_mut(id)?;
        socket.state = State::Recorded(number);
        socket.remote = Some(address.clone());
        socket.no_more_in = closes;
        socket.activity += 1;
        Ok(true)
    }

    /// How many bytes wait to be read on a recorded connection.
    pub(super) fn unread(&self, socket: &Socket, number: usize) -> u64 {
        let all = self.connection_inode(number).map_or(0, |inode| self.inode(inode).kind.size());
        all.saturating_sub(socket.taken)
    }

    /// Receives from a recorded connection.
    pub(super) fn receive_recorded(
        &mut self,
        file: FileId,
        id: SocketId,
        number: usize,
        into: &mut [u8],
        (nonblocking, peek): (bool, bool),
    ) -> Result<Received, Halt> {
        let inode = self.connection_inode(number).ok_or(Errno::ENOTCONN)?;
        let content = self.content_now(inode);
        let socket = self.socket_mut(id)?;
        let offset = socket.taken;
        let count = content.read_at(offset, into)?;
        if count == 0 && !into.is_empty() && !socket.no_more_in {
            if nonblocking {
                return Err(Errno::EAGAIN.into());
            }
            return Err(Halt::Wait(Wait { file, events: POLLIN | POLLHUP | POLLERR, done: 0 }));
        }
        if !peek {
            socket.taken += count as u64;
        }
        let place = Some(Place { source: SourceId::Inode(inode), offset });
        Ok(Received { count, full: count, place, ..Received::end() })
    }
}
