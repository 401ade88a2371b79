//! Connections of a program: how each was made, and what was received on it.
//!
//! A connection is known by the number that the kernel gave its socket, whatever descriptors lead to
//! it in whatever process. Those of the network count, and those that were accepted on a socket of
//! the host; talk with the host's own services (name lookups, logs, a display) does not.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use crate::incident::{Transport, Way};
use crate::run::os;
use crate::run::streams::Stream;

/// The most connections that are noted.
const MOST: usize = 10_000;

/// One connection.
#[derive(Debug)]
pub struct Connection {
    /// Which way it was made.
    pub way: Way,
    /// How bytes come.
    pub transport: Transport,
    /// What was received.
    pub stream: Stream,
}

/// All connections of a run, in the order in which they were made.
#[derive(Debug, Default)]
pub struct Connections {
    /// The connections.
    pub all: Vec<Connection>,
    by_node: BTreeMap<u64, usize>,
    ignored: BTreeSet<u64>,
}

impl Connections {
    /// The connection of a socket, if it is one that counts.
    pub fn find(&self, node: u64) -> Option<usize> {
        self.by_node.get(&node).copied()
    }

    /// A program accepted a connection, which has this descriptor.
    pub fn accepted(&mut self, pid: i32, descriptor: i32, node: u64) -> Option<usize> {
        let (transport, port) = look(pid, descriptor);
        self.add(node, Way::Accepted(port), transport?)
    }

    /// A program connected a descriptor to an address, as the program wrote it.
    pub fn connected(
        &mut self,
        pid: i32,
        descriptor: i32,
        node: u64,
        address: &[u8],
    ) -> Option<usize> {
        let to = address_of(address)?;
        let (transport, _) = look(pid, descriptor);
        let way = Way::Connected(to.to_string());
        if let Some(at) = self.find(node) {
            // Resolvers connect one socket to one address after the other.
            self.all[at].way = way;
            return Some(at);
        }
        self.add(node, way, transport.filter(|it| *it != Transport::Unix)?)
    }

    /// A program receives from a socket that may be unknown: one that was never connected, or that
    /// the program was given.
    pub fn receives(&mut self, pid: i32, descriptor: i32, node: u64) -> Option<usize> {
        if let Some(at) = self.find(node) {
            return Some(at);
        }
        if self.ignored.contains(&node) {
            return None;
        }
        let (transport, port) = look(pid, descriptor);
        let transport = transport.filter(|it| *it != Transport::Unix);
        if transport.is_none() {
            self.ignored.insert(node);
        }
        self.add(node, Way::Bound(port), transport?)
    }

    fn add(&mut self, node: u64, way: Way, transport: Transport) -> Option<usize> {
        if self.all.len() >= MOST {
            return None;
        }
        let at = self.all.len();
        self.by_node.insert(node, at);
        self.all.push(Connection { way, transport, stream: Stream::default() });
        Some(at)
    }
}

/// How the bytes of a socket come, if they count, and its port.
fn look(pid: i32, descriptor: i32) -> (Option<Transport>, u16) {
    let Ok(socket) = os::borrow_descriptor(pid, descriptor) else { return (None, 0) };
    let kind = os::socket_kind(socket.as_fd());
    let transport = kind.and_then(|(family, kind)| match (family, kind) {
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM) => Some(Transport::Tcp),
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_DGRAM) => Some(Transport::Udp),
        (libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_SEQPACKET) => Some(Transport::Unix),
        _ => None,
    });
    let address = os::local_address(socket.as_fd());
    let port = address.as_deref().and_then(address_of).map_or(0, |address| address.port());
    (transport, port)
}

/// An address of the network, as the kernel writes it.
fn address_of(bytes: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?));
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    match family {
        libc::AF_INET => {
            let address: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some((Ipv4Addr::from(address), port).into())
        }
        libc::AF_INET6 => {
            let address: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some((Ipv6Addr::from(address), port).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_writes_them() {
        let ours = std::process::id().cast_signed();
        for name in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(name) else { continue };
            let address = listener.local_addr().unwrap();
            let found = os::local_address(listener.as_fd()).unwrap();
            assert_eq!(address_of(&found), Some(address));
            let (transport, port) = look(ours, listener.as_raw_fd());
            assert_eq!((transport, port), (Some(Transport::Tcp), address.port()));
        }
        assert_eq!(address_of(b""), None);
        assert_eq!(address_of(&[1, 0, b'/', b'x']), None);
    }

    #[test]
    fn sockets_count_by_their_kind() {
        let ours = std::process::id().cast_signed();
        let mut connections = Connections::default();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = udp.local_addr().unwrap().port();
        let at = connections.receives(ours, udp.as_raw_fd(), 7).unwrap();
        assert_eq!(connections.all[at].way, Way::Bound(port));
        assert_eq!(connections.all[at].transport, Transport::Udp);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let at = connections.accepted(ours, server.as_raw_fd(), 8).unwrap();
        assert_eq!(connections.all[at].way, Way::Accepted(listener.local_addr().unwrap().port()));
        assert_eq!(connections.receives(ours, server.as_raw_fd(), 8), Some(at));
        drop(client);
        let (one, _) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(connections.receives(ours, one.as_raw_fd(), 9), None);
    }
}
