//! The other side of a run's connections.
//!
//! A thread of its own connects to the program as clients do, one after the other, and answers it as
//! servers do: it sends what it was given, closes its half if it was told so, and reads and drops
//! whatever comes back. The next client comes when the program has closed the connection with the
//! last, or when the program is at rest. When there is nothing left to send and the program is at
//! rest, the run is over: there is no more input.
//!
//! Always holds: the bytes go to the network of the run and nowhere else.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use stunt_path::{Connection, Way};
use stunt_tracee as tracee;

use crate::network::{self, Sockets, With};
use crate::os;
use crate::rest::{Rest, rest};
use crate::watch::Clock;

/// How long nothing happens between two looks.
const PAUSE: Duration = Duration::from_millis(1);
/// How long a program may sleep, wake up and sleep again after all connections have begun.
const QUIET: Duration = Duration::from_millis(500);
/// So many looks in a row that see it awake are more than a look at the clock.
const AWAKE: u32 = 5;
/// The port of the first client; the next ones follow it. The same as in the machine.
const FIRST_CLIENT: u16 = 40_000;

/// Why the other side ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no more input.
    Idle,
    /// It took too long.
    Expired,
}

/// The processes of a run, with handles by which they can be ended whoever has their numbers then.
#[derive(Default)]
pub struct Processes(Mutex<BTreeMap<i32, OwnedFd>>);

impl Processes {
    /// A process has begun.
    pub fn add(&self, process: i32) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(&process)
            && let Ok(handle) = tracee::handle(process)
        {
            all.insert(process, handle);
        }
    }

    /// It is gone.
    pub fn remove(&self, process: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&process);
    }

    fn numbers(&self) -> Vec<i32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    fn kill(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .for_each(tracee::kill_by_handle);
    }
}

/// The other side, before the program runs.
pub struct Prepared {
    connections: Vec<Connection>,
    begun: Vec<bool>,
    /// Sockets for clients.
    four: Vec<OwnedFd>,
    six: Vec<OwnedFd>,
    /// Servers that the program may connect to, by their ports.
    servers: Vec<(u16, TcpListener)>,
}

/// The other side, while the program runs.
pub struct Peer {
    thread: JoinHandle<Option<Verdict>>,
    over: Arc<AtomicBool>,
}

impl Prepared {
    /// How many sockets of each family are needed.
    pub fn sockets(connections: &[Connection]) -> usize {
        connections.len()
    }

    /// Makes servers wait for the program.
    pub fn new(connections: &[Connection], sockets: Sockets) -> io::Result<Self> {
        let Sockets { mut four, mut six } = sockets;
        let mut servers: Vec<(u16, TcpListener)> = Vec::new();
        for connection in connections.iter().filter(|it| it.way == Way::Made) {
            let Some(port) = connection.port else { continue };
            if servers.iter().any(|(known, _)| *known == port) {
                continue;
            }
            let any = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
            for (pool, any) in [&mut four, &mut six].into_iter().zip(any) {
                let Some(socket) = pool.pop() else { continue };
                if any.is_ipv6() {
                    network::only_six(&socket)?;
                }
                network::address(&socket, SocketAddr::new(any, port), With::Bind)?;
                network::listen(&socket)?;
                os::do_not_wait(socket.as_fd())?;
                servers.push((port, TcpListener::from(socket)));
            }
        }
        let begun = vec![false; connections.len()];
        Ok(Self { connections: connections.to_vec(), begun, four, six, servers })
    }

    /// Begins: the program runs.
    pub fn begin(self, processes: Arc<Processes>, clock: Arc<Clock>, time: Duration) -> Peer {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            Side { prepared: self, streams: Vec::new(), processes }.run(&told, &clock, time)
        });
        Peer { thread, over }
    }
}

impl Peer {
    /// The run is over: whether it was ended from here.
    pub fn end(self) -> Option<Verdict> {
        self.over.store(true, Ordering::SeqCst);
        self.thread.join().unwrap_or_default()
    }
}

/// A connection that has begun.
struct Stream {
    socket: TcpStream,
    bytes: Arc<[u8]>,
    sent: usize,
    closes: bool,
    way: Way,
    /// The program was at rest with it: others need not wait for it.
    left_alone: bool,
}

impl Stream {
    /// Sends and reads what can be; whether something happened, or nothing if it is over.
    fn serve(&mut self) -> Option<bool> {
        let mut happened = false;
        while self.sent < self.bytes.len() {
            match self.socket.write(&self.bytes[self.sent..]) {
                Ok(count) => (self.sent, happened) = (self.sent + count, true),
                Err(error) if waits(&error) => break,
                Err(_) => return None,
            }
        }
        if self.sent == self.bytes.len() && self.closes {
            // A connection that is still being made cannot be closed.
            match self.socket.shutdown(Shutdown::Write) {
                Ok(()) => (self.closes, happened) = (false, true),
                Err(error) if error.kind() == ErrorKind::NotConnected => {}
                Err(_) => return None,
            }
        }
        let mut buffer = [0; 16 << 10];
        loop {
            match self.socket.read(&mut buffer) {
                Ok(0) => return None,
                Ok(_) => happened = true,
                Err(error) if waits(&error) => return Some(happened),
                Err(_) => return None,
            }
        }
    }
}

fn waits(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected | ErrorKind::Interrupted)
}

/// The thread's state.
struct Side {
    prepared: Prepared,
    streams: Vec<Stream>,
    processes: Arc<Processes>,
}

impl Side {
    fn run(mut self, over: &AtomicBool, clock: &Clock, time: Duration) -> Option<Verdict> {
        let mut last: Option<u64> = None;
        let mut asleep_since: Option<Instant> = None;
        let mut awake = 0;
        while !over.load(Ordering::SeqCst) {
            if clock.ran(Instant::now()) >= time {
                self.processes.kill();
                return Some(Verdict::Expired);
            }
            if self.step() {
                (last, asleep_since) = (None, None);
                continue;
            }
            let sockets: Vec<_> = self.streams.iter().map(|it| it.socket.as_fd()).collect();
            // If it cannot be waited for, it is looked at again all the same.
            if os::readable(&sockets, PAUSE).is_ok_and(|readable| readable.contains(&true)) {
                (last, asleep_since) = (None, None);
                continue;
            }
            let now = Instant::now();
            let at_rest = match rest(&self.processes.numbers()) {
                Rest::Busy => {
                    (last, awake) = (None, awake + 1);
                    asleep_since = asleep_since.filter(|_| awake < AWAKE);
                    false
                }
                Rest::ForEver(same) => last.replace(same) == Some(same),
                Rest::ForAWhile(_) => {
                    (last, awake) = (None, 0);
                    let all = self.prepared.begun.iter().all(|&begun| begun);
                    all && now - *asleep_since.get_or_insert(now) >= QUIET
                }
            };
            if at_rest && !self.hurry() {
                self.processes.kill();
                return Some(Verdict::Idle);
            }
        }
        None
    }

    /// Everything that can be done at once; whether something was.
    fn step(&mut self) -> bool {
        let mut happened = false;
        self.streams.retain_mut(|stream| {
            let served = stream.serve();
            happened |= served != Some(false);
            served.is_some()
        });
        happened |= self.answer();
        if !self.streams.iter().any(|it| it.way == Way::Accepted && !it.left_alone) {
            happened |= self.connect();
        }
        happened
    }

    /// The program is at rest: the next client comes now, if there is one and somebody for it.
    fn hurry(&mut self) -> bool {
        for stream in &mut self.streams {
            stream.left_alone = true;
        }
        self.step()
    }

    fn next(&self, way: Way) -> impl Iterator<Item = usize> {
        let all = self.prepared.connections.iter().zip(&self.prepared.begun).enumerate();
        all.filter(move |(_, (it, begun))| it.way == way && !**begun).map(|(at, _)| at)
    }

    /// Takes a connection that the program has made.
    fn answer(&mut self) -> bool {
        for (port, server) in &self.prepared.servers {
            let Some(at) =
                self.next(Way::Made).find(|&at| self.prepared.connections[at].port == Some(*port))
            else {
                continue;
            };
            if let Ok((socket, _)) = server.accept() {
                return self.start(at, socket);
            }
        }
        false
    }

    /// Connects the next client to the program, if that listens.
    fn connect(&mut self) -> bool {
        let Some(at) = self.next(Way::Accepted).next() else { return false };
        let wanted = self.prepared.connections[at].port;
        let processes = self.processes.numbers();
        let Some(server) = processes.iter().find_map(|&it| listening(it, wanted)) else {
            return false;
        };
        let pool = match server {
            SocketAddr::V4(_) => &mut self.prepared.four,
            SocketAddr::V6(_) => &mut self.prepared.six,
        };
        let Some(socket) = pool.pop() else { return false };
        let own = SocketAddr::new(server.ip(), FIRST_CLIENT.wrapping_add(at as u16));
        // Without its usual port the client is still a client.
        let _ = network::address(&socket, own, With::Bind);
        let connected = os::do_not_wait(socket.as_fd())
            .and_then(|()| network::address(&socket, server, With::Connect));
        match connected {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => false,
            _ => self.start(at, TcpStream::from(socket)),
        }
    }

    fn start(&mut self, at: usize, socket: TcpStream) -> bool {
        self.prepared.begun[at] = true;
        let Connection { way, bytes, closes, .. } = self.prepared.connections[at].clone();
        // Small pieces are not held back.
        let ready = socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true));
        if ready.is_ok() {
            let left_alone = false;
            self.streams.push(Stream { socket, bytes, sent: 0, closes, way, left_alone });
        }
        true
    }
}

/// Where a process, or another in its network, waits for connections: at this port, or at that which
/// was first.
fn listening(process: i32, port: Option<u16>) -> Option<SocketAddr> {
    let mut all = Vec::new();
    for file in ["tcp", "tcp6"] {
        let table = fs::read_to_string(format!("/proc/{process}/net/{file}")).unwrap_or_default();
        all.extend(table.lines().skip(1).filter_map(listener));
    }
    all.retain(|(_, address)| port.is_none_or(|port| address.port() == port));
    all.into_iter().min_by_key(|(inode, _)| *inode).map(|(_, address)| address)
}

/// A line of the table of sockets, if it is one that waits: its number, and how to reach it.
fn listener(line: &str) -> Option<(u64, SocketAddr)> {
    const LISTENS: &str = "0A";
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    if *fields.get(3)? != LISTENS {
        return None;
    }
    let (host, port) = fields.get(1)?.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Words of four bytes, each as a number of this processor.
    let mut bytes = Vec::new();
    for at in (0..host.len()).step_by(8) {
        let word = u32::from_str_radix(host.get(at..at + 8)?, 16).ok()?;
        bytes.extend(word.to_le_bytes());
    }
    let host = match <[u8; 4]>::try_from(&bytes[..]) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(&bytes[..]).ok()?),
    };
    let host = match host {
        IpAddr::V4(it) if it.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(it) if it.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    };
    Some((fields.get(9)?.parse().ok()?, SocketAddr::new(host, port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_table() {
        let four = "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 14823 1 0000000000000000 100 0 0 10 0";
        assert_eq!(listener(four), Some((14823, "127.0.0.1:8080".parse().unwrap())));
        let host = four.replace("00000000:1F90", "0100A8C0:0050");
        assert_eq!(listener(&host), Some((14823, "192.168.0.1:80".parse().unwrap())));
        let six = four.replace("00000000:1F90", "00000000000000000000000001000000:0016");
        assert_eq!(listener(&six), Some((14823, "[::1]:22".parse().unwrap())));
        let any = four.replace("00000000:1F90", "00000000000000000000000000000000:0016");
        assert_eq!(listener(&any), Some((14823, "[::1]:22".parse().unwrap())));
        assert_eq!(listener(&four.replace(" 0A ", " 01 ")), None);
        assert_eq!(listener(""), None);
    }

    #[test]
    fn a_listening_socket_is_found() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let own = std::process::id().cast_signed();
        assert_eq!(listening(own, Some(address.port())), Some(address));
        assert_eq!(listening(own, Some(1)), None);
    }
}
