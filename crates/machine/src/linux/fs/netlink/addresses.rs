//! Addresses: those of the loopback interface, as messages tell about them.

use super::links::no_leftover;
use super::loopback;
use super::message::{Asker, Body, List, Refusal, Request, reply};
use super::numbers::*;
use crate::linux::abi::AF_INET6;
use crate::linux::errno::Errno;

/// Bytes of `struct ifaddrmsg`.
const HEADER: usize = 8;

fn header(family: u8, bits: u8) -> Body {
    let mut header = vec![family, bits, IFA_F_PERMANENT, RT_SCOPE_HOST];
    header.extend_from_slice(&loopback::INDEX.to_le_bytes());
    Body::new(&header)
}

/// Valid for ever, made and changed when the machine started.
fn lifetime() -> Vec<u8> {
    [u32::MAX, u32::MAX, 0, 0].iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The address of a family, with its attributes in the order of the kernel.
fn address(family: u8) -> Body {
    let permanent = u32::from(IFA_F_PERMANENT);
    if u32::from(family) == AF_INET6 {
        let (host, bits) = loopback::SIX;
        return header(family, bits)
            .with(IFA_ADDRESS, &host)
            .with(IFA_CACHEINFO, &lifetime())
            .with_number(IFA_FLAGS, permanent)
            .with(IFA_PROTO, &[IFAPROT_KERNEL_LO]);
    }
    let (host, bits) = loopback::FOUR;
    header(family, bits)
        .with(IFA_ADDRESS, &host)
        .with(IFA_LOCAL, &host)
        .with_text(IFA_LABEL, loopback::NAME)
        .with_number(IFA_FLAGS, permanent)
        .with(IFA_CACHEINFO, &lifetime())
}

/// All addresses of a family, or of all; a strict request can name the interface.
pub fn all(request: &Request<'_>, asker: &Asker) -> Result<List, Refusal> {
    let mut filtered = false;
    if asker.strict {
        if request.body.len() < HEADER {
            return Err(Refusal::invalid("Invalid header for address dump request"));
        }
        if request.word(0) >> 8 != 0 {
            return Err(Refusal::invalid("Invalid values in header for address dump request"));
        }
        filtered = request.word(4) != 0;
        if let Err(refusal) = check(request, asker) {
            return Ok(List { ends_filtered: filtered, ..List::refused(refusal) });
        }
    }
    let families = loopback::families(request.byte(0));
    Ok(List {
        kind: RTM_NEWADDR,
        bodies: families.iter().map(|&family| address(family)).collect(),
        filtered,
        ends_filtered: filtered,
        ends_at_once: families == [AF_INET6 as u8],
        refusal: None,
    })
}

/// Whether a strict request for a list has no more than it may, and is about an interface.
fn check(request: &Request<'_>, asker: &Asker) -> Result<(), Refusal> {
    let mut attributes = request.attributes(HEADER);
    // The only one that there is names another namespace, and there is none.
    if attributes.next().is_some() {
        return Err(Refusal::invalid("Unsupported attribute in dump request"));
    }
    no_leftover(asker, &attributes)?;
    match request.word(4) {
        0 | loopback::INDEX => Ok(()),
        _ => Err(Errno::ENODEV.into()),
    }
}

/// One address; only version 6 can be asked so.
pub fn one(request: &Request<'_>, asker: &Asker) -> Result<Vec<u8>, Refusal> {
    if u32::from(request.byte(0)) != AF_INET6 {
        return Err(Errno::EOPNOTSUPP.into());
    }
    if request.body.len() < HEADER {
        return Err(Refusal::invalid("ipv6: Invalid header for get address request"));
    }
    if asker.strict && request.word(0) >> 8 != 0 {
        return Err(Refusal::invalid("ipv6: Invalid values in header for get address request"));
    }
    let mut wanted = None;
    let mut attributes = request.attributes(HEADER);
    for (kind, value) in &mut attributes {
        match kind {
            IFA_ADDRESS | IFA_LOCAL if value.len() < 16 => return Err(Refusal::ill_sized()),
            IFA_ADDRESS | IFA_LOCAL => wanted = value.first_chunk::<16>(),
            _ if asker.strict => {
                return Err(Refusal::invalid("ipv6: Unsupported attribute in get address request"));
            }
            _ => {}
        }
    }
    no_leftover(asker, &attributes)?;
    match wanted {
        None => Err(Errno::EINVAL.into()),
        Some(host)
            if *host == loopback::SIX.0 && matches!(request.word(4), 0 | loopback::INDEX) =>
        {
            Ok(reply(request, asker, RTM_NEWADDR, 0, &address(AF_INET6 as u8)))
        }
        Some(_) => Err(Errno::EADDRNOTAVAIL.into()),
    }
}
