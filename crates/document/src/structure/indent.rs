//! Lines, and the lines that belong to them: those that are indented further, those of a section, and the
//! items of a list under its key. Logs, INI, YAML, Python and plain text come out alike.

use super::build::Builder;
use super::{Layout, Role};
use crate::formats::{lines, trimmed};

/// How wide a tab is.
const TAB: usize = 8;

/// A file of sections: heads in brackets, and lines with keys and values.
pub(super) fn sections(bytes: &[u8], deepest: usize) -> Option<Builder> {
    has_sections(bytes).then(|| blocks(bytes, true, deepest))?
}

pub(super) fn read(bytes: &[u8], deepest: usize) -> Option<Builder> {
    blocks(bytes, false, deepest)
}

fn blocks(bytes: &[u8], ini: bool, deepest: usize) -> Option<Builder> {
    let mut builder = Builder::new(Layout::Indented, deepest);
    // How far in each block is that is open.
    let mut levels: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in lines(bytes) {
        let end = at + line.len();
        let body = trimmed(line);
        let text = body.trim_ascii();
        // An empty line belongs to what is open.
        let level =
            if text.is_empty() && !levels.is_empty() { usize::MAX } else { level(body, ini) };
        let depth = levels.partition_point(|&open| open < level);
        levels.truncate(depth);
        builder.close_to(depth, at);
        builder.open(Role::Block, at);
        values(text, body, at, &mut builder);
        levels.push(level);
        at = end;
    }
    builder.close_to(0, bytes.len());
    (builder.len() > 0).then_some(builder)
}

/// How far in a line is. An item of a list is a little further in than a key; in a file of sections, lines
/// are further in than the head of their section.
fn level(line: &[u8], ini: bool) -> usize {
    let mut column = 0;
    for &byte in line {
        match byte {
            b' ' => column += 1,
            b'\t' => column += TAB,
            _ => break,
        }
    }
    let text = line.trim_ascii();
    let head = text.starts_with(b"[") && text.ends_with(b"]");
    let item = text.starts_with(b"- ") || text == b"-";
    2 * column + usize::from(item) + if ini && !head { 2 } else { 0 }
}

/// Whether there are heads in brackets, and lines with `=` or `:` among them.
fn has_sections(bytes: &[u8]) -> bool {
    let (mut heads, mut keys) = (0, 0);
    for line in lines(bytes).take(1000) {
        let text = line.trim_ascii();
        heads += usize::from(text.starts_with(b"[") && text.ends_with(b"]"));
        keys += usize::from(memchr::memchr2(b'=', b':', text).is_some());
    }
    heads > 0 && keys >= heads && bytes.trim_ascii_start().starts_with(b"[")
}

/// What stands behind `key:` or `key=` in a line.
fn values(text: &[u8], body: &[u8], at: usize, builder: &mut Builder) {
    let from = at + body.len() - body.trim_ascii_start().len();
    let Some(sign) = memchr::memchr2(b'=', b':', text) else { return };
    let key = &text[..sign];
    let word = |&b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b' ' | b'"');
    if key.is_empty() || !key.iter().all(word) {
        return;
    }
    let rest = &text[sign + 1..];
    let value = rest.trim_ascii();
    if !value.is_empty() {
        let start = from + sign + 1 + (rest.len() - rest.trim_ascii_start().len());
        builder.add(Role::Value, start..start + value.len());
    }
}
