//! Addresses of sockets, and how the kernel lays them out.

use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// Where a socket is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// No address, of this family.
    Unnamed(u32),
    /// A name in the tree of files.
    Path(Vec<u8>),
    /// A name outside the tree.
    Abstract(Vec<u8>),
    /// Internet, version 4.
    Inet {
        /// The host.
        host: [u8; 4],
        /// The port.
        port: u16,
    },
    /// Internet, version 6.
    Inet6 {
        /// The host.
        host: [u8; 16],
        /// The port.
        port: u16,
    },
    /// Who talks to the kernel; the kernel itself is zero.
    Netlink {
        /// The port.
        port: u32,
        /// Groups that news go to, a bit each.
        groups: u32,
    },
}

impl Address {
    /// The address in a `struct sockaddr`.
    pub fn decode(bytes: &[u8]) -> Result<Address, Errno> {
        let Some(family) = bytes.first_chunk::<2>() else { return Err(Errno::EINVAL) };
        let port = || -> Result<u16, Errno> {
            let port = bytes.get(2..4).ok_or(Errno::EINVAL)?;
            Ok(u16::from_be_bytes([port[0], port[1]]))
        };
        match u32::from(u16::from_le_bytes(*family)) {
            AF_UNIX => {
                let name = &bytes[2..];
                if name.len() > 108 {
                    return Err(Errno::EINVAL);
                }
                match name.first() {
                    None => Ok(Address::Unnamed(AF_UNIX)),
                    Some(0) => Ok(Address::Abstract(name[1..].to_vec())),
                    Some(_) => {
                        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
                        Ok(Address::Path(name[..end].to_vec()))
                    }
                }
            }
            AF_INET => {
                let host = bytes.get(4..8).ok_or(Errno::EINVAL)?;
                if bytes.len() < 16 {
                    return Err(Errno::EINVAL);
                }
                Ok(Address::Inet { host: host.try_into().expect("four bytes"), port: port()? })
            }
            AF_INET6 => {
                let host = bytes.get(8..24).ok_or(Errno::EINVAL)?;
                Ok(Address::Inet6 { host: host.try_into().expect("sixteen bytes"), port: port()? })
            }
            AF_NETLINK => {
                let word = |at: usize| {
                    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
                    word.copied().map(u32::from_le_bytes).ok_or(Errno::EINVAL)
                };
                Ok(Address::Netlink { port: word(4)?, groups: word(8)? })
            }
            AF_UNSPEC => Ok(Address::Unnamed(AF_UNSPEC)),
            _ => Err(Errno::EAFNOSUPPORT),
        }
    }

    /// A `struct sockaddr`.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = (self.family() as u16).to_le_bytes().to_vec();
        match self {
            Address::Unnamed(_) => {}
            Address::Path(path) => {
                out.extend_from_slice(path);
                out.push(0);
            }
            Address::Abstract(name) => {
                out.push(0);
                out.extend_from_slice(name);
            }
            Address::Inet { host, port } => {
                out.extend_from_slice(&port.to_be_bytes());
                out.extend_from_slice(host);
                out.resize(16, 0);
            }
            Address::Inet6 { host, port } => {
                out.extend_from_slice(&port.to_be_bytes());
                out.extend_from_slice(&[0; 4]);
                out.extend_from_slice(host);
                out.resize(28, 0);
            }
            Address::Netlink { port, groups } => {
                out.extend_from_slice(&[0; 2]);
                out.extend_from_slice(&port.to_le_bytes());
                out.extend_from_slice(&groups.to_le_bytes());
            }
        }
        out
    }

    /// The family.
    pub fn family(&self) -> u32 {
        match self {
            Address::Unnamed(family) => *family,
            Address::Path(_) | Address::Abstract(_) => AF_UNIX,
            Address::Inet { .. } => AF_INET,
            Address::Inet6 { .. } => AF_INET6,
            Address::Netlink { .. } => AF_NETLINK,
        }
    }

    /// The port, of an Internet address.
    pub(super) fn port(&self) -> Option<u16> {
        match self {
            Address::Inet { port, .. } | Address::Inet6 { port, .. } => Some(*port),
            _ => None,
        }
    }

    /// The same host with another port.
    pub(super) fn with_port(&self, port: u16) -> Address {
        match self {
            Address::Inet { host, .. } => Address::Inet { host: *host, port },
            Address::Inet6 { host, .. } => Address::Inet6 { host: *host, port },
            other => other.clone(),
        }
    }

    /// The loopback host of a family, with port zero.
    pub(super) fn loopback(family: u32) -> Address {
        let mut six = [0; 16];
        six[15] = 1;
        match family {
            AF_INET => Address::Inet { host: [127, 0, 0, 1], port: 0 },
            AF_INET6 => Address::Inet6 { host: six, port: 0 },
            _ => Address::Unnamed(family),
        }
    }

    /// Any host of a family, with port zero.
    pub(super) fn any(family: u32) -> Address {
        match family {
            AF_INET => Address::Inet { host: [0; 4], port: 0 },
            AF_INET6 => Address::Inet6 { host: [0; 16], port: 0 },
            AF_NETLINK => Address::Netlink { port: 0, groups: 0 },
            _ => Address::Unnamed(family),
        }
    }

    /// Whether it is this machine, or any host.
    pub(super) fn is_here(&self) -> bool {
        match self {
            Address::Inet { host, .. } => host[0] == 127 || *host == [0; 4],
            Address::Inet6 { host, .. } => host[..15] == [0; 15] && host[15] <= 1,
            _ => true,
        }
    }

    /// Whether it is any host.
    pub(super) fn is_any(&self) -> bool {
        match self {
            Address::Inet { host, .. } => *host == [0; 4],
            Address::Inet6 { host, .. } => *host == [0; 16],
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back() {
        let addresses = [
            Address::Unnamed(AF_UNIX),
            Address::Path(b"/tmp/x".to_vec()),
            Address::Abstract(b"x\0y".to_vec()),
            Address::Inet { host: [127, 0, 0, 1], port: 8080 },
            Address::Inet6 { host: [3; 16], port: 80 },
            Address::Netlink { port: 4711, groups: 5 },
        ];
        for address in addresses {
            assert_eq!(Address::decode(&address.encode()), Ok(address));
        }
        assert_eq!(Address::decode(&[1]), Err(Errno::EINVAL));
        assert_eq!(Address::decode(&[77, 0, 0]), Err(Errno::EAFNOSUPPORT));
        assert_eq!(Address::decode(&[16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), Err(Errno::EINVAL));
        assert_eq!(size_of::<libc::sockaddr_nl>(), 12);
        assert_eq!(size_of::<libc::sockaddr_in>(), 16);
        assert_eq!(size_of::<libc::sockaddr_in6>(), 28);
    }
}
