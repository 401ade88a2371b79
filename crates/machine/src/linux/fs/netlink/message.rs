//! Messages of netlink: how requests are cut out of what a program sends, and how replies are laid
//! out.
//!
//! A request is a slice of what was sent, and its length is within it. Whatever cannot be a message
//! ends the list of requests, as in the kernel; nothing here fails.

use super::numbers::*;
use crate::linux::errno::Errno;

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;
/// Bytes before the value of an attribute.
const ATTRIBUTE: usize = 4;
/// Bits of an attribute's kind that say how its value is laid out.
const KIND: u16 = 0x3fff;

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn align(size: usize) -> usize {
    size.next_multiple_of(4)
}

/// Who asks, and how it wants to be answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asker {
    /// The port of its socket.
    pub port: u32,
    /// The user.
    pub uid: u32,
    /// Requests with parts that mean nothing are refused (`NETLINK_GET_STRICT_CHK`).
    pub strict: bool,
    /// Refusals say why (`NETLINK_EXT_ACK`).
    pub extended: bool,
    /// Refusals do not repeat the request (`NETLINK_CAP_ACK`).
    pub capped: bool,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error.
    pub errno: Errno,
    /// In words, for those who can read.
    pub why: Option<&'static str>,
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        Refusal { errno, why: None }
    }
}

impl Refusal {
    /// A request that makes no sense.
    pub fn invalid(why: &'static str) -> Refusal {
        Refusal { errno: Errno::EINVAL, why: Some(why) }
    }

    /// An attribute that is too short or too long.
    pub fn ill_sized() -> Refusal {
        Refusal { errno: Errno::ERANGE, why: Some("Attribute failed policy validation") }
    }

    fn number(self) -> i32 {
        -self.errno.number()
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What it is about.
    pub kind: u16,
    /// `NLM_F_`.
    pub flags: u16,
    /// Given back with every reply.
    pub sequence: u32,
    /// What follows the header.
    pub body: &'a [u8],
    whole: &'a [u8],
}

impl<'a> Request<'a> {
    /// A byte of the body; zero behind its end.
    pub fn byte(&self, at: usize) -> u8 {
        self.body.get(at).copied().unwrap_or(0)
    }

    /// A number of the body; zero behind its end.
    pub fn word(&self, at: usize) -> u32 {
        word(self.body, at).unwrap_or(0)
    }

    /// Whether it asks for a list.
    pub fn wants_all(&self) -> bool {
        self.flags & NLM_F_DUMP != 0
    }

    /// The attributes behind `header` bytes of the body.
    pub fn attributes(&self, header: usize) -> Attributes<'a> {
        Attributes { rest: self.body.get(align(header)..).unwrap_or_default() }
    }
}

/// The requests of a datagram, as long as it makes sense.
pub struct Requests<'a> {
    rest: &'a [u8],
}

impl<'a> Requests<'a> {
    /// The requests in `bytes`.
    pub fn of(bytes: &'a [u8]) -> Requests<'a> {
        Requests { rest: bytes }
    }
}

impl<'a> Iterator for Requests<'a> {
    type Item = Request<'a>;

    fn next(&mut self) -> Option<Request<'a>> {
        let bytes = self.rest;
        let length = word(bytes, 0)? as usize;
        if length < HEADER {
            self.rest = &[];
            return None;
        }
        let request = bytes.get(..length).and_then(|whole| {
            Some(Request {
                kind: half(whole, 4)?,
                flags: half(whole, 6)?,
                sequence: word(whole, 8)?,
                body: &whole[HEADER..],
                whole,
            })
        });
        self.rest = bytes.get(align(length)..).unwrap_or_default();
        request
    }
}

/// The attributes of a request: kinds and values.
pub struct Attributes<'a> {
    rest: &'a [u8],
}

impl Attributes<'_> {
    /// Whether bytes are left that are no attribute.
    pub fn has_leftover(&self) -> bool {
        !self.rest.is_empty()
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let length = usize::from(half(self.rest, 0)?);
        let kind = half(self.rest, 2)? & KIND;
        let value = self.rest.get(ATTRIBUTE..length)?;
        self.rest = self.rest.get(align(length)..).unwrap_or_default();
        Some((kind, value))
    }
}

/// A number as the value of an attribute.
pub fn number(value: &[u8]) -> Result<u32, Refusal> {
    word(value, 0).ok_or(Refusal::ill_sized())
}

/// What a message says, as it is written.
#[derive(Clone, Debug, Default)]
pub struct Body(Vec<u8>);

impl Body {
    /// A body that begins with a header.
    pub fn new(header: &[u8]) -> Body {
        Body(header.to_vec())
    }

    /// Adds an attribute.
    pub fn with(mut self, kind: u16, value: &[u8]) -> Body {
        let length = (ATTRIBUTE + value.len()) as u16;
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(&kind.to_le_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(align(self.0.len()), 0);
        self
    }

    /// Adds a number.
    pub fn with_number(self, kind: u16, value: u32) -> Body {
        self.with(kind, &value.to_le_bytes())
    }

    /// Adds a text, with the zero at its end.
    pub fn with_text(self, kind: u16, text: &[u8]) -> Body {
        self.with(kind, &[text, &[0]].concat())
    }

    /// Adds attributes within an attribute.
    pub fn with_nested(self, kind: u16, inner: &Body) -> Body {
        self.with(kind, &inner.0)
    }
}

/// A message to who asked.
pub fn reply(request: &Request<'_>, asker: &Asker, kind: u16, flags: u16, body: &Body) -> Vec<u8> {
    let length = (HEADER + body.0.len()) as u32;
    let mut out = Vec::with_capacity(align(length as usize));
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&request.sequence.to_le_bytes());
    out.extend_from_slice(&asker.port.to_le_bytes());
    out.extend_from_slice(&body.0);
    out.resize(align(out.len()), 0);
    out
}

/// The reason of a refusal in words, and the flag that goes with it, if the program wants to know.
fn explained(asker: &Asker, refusal: Option<Refusal>, body: Body) -> (u16, Body) {
    match refusal.and_then(|refusal| refusal.why).filter(|_| asker.extended) {
        Some(why) => (NLM_F_ACK_TLVS, body.with_text(NLMSGERR_ATTR_MSG, why.as_bytes())),
        None => (0, body),
    }
}

/// Says that a request was done, or why it was not. What was refused is repeated as a whole.
pub fn acknowledgement(request: &Request<'_>, asker: &Asker, refusal: Option<Refusal>) -> Vec<u8> {
    let mut body = Body::new(&refusal.map_or(0, Refusal::number).to_le_bytes());
    let capped = asker.capped || refusal.is_none();
    let repeated = if capped { &request.whole[..HEADER] } else { request.whole };
    body.0.extend_from_slice(repeated);
    body.0.resize(align(body.0.len()), 0);
    let (told, body) = explained(asker, refusal, body);
    let flags = told | if capped { NLM_F_CAPPED } else { 0 };
    reply(request, asker, NLMSG_ERROR, flags, &body)
}

/// A list as the answer to a request.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The kind of its messages.
    pub kind: u16,
    /// What they say.
    pub bodies: Vec<Body>,
    /// Whether not everything was asked for.
    pub filtered: bool,
    /// Whether the end says so, too.
    pub ends_filtered: bool,
    /// Whether the end comes with the rest; else it is a datagram of its own.
    pub ends_at_once: bool,
    /// Why there is no list.
    pub refusal: Option<Refusal>,
}

impl List {
    /// A list that is an error.
    pub fn refused(refusal: Refusal) -> List {
        List { refusal: Some(refusal), ..List::default() }
    }

    /// The datagrams of the answer, in their order.
    pub fn datagrams(&self, request: &Request<'_>, asker: &Asker) -> Vec<Vec<u8>> {
        let flags = |filtered| NLM_F_MULTI | if filtered { NLM_F_DUMP_FILTERED } else { 0 };
        let mut items = Vec::new();
        for body in &self.bodies {
            items.extend(reply(request, asker, self.kind, flags(self.filtered), body));
        }
        let error = self.refusal.map_or(0, Refusal::number).to_le_bytes();
        let (told, body) = explained(asker, self.refusal, Body::new(&error));
        let end = reply(request, asker, NLMSG_DONE, flags(self.ends_filtered) | told, &body);
        if items.is_empty() || self.ends_at_once {
            items.extend(end);
            vec![items]
        } else {
            vec![items, end]
        }
    }
}
