//! Values of PDF: dictionaries with their keys, arrays, strings.

use super::build::Builder;
use super::{Layout, Role};
use crate::formats::pdf::lexer::string_end;

/// What is being read.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// A dictionary, before a key.
    Key,
    /// A dictionary, behind a key: its value is missing.
    Value,
    Array,
}

pub(super) fn read(bytes: &[u8], deepest: usize) -> Option<Builder> {
    let start = skip(bytes, 0);
    if !bytes[start..].starts_with(b"<<") {
        return None;
    }
    let mut builder = Builder::new(Layout::Pdf, deepest);
    let mut states: Vec<State> = Vec::new();
    let mut at = start;
    loop {
        at = skip(bytes, at);
        let rest = &bytes[at..];
        let state = states.last().copied();
        let ends = match state {
            Some(State::Key) if rest.starts_with(b">>") => 2,
            Some(State::Array) if rest.starts_with(b"]") => 1,
            _ => 0,
        };
        if ends > 0 {
            at += ends;
            states.pop();
            builder.close(at);
            after(bytes, at, &mut states, &mut builder);
        } else if state == Some(State::Key) {
            if !rest.starts_with(b"/") {
                return None;
            }
            builder.open(Role::Member, at);
            at += word(rest);
            *states.last_mut()? = State::Value;
        } else {
            let value = builder.open(Role::Value, at);
            if state == Some(State::Value) {
                builder.rest(value, b"null");
            }
            if rest.starts_with(b"<<") {
                at += 2;
                states.push(State::Key);
                continue;
            }
            if rest.starts_with(b"[") {
                at += 1;
                states.push(State::Array);
                continue;
            }
            let length = scalar(rest)?;
            let text = matches!(rest[0], b'(' | b'<') && length > 2;
            if text {
                builder.add(Role::Quote, at + 1..at + length - 1);
            }
            at += length;
            builder.close(at);
            after(bytes, at, &mut states, &mut builder);
        }
        if states.is_empty() {
            // Nothing but white space may follow.
            return (skip(bytes, at) == bytes.len() && builder.len() > 1).then_some(builder);
        }
    }
}

/// A value is complete, and with it the member that it belongs to: with the white space behind it.
fn after(bytes: &[u8], at: usize, states: &mut [State], builder: &mut Builder) {
    if let Some(state @ State::Value) = states.last_mut() {
        *state = State::Key;
        builder.close(skip(bytes, at));
    }
}

fn is_white(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

fn skip(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&b| !is_white(b)).map_or(bytes.len(), |n| at + n)
}

/// How long a name or a word is.
fn word(rest: &[u8]) -> usize {
    let ends = |&b: &u8| is_white(b) || b"()<>[]{}/%".contains(&b);
    rest[1..].iter().position(ends).map_or(rest.len(), |n| n + 1)
}

/// How long a value is that holds no others.
fn scalar(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'(' => string_end(rest, 0),
        b'<' => memchr::memchr(b'>', rest).map(|n| n + 1),
        b'/' => Some(word(rest)),
        b')' | b'>' | b'[' | b']' | b'{' | b'}' | b'%' => None,
        b'0'..=b'9' => Some(reference(rest).unwrap_or_else(|| word(rest))),
        _ => Some(word(rest)),
    }
}

/// How long `5 0 R` is, which is one value.
fn reference(rest: &[u8]) -> Option<usize> {
    let digits = |at: usize| rest[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let white = |at: usize| rest[at..].iter().take_while(|&&b| is_white(b)).count();
    let mut at = 0;
    for _ in 0..2 {
        let (long, apart) = (digits(at), white(at + digits(at)));
        if long == 0 || apart == 0 {
            return None;
        }
        at += long + apart;
    }
    (rest.get(at) == Some(&b'R')).then_some(at + 1)
}
