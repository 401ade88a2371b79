//! Who answers which request, and what nobody may ask for.

use super::message::{Asker, List, Refusal, Request};
use super::numbers::*;
use super::{addresses, links, neighbours, routes, rules};
use crate::linux::errno::Errno;

/// What a request gets.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing, or an error; an acknowledgement says so if it is an error or was asked for.
    Done(Result<(), Refusal>),
    /// One message, and an acknowledgement if that was asked for.
    One(Vec<u8>),
    /// A list, datagram by datagram; it has no acknowledgement but its end.
    All(Vec<Vec<u8>>),
}

/// Answers a request.
pub fn answer(request: &Request<'_>, asker: &Asker) -> Answer {
    if request.flags & NLM_F_REQUEST == 0 || request.kind < NLMSG_MIN_TYPE {
        return Answer::Done(Ok(()));
    }
    if request.kind > RTM_MAX {
        return Answer::Done(Err(Errno::EOPNOTSUPP.into()));
    }
    // Without a family it is about nothing.
    if request.body.is_empty() {
        return Answer::Done(Ok(()));
    }
    // Kinds come in fours: new, delete, get, set. Only what gets changes nothing.
    if request.kind & 3 != 2 {
        return Answer::Done(Err(Errno::EPERM.into()));
    }
    if request.wants_all() {
        return match all(request, asker) {
            Some(list) => Answer::All(list.datagrams(request, asker)),
            None => Answer::Done(Err(Errno::EOPNOTSUPP.into())),
        };
    }
    let one = match request.kind {
        RTM_GETLINK => links::one(request, asker),
        RTM_GETADDR => addresses::one(request, asker),
        RTM_GETROUTE => routes::one(request, asker),
        RTM_GETNEIGH => neighbours::one(request),
        _ => Err(Errno::EOPNOTSUPP.into()),
    };
    one.map_or_else(|refusal| Answer::Done(Err(refusal)), Answer::One)
}

/// The list that a request asks for, if there is one of its kind.
fn all(request: &Request<'_>, asker: &Asker) -> Option<List> {
    let list = match request.kind {
        RTM_GETLINK => links::all(request, asker),
        RTM_GETADDR => addresses::all(request, asker),
        RTM_GETROUTE => routes::all(request, asker),
        RTM_GETRULE => rules::all(request, asker),
        RTM_GETNEIGH => neighbours::all(request, asker),
        _ => return None,
    };
    Some(list.unwrap_or_else(List::refused))
}
