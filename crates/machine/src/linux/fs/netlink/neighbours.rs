//! Neighbours: the loopback has none, and only the form of a question matters.

use super::links::no_leftover;
use super::loopback;
use super::message::{Asker, List, Refusal, Request};
use super::numbers::*;
use crate::linux::errno::Errno;

/// Bytes of `struct ndmsg`.
const HEADER: usize = 12;

/// All neighbours.
pub fn all(request: &Request<'_>, asker: &Asker) -> Result<List, Refusal> {
    if asker.strict {
        if request.body.len() < HEADER {
            return Err(Refusal::invalid("Invalid header for neighbor dump request"));
        }
        let proxies = request.byte(10) & NTF_PROXY;
        if request.word(0) >> 8 != 0
            || request.word(4) != 0
            || request.word(8) != u32::from(proxies) << 16
        {
            return Err(Refusal::invalid("Invalid values in header for neighbor dump request"));
        }
        let mut attributes = request.attributes(HEADER);
        for (kind, value) in &mut attributes {
            match kind {
                NDA_IFINDEX | NDA_MASTER => drop(super::message::number(value)?),
                _ => {
                    return Err(Refusal::invalid("Unsupported attribute in neighbor dump request"));
                }
            }
        }
        no_leftover(asker, &attributes)?;
    }
    Ok(List::default())
}

/// One neighbour, who is not there.
pub fn one(request: &Request<'_>) -> Result<Vec<u8>, Refusal> {
    let named = request.attributes(HEADER).any(|(kind, _)| kind == NDA_DST);
    Err(match request.word(4) {
        _ if !named => Errno::EINVAL.into(),
        0 => Refusal::invalid("No device specified"),
        loopback::INDEX => Errno::ENOENT.into(),
        _ => Errno::ENODEV.into(),
    })
}
