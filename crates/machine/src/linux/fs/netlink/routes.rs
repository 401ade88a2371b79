//! Routes: those to the addresses of the loopback interface, in the table of local ones. The main
//! table is empty, and nothing leads out of the machine.

use super::links::no_leftover;
use super::loopback;
use super::message::{Asker, Body, List, Refusal, Request, number, reply};
use super::numbers::*;
use crate::linux::abi::{AF_INET, AF_INET6};
use crate::linux::errno::Errno;

/// Bytes of `struct rtmsg`.
const HEADER: usize = 12;
/// Bytes of `struct rta_cacheinfo`.
const CACHE: usize = 32;

/// What a strict request limits itself to; zero is everything.
#[derive(Clone, Copy, Default)]
struct Filter {
    table: u32,
    protocol: u8,
    kind: u8,
}

impl Filter {
    fn lets_through(&self, kind: u8) -> bool {
        matches!(self.table, 0 | 255)
            && matches!(self.protocol, 0 | RTPROT_KERNEL)
            && (self.kind == 0 || self.kind == kind)
    }
}

/// A route of version 4: the kind, how far it goes, where to, and how many bits of that count.
type Four = (u8, u8, [u8; 4], u8);

const FOURS: [Four; 3] = [
    (RTN_LOCAL, RT_SCOPE_HOST, [127, 0, 0, 0], 8),
    (RTN_LOCAL, RT_SCOPE_HOST, [127, 0, 0, 1], 32),
    (RTN_BROADCAST, RT_SCOPE_LINK, [127, 255, 255, 255], 32),
];

fn four(&(kind, scope, to, bits): &Four) -> Body {
    let words = [AF_INET as u8, bits, 0, 0, RT_TABLE_LOCAL, RTPROT_KERNEL, scope, kind, 0, 0, 0, 0];
    Body::new(&words)
        .with_number(RTA_TABLE, RT_TABLE_LOCAL.into())
        .with(RTA_DST, &to)
        .with(RTA_PREFSRC, &loopback::FOUR.0)
        .with_number(RTA_OIF, loopback::INDEX)
}

fn header_six(source_bits: u8) -> Body {
    let (_, bits) = loopback::SIX;
    let scope = RT_SCOPE_UNIVERSE;
    let words = [AF_INET6 as u8, bits, source_bits, 0, RT_TABLE_LOCAL, RTPROT_KERNEL, scope];
    Body::new(&[&words[..], &[RTN_LOCAL, 0, 0, 0, 0]].concat())
        .with_number(RTA_TABLE, RT_TABLE_LOCAL.into())
        .with(RTA_DST, &loopback::SIX.0)
}

fn end_six(body: Body, users: u8) -> Body {
    let mut cache = [0; CACHE];
    cache[0] = users;
    body.with_number(RTA_PRIORITY, 0)
        .with_number(RTA_OIF, loopback::INDEX)
        .with(RTA_CACHEINFO, &cache)
        .with(RTA_PREF, &[0])
}

/// All routes of a family, or of all.
pub fn all(request: &Request<'_>, asker: &Asker) -> Result<List, Refusal> {
    let families = loopback::families(request.byte(0));
    let filter = if asker.strict { filter(request, asker)? } else { Filter::default() };
    let only = if let &[family] = families { Some(u32::from(family)) } else { None };
    if !matches!(filter.table, 0 | 254 | 255)
        && let Some(family) = only
    {
        let six = family == AF_INET6;
        let why =
            if six { "ipv6: FIB table does not exist" } else { "ipv4: FIB table does not exist" };
        let refusal = Some(Refusal { errno: Errno::ENOENT, why: Some(why) });
        return Ok(List { refusal, ends_filtered: true, ..List::default() });
    }
    let mut bodies = Vec::new();
    // No route comes from a prefix that a neighbour announced, and nothing is kept of those that were
    // looked for; only a strict program can ask for the latter alone.
    let none = RTM_F_PREFIX | if asker.strict { RTM_F_CLONED } else { 0 };
    if request.word(8) & none == 0 {
        if only != Some(AF_INET6) {
            bodies.extend(FOURS.iter().filter(|it| filter.lets_through(it.0)).map(four));
        }
        if only != Some(AF_INET) && filter.lets_through(RTN_LOCAL) {
            bodies.push(end_six(header_six(0), 0));
        }
    }
    let filtered = asker.strict;
    // The end of several lists in one is not about any of them.
    let of_one = only == Some(AF_INET) || only == Some(AF_INET6) && filter.table != 0;
    let ends_filtered = filtered && (of_one || bodies.is_empty());
    Ok(List { kind: RTM_NEWROUTE, bodies, filtered, ends_filtered, ..List::default() })
}

fn filter(request: &Request<'_>, asker: &Asker) -> Result<Filter, Refusal> {
    if request.body.len() < HEADER {
        return Err(Refusal::invalid("Invalid header for FIB dump request"));
    }
    if request.word(0) >> 8 != 0 || request.byte(6) != 0 {
        return Err(Refusal::invalid("Invalid values in header for FIB dump request"));
    }
    if request.word(8) & !(RTM_F_CLONED | RTM_F_PREFIX) != 0 {
        return Err(Refusal::invalid("Invalid flags for FIB dump request"));
    }
    let mut filter =
        Filter { table: request.byte(4).into(), protocol: request.byte(5), kind: request.byte(7) };
    let mut attributes = request.attributes(HEADER);
    for (kind, value) in &mut attributes {
        match kind {
            RTA_TABLE => filter.table = number(value)?,
            RTA_OIF if number(value)? == loopback::INDEX => {}
            RTA_OIF => return Err(Errno::ENODEV.into()),
            _ => return Err(Refusal::invalid("Unsupported attribute in dump request")),
        }
    }
    no_leftover(asker, &attributes)?;
    Ok(filter)
}

/// The route that a packet to an address would take.
pub fn one(request: &Request<'_>, asker: &Asker) -> Result<Vec<u8>, Refusal> {
    let six = match u32::from(request.byte(0)) {
        AF_INET => false,
        AF_INET6 => true,
        _ => return Err(Errno::EOPNOTSUPP.into()),
    };
    if request.body.len() < HEADER {
        return Err(Refusal::invalid("Invalid header for get route request"));
    }
    // Without an address it is about the one that is all zeros.
    let mut to: &[u8] = &[0; 16];
    let mut attributes = request.attributes(HEADER);
    for (kind, value) in &mut attributes {
        match kind {
            RTA_DST => to = value,
            // Whence and through what a packet comes makes no difference here.
            RTA_OIF if number(value)? != loopback::INDEX => return Err(Errno::ENODEV.into()),
            _ => {}
        }
    }
    no_leftover(asker, &attributes)?;
    let body = if six {
        let to = to.first_chunk::<16>().ok_or(Refusal::from(Errno::EINVAL))?;
        if *to != loopback::SIX.0 {
            return Err(Errno::ENETUNREACH.into());
        }
        end_six(header_six(128).with(RTA_SRC, &[0; 16]).with(RTA_PREFSRC, &loopback::SIX.0), 2)
    } else {
        let to = to.first_chunk::<4>().ok_or(Refusal::from(Errno::EINVAL))?;
        if to[0] != 127 && *to != [0; 4] {
            return Err(Errno::ENETUNREACH.into());
        }
        cached_four(*to, asker.uid)
    };
    Ok(reply(request, asker, RTM_NEWROUTE, 0, &body))
}

fn cached_four(to: [u8; 4], uid: u32) -> Body {
    let (kind, more) = match to {
        [127, 255, 255, 255] => (RTN_BROADCAST, RTCF_BROADCAST),
        _ => (RTN_LOCAL, 0),
    };
    let (scope, flags) = (RT_SCOPE_UNIVERSE, RTM_F_CLONED | RTCF_LOCAL | more);
    let words = [AF_INET as u8, 32, 0, 0, RT_TABLE_MAIN, RTPROT_UNSPEC, scope, kind];
    let mut cache = [0; CACHE];
    cache[0] = 2;
    Body::new(&[&words[..], &flags.to_le_bytes()].concat())
        .with_number(RTA_TABLE, RT_TABLE_MAIN.into())
        .with(RTA_DST, &to)
        .with_number(RTA_OIF, loopback::INDEX)
        .with(RTA_PREFSRC, &loopback::FOUR.0)
        .with_number(RTA_UID, uid)
        .with(RTA_CACHEINFO, &cache)
}
