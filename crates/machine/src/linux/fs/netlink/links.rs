//! Links: the loopback interface, as a message tells about it.

use super::loopback;
use super::message::{Asker, Attributes, Body, List, Refusal, Request, number, reply};
use super::numbers::*;
use crate::linux::abi::AF_INET6;
use crate::linux::errno::Errno;

/// Bytes of `struct ifinfomsg`.
const HEADER: usize = 16;
/// The longest name of an interface.
const LONGEST_NAME: usize = 15;
/// Bytes of `struct rtnl_link_stats64` and its older relative.
const STATS64: [u8; 200] = [0; 200];
const STATS: [u8; 96] = [0; 96];
/// `struct rtnl_link_ifmap`: no hardware.
const MAP: [u8; 32] = [0; 32];
const NO_ADDRESS: [u8; 6] = [0; 6];

/// Attributes that older headers do not name.
const IFLA_MAX_PACING_OFFLOAD_HORIZON: u16 = 66;
const IFLA_NETNS_IMMUTABLE: u16 = 67;
const IFLA_HEADROOM: u16 = 68;
const IFLA_TAILROOM: u16 = 69;
/// The value of an attribute is made of attributes, and says so.
const NESTED: u16 = 0x8000;
const IFLA_DEVLINK_PORT: u16 = NESTED | 62;
const IFLA_DPLL_PIN: u16 = NESTED | 65;

fn header(family: u8) -> Body {
    let mut header = vec![family, 0];
    header.extend_from_slice(&ARPHRD_LOOPBACK.to_le_bytes());
    header.extend_from_slice(&loopback::INDEX.to_le_bytes());
    header.extend_from_slice(&loopback::FLAGS.to_le_bytes());
    header.extend_from_slice(&0u32.to_le_bytes());
    Body::new(&header)
}

/// What version 6 says about the interface.
fn six() -> Body {
    // The largest packet that is put together again; since when; how long a neighbour counts as
    // reachable, and how long until it is asked again, in milliseconds.
    let times: Vec<u8> =
        [65_535u32, 0, 30_000, 1000].iter().flat_map(|value| value.to_le_bytes()).collect();
    Body::default()
        .with_number(IFLA_INET6_FLAGS, IF_READY)
        .with(IFLA_INET6_CACHEINFO, &times)
        .with(IFLA_INET6_TOKEN, &[0; 16])
        .with(IFLA_INET6_ADDR_GEN_MODE, &[0])
}

/// The interface as a whole, in the order of the kernel.
fn whole() -> Body {
    let xdp = Body::default().with(IFLA_XDP_ATTACHED, &[0]);
    let families = Body::default().with_nested(AF_INET6 as u16, &six());
    header(0)
        .with_text(IFLA_IFNAME, loopback::NAME)
        .with_number(IFLA_TXQLEN, loopback::QUEUE)
        .with(IFLA_OPERSTATE, &[0])
        .with(IFLA_LINKMODE, &[0])
        .with(IFLA_NETNS_IMMUTABLE, &[1])
        .with_number(IFLA_MTU, loopback::MTU)
        .with_number(IFLA_MIN_MTU, 0)
        .with_number(IFLA_MAX_MTU, 0)
        .with_number(IFLA_GROUP, 0)
        .with_number(IFLA_PROMISCUITY, 0)
        .with_number(IFLA_ALLMULTI, 0)
        .with_number(IFLA_NUM_TX_QUEUES, 1)
        .with_number(IFLA_GSO_MAX_SEGS, 65_535)
        .with_number(IFLA_GSO_MAX_SIZE, 65_536)
        .with_number(IFLA_GRO_MAX_SIZE, 65_536)
        .with_number(IFLA_GSO_IPV4_MAX_SIZE, 65_536)
        .with_number(IFLA_GRO_IPV4_MAX_SIZE, 65_536)
        .with_number(IFLA_TSO_MAX_SIZE, 524_280)
        .with_number(IFLA_TSO_MAX_SEGS, 65_535)
        .with_number(IFLA_MAX_PACING_OFFLOAD_HORIZON, 0)
        .with_number(IFLA_NUM_RX_QUEUES, 1)
        .with(IFLA_CARRIER, &[1])
        .with_number(IFLA_CARRIER_CHANGES, 0)
        .with_number(IFLA_CARRIER_UP_COUNT, 0)
        .with_number(IFLA_CARRIER_DOWN_COUNT, 0)
        .with(IFLA_HEADROOM, &[0; 2])
        .with(IFLA_TAILROOM, &[0; 2])
        .with(IFLA_PROTO_DOWN, &[0])
        .with(IFLA_ADDRESS, &NO_ADDRESS)
        .with(IFLA_BROADCAST, &NO_ADDRESS)
        .with(IFLA_STATS64, &STATS64)
        .with(IFLA_STATS, &STATS)
        .with_nested(IFLA_XDP, &xdp)
        .with_text(IFLA_QDISC, b"noqueue")
        .with_nested(IFLA_AF_SPEC, &families)
        .with(IFLA_MAP, &MAP)
        .with(IFLA_DEVLINK_PORT, &[])
        .with(IFLA_DPLL_PIN, &[])
}

/// The interface for those who ask about version 6 only.
fn of_six() -> Body {
    header(AF_INET6 as u8)
        .with_text(IFLA_IFNAME, loopback::NAME)
        .with(IFLA_ADDRESS, &NO_ADDRESS)
        .with_number(IFLA_MTU, loopback::MTU)
        .with(IFLA_OPERSTATE, &[0])
        .with_nested(IFLA_PROTINFO, &six())
}

/// All links, or those that a strict request limits itself to.
pub fn all(request: &Request<'_>, asker: &Asker) -> Result<List, Refusal> {
    let family = request.byte(0);
    if family == AF_BRIDGE {
        return Ok(List { kind: RTM_NEWLINK, ..List::default() });
    }
    if u32::from(family) == AF_INET6 {
        if asker.strict {
            check_six(request)?;
        }
        let bodies = vec![of_six()];
        return Ok(List { kind: RTM_NEWLINK, bodies, ends_at_once: true, ..List::default() });
    }
    let master = match limits(request, asker) {
        // Who is not strict is told everything rather than that it asked for nonsense.
        Err(_) if !asker.strict => 0,
        other => other?,
    };
    // No interface has a master, which is what asking for -1 is about.
    let bodies = if matches!(master, 0 | u32::MAX) { vec![whole()] } else { Vec::new() };
    let filtered = master != 0;
    Ok(List { kind: RTM_NEWLINK, bodies, filtered, ends_filtered: filtered, ..List::default() })
}

/// The master whose links are asked for, if it is only about those.
fn limits(request: &Request<'_>, asker: &Asker) -> Result<u32, Refusal> {
    if asker.strict {
        check_header(request, "Invalid header for link dump")?;
        if has_values(request) {
            let why = "Invalid values in header for link dump request";
            return Err(Refusal::invalid(why));
        }
        if request.word(4) != 0 {
            let why = "Filter by device index not supported for link dumps";
            return Err(Refusal::invalid(why));
        }
    }
    let mut master = 0;
    let mut attributes = request.attributes(HEADER);
    for (kind, value) in &mut attributes {
        match kind {
            IFLA_EXT_MASK => drop(number(value)?),
            IFLA_MASTER => master = number(value)?,
            // No kinds of links are known; those of nobody limit nothing.
            IFLA_LINKINFO => {}
            IFLA_TARGET_NETNSID => return Err(Errno::EINVAL.into()),
            _ if asker.strict => {
                return Err(Refusal::invalid("Unsupported attribute in link dump request"));
            }
            _ => {}
        }
    }
    no_leftover(asker, &attributes)?;
    Ok(master)
}

fn check_header(request: &Request<'_>, why: &'static str) -> Result<(), Refusal> {
    if request.body.len() < HEADER { Err(Refusal::invalid(why)) } else { Ok(()) }
}

/// Whether the header has a type, flags or changes, which make no sense in a question.
fn has_values(request: &Request<'_>) -> bool {
    request.byte(1) != 0
        || request.word(0) >> 16 != 0
        || request.word(8) != 0
        || request.word(12) != 0
}

fn check_six(request: &Request<'_>) -> Result<(), Refusal> {
    check_header(request, "ipv6: Invalid header for link dump request")?;
    if request.body.len() > HEADER {
        return Err(Refusal::invalid("ipv6: Invalid data after header"));
    }
    if has_values(request) || request.word(4) != 0 {
        return Err(Refusal::invalid("ipv6: Invalid values in header for dump request"));
    }
    Ok(())
}

/// A strict program is told about bytes that are no attributes.
pub fn no_leftover(asker: &Asker, attributes: &Attributes<'_>) -> Result<(), Refusal> {
    if asker.strict && attributes.has_leftover() {
        return Err(Refusal::invalid("bytes leftover after parsing attributes"));
    }
    Ok(())
}

/// The link with a number or a name.
pub fn one(request: &Request<'_>, asker: &Asker) -> Result<Vec<u8>, Refusal> {
    check_header(request, "Invalid header for get link")?;
    if asker.strict && has_values(request) {
        return Err(Refusal::invalid("Invalid values in header for get link request"));
    }
    let mut name = None;
    let mut attributes = request.attributes(HEADER);
    for (kind, value) in &mut attributes {
        match kind {
            IFLA_IFNAME | IFLA_ALT_IFNAME => name = Some(checked_name(kind, value)?),
            IFLA_EXT_MASK => drop(number(value)?),
            IFLA_TARGET_NETNSID => return Err(Errno::EINVAL.into()),
            _ if asker.strict => {
                return Err(Refusal::invalid("Unsupported attribute in get link request"));
            }
            _ => {}
        }
    }
    no_leftover(asker, &attributes)?;
    let index = request.word(4) as i32;
    let found = match (index, name) {
        (1.., _) => index == loopback::INDEX as i32,
        (_, Some(name)) => loopback::is_named(name),
        _ => return Err(Errno::EINVAL.into()),
    };
    if !found {
        return Err(Errno::ENODEV.into());
    }
    Ok(reply(request, asker, RTM_NEWLINK, 0, &whole()))
}

/// A name that an interface could have.
fn checked_name(kind: u16, value: &[u8]) -> Result<&[u8], Refusal> {
    let longest = if kind == IFLA_IFNAME { LONGEST_NAME } else { 127 };
    let text = value.strip_suffix(&[0]).unwrap_or(value);
    if value.is_empty() || text.len() > longest {
        return Err(Refusal::ill_sized());
    }
    Ok(text)
}
