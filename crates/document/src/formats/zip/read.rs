//! The reader of archives: from the end to the directory, from there to the members.

use super::ending::{END, Ending};
use super::extra::{self, Sizes};
use super::member::{CENTRAL, DESCRIPTOR, Descriptor, FOLLOWS, LOCAL, Member, Role, Stated};
use super::{Slot, Zip};
use crate::content::Content;
use crate::formats::numbers::{le16, le32, size};
use crate::formats::roles::Roles;
use crate::formats::{bzip2, deflate, xz, zstd};
use crate::node::{Field, Sum};
use crate::parse::{Budget, Found, Piece};

const ENCRYPTED: u16 = 1;
const LOCAL_LENGTH: usize = 30;
const CENTRAL_LENGTH: usize = 46;

/// A line of the directory.
struct Line {
    made: u16,
    stated: Stated,
    time: Content,
    crc: u64,
    /// As the header says, and as the extra fields correct it.
    narrow: Sizes,
    sizes: Sizes,
    rest: [u8; 8],
    name: Content,
    extra: Content,
    comment: Content,
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    le16(bytes, at).map(|number| number as u16)
}

/// Checksum and sizes without a word yet on whether they are right.
fn stated(bytes: &Content, at: usize) -> Option<Stated> {
    Some(Stated {
        version: number(bytes, at)?,
        flags: number(bytes, at + 2)?,
        method: number(bytes, at + 4)?,
        crc: Field::Right,
        packed: Field::Right,
        unpacked: Field::Right,
        wide: None,
    })
}

/// The line at a place, and where it ends.
fn line(bytes: &Content, at: usize) -> Option<(Line, usize)> {
    if !bytes.get(at..)?.starts_with(CENTRAL) {
        return None;
    }
    let mut stated = stated(bytes, at + 6)?;
    let (packed, unpacked) = (le32(bytes, at + 20)?, le32(bytes, at + 24)?);
    let narrow = Sizes { unpacked, packed, offset: le32(bytes, at + 42)? };
    let name_at = at + CENTRAL_LENGTH;
    let name = bytes.get_slice(name_at, le16(bytes, at + 28)? as usize)?;
    let extra_at = name_at + name.len();
    let all = bytes.get_slice(extra_at, le16(bytes, at + 30)? as usize)?;
    let comment_at = extra_at + all.len();
    let comment = bytes.get_slice(comment_at, le16(bytes, at + 32)? as usize)?;
    let mut sizes = narrow;
    let (extra, wide) = extra::split(&all, &mut sizes);
    stated.wide = wide;
    let line = Line {
        made: number(bytes, at + 4)?,
        stated,
        time: bytes.get_slice(at + 12, 4)?,
        crc: le32(bytes, at + 16)?,
        narrow,
        sizes,
        rest: bytes.get(at + 34..at + 42)?.try_into().ok()?,
        name,
        extra,
        comment: comment.clone(),
    };
    Some((line, comment_at + comment.len()))
}

/// What is compressed in the data, by the method that the member states.
fn unpack(method: u16, data: &Content, budget: &mut Budget) -> Option<Found> {
    match method {
        8 => deflate::whole(data, budget),
        12 => bzip2::whole(data, budget),
        93 => zstd::whole(data, budget),
        95 => xz::whole(data, budget),
        _ => None,
    }
}

/// The member of a line: what it is, and where it begins and ends.
fn member(
    bytes: &Content,
    base: usize,
    line: Line,
    budget: &mut Budget,
) -> Option<(Piece, usize, usize)> {
    let start = base.checked_add(size(line.sizes.offset)?)?;
    if !bytes.get(start..)?.starts_with(LOCAL) {
        return None;
    }
    let mut local = stated(bytes, start + 4)?;
    let time = bytes.get_slice(start + 10, 4)?;
    let crc = le32(bytes, start + 14)?;
    let (packed, unpacked) = (le32(bytes, start + 18)?, le32(bytes, start + 22)?);
    let narrow = Sizes { unpacked, packed, offset: 0 };
    let name = bytes.get_slice(start + LOCAL_LENGTH, le16(bytes, start + 26)? as usize)?;
    let extra_at = start + LOCAL_LENGTH + name.len();
    let all = bytes.get_slice(extra_at, le16(bytes, start + 28)? as usize)?;
    let mut sizes = narrow;
    let (extra, mut wide) = extra::split(&all, &mut sizes);
    let data_at = extra_at + all.len();
    let data = bytes.get_slice(data_at, size(line.sizes.packed)?)?;
    let mut end = data_at + data.len();
    let mut descriptor = None;
    if local.flags & FOLLOWS != 0
        && let Some((found, length)) = Descriptor::find(bytes, end, line.crc, &line.sizes)
    {
        (descriptor, end) = (Some(found), end + length);
    }

    let plain = local.flags & ENCRYPTED == 0;
    let unpacked =
        Some(&data).filter(|_| plain).and_then(|data| unpack(local.method, data, budget));
    let sum = match &unpacked {
        Some(Found::Encoding { inner, .. }) => Sum::of(inner.bytes()),
        _ => Sum::of(&data),
    };
    let right =
        Sizes { unpacked: sum.length, packed: data.len() as u64, offset: (start - base) as u64 };
    let settle = |stated: &mut Stated, crc: u64, narrow: &Sizes| {
        stated.crc = Field::of(crc, u64::from(sum.crc));
        stated.packed = Field::of(narrow.packed, right.packed);
        stated.unpacked = Field::of(narrow.unpacked, right.unpacked);
        if let Some(wide) = &mut stated.wide {
            wide.settle(&right);
        }
    };
    local.wide = wide.take();
    settle(&mut local, crc, &narrow);
    let mut central = line.stated;
    settle(&mut central, line.crc, &line.narrow);

    let file = String::from_utf8_lossy(&line.name).into_owned();
    let packed = unpacked.is_some();
    let opaque = !packed && (local.method != 0 || !plain);
    let mut parts = vec![(Role::Name, Piece::leaf("name", name.clone()))];
    let mut leaf = |differs: bool, role, what: &str, content: &Content| {
        if differs {
            parts.push((role, Piece::leaf(what, content.clone())));
        }
    };
    leaf(line.name != name, Role::OtherName, "name in the directory", &line.name);
    leaf(true, Role::Time, "time", &time);
    leaf(line.time != time, Role::OtherTime, "time in the directory", &line.time);
    leaf(!extra.is_empty(), Role::LocalExtra, "extra fields", &extra);
    leaf(!line.extra.is_empty(), Role::CentralExtra, "extra fields in the directory", &line.extra);
    leaf(!line.comment.is_empty(), Role::Comment, "comment", &line.comment);
    let content = match unpacked {
        Some(found) => Piece::known(file.clone(), data, found.named(&file)),
        None if opaque => Piece::leaf(file.clone(), data),
        None => Piece::new(file.clone(), data),
    };
    parts.push((Role::Content, content));
    let (roles, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let form = Member {
        roles: Roles(roles),
        local,
        central,
        descriptor,
        opaque,
        packed,
        made: line.made,
        rest: line.rest,
        offset: Field::of(line.narrow.offset, right.offset),
    };
    Some((Piece::known(file, Content::default(), Found::container(form, parts)), start, end))
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    if !bytes.starts_with(LOCAL) && !bytes.starts_with(END) && !bytes.starts_with(b"MZ") {
        // An archive behind something else has its directory close to the end.
        let tail = &bytes[bytes.len().saturating_sub(1 << 16)..];
        memchr::memmem::find(tail, CENTRAL)?;
    }
    let Some(layout) = Ending::find(bytes) else { return cut_off(bytes, budget) };
    if layout.count > budget.nodes() {
        return None;
    }
    let (mut members, mut stray) = (Vec::new(), Vec::new());
    let mut at = layout.directory;
    for number in 0..layout.count {
        let (line, end) = line(bytes, at)?;
        match member(bytes, layout.base, line, budget) {
            Some(found) => members.push((found, number)),
            None => stray.push((bytes.slice(at..end), number)),
        }
        at = end;
    }
    if at != layout.end || (members.is_empty() && layout.count > 0) {
        return None;
    }
    members.sort_by_key(|((_, start, _), _)| *start);
    let first = members.first().map_or(layout.directory, |((_, start, _), _)| *start);
    let relative = layout.base > 0;
    if relative && layout.base != first {
        return None;
    }

    let (mut slots, mut parts) = (Vec::new(), Vec::new());
    let mut listed = vec![0; layout.count];
    let mut at = 0;
    for ((piece, start, end), number) in members {
        if start < at {
            return None;
        }
        if start > at {
            slots.push(Slot::Gap);
            parts.push(Piece::new("between members", bytes.slice(at..start)));
        }
        listed[number] = parts.len();
        slots.push(Slot::Member);
        parts.push(piece);
        at = end;
    }
    if layout.directory < at {
        return None;
    }
    for (line, number) in stray {
        listed[number] = parts.len();
        slots.push(Slot::Line);
        parts.push(Piece::leaf("line of the directory", line));
    }
    let last = [
        (Slot::Gap, "before the directory", bytes.slice(at..layout.directory)),
        (Slot::Comment, "comment", layout.comment),
        (Slot::After, "behind the end", layout.after),
    ];
    for (slot, name, content) in last {
        if !content.is_empty() {
            slots.push(slot);
            parts.push(Piece::new(name, content));
        }
    }
    let ending = Some(layout.ending);
    Some(Found::container(Zip { slots, listed, relative, ending }, parts))
}

/// An archive without its end: member after member, as far as they are whole.
fn cut_off(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    let (mut slots, mut parts) = (Vec::new(), Vec::new());
    let mut at = 0;
    while bytes[at..].starts_with(LOCAL) && parts.len() < budget.nodes() {
        let Some(line) = line_of_local(bytes, at, budget) else { break };
        let Some((piece, _, end)) = member(bytes, 0, line, budget) else { break };
        slots.push(Slot::Member);
        parts.push(piece);
        at = end;
    }
    if parts.is_empty() {
        return None;
    }
    if at < bytes.len() {
        slots.push(Slot::After);
        parts.push(Piece::new("rest", bytes.slice(at..)));
    }
    let form = Zip { slots, listed: Vec::new(), relative: false, ending: None };
    Some(Found::container(form, parts))
}

/// The line that a directory would have for the member at a place. If its sizes follow its data, the data
/// themselves say where they end.
fn line_of_local(bytes: &Content, at: usize, budget: &mut Budget) -> Option<Line> {
    let stated = stated(bytes, at + 4)?;
    let mut crc = le32(bytes, at + 14)?;
    let (mut packed, mut unpacked) = (le32(bytes, at + 18)?, le32(bytes, at + 22)?);
    let name = bytes.get_slice(at + LOCAL_LENGTH, le16(bytes, at + 26)? as usize)?;
    let data = at + LOCAL_LENGTH + name.len() + le16(bytes, at + 28)? as usize;
    if stated.flags & FOLLOWS != 0 && packed == 0 {
        let rest = bytes.get(data..)?;
        if stated.method == 8 {
            let (content, length) = deflate::unpack(rest, budget)?;
            let sum = Sum::of(&content);
            (crc, packed, unpacked) = (sum.crc.into(), length as u64, sum.length);
        } else {
            let fits = |&at: &usize| le32(rest, at + 8) == Some(at as u64);
            let end = memchr::memmem::find_iter(rest, DESCRIPTOR).find(fits)?;
            crc = le32(rest, end + 4)?;
            (packed, unpacked) = (le32(rest, end + 8)?, le32(rest, end + 12)?);
        }
    }
    let sizes = Sizes { unpacked, packed, offset: at as u64 };
    Some(Line {
        made: stated.version,
        time: bytes.get_slice(at + 10, 4)?,
        stated,
        crc,
        narrow: sizes,
        sizes,
        rest: [0; 8],
        name,
        extra: Content::default(),
        comment: Content::default(),
    })
}
