//! What the kernel tells about its network: the `NETLINK_ROUTE` protocol, to be asked only.
//!
//! ```text
//! bytes ──► message: requests ──► answer ──► links, addresses, routes, rules, neighbours
//!                    replies  ◄──────────────────────┘
//! ```
//!
//! The network is that of a fresh Linux network namespace: the one interface [`loopback`], up, with
//! its two addresses and the routes to them. What always holds:
//!
//! - Nothing changes it: whoever asks for a change is told that it is not permitted.
//! - What a program says about lengths is not believed, and an answer is never longer than the
//!   request and a fixed text together.
//! - The same request gives the same answer. There are no counters and no clock: statistics are zero,
//!   and everything was set up when the machine started.
//!
//! Sockets are not known here: they bring requests and take answers away. Not here, on purpose: the
//! settings and counters of the Internet protocols (`IFLA_INET_CONF` and its like), queueing
//! disciplines, the settings of neighbour tables, and the other netlink protocols.

mod addresses;
mod answer;
pub(in crate::linux) mod interface;
mod links;
pub(super) mod loopback;
mod message;
mod neighbours;
mod numbers;
mod routes;
mod rules;

pub(super) use answer::{Answer, answer};
pub(super) use message::{Asker, Refusal, Requests, acknowledgement};
pub(super) use numbers::{
    NETLINK_ADD_MEMBERSHIP, NETLINK_BROADCAST_ERROR, NETLINK_CAP_ACK, NETLINK_DROP_MEMBERSHIP,
    NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK, NETLINK_LIST_MEMBERSHIPS, NETLINK_LISTEN_ALL_NSID,
    NETLINK_NO_ENOBUFS, NETLINK_ROUTE, NLM_F_ACK,
};
pub(in crate::linux) use numbers::{NETLINK_PKTINFO, SOL_NETLINK};
