//! Any bytes as a message or as a parcel: they are refused in a sentence, or they are what both sides mean
//! by them. The fuzz target for messages is this, too.
//!
//! What begins with `P` is sealed first, so that what is inside a parcel is reached.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stunt_parcel::messages::{
    Answer, Ask, Count, Counted, Problem, ServerKey, Stored, is_signature, is_ticket,
};
use stunt_parcel::{Identity, open};

/// The bytes 1 to 32.
const SECRET: &str = "AGE-SECRET-KEY-1QYPQXPQ9QCRSSZG2PVXQ6RS0ZQG3YYC5Z5TPWXQERGD3C8G7RUSQGPQYEE";
const MOST: usize = 1 << 16;

/// Panics if that does not hold.
pub fn check(data: &[u8]) {
    parcel(data);
    message::<Ask>(data);
    message::<Answer>(data);
    message::<Count>(data);
    message::<Counted>(data);
    message::<Stored>(data);
    message::<ServerKey>(data);
    message::<Problem>(data);
    if let Ok(text) = std::str::from_utf8(data) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        assert!(!(is_signature(text) || is_ticket(text)) || text.chars().all(plain), "{text}");
    }
}

fn message<M: DeserializeOwned + Serialize + PartialEq>(data: &[u8]) {
    let Ok(read) = serde_json::from_slice::<M>(data) else { return };
    let written = serde_json::to_vec(&read).expect("messages have only text and numbers");
    let again: M = serde_json::from_slice(&written).expect("what is written can be read");
    assert!(again == read, "it changes while it is written");
}

fn parcel(data: &[u8]) {
    let identity: Identity = SECRET.parse().expect("a key");
    let sealed = match data.strip_prefix(b"P") {
        Some(plain) => {
            let to: age::x25519::Identity = SECRET.parse().expect("a key");
            age::encrypt(&to.to_public(), plain).expect("there is room in memory")
        }
        None => data.to_vec(),
    };
    match open(&sealed, &identity, MOST) {
        Ok(parcel) => assert!(parcel.report.len() <= MOST && data.ends_with(&parcel.report)),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
        }
    }
}
