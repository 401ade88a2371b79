//! `getsockopt` and `setsockopt`: what a program asks about a socket, and what it asks of it.
//!
//! Options that change how packets travel are kept and given back, and change nothing: nothing
//! travels.

use super::{State, Style};
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::linux::fs::Files;
use crate::linux::fs::ids::FileId;
use crate::linux::fs::netlink::SOL_NETLINK;

impl Files {
    /// `getsockopt`: the value, to be cut to the room that the program gave.
    pub fn socket_option(&mut self, file: FileId, level: u32, name: u32) -> Result<Vec<u8>, Errno> {
        let id = self.socket_of(file)?;
        let socket = self.socket_mut(id)?;
        let number = |value: u32| Ok(value.to_le_bytes().to_vec());
        if level == SOL_SOCKET {
            match name {
                SO_TYPE if socket.is_netlink() => {
                    return number(if socket.talk.raw { SOCK_RAW } else { SOCK_DGRAM });
                }
                SO_TYPE => {
                    return number(match socket.style {
                        Style::Stream => SOCK_STREAM,
                        Style::Datagram => SOCK_DGRAM,
                        Style::Packets => SOCK_SEQPACKET,
                    });
                }
                SO_DOMAIN => return number(socket.family),
                SO_PROTOCOL => return number(socket.protocol),
                SO_ERROR => {
                    let error = socket.error.take();
                    return number(error.map_or(0, |errno| errno.number() as u32));
                }
                SO_ACCEPTCONN => {
                    return number(matches!(socket.state, State::Listening(..)).into());
                }
                SO_PEERCRED => {
                    let (pid, uid, gid) = socket.peer_credentials;
                    return Ok([pid, uid, gid].iter().flat_map(|v| v.to_le_bytes()).collect());
                }
                SO_PEERSEC => return Err(Errno::ENOPROTOOPT),
                _ => {}
            }
        }
        if socket.is_netlink() && level == SOL_NETLINK {
            return Files::netlink_option(socket, name);
        }
        if let Some(value) = socket.options.get(&(level, name)) {
            return Ok(value.clone());
        }
        let inet = matches!(socket.family, AF_INET | AF_INET6);
        match (level, name) {
            (SOL_SOCKET, SO_SNDBUF | SO_RCVBUF) => number(super::BOX as u32),
            (SOL_SOCKET, SO_LINGER) => Ok(vec![0; 8]),
            (SOL_SOCKET, SO_RCVTIMEO | SO_SNDTIMEO) => Ok(vec![0; 16]),
            (SOL_SOCKET, SO_RCVLOWAT | SO_SNDLOWAT) => number(1),
            (SOL_SOCKET, _) if name <= SO_DOMAIN => number(0),
            (IPPROTO_TCP, TCP_MAXSEG) if inet => number(32_768),
            (IPPROTO_IP | IPPROTO_TCP | IPPROTO_UDP | IPPROTO_IPV6, _) if inet => number(0),
            (SOL_SOCKET, _) => Err(Errno::ENOPROTOOPT),
            _ if socket.is_netlink() => Err(Errno::ENOPROTOOPT),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }

    /// `setsockopt`.
    pub fn set_socket_option(
        &mut self,
        file: FileId,
        level: u32,
        name: u32,
        value: &[u8],
    ) -> Result<(), Errno> {
        let id = self.socket_of(file)?;
        let socket = self.socket_mut(id)?;
        if socket.is_netlink() && level == SOL_NETLINK {
            return Files::set_netlink_option(socket, name, value);
        }
        let inet = matches!(socket.family, AF_INET | AF_INET6);
        match (level, name) {
            (SOL_SOCKET, SO_TYPE | SO_ERROR | SO_DOMAIN | SO_PROTOCOL | SO_ACCEPTCONN) => {
                return Err(Errno::ENOPROTOOPT);
            }
            (SOL_SOCKET, SO_PEERCRED | SO_PEERSEC) => return Err(Errno::ENOPROTOOPT),
            (SOL_SOCKET, _) if name <= 80 => {}
            (SOL_SOCKET, _) => return Err(Errno::ENOPROTOOPT),
            (IPPROTO_IP | IPPROTO_TCP | IPPROTO_UDP | IPPROTO_IPV6, _) if inet => {}
            _ if socket.is_netlink() => return Err(Errno::ENOPROTOOPT),
            _ => return Err(Errno::EOPNOTSUPP),
        }
        let Some(first) = value.first_chunk::<4>() else { return Err(Errno::EINVAL) };
        let kept = match (level, name) {
            // The kernel keeps room for its own books as well.
            (SOL_SOCKET, SO_SNDBUF | SO_RCVBUF) => {
                let least = if name == SO_SNDBUF { 4608 } else { 2304 };
                let size = u32::from_le_bytes(*first).min(super::BOX as u32) * 2;
                size.max(least).to_le_bytes().to_vec()
            }
            (SOL_SOCKET, SO_LINGER | SO_RCVTIMEO | SO_SNDTIMEO) => value.to_vec(),
            (SOL_SOCKET, _) => u32::from(u32::from_le_bytes(*first) != 0).to_le_bytes().to_vec(),
            _ => first.to_vec(),
        };
        socket.options.insert((level, name), kept);
        Ok(())
    }
}
