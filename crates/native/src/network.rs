//! A network of a run's own: one in which there is nothing but the run and the other side of its
//! connections.
//!
//! The child is begun in a network namespace, and in a user namespace if its user may not have the
//! former alone. Before it is the program it switches the loopback device on, makes every address
//! lead there, and hands over sockets, which belong to that network whoever uses them. Nothing of the
//! host's network can be reached from there, and nothing there from the host.
#![allow(unsafe_code)] // System calls of the child, and the passing of descriptors; each with its proof.

use std::ffi::{CStr, CString, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;

/// The most sockets that are handed over; the kernel's limit is 253.
const MOST_SOCKETS: usize = 240;

/// What the child needs for it, made before there is a child.
pub struct OwnNetwork {
    receiver: UnixDatagram,
    sender: UnixDatagram,
    /// How many sockets are wanted, of each family.
    count: usize,
    maps: [(&'static CStr, CString); 3],
    routes: [Vec<u8>; 2],
}

/// Sockets in the network of a run: for version 4, then for version 6, if the host has that.
pub struct Sockets {
    /// For version 4.
    pub four: Vec<OwnedFd>,
    /// For version 6.
    pub six: Vec<OwnedFd>,
}

impl OwnNetwork {
    /// One with so many sockets of each family to be handed over.
    pub fn new(count: usize) -> io::Result<Self> {
        let (receiver, sender) = UnixDatagram::pair()?;
        receiver.set_nonblocking(true)?;
        // SAFETY: the calls take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        let own = |id: u32| CString::new(format!("{id} {id} 1")).map_err(io::Error::other);
        Ok(Self {
            receiver,
            sender,
            count: count.min(MOST_SOCKETS / 2),
            maps: [
                (c"/proc/self/setgroups", c"deny".to_owned()),
                (c"/proc/self/uid_map", own(user)?),
                (c"/proc/self/gid_map", own(group)?),
            ],
            routes: [route(libc::AF_INET), route(libc::AF_INET6)],
        })
    }

    /// Namespaces that the child is begun in, in the order in which they are tried: those who may
    /// have a network alone keep their users.
    pub const NAMESPACES: [c_int; 2] =
        [libc::CLONE_NEWNET, libc::CLONE_NEWNET | libc::CLONE_NEWUSER];

    /// Makes the network of the calling process ready, and hands its sockets over.
    ///
    /// # Safety
    /// For the child alone, which shares the memory of a thread that sleeps: nothing is allocated.
    pub unsafe fn enter(&self, own_users: bool) -> bool {
        // SAFETY: all are system calls with numbers, with texts that end with a null, and with
        // buffers of ours whose sizes are told; the descriptors are this process's own.
        unsafe {
            if own_users {
                for (path, text) in &self.maps {
                    let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
                    let bytes = text.as_bytes();
                    if file < 0
                        || libc::write(file, bytes.as_ptr().cast(), bytes.len())
                            != bytes.len() as isize
                    {
                        return false;
                    }
                    libc::close(file);
                }
            }
            let stream = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
            let device = libc::socket(libc::AF_INET, stream, 0);
            let mut request: libc::ifreq = std::mem::zeroed();
            request.ifr_name[0] = b'l' as libc::c_char;
            request.ifr_name[1] = b'o' as libc::c_char;
            request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
            if device < 0 || libc::ioctl(device, libc::SIOCSIFFLAGS, &raw const request) != 0 {
                return false;
            }
            let raw = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            let routes = libc::socket(libc::AF_NETLINK, raw, libc::NETLINK_ROUTE);
            for route in &self.routes {
                // A host without version 6 refuses the second; the first is not needed by most.
                libc::send(routes, route.as_ptr().cast(), route.len(), 0);
            }
            let mut sockets = [-1; MOST_SOCKETS];
            let mut made = 0;
            for family in [libc::AF_INET, libc::AF_INET6] {
                for _ in 0..self.count {
                    let socket = libc::socket(family, stream, 0);
                    if socket >= 0 {
                        sockets[made] = socket;
                        made += 1;
                    }
                }
            }
            hand_over(self.sender.as_raw_fd(), &sockets[..made])
        }
    }

    /// The sockets that the child has handed over.
    pub fn sockets(&self) -> io::Result<Sockets> {
        let mut four = receive(&self.receiver)?;
        let six = four.split_off(self.count.min(four.len()));
        Ok(Sockets { four, six })
    }
}

/// A message for the kernel: every address of a family is one of this host.
fn route(family: c_int) -> Vec<u8> {
    const NEW_ROUTE: u16 = 24;
    const REQUEST_CREATE: u16 = 0x401;
    const LOCAL_TABLE: u8 = 255;
    const BOOT: u8 = 3;
    const LOCAL: u8 = 2;
    const DEVICE: u16 = 4;
    const LOOPBACK: u32 = 1;
    let scope = if family == libc::AF_INET { 254 } else { 0 };
    let mut message = Vec::new();
    message.extend(36_u32.to_le_bytes());
    message.extend(NEW_ROUTE.to_le_bytes());
    message.extend(REQUEST_CREATE.to_le_bytes());
    message.extend([0; 8]);
    message.extend([family as u8, 0, 0, 0, LOCAL_TABLE, BOOT, scope, LOCAL, 0, 0, 0, 0]);
    message.extend(8_u16.to_le_bytes());
    message.extend(DEVICE.to_le_bytes());
    message.extend(LOOPBACK.to_le_bytes());
    message
}

/// Room for the control message that carries descriptors, aligned as the kernel wants it.
const ROOM: usize = (24 + 4 * MOST_SOCKETS) / 8 + 1;

/// Sends descriptors.
///
/// # Safety
/// Allocates nothing; the descriptors are open.
unsafe fn hand_over(to: RawFd, descriptors: &[RawFd]) -> bool {
    let mut control = [0_u64; ROOM];
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let size = size_of_val(descriptors) as u32;
    // SAFETY: the structure is numbers and pointers, for which zero is a value. The control message
    // lies in memory of ours that has room for as many descriptors as are ever sent.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size) as usize;
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(size) as usize;
        let data = libc::CMSG_DATA(head).cast::<RawFd>();
        for (at, &descriptor) in descriptors.iter().enumerate() {
            data.add(at).write_unaligned(descriptor);
        }
        libc::sendmsg(to, &raw const message, 0) == 1
    }
}

fn receive(from: &UnixDatagram) -> io::Result<Vec<OwnedFd>> {
    let mut control = [0_u64; ROOM];
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut all = Vec::new();
    // SAFETY: as above; the kernel writes into memory of ours whose size it is told, and the
    // descriptors that it puts there are new and nobody else's.
    unsafe {
        let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        if libc::recvmsg(from.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        if !head.is_null() && (*head).cmsg_type == libc::SCM_RIGHTS {
            let size = (*head).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
            let data = libc::CMSG_DATA(head).cast::<RawFd>();
            for at in 0..size / size_of::<RawFd>() {
                all.push(OwnedFd::from_raw_fd(data.add(at).read_unaligned()));
            }
        }
    }
    Ok(all)
}

/// What is done with an address.
#[derive(Clone, Copy)]
pub enum With {
    /// The socket gets it.
    Bind,
    /// The socket is connected to it.
    Connect,
}

/// Binds a socket to an address, or connects it to one.
pub fn address(socket: &OwnedFd, address: SocketAddr, with: With) -> io::Result<()> {
    // SAFETY: both structures are numbers, for which zero is a value.
    let (mut four, mut six): (libc::sockaddr_in, libc::sockaddr_in6) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    let (at, size): (*const libc::sockaddr, usize) = match address {
        SocketAddr::V4(it) => {
            four.sin_family = libc::AF_INET as u16;
            four.sin_port = it.port().to_be();
            four.sin_addr.s_addr = u32::from(*it.ip()).to_be();
            ((&raw const four).cast(), size_of_val(&four))
        }
        SocketAddr::V6(it) => {
            six.sin6_family = libc::AF_INET6 as u16;
            six.sin6_port = it.port().to_be();
            six.sin6_addr.s6_addr = it.ip().octets();
            ((&raw const six).cast(), size_of_val(&six))
        }
    };
    let (socket, size) = (socket.as_raw_fd(), size as u32);
    // SAFETY: the descriptor is open; the kernel reads a structure of ours of this size.
    let result = unsafe {
        match with {
            With::Bind => libc::bind(socket, at, size),
            With::Connect => libc::connect(socket, at, size),
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has a socket wait for connections; one for version 6 takes no other.
pub fn listen(socket: &OwnedFd) -> io::Result<()> {
    const WAITING: c_int = 16;
    // SAFETY: the descriptor is open; the call takes numbers only.
    let result = unsafe { libc::listen(socket.as_raw_fd(), WAITING) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A socket for version 6 leaves version 4 to others.
pub fn only_six(socket: &OwnedFd) -> io::Result<()> {
    let yes: c_int = 1;
    let (level, name) = (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY);
    // SAFETY: the descriptor is open; the kernel reads one number of ours.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const yes).cast(), 4) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
