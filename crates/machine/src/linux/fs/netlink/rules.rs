//! Rules: in which tables a route is looked for. They are the kernel's own, which nobody changed.

use super::loopback;
use super::message::{Asker, Body, List, Refusal, Request};
use super::numbers::*;
use crate::linux::abi::{AF_INET, AF_INET6, AF_UNSPEC};
use crate::linux::errno::Errno;

/// Bytes of `struct fib_rule_hdr`.
const HEADER: usize = 12;
/// Tables and how early they are looked into. Version 6 has no table for what is left.
const RULES: [(u8, u32); 3] =
    [(RT_TABLE_LOCAL, 0), (RT_TABLE_MAIN, 32_766), (RT_TABLE_DEFAULT, 32_767)];

fn rule(family: u8, (table, priority): (u8, u32)) -> Body {
    let body = Body::new(&[family, 0, 0, 0, table, 0, 0, FR_ACT_TO_TBL, 0, 0, 0, 0])
        .with_number(FRA_TABLE, table.into())
        .with_number(FRA_SUPPRESS_PREFIXLEN, u32::MAX)
        .with(FRA_PROTOCOL, &[RTPROT_KERNEL]);
    // The first of all has no number.
    if priority == 0 { body } else { body.with_number(FRA_PRIORITY, priority) }
}

/// The rules of a family, or of all.
pub fn all(request: &Request<'_>, asker: &Asker) -> Result<List, Refusal> {
    if asker.strict {
        if request.body.len() < HEADER {
            return Err(Refusal::invalid("Invalid header for fib rule dump request"));
        }
        if request.body[1..HEADER].iter().any(|&byte| byte != 0) {
            return Err(Refusal::invalid("Invalid values in header for fib rule dump request"));
        }
        if request.body.len() > HEADER {
            return Err(Refusal::invalid("Invalid data after header in fib rule dump request"));
        }
    }
    let family = request.byte(0);
    if !matches!(u32::from(family), AF_UNSPEC | AF_INET | AF_INET6) {
        return Err(Errno::EAFNOSUPPORT.into());
    }
    let of = |&family: &u8| {
        let count = if u32::from(family) == AF_INET6 { 2 } else { 3 };
        RULES[..count].iter().map(move |&it| rule(family, it))
    };
    let bodies = loopback::families(family).iter().flat_map(of).collect();
    Ok(List { kind: RTM_NEWRULE, bodies, ends_at_once: true, ..List::default() })
}
