//! A connection of a program whose other side is known beforehand: what the other side said in an
//! earlier run, or what a double says in its place.

use std::fmt;
use std::sync::Arc;

/// Who makes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The other side, a client; the program accepts it.
    Accepted,
    /// The program; the other side is a server.
    Made,
}

/// A connection whose other side is known beforehand.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// Who makes it.
    pub way: Way,
    /// The port of the server; without one, the first that the program listens on or connects to.
    pub port: Option<u16>,
    /// What the other side sends.
    pub bytes: Arc<[u8]>,
    /// Whether the other side closes its half after that.
    pub closes: bool,
}

/// Sizes only: what goes through a socket may be private.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("way", &self.way)
            .field("port", &self.port)
            .field("bytes", &self.bytes.len())
            .field("closes", &self.closes)
            .finish()
    }
}
