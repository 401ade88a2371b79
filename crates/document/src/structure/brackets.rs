//! Text with brackets whose rules nobody knows: programs, queries, broken JSON.
//!
//! A group is all between two brackets that match. What stands in it between commas, or else between
//! semicolons or line ends, are its items. Quotes hide brackets.

use std::ops::Range;

use super::build::Builder;
use super::{Layout, Role};

/// With fewer groups than one in so many bytes, lines say more.
const RARE: usize = 400;

/// Something that matters, and where.
enum Token {
    Open(u8),
    Close(u8),
    Comma,
    Semicolon,
    Line,
    Quote(usize),
}

fn tokens(bytes: &[u8]) -> Vec<(usize, Token)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let token = match bytes[at] {
            b'(' => Token::Open(b')'),
            b'[' => Token::Open(b']'),
            b'{' => Token::Open(b'}'),
            close @ (b')' | b']' | b'}') => Token::Close(close),
            b',' => Token::Comma,
            b';' => Token::Semicolon,
            b'\n' => Token::Line,
            quote @ (b'"' | b'\'') => match quoted(bytes, at, quote) {
                Some(end) => {
                    tokens.push((at, Token::Quote(end)));
                    at = end;
                    continue;
                }
                None => {
                    at += 1;
                    continue;
                }
            },
            _ => {
                at += 1;
                continue;
            }
        };
        tokens.push((at, token));
        at += 1;
    }
    tokens
}

/// Where a quote that begins here ends, if it does so in the same line and is no apostrophe.
fn quoted(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    if quote == b'\'' && start > 0 && bytes[start - 1].is_ascii_alphanumeric() {
        return None;
    }
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// For each opening bracket the token that closes it.
fn matches(tokens: &[(usize, Token)]) -> Vec<Option<usize>> {
    let mut partner = vec![None; tokens.len()];
    let mut open: Vec<(usize, u8)> = Vec::new();
    for (number, (_, token)) in tokens.iter().enumerate() {
        match token {
            Token::Open(close) => open.push((number, *close)),
            Token::Close(close) => {
                // A bracket that was never closed is skipped, if not too many are.
                let near = open.len().saturating_sub(8);
                if let Some(at) = open[near..].iter().rposition(|(_, wanted)| wanted == close) {
                    let (opened, _) = open[near + at];
                    partner[opened] = Some(number);
                    open.truncate(near + at);
                }
            }
            _ => {}
        }
    }
    partner
}

/// A group that is being read: which token ends it, and what separates its items.
struct Level {
    end: usize,
    /// The number of the item that is open, and where it begins.
    item: Option<(usize, usize)>,
    by: Separator,
}

#[derive(Clone, Copy, PartialEq)]
enum Separator {
    Comma,
    /// A semicolon or a line end, which belongs to the item in front of it.
    Line,
    Nothing,
}

pub(super) fn read(bytes: &[u8], deepest: usize) -> Option<Builder> {
    let tokens = tokens(bytes);
    let partner = matches(&tokens);
    let groups = partner.iter().flatten().count();
    if groups < 2 || groups * RARE < bytes.len() {
        return None;
    }
    let by = separators(&tokens, &partner);
    let mut builder = Builder::new(Layout::Brackets, deepest);
    let mut levels = vec![Level { end: tokens.len(), item: None, by: Separator::Line }];
    start_item(&mut levels, 0, &mut builder);
    for (number, (at, token)) in tokens.iter().enumerate() {
        let level = levels.last_mut()?;
        if level.end == number {
            end_item(level, *at, bytes, &mut builder);
            levels.pop();
            builder.close(at + 1);
            continue;
        }
        match token {
            Token::Open(_) => {
                if let Some(end) = partner[number] {
                    builder.open(Role::Group, *at);
                    levels.push(Level { end, item: None, by: by[number] });
                    start_item(&mut levels, at + 1, &mut builder);
                }
            }
            Token::Quote(end) if *end > at + 2 => {
                builder.add(Role::Quote, at + 1..end - 1);
            }
            Token::Comma if level.by == Separator::Comma => {
                end_item(level, *at, bytes, &mut builder);
                start_item(&mut levels, at + 1, &mut builder);
            }
            Token::Semicolon | Token::Line if level.by == Separator::Line => {
                end_item(level, at + 1, bytes, &mut builder);
                start_item(&mut levels, at + 1, &mut builder);
            }
            _ => {}
        }
    }
    let level = levels.last_mut()?;
    end_item(level, bytes.len(), bytes, &mut builder);
    Some(builder)
}

/// What separates the items of each group, by the number of the token that opens it: semicolons, or else
/// commas, or else line ends.
fn separators(tokens: &[(usize, Token)], partner: &[Option<usize>]) -> Vec<Separator> {
    const NOTHING: u8 = 0;
    const LINE: u8 = 1;
    const COMMA: u8 = 2;
    const SEMICOLON: u8 = 3;
    let mut strongest = vec![NOTHING; tokens.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (number, (_, token)) in tokens.iter().enumerate() {
        while open.last().is_some_and(|&(_, end)| end <= number) {
            open.pop();
        }
        let strength = match token {
            Token::Line => LINE,
            Token::Comma => COMMA,
            Token::Semicolon => SEMICOLON,
            _ => NOTHING,
        };
        if let Some(&(group, _)) = open.last() {
            strongest[group] = strongest[group].max(strength);
        }
        if matches!(token, Token::Open(_)) {
            open.extend(partner[number].map(|end| (number, end)));
        }
    }
    let separator = |strength| match strength {
        NOTHING => Separator::Nothing,
        COMMA => Separator::Comma,
        _ => Separator::Line,
    };
    strongest.into_iter().map(separator).collect()
}

fn start_item(levels: &mut [Level], at: usize, builder: &mut Builder) {
    if let Some(level) = levels.last_mut()
        && level.by != Separator::Nothing
    {
        let item = builder.open(Role::Item, at);
        if level.by == Separator::Comma {
            builder.separated(item);
        }
        level.item = Some((item, at));
    }
}

fn end_item(level: &mut Level, at: usize, bytes: &[u8], builder: &mut Builder) {
    if let Some((item, from)) = level.item.take() {
        let range: Range<usize> = from..at;
        builder.close(at);
        let empty = bytes[range].trim_ascii().is_empty();
        if empty && level.by == Separator::Line && builder.len() == item + 1 {
            builder.forget(item);
        }
    }
}
