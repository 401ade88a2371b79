//! Where a server is: its base address, checked once.
//!
//! Always: `https`, or `http` to this machine itself, where nobody can listen on the way; no user
//! name, no password, no query. Two addresses are the same server if they are equal.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use stunt_parcel::messages::is_ticket;

/// The base address of a server, without a slash at its end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Address {
    scheme: &'static str,
    /// The host and the port, in lower case.
    authority: String,
    /// What comes before `/api`; begins with a slash or is empty.
    path: String,
}

/// The address of a ticket's page, as it stands in a browser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TicketAddress {
    /// The server.
    pub server: Address,
    /// The ticket: `T-12`.
    pub ticket: String,
}

/// Why a text is no address of a server.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddressError {
    /// It does not look like one.
    #[error("an address such as \"https://crashes.example.org\" is expected")]
    NotAnAddress,
    /// It is one, but not encrypted.
    #[error("{0} is not encrypted; an address that begins with https:// is expected")]
    NotEncrypted(String),
    /// It is not one of a ticket.
    #[error("an address such as \"https://crashes.example.org/tickets/T-12\" is expected")]
    NotATicket,
    /// It has a part that an address of a server does not have.
    #[error("the address has {0}, which the address of a server does not have")]
    Extra(&'static str),
}

impl Address {
    /// The address of something on the server: `/api/v1/ask`.
    pub fn join(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// The path of something on the server, as it stands in a request.
    pub fn path_of(&self, path: &str) -> String {
        format!("{}{path}", self.path)
    }

    /// Whether requests go through TLS; if not, they do not leave this machine.
    pub fn is_encrypted(&self) -> bool {
        self.scheme == "https"
    }

    /// The host and the port, as a request names them.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let (scheme, rest) = text.split_once("://").ok_or(AddressError::NotAnAddress)?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "https" => "https",
            "http" => "http",
            _ => return Err(AddressError::NotAnAddress),
        };
        let (authority, path) = match rest.find(['/', '?', '#']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(AddressError::Extra("a user name"));
        }
        if path.contains(['?', '#']) {
            return Err(AddressError::Extra("a query"));
        }
        let (host, port) = host_and_port(authority).ok_or(AddressError::NotAnAddress)?;
        let segments = path.trim_end_matches('/').split('/').skip(1);
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"-._~%".contains(&c);
        for segment in segments {
            if segment.is_empty() || segment.starts_with("..") || !segment.bytes().all(plain) {
                return Err(AddressError::NotAnAddress);
            }
        }
        if scheme == "http" && !is_this_machine(&host) {
            return Err(AddressError::NotEncrypted(format!("http://{host}")));
        }
        let usual = if scheme == "https" { 443 } else { 80 };
        let authority = match port {
            Some(port) if port != usual => format!("{host}:{port}"),
            _ => host,
        };
        Ok(Address { scheme, authority, path: path.trim_end_matches('/').to_owned() })
    }
}

impl TicketAddress {
    /// Whether a text is meant as an address, and not as the name of a file.
    pub fn is_meant(text: &str) -> bool {
        ["http://", "https://"].iter().any(|scheme| {
            text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })
    }
}

impl FromStr for TicketAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<TicketAddress, AddressError> {
        // What a browser adds: a place on the page, or how the list was sorted.
        let page = text.split(['?', '#']).next().unwrap_or(text).trim_end_matches('/');
        let (server, ticket) = page.rsplit_once("/tickets/").ok_or(AddressError::NotATicket)?;
        if !is_ticket(ticket) {
            return Err(AddressError::NotATicket);
        }
        Ok(TicketAddress { server: server.parse()?, ticket: ticket.to_owned() })
    }
}

fn host_and_port(authority: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = if authority.starts_with('[') {
        let end = authority.find(']')? + 1;
        let port = authority[end..].strip_prefix(':');
        if port.is_none() && end != authority.len() {
            return None;
        }
        let _address: std::net::Ipv6Addr = authority[1..end - 1].parse().ok()?;
        (&authority[..end], port)
    } else {
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"-.".contains(&c);
        if host.is_empty() || !host.bytes().all(plain) {
            return None;
        }
        (host, port)
    };
    let digits = |text: &&str| text.bytes().all(|digit| digit.is_ascii_digit());
    let port = match port {
        None => None,
        Some(port) => Some(Some(port).filter(digits)?.parse::<u16>().ok().filter(|&p| p > 0)?),
    };
    Some((host.to_ascii_lowercase(), port))
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_servers_have_equal_addresses() {
        let parse = |text: &str| text.parse::<Address>().unwrap();
        let same = ["https://A.example:443/", "https://a.example", "HTTPS://a.example:443"];
        for text in same {
            assert_eq!(parse(text), parse(same[0]), "{text}");
            assert_eq!(parse(text).to_string(), "https://a.example");
        }
        let based = parse("https://a.example:8443/crashes/");
        assert_eq!(based.join("/api/v1/ask"), "https://a.example:8443/crashes/api/v1/ask");
        assert_eq!(based.path_of("/api/v1/ask"), "/crashes/api/v1/ask");
        assert_eq!(based.authority(), "a.example:8443");
        assert_eq!(parse("http://[::1]:80").to_string(), "http://[::1]");
        assert_eq!(parse("http://127.0.0.1:8080").to_string(), "http://127.0.0.1:8080");
    }

    #[test]
    fn a_tickets_page_is_a_server_and_a_number() {
        let right = [
            ("https://a.example/tickets/T-12", "https://a.example"),
            ("https://a.example/tickets/T-12/", "https://a.example"),
            (
                "https://a.example/crashes/tickets/T-12?from=list#replay",
                "https://a.example/crashes",
            ),
            ("HTTP://127.0.0.1:8080/tickets/T-12", "http://127.0.0.1:8080"),
        ];
        for (text, server) in right {
            assert!(TicketAddress::is_meant(text), "{text}");
            let found: TicketAddress = text.parse().unwrap();
            assert_eq!(
                (found.server.to_string().as_str(), found.ticket.as_str()),
                (server, "T-12")
            );
        }
        for text in [
            "https://a.example/",
            "https://a.example/tickets/",
            "https://a.example/tickets/12",
            "https://a.example/tickets/T-",
            "https://a.example/tickets/T-1/../../x",
            "https://a.example/tickets/T-1%0d%0a",
            "https://me:pw@a.example/tickets/T-1",
            "http://a.example/tickets/T-1",
        ] {
            assert!(text.parse::<TicketAddress>().is_err(), "{text}");
        }
        for text in ["report.zip", "http:", "https/x", "./https://a", "é"] {
            assert!(!TicketAddress::is_meant(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_encrypted_or_no_address_is_refused() {
        let wrong = [
            "http://a.example",
            "http://127.0.0.1.a.example",
            "http://128.0.0.1",
            "ftp://a.example",
            "a.example",
            "https://",
            "https:///x",
            "https://me:pw@a.example",
            "https://a.example?x",
            "https://a.example/#x",
            "https://a.example/../x",
            "https://a.example//x",
            "https://a.example:0",
            "https://a.example:+1",
            "https://a.example:99999",
            "https://a.exa mple",
            "https://a.example/a b",
            "https://[::1",
            "https://[nonsense]",
            "https://a.example/\r\nx: y",
        ];
        for text in wrong {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
        let error = "http://a.example".parse::<Address>().unwrap_err().to_string();
        assert!(error.contains("not encrypted"), "{error}");
    }
}
