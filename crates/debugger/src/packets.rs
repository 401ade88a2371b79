//! The packets of gdb's remote protocol: `$text#sum`, acknowledged until both sides agree that they need
//! not be.
//!
//! What they say is not known here. What comes in is bounded; a packet that is broken is asked for again.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

/// The longest packet, in bytes.
pub(crate) const LONGEST: usize = 0x8000;
/// Ctrl-C.
const INTERRUPT: u8 = 3;

/// A connection that can be asked whether there is something.
pub trait Line: Read + Write {
    /// Whether reading waits for something to come.
    ///
    /// # Errors
    /// Of the system.
    fn wait(&mut self, waits: bool) -> io::Result<()>;
}

impl Line for UnixStream {
    fn wait(&mut self, waits: bool) -> io::Result<()> {
        self.set_nonblocking(!waits)
    }
}

impl Line for TcpStream {
    fn wait(&mut self, waits: bool) -> io::Result<()> {
        self.set_nonblocking(!waits)
    }
}

impl<L: Line + ?Sized> Line for &mut L {
    fn wait(&mut self, waits: bool) -> io::Result<()> {
        (**self).wait(waits)
    }
}

/// Packets over a connection.
pub(crate) struct Packets<L> {
    line: L,
    read: Vec<u8>,
    at: usize,
    acknowledges: bool,
    interrupted: bool,
}

impl<L: Line> Packets<L> {
    pub(crate) fn new(line: L) -> Self {
        Self { line, read: Vec::new(), at: 0, acknowledges: true, interrupted: false }
    }

    /// From now on nobody acknowledges anything.
    pub(crate) fn stop_acknowledging(&mut self) {
        self.acknowledges = false;
    }

    /// Whether Ctrl-C came since the last call; does not wait.
    pub(crate) fn interrupted(&mut self) -> bool {
        if self.at == self.read.len() && self.line.wait(false).is_ok() {
            // Somebody who is gone interrupts, too.
            match self.fill() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(true) => {}
                Ok(false) | Err(_) => self.interrupted = true,
            }
            let _ = self.line.wait(true);
        }
        while self.read.get(self.at) == Some(&INTERRUPT) {
            self.interrupted = true;
            self.at += 1;
        }
        std::mem::take(&mut self.interrupted)
    }

    /// Reads something; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4096];
        let count = self.line.read(&mut bytes)?;
        self.read.drain(..self.at);
        self.at = 0;
        self.read.extend_from_slice(&bytes[..count]);
        Ok(count > 0)
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        while self.at == self.read.len() {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        self.at += 1;
        Ok(Some(self.read[self.at - 1]))
    }

    /// The next packet; nothing when the other side is gone.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.byte()? {
                None => return Ok(None),
                Some(b'$') => {}
                // Acknowledgements, and a Ctrl-C that came when nothing ran any more.
                Some(_) => continue,
            }
            let (mut text, mut sum, mut escaped) = (Vec::new(), 0_u8, false);
            loop {
                let Some(byte) = self.byte()? else { return Ok(None) };
                if byte == b'#' {
                    break;
                }
                sum = sum.wrapping_add(byte);
                if text.len() > LONGEST {
                    continue;
                }
                match (escaped, byte) {
                    (false, b'}') => escaped = true,
                    (false, _) => text.push(byte),
                    (true, _) => {
                        text.push(byte ^ 0x20);
                        escaped = false;
                    }
                }
            }
            let (Some(high), Some(low)) = (self.byte()?, self.byte()?) else { return Ok(None) };
            let good = parse_hex(&[high, low]) == Some(u64::from(sum)) && text.len() <= LONGEST;
            if self.acknowledges {
                self.line.write_all(if good { b"+" } else { b"-" })?;
            }
            if good {
                return Ok(Some(text));
            }
        }
    }

    /// Sends a packet.
    pub(crate) fn send(&mut self, text: &[u8]) -> io::Result<()> {
        let mut bytes = vec![b'$'];
        for &byte in text {
            if matches!(byte, b'$' | b'#' | b'}' | b'*') {
                bytes.extend([b'}', byte ^ 0x20]);
            } else {
                bytes.push(byte);
            }
        }
        let sum = bytes[1..].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        bytes.extend(format!("#{sum:02x}").bytes());
        self.line.write_all(&bytes)
    }
}

/// A number as gdb writes it.
pub(crate) fn parse_hex(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    (!text.is_empty() && !text.starts_with('+')).then_some(())?;
    u64::from_str_radix(text, 16).ok()
}

/// Bytes as gdb writes them.
pub(crate) fn parse_bytes(text: &[u8]) -> Option<Vec<u8>> {
    let pairs = text.chunks(2).map(|pair| match pair {
        [_, _] => parse_hex(pair).map(|byte| byte as u8),
        _ => None,
    });
    pairs.collect()
}

/// Bytes as gdb reads them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(sent: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let (here, mut there) = UnixStream::pair().expect("a pair");
        there.write_all(sent).expect("it is sent");
        there.shutdown(std::net::Shutdown::Write).expect("it is all");
        let mut packets = Packets::new(here);
        let mut all = Vec::new();
        while let Some(packet) = packets.next().expect("it is read") {
            all.push(packet);
        }
        drop(packets);
        let mut answer = Vec::new();
        there.read_to_end(&mut answer).expect("it is answered");
        (all, answer)
    }

    #[test]
    fn packets_come_whole_or_are_asked_for_again() {
        let (packets, answer) = talk(b"+$qC#b4$qC#b5\x03$X}\x03#d8$g");
        assert_eq!(packets, [b"qC".to_vec(), b"X#".to_vec()]);
        assert_eq!(answer, b"+-+");
    }

    #[test]
    fn what_is_no_packet_is_passed_over() {
        for text in [&b""[..], b"$", b"$#", b"$#0", b"#00", b"$a#zz", b"\xff\xfe$}#7d", b"$$#24"] {
            let (packets, _) = talk(text);
            assert!(packets.iter().all(|packet| packet.len() < 2), "{text:?}: {packets:?}");
        }
        let mut long = vec![b'$'];
        long.extend(vec![b'a'; LONGEST + 9]);
        let sum = long[1..].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        long.extend(format!("#{sum:02x}").bytes());
        assert!(talk(&long).0.is_empty());
    }

    #[test]
    fn bytes_and_numbers() {
        assert_eq!(hex(&[0, 0xab]), "00ab");
        assert_eq!(parse_bytes(b"00aB"), Some(vec![0, 0xab]));
        assert_eq!(parse_bytes(b"00a"), None);
        assert_eq!(parse_hex(b""), None);
        assert_eq!(parse_hex(b"+1"), None);
        assert_eq!(parse_hex(b"7fff"), Some(0x7fff));
    }
}
