//! JSON: values, and members with their values. One text may be several values, one after the other.

use super::build::Builder;
use super::{Layout, Role};

/// What is expected next.
#[derive(Clone, Copy)]
enum State {
    /// A member or the end of an object.
    Member,
    /// An item or the end of a list.
    Item,
    /// What follows a member.
    AfterMember,
    AfterItem,
}

pub(super) fn read(bytes: &[u8], deepest: usize) -> Option<Builder> {
    let start = skip(bytes, bytes.strip_prefix(b"\xef\xbb\xbf").map_or(0, |_| 3));
    if !matches!(bytes.get(start), Some(b'{' | b'[')) {
        return None;
    }
    let mut reader = Reader { bytes, at: start, builder: Builder::new(Layout::Json, deepest) };
    while reader.at < bytes.len() {
        let first = reader.at;
        reader.root()?;
        reader.at = skip(bytes, reader.at);
        if reader.at == first {
            return None;
        }
    }
    (reader.builder.len() > 1).then_some(reader.builder)
}

fn skip(bytes: &[u8], at: usize) -> usize {
    let white = |b: &u8| !matches!(b, b' ' | b'\t' | b'\r' | b'\n');
    bytes[at..].iter().position(white).map_or(bytes.len(), |n| at + n)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    builder: Builder,
}

impl Reader<'_> {
    /// A value with the white space behind it.
    fn root(&mut self) -> Option<()> {
        let mut states: Vec<State> = Vec::new();
        self.value(&mut states)?;
        while let Some(&state) = states.last() {
            self.at = skip(self.bytes, self.at);
            let byte = *self.bytes.get(self.at)?;
            match (state, byte) {
                (State::Member | State::AfterMember, b'}')
                | (State::Item | State::AfterItem, b']') => {
                    states.pop();
                    self.at += 1;
                    self.close(&mut states);
                }
                (State::AfterMember, b',') => {
                    self.at += 1;
                    *states.last_mut()? = State::Member;
                }
                (State::AfterItem, b',') => {
                    self.at += 1;
                    *states.last_mut()? = State::Item;
                }
                (State::Member, b'"') => {
                    let member = self.builder.open(Role::Member, self.at);
                    self.builder.separated(member);
                    self.string()?;
                    self.at = skip(self.bytes, self.at);
                    if self.bytes.get(self.at) != Some(&b':') {
                        return None;
                    }
                    self.at = skip(self.bytes, self.at + 1);
                    *states.last_mut()? = State::AfterMember;
                    self.value(&mut states)?;
                }
                (State::Item, _) => {
                    *states.last_mut()? = State::AfterItem;
                    self.value(&mut states)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Closes a value, and the member that it belongs to.
    fn close(&mut self, states: &mut [State]) {
        self.builder.close(self.at);
        if matches!(states.last(), Some(State::AfterMember)) {
            self.builder.close(self.at);
        }
    }

    /// A value, or the beginning of one that others are inside of.
    fn value(&mut self, states: &mut Vec<State>) -> Option<()> {
        let value = self.builder.open(Role::Value, self.at);
        match states.last() {
            Some(State::AfterItem) => self.builder.separated(value),
            Some(_) => self.builder.rest(value, b"null"),
            None => {}
        }
        match self.bytes.get(self.at)? {
            b'{' => {
                self.at += 1;
                states.push(State::Member);
            }
            b'[' => {
                self.at += 1;
                states.push(State::Item);
            }
            b'"' => {
                let from = self.at + 1;
                self.string()?;
                if self.at > from + 1 {
                    self.builder.add(Role::Quote, from..self.at - 1);
                }
                self.close(states);
            }
            _ => {
                let letter =
                    |b: &u8| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'));
                let rest = &self.bytes[self.at..];
                let length = rest.iter().position(letter).unwrap_or(rest.len());
                if length == 0 {
                    return None;
                }
                self.at += length;
                self.close(states);
            }
        }
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        let mut at = self.at + 1;
        loop {
            at += memchr::memchr2(b'"', b'\\', self.bytes.get(at..)?)?;
            if self.bytes[at] == b'"' {
                self.at = at + 1;
                return Some(());
            }
            at += 2;
        }
    }
}
