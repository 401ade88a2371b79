//! Where a debugger connects, and how gdb is started.
//!
//! Always: nobody but this machine can connect: a socket lies in a folder of the user alone, and a port is
//! one of the loopback. One debugger is served, and then no other.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use serde_json::json;
use stunt_debugger::Line;
use stunt_subject::Scratch;

use crate::interrupt;

/// The debuggers that are looked for.
const GDBS: [&str; 2] = ["gdb", "gdb-multiarch"];

/// What gdb is told before it connects. What a command of stunt's moves or changes, gdb has in its caches.
const SCRIPT: &str = "\
set sysroot /
define hookpost-monitor
maintenance flush register-cache
maintenance flush dcache
end
define when
monitor when
end
document when
How many instructions were executed before this place.
end
define goto
monitor goto $arg0
frame
end
document goto
Goes to a place of the run, forward or back: goto N, goto start, goto end.
end
define why
if $argc == 0
monitor why
end
if $argc == 1
monitor why $arg0
end
if $argc == 2
monitor why $arg0 $arg1
end
end
document why
The tests that hold a byte of the double: why OFFSET, why FROM-TO, why SOURCE:OFFSET.
end
define input
monitor input
end
document input
Where the bytes of the double were looked at last, before this place.
end
";

/// Where a debugger connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port of this machine; 0 for any.
    Port(SocketAddr),
    /// A socket.
    Path(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            return Ok(Self::Path(text.into()));
        }
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let port = text.strip_prefix(':').unwrap_or(text).parse();
        let address = match port {
            Ok(port) => SocketAddr::new(local, port),
            Err(_) => text.replace("localhost:", "127.0.0.1:").parse().map_err(|_| {
                "a port of this machine belongs here, such as 127.0.0.1:4711, or a path".to_owned()
            })?,
        };
        if !address.ip().is_loopback() {
            return Err(
                "who debugs can do everything with the program, so only addresses of this \
                        machine are listened on, such as 127.0.0.1:4711"
                    .to_owned(),
            );
        }
        Ok(Self::Port(address))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(address) => address.fmt(f),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

/// What the user wants of it.
pub struct Serves<'a> {
    /// Wait here, and start nothing.
    pub listen: Option<&'a Address>,
    /// Print what VS Code needs.
    pub vscode: bool,
    /// The gdb to start.
    pub gdb: Option<&'a Path>,
}

enum Listener {
    Port(TcpListener),
    Path(UnixListener, PathBuf),
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Path(_, path) = self {
            // Nobody could connect there any more.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Listener {
    fn new(address: &Address) -> Result<(Self, Address)> {
        let why = || format!("nobody could connect to {address}");
        match address {
            Address::Port(at) => {
                let listener = TcpListener::bind(at).with_context(why)?;
                let at = Address::Port(listener.local_addr()?);
                Ok((Self::Port(listener), at))
            }
            Address::Path(path) => {
                let listener = UnixListener::bind(path).with_context(why)?;
                Ok((Self::Path(listener, path.clone()), address.clone()))
            }
        }
    }

    /// Serves one debugger.
    fn serve(&self, talk: impl FnOnce(&mut dyn Line) -> io::Result<()>) -> Result<()> {
        let done = match self {
            Self::Port(listener) => {
                let (mut line, _) = listener.accept()?;
                line.set_nodelay(true)?;
                talk(&mut line)
            }
            Self::Path(listener, _) => talk(&mut listener.accept()?.0),
        };
        match done {
            // A debugger that is gone has had enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done.context("the debugger went away"),
        }
    }
}

/// Lets a debugger in, and one only: gdb, if it can be started and somebody is there, else whoever
/// connects. `program` is the path of what runs.
pub fn serve(
    serves: &Serves<'_>,
    program: &[u8],
    talk: impl FnOnce(&mut dyn Line) -> io::Result<()>,
) -> Result<()> {
    let scratch = Scratch::new()?;
    let own = if serves.vscode {
        Address::Port(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
    } else {
        Address::Path(scratch.path().join("gdb"))
    };
    let (listener, address) = Listener::new(serves.listen.unwrap_or(&own))?;
    let waits = serves.listen.is_some() || serves.vscode || !io::stdin().is_terminal();
    let gdb = match serves.gdb {
        Some(gdb) => Some(gdb.to_owned()),
        None => GDBS.iter().find_map(|name| found(name)),
    };
    let program = OsStr::from_bytes(program);
    if serves.vscode {
        let Address::Port(address) = address else {
            bail!("VS Code connects to a port: give one with --listen");
        };
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{:#}", launch(program, address))?;
        stdout.flush()?;
        eprintln!("stunt: waiting for VS Code at {address}");
        return listener.serve(talk);
    }
    let Some(gdb) = gdb.filter(|_| !waits || serves.gdb.is_some()) else {
        let words = ["gdb", "-ex", "set sysroot /", "-ex", &format!("target remote {address}")];
        let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
        words.push(program.to_owned());
        eprintln!("stunt: waiting for one debugger: {}", stunt_report::command_line(&words));
        return listener.serve(talk);
    };
    let script = scratch.write("commands", SCRIPT.as_bytes())?;
    let mut child = Command::new(&gdb)
        .arg("-q")
        .arg("-x")
        .arg(&script)
        .args(["-ex", &format!("target remote {address}")])
        .arg(program)
        .spawn()
        .with_context(|| format!("{} cannot be started", gdb.display()))?;
    // Ctrl-C is for gdb, which asks the run to stop.
    interrupt::pass_on_to(child.id() as libc::pid_t);
    let served = std::thread::scope(|scope| {
        // A gdb that ends before it connects would be waited for.
        let waiting = scope.spawn(|| {
            let ended = child.wait();
            let _ = match &address {
                Address::Path(path) => std::os::unix::net::UnixStream::connect(path).map(drop),
                Address::Port(at) => std::net::TcpStream::connect(at).map(drop),
            };
            ended
        });
        let served = listener.serve(talk);
        let ended = waiting.join();
        served.and(ended.map_or(Ok(()), |ended| ended.map(drop).context("gdb was lost")))
    });
    interrupt::pass_on_to(0);
    served
}

/// A program of this name in PATH.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    stunt_native::find(OsStr::new(name), &path).ok()
}

/// What VS Code reads.
fn launch(program: &OsStr, address: SocketAddr) -> serde_json::Value {
    let setup = ["set sysroot /", "set breakpoint pending on"];
    json!({
        "version": "0.2.0",
        "configurations": [{
            "name": "stunt: the double, forward and back",
            "type": "cppdbg",
            "request": "launch",
            "MIMode": "gdb",
            "program": program.to_string_lossy(),
            "cwd": "${workspaceFolder}",
            "miDebuggerServerAddress": address.to_string(),
            "stopAtConnect": true,
            "setupCommands": setup.map(|text| json!({ "text": text })),
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_listened_on() {
        let port = |text: &str| text.parse::<Address>().map(|address| address.to_string());
        assert_eq!(port("4711").as_deref(), Ok("127.0.0.1:4711"));
        assert_eq!(port(":4711").as_deref(), Ok("127.0.0.1:4711"));
        assert_eq!(port("localhost:1").as_deref(), Ok("127.0.0.1:1"));
        assert_eq!(port("[::1]:1").as_deref(), Ok("[::1]:1"));
        assert_eq!(port("./socket"), Ok("./socket".to_owned()));
        for text in ["0.0.0.0:1", "192.168.0.1:1", "[::]:1", "example.org:1", "", "99999"] {
            assert!(port(text).is_err(), "{text}");
        }
    }
}
