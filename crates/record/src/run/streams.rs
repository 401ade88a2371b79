//! Bytes that a program received from where they cannot be read again: standard input, pipes and
//! connections.
//!
//! They lie in memory, in a type that cannot print them, up to a limit for all together. What comes
//! after that is not kept, and the stream says so.

use stunt_path::Private;

/// The most calls of one stream whose sizes are kept.
const PIECES: usize = 1 << 16;

/// What arrived on one way.
#[derive(Debug)]
pub struct Stream {
    bytes: Private,
    /// How many bytes each call received.
    pub pieces: Vec<u64>,
    /// Whether these are all bytes that arrived.
    pub complete: bool,
    /// Whether the program saw the end.
    pub ended: bool,
    /// The process that received last.
    pub last_user: i32,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            bytes: Private::default(),
            pieces: Vec::new(),
            complete: true,
            ended: false,
            last_user: 0,
        }
    }
}

impl Stream {
    /// Bytes arrived for a process; none means the end.
    pub fn receive(&mut self, bytes: &[u8], process: i32, room: &mut Room) {
        self.last_user = process;
        if bytes.is_empty() {
            self.ended = true;
            return;
        }
        let kept = usize::try_from(room.left).unwrap_or(usize::MAX).min(bytes.len());
        if !self.complete || kept < bytes.len() {
            // A gap in the middle would be worse than an end.
            self.complete = false;
            return;
        }
        room.left -= kept as u64;
        self.bytes.extend(bytes);
        let full = self.pieces.len() >= PIECES;
        match self.pieces.last_mut() {
            Some(last) if full => *last += bytes.len() as u64,
            _ => self.pieces.push(bytes.len() as u64),
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &Private {
        &self.bytes
    }

    /// Whether anything happened on it.
    pub fn is_used(&self) -> bool {
        self.ended || !self.complete || !self.bytes.reveal().is_empty()
    }
}

/// How many more bytes may be kept.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes.
    pub left: u64,
}

/// The end of what was written to an output: enough to look for an account of a failure.
#[derive(Debug, Default)]
pub struct Tail {
    bytes: Private,
    most: usize,
}

impl Tail {
    /// Keeps so many bytes.
    pub fn new(most: usize) -> Self {
        Self { bytes: Private::default(), most }
    }

    /// More was written.
    pub fn write(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        // Not at every write: moving bytes costs more than keeping some more of them.
        if self.bytes.reveal().len() > 2 * self.most {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.reveal().len().saturating_sub(self.most);
        self.bytes = Private::new(self.bytes.reveal()[surplus..].to_vec());
    }

    /// The last bytes.
    pub fn take(mut self) -> Private {
        self.cut();
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_no_gaps() {
        let (mut stream, mut room) = (Stream::default(), Room { left: 5 });
        stream.receive(b"abc", 1, &mut room);
        stream.receive(b"defg", 2, &mut room);
        stream.receive(b"h", 2, &mut room);
        assert_eq!(stream.bytes().reveal(), b"abc");
        assert!(!stream.complete && !stream.ended && stream.pieces == [3]);
        stream.receive(b"", 3, &mut room);
        assert!(stream.ended && stream.last_user == 3);
    }

    #[test]
    fn a_tail_is_the_end() {
        let mut tail = Tail::new(4);
        for byte in 0..100u8 {
            tail.write(&[byte]);
        }
        assert_eq!(tail.take().reveal(), [96, 97, 98, 99]);
    }
}
