//! The keys that a configuration file may have: one table, from which everything else follows.
//!
//! Always: a key that decides where data goes or who can read it cannot be turned by a file of a
//! project, only suggested by it ([`Reach`]). What a value is used for is not known here.

use super::value::{Shape, Value};

/// What a file of a project may do with a key. Such a file comes with a download, and its author
/// is not the one whose input is private.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// A part of the destination: taken whole from one file, from a project's only if neither the
    /// user nor the system has one, and shown before anything is sent.
    Destination,
    /// A project may set it to false, never to true.
    OnlyOff,
    /// A project may set it lower, never higher.
    OnlyLower,
    /// Only the user and the system may set it.
    Own,
    /// A project may set it like anybody else.
    Free,
}

/// A key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Its name, with its table: `queue.keep`.
    pub name: &'static str,
    /// What its value looks like.
    pub shape: Shape,
    /// What a project may do with it.
    pub reach: Reach,
    /// Its value where nobody sets one, as it would be written; empty if there is none.
    pub default: &'static str,
    /// What it is for.
    pub meaning: &'static str,
}

impl Key {
    /// The value where nobody sets one.
    pub fn default_value(&self) -> Option<Value> {
        (!self.default.is_empty()).then(|| {
            self.shape.parse_text(self.default).expect("the table of keys has defaults that parse")
        })
    }
}

const fn key(
    name: &'static str,
    shape: Shape,
    reach: Reach,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { name, shape, reach, default, meaning }
}

/// All keys, in the order in which they are shown: those outside of tables first, as in a file.
pub static KEYS: [Key; 25] = [
    key(
        "ask",
        Shape::Flag,
        Reach::OnlyOff,
        "",
        "whether the server is asked first if it has a double already; where it is not set, a \
         person is asked",
    ),
    key(
        "sign",
        Shape::Flag,
        Reach::Own,
        "false",
        "whether reports are signed with a key of this installation, which links them",
    ),
    key(
        "max-leak",
        Shape::Percent,
        Reach::OnlyLower,
        "",
        "no report that tells more than this of the original is ever sent: \"5%\" or \"20bits\"",
    ),
    key(
        "max-leak-bits",
        Shape::Count { least: 0, most: 1 << 40 },
        Reach::OnlyLower,
        "",
        "the same in bits, as a number; if both are set, both hold",
    ),
    key("destination.server", Shape::Url, Reach::Destination, "", "where reports go"),
    key(
        "destination.recipient",
        Shape::Recipient,
        Reach::Destination,
        "",
        "the public key (age1…) that reports are sealed for",
    ),
    key(
        "destination.token",
        Shape::Secret,
        Reach::Destination,
        "",
        "the project's token, if the server wants one",
    ),
    key(
        "destination.certificate",
        Shape::Path,
        Reach::Destination,
        "",
        "a PEM file: the only certificates that the server may be vouched for by",
    ),
    key("network.proxy", Shape::Proxy, Reach::Own, "", "the proxy, or none; otherwise HTTPS_PROXY"),
    key(
        "network.timeout",
        Shape::Age,
        Reach::Own,
        "30s",
        "how long to wait for a connection, and for an answer",
    ),
    key(
        "network.attempts",
        Shape::Count { least: 1, most: 20 },
        Reach::Own,
        "4",
        "how often a request is tried",
    ),
    key(
        "network.max-wait",
        Shape::Age,
        Reach::Own,
        "1m",
        "the longest time between two attempts, also where the server asks for more",
    ),
    key(
        "queue.max-parcels",
        Shape::Count { least: 0, most: 10_000 },
        Reach::Own,
        "100",
        "how many parcels may wait",
    ),
    key("queue.max-size", Shape::Size, Reach::Own, "256M", "how many bytes may wait"),
    key("queue.keep", Shape::Age, Reach::Own, "30d", "how long a parcel may wait"),
    key("incidents.keep", Shape::Age, Reach::Own, "30d", "how long incidents are kept"),
    key(
        "incidents.max-size",
        Shape::Size,
        Reach::Own,
        "256M",
        "how many bytes all incidents may have; the oldest go first",
    ),
    key(
        "record.largest-file",
        Shape::Size,
        Reach::Free,
        "4M",
        "the largest file of which an incident has a copy",
    ),
    key(
        "record.room",
        Shape::Size,
        Reach::Free,
        "64M",
        "how much of standard input and connections is kept in memory",
    ),
    key(
        "record.keep-env",
        Shape::Names,
        Reach::Own,
        "",
        "environment variables that an incident keeps",
    ),
    key(
        "record.keep-last",
        Shape::Flag,
        Reach::Own,
        "false",
        "whether a run that did not fail is kept for `stunt request`, also on disk",
    ),
    key(
        "record.forget",
        Shape::Flag,
        Reach::Own,
        "false",
        "whether a run that did not fail is not kept at all",
    ),
    key(
        "record.last-age",
        Shape::Age,
        Reach::Own,
        "1h",
        "how old the last run may be for `stunt request`",
    ),
    key(
        "watch.programs",
        Shape::Names,
        Reach::Own,
        "",
        "programs whose crashes `stunt watch` picks up",
    ),
    key("work.time", Shape::Age, Reach::Own, "8h", "how long `stunt work` may work"),
];

/// The key of this name.
pub fn key_of(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether there is a table of this name.
pub fn is_table(name: &str) -> bool {
    KEYS.iter().any(|key| key.name.split_once('.').is_some_and(|(table, _)| table == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values_of_their_shape() {
        for key in &KEYS {
            assert_eq!(key.default_value().is_some(), !key.default.is_empty(), "{}", key.name);
            assert!(std::ptr::eq(key_of(key.name).unwrap(), key), "{} is there twice", key.name);
        }
    }

    #[test]
    fn what_decides_where_data_goes_is_no_free_key() {
        for key in &KEYS {
            let sends = ["destination.", "network.", "sign", "ask", "max-leak"];
            if sends.iter().any(|start| key.name.starts_with(start)) {
                assert_ne!(key.reach, Reach::Free, "{}", key.name);
            }
        }
    }
}
