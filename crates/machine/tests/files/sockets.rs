//! Sockets of the machine against sockets of the host: the same script, the same answers.

use std::path::Path;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::linux::abi::*;
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Address, Config, FileId, Halt, Message};

use crate::common::{Guest, OWN, Scratch};
use crate::native::call;

type Answer = Result<i64, Errno>;

/// A socket in both worlds.
#[derive(Clone, Copy)]
struct Both {
    fd: i32,
    file: FileId,
}

struct Twins {
    guest: Guest,
}

fn plain<T>(result: Result<T, Halt>) -> Result<T, Errno> {
    result.map_err(Halt::errno)
}

fn same<T>(what: &str, theirs: Answer, ours: Result<T, Errno>) -> bool {
    let ours = ours.map(|_| ());
    assert_eq!(ours, theirs.map(|_| ()), "ours, the host's: {what}");
    ours.is_ok()
}

impl Twins {
    fn new() -> Twins {
        Twins { guest: Guest::new(Config::default()) }
    }

    fn socket(&mut self, family: u32, kind: u32) -> Both {
        let kind = kind | SOCK_NONBLOCK;
        let fd = call!(socket(family as i32, kind as i32, 0)).unwrap() as i32;
        let file = self.guest.files.new_socket(OWN, family, kind, 0).unwrap();
        Both { fd, file }
    }

    fn pair(&mut self, kind: u32) -> [Both; 2] {
        let kind = kind | SOCK_NONBLOCK;
        let mut fds = [0; 2];
        call!(socketpair(AF_UNIX as i32, kind as i32, 0, fds.as_mut_ptr())).unwrap();
        let (a, b) = self.guest.files.socket_pair(OWN, AF_UNIX, kind, 0).unwrap();
        [Both { fd: fds[0], file: a }, Both { fd: fds[1], file: b }]
    }

    fn send(&mut self, socket: Both, bytes: &[u8], flags: u32) -> Answer {
        let flags = flags | MSG_NOSIGNAL;
        let theirs = call!(send(socket.fd, bytes.as_ptr().cast(), bytes.len(), flags as i32));
        let message = Message { bytes, to: None, files: Vec::new() };
        let ours = plain(self.guest.call(|f, c| f.send(c, socket.file, &message, flags)));
        assert_eq!(ours.map(|moved| moved.count as i64), theirs, "send {}", bytes.len());
        theirs
    }

    fn receive(&mut self, socket: Both, size: usize, flags: u32) -> Answer {
        let (mut a, mut b) = (vec![0u8; size], vec![0u8; size]);
        let theirs = call!(recv(socket.fd, a.as_mut_ptr().cast(), size, flags as i32));
        let ours = plain(self.guest.files.receive(socket.file, &mut b, flags));
        let count = ours.map(|got| {
            let whole = flags & MSG_TRUNC != 0;
            if whole { got.full as i64 } else { got.count as i64 }
        });
        assert_eq!(count, theirs, "receive {size} {flags:x}");
        assert!(a == b, "bytes received");
        theirs
    }

    fn shutdown(&mut self, socket: Both, how: u32) {
        let theirs = call!(shutdown(socket.fd, how as i32));
        same("shutdown", theirs, self.guest.files.shutdown(socket.file, how));
    }

    fn close(&mut self, socket: Both) {
        call!(close(socket.fd)).unwrap();
        self.guest.files.release(socket.file);
    }

    fn bind(&mut self, socket: Both, theirs: &Address, ours: &Address) -> bool {
        let bytes = theirs.encode();
        let theirs = call!(bind(socket.fd, bytes.as_ptr().cast(), bytes.len() as u32));
        let ours = self.guest.call(|f, c| f.bind(c, socket.file, ours));
        same("bind", theirs, ours)
    }

    fn connect(&mut self, socket: Both, theirs: &Address, ours: &Address) -> bool {
        let bytes = theirs.encode();
        let theirs = call!(connect(socket.fd, bytes.as_ptr().cast(), bytes.len() as u32));
        let ours = plain(self.guest.call(|f, c| f.connect(c, socket.file, ours)));
        same("connect", theirs, ours)
    }

    fn listen(&mut self, socket: Both) -> bool {
        let theirs = call!(listen(socket.fd, 5));
        same("listen", theirs, self.guest.files.listen(socket.file, 5))
    }

    fn accept(&mut self, socket: Both) -> Option<Both> {
        let theirs = call!(accept4(
            socket.fd,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            libc::SOCK_NONBLOCK
        ));
        let ours = plain(self.guest.files.accept(socket.file, SOCK_NONBLOCK));
        let file = ours.as_ref().ok().map(|accepted| accepted.0);
        same("accept", theirs, ours);
        file.map(|file| Both { fd: theirs.unwrap() as i32, file })
    }

    fn local(&self, socket: Both) -> (Address, Address) {
        let mut bytes = [0u8; 128];
        let mut size = 128;
        call!(getsockname(socket.fd, bytes.as_mut_ptr().cast(), &mut size)).unwrap();
        let theirs = Address::decode(&bytes[..size as usize]).unwrap();
        (theirs, self.guest.files.local_address(socket.file).unwrap())
    }
}

#[test]
fn pairs_agree_with_the_host() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..60 {
        let kind = [SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET][round % 3];
        let mut twins = Twins::new();
        let pair = twins.pair(kind);
        for _ in 0..150 {
            let socket = pair[rng.gen_range(0..2)];
            let size = *[1, 7, 100, 3000].choose(&mut rng).unwrap();
            if rng.gen_bool(0.5) {
                let bytes: Vec<u8> = (0..size).map(|_| rng.r#gen()).collect();
                twins.send(socket, &bytes, 0).ok();
            } else {
                let flags = [0, 0, MSG_PEEK, MSG_TRUNC, MSG_PEEK | MSG_TRUNC];
                let flags = *flags.choose(&mut rng).unwrap();
                // On streams MSG_TRUNC means something else.
                let flags = if kind == SOCK_STREAM { flags & !MSG_TRUNC } else { flags };
                twins.receive(socket, size, flags).ok();
            }
            if rng.gen_bool(0.01) {
                twins.shutdown(socket, rng.gen_range(0..3));
            }
        }
        twins.close(pair[0]);
        for _ in 0..400 {
            if matches!(twins.receive(pair[1], 5000, 0), Ok(0) | Err(_)) {
                break;
            }
        }
        twins.send(pair[1], b"anyone?", 0).ok();
        twins.close(pair[1]);
    }
}

fn conversation(twins: &mut Twins, server: Both, theirs: &Address, ours: &Address, family: u32) {
    let client = twins.socket(family, SOCK_STREAM);
    assert!(twins.listen(server));
    assert!(twins.accept(server).is_none());
    // An Internet connection without waiting is under way first, and there at once.
    assert_eq!(twins.connect(client, theirs, ours), family == AF_UNIX);
    let accepted = twins.accept(server).expect("a connection");
    twins.send(client, b"hello", 0).unwrap();
    twins.receive(accepted, 3, 0).unwrap();
    twins.receive(accepted, 30, MSG_PEEK).unwrap();
    twins.send(accepted, b"welcome", 0).unwrap();
    twins.receive(client, 30, 0).unwrap();
    assert_eq!(twins.receive(client, 30, 0), Err(Errno::EAGAIN));
    twins.receive(accepted, 30, 0).unwrap();
    twins.shutdown(client, SHUT_WR);
    assert_eq!(twins.receive(accepted, 30, 0), Ok(0));
    twins.send(accepted, b"still", 0).unwrap();
    twins.receive(client, 30, 0).unwrap();
    twins.close(accepted);
    assert_eq!(twins.receive(client, 30, 0), Ok(0));
    twins.close(client);
    twins.close(server);
}

#[test]
fn internet_connections_agree_with_the_host() {
    let mut twins = Twins::new();
    let any = Address::Inet { host: [127, 0, 0, 1], port: 0 };
    let server = twins.socket(AF_INET, SOCK_STREAM);
    assert!(twins.bind(server, &any, &any));
    let (theirs, ours) = twins.local(server);
    conversation(&mut twins, server, &theirs, &ours, AF_INET);
    // Now that nobody listens, a patient caller is refused.
    let file = twins.guest.files.new_socket(OWN, AF_INET, SOCK_STREAM, 0).unwrap();
    let refused = twins.guest.call(|f, c| f.connect(c, file, &ours));
    assert_eq!(refused, Err(Halt::Error(Errno::ECONNREFUSED)));
    // One that does not wait learns it later.
    twins.guest.files.set_nonblocking(file, true).unwrap();
    let later = twins.guest.call(|f, c| f.connect(c, file, &ours));
    assert_eq!(later, Err(Halt::Error(Errno::EINPROGRESS)));
    assert_ne!(twins.guest.files.ready(file) & POLLERR, 0);
    let error = twins.guest.files.socket_option(file, SOL_SOCKET, SO_ERROR).unwrap();
    assert_eq!(error, 111u32.to_le_bytes());
    // The world outside does not exist.
    let away = Address::Inet { host: [192, 0, 2, 1], port: 80 };
    let file = twins.guest.files.new_socket(OWN, AF_INET, SOCK_STREAM, 0).unwrap();
    let gone = twins.guest.call(|f, c| f.connect(c, file, &away));
    assert_eq!(gone, Err(Halt::Error(Errno::ENETUNREACH)));
    // Of the kernel one can ask about the network, and nothing else.
    let netlink = twins.guest.files.new_socket(OWN, AF_NETLINK, SOCK_RAW, 9);
    assert_eq!(netlink, Err(Errno::EPROTONOSUPPORT));
    let packets = twins.guest.files.new_socket(OWN, AF_PACKET, SOCK_RAW, 0);
    assert_eq!(packets, Err(Errno::EAFNOSUPPORT));
}

#[test]
fn local_connections_agree_with_the_host() {
    let scratch = Scratch::new("sockets");
    let path = |name: &str| {
        let theirs = Address::Path(scratch.0.join(name).to_str().unwrap().into());
        let ours = Address::Path(Path::new("/tmp").join(name).to_str().unwrap().into());
        (theirs, ours)
    };
    let mut twins = Twins::new();
    let (theirs, ours) = path("server");
    let early = twins.socket(AF_UNIX, SOCK_STREAM);
    assert!(!twins.connect(early, &theirs, &ours));
    let server = twins.socket(AF_UNIX, SOCK_STREAM);
    assert!(twins.bind(server, &theirs, &ours));
    assert!(!twins.connect(early, &theirs, &ours));
    assert!(!twins.bind(early, &theirs, &ours));
    conversation(&mut twins, server, &theirs, &ours, AF_UNIX);
    // The name is still there, but nobody is behind it.
    assert!(!twins.connect(early, &theirs, &ours));
    let datagrams = twins.socket(AF_UNIX, SOCK_DGRAM);
    let (theirs, ours) = path("box");
    assert!(twins.bind(datagrams, &theirs, &ours));
    let sender = twins.socket(AF_UNIX, SOCK_DGRAM);
    assert!(twins.connect(sender, &theirs, &ours));
    for size in [1, 0, 5] {
        twins.send(sender, &vec![9; size], 0).unwrap();
    }
    for _ in 0..3 {
        twins.receive(datagrams, 4, MSG_TRUNC).unwrap();
    }
    assert!(!twins.connect(early, &theirs, &ours));
    twins.close(datagrams);
    assert_eq!(twins.send(sender, b"x", 0), Err(Errno::ECONNREFUSED));
}

#[test]
fn files_travel_through_sockets() {
    let mut guest = Guest::new(Config::default());
    let (a, b) = guest.files.socket_pair(OWN, AF_UNIX, SOCK_STREAM, 0).unwrap();
    let (reader, writer) = guest.files.new_pipe(0).unwrap();
    guest.files.retain(reader);
    let message = Message { bytes: b"take it", to: None, files: vec![reader] };
    guest.call(|f, c| f.send(c, a, &message, 0)).unwrap();
    guest.files.release(reader);
    guest.files.write(writer, b"through").unwrap();
    let mut buffer = [0; 20];
    let received = guest.files.receive(b, &mut buffer, 0).unwrap();
    assert_eq!((received.count, &received.attached.files[..]), (7, &[reader][..]));
    assert_eq!(guest.files.read(reader, &mut buffer).unwrap().count, 7);
    // A file in a message that nobody takes is closed with the socket.
    let message = Message { bytes: b"again", to: None, files: vec![reader] };
    guest.call(|f, c| f.send(c, a, &message, 0)).unwrap();
    guest.files.release(b);
    assert_eq!(guest.files.write(writer, b"x"), Err(Halt::BrokenPipe));
}
