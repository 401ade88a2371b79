//! tar: members with a header of 512 bytes each, filled up to whole blocks.
//!
//! A member is a container of its name, its owner, its time, what it links to and its content. Sizes,
//! checksums and filling are computed.

use std::sync::Arc;

use crate::content::Content;
use crate::formats::roles::Roles;
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use crate::parse::{Budget, Found, Piece};

const BLOCK: usize = 512;
/// Writers fill up the end of an archive to this.
const RECORD: usize = 20 * BLOCK;

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Name,
    Owner,
    Time,
    Link,
    OwnerNames,
    Prefix,
    Content,
}

/// Where the fields are that are leaves.
const FIELDS: [(Role, &str, usize, usize); 6] = [
    (Role::Name, "name", 0, 100),
    (Role::Owner, "mode and owner", 100, 24),
    (Role::Time, "time", 136, 12),
    (Role::Link, "link", 157, 100),
    (Role::OwnerNames, "names of the owner", 265, 64),
    (Role::Prefix, "prefix", 345, 155),
];
const SIZE: std::ops::Range<usize> = 124..136;
const SUM: std::ops::Range<usize> = 148..156;
const TYPE: usize = 156;
const MAGIC: usize = 257;

/// How a number of octal digits is written in its field.
#[derive(Clone)]
enum Octal {
    /// So many digits, and what stands behind them.
    Digits(usize, Content),
    /// Something else, which stays.
    Was(Content),
}

impl Octal {
    fn of(field: Content, right: u64) -> Octal {
        let digits = field.iter().take_while(|b| b.is_ascii_digit()).count();
        let octal = Octal::Digits(digits, field.slice(digits..));
        if digits > 0 && octal.text(right) == field[..] { octal } else { Octal::Was(field) }
    }

    fn text(&self, number: u64) -> Vec<u8> {
        match self {
            Octal::Digits(width, end) => {
                let mut text = format!("{number:0width$o}").into_bytes();
                // A number that does not fit is written in binary, as GNU does.
                if text.len() > *width {
                    let mut binary = vec![0; width + end.len()];
                    let from = binary.len().saturating_sub(8);
                    binary[from..]
                        .copy_from_slice(&number.to_be_bytes()[8 - (width + end.len() - from)..]);
                    binary[0] |= 0x80;
                    return binary;
                }
                text.extend_from_slice(end);
                text
            }
            Octal::Was(field) => field.to_vec(),
        }
    }
}

#[derive(Clone)]
struct Member {
    roles: Roles<Role>,
    /// The header without what is in leaves or computed.
    header: Content,
    size: Octal,
    sum: Octal,
}

fn sum(header: &[u8]) -> u64 {
    let spaces = SUM.len() as u64 * u64::from(b' ');
    let all: u64 = header.iter().map(|&b| u64::from(b)).sum();
    all - header[SUM].iter().map(|&b| u64::from(b)).sum::<u64>() + spaces
}

impl Form for Member {
    fn kind(&self) -> Kind {
        Kind::TarMember
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let mut content = out.fresh();
        self.roles.write(Role::Content, parts, &mut content);
        let start = out.len();
        let mut at = 0;
        for (role, _, from, length) in FIELDS {
            out.push(&self.header[at..from]);
            self.roles.write_exactly(role, length, parts, out);
            at = from + length;
        }
        out.push(&self.header[at..]);
        out.patch(start + SIZE.start, &self.size.text(content.len() as u64));
        let computed = sum(&out.bytes()[start..]);
        out.patch(start + SUM.start, &self.sum.text(computed));
        out.append(&content);
        out.push(&vec![0; content.len().next_multiple_of(BLOCK) - content.len()]);
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        Arc::new(Member { roles: self.roles.keep(kept), ..self.clone() })
    }
}

#[derive(Clone)]
struct Tar {
    /// How many bytes of zeros end the archive; it may be filled up to a record beyond that.
    zeros: usize,
    filled: bool,
}

impl Form for Tar {
    fn kind(&self) -> Kind {
        Kind::Tar
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let start = out.len();
        for at in 0..parts.len() {
            parts.write(at, out);
        }
        let length = out.len() - start + self.zeros;
        let fill = if self.filled { length.next_multiple_of(RECORD) - length } else { 0 };
        out.push(&vec![0; self.zeros + fill]);
    }

    fn keep(&self, _: &[usize]) -> Arc<dyn Form> {
        Arc::new(self.clone())
    }
}

/// A size, in octal digits or in binary.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        let low = field.len().checked_sub(8).filter(|&low| low > 0)?;
        let high = field[1..low].iter().all(|&b| b == 0) && field[0] == 0x80;
        return high.then(|| field[low..].iter().fold(0, |n, &b| n << 8 | u64::from(b)));
    }
    let text = std::str::from_utf8(field).ok()?;
    let text = text.trim_matches(|c| c == ' ' || c == '\0');
    if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
}

fn member(bytes: &Content, at: usize) -> Option<(Piece, usize)> {
    let header = bytes.get_slice(at, BLOCK)?;
    if number(&header[SUM])? != sum(&header) {
        return None;
    }
    // Links, devices and folders have no content, whatever their size says.
    let length = match header[TYPE] {
        b'1'..=b'6' => 0,
        _ => usize::try_from(number(&header[SIZE])?).ok()?,
    };
    let content = bytes.get_slice(at + BLOCK, length)?;
    let end = at + BLOCK + length.next_multiple_of(BLOCK);
    if end > bytes.len() {
        return None;
    }
    let mut template = header.to_vec();
    let (mut roles, mut parts) = (Vec::new(), Vec::new());
    let mut file = String::new();
    for (role, name, from, long) in FIELDS {
        let field = &header[from..from + long];
        let used = field.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        template[from..from + long].fill(0);
        if role == Role::Name {
            file = String::from_utf8_lossy(&field[..used]).into_owned();
        }
        if used > 0 {
            roles.push(role);
            parts.push(Piece::leaf(name, header.slice(from..from + used)));
        }
    }
    template[SIZE].fill(0);
    template[SUM].fill(0);
    if length > 0 {
        roles.push(Role::Content);
        parts.push(Piece::new(file.clone(), content.clone()));
    }
    let form = Member {
        roles: Roles(roles),
        size: Octal::of(header.slice(SIZE), length as u64),
        sum: Octal::of(header.slice(SUM), sum(&header)),
        header: template.into(),
    };
    Some((Piece::known(file, Content::default(), Found::container(form, parts)), end))
}

pub(crate) fn read(bytes: &Content, budget: &mut Budget) -> Option<Found> {
    if bytes.len() < BLOCK || (bytes[0] == 0 && !bytes[MAGIC..].starts_with(b"ustar")) {
        return None;
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some((piece, end)) = member(bytes, at) {
        parts.push(piece);
        at = end;
        if parts.len() * 6 > budget.nodes() {
            return None;
        }
    }
    if parts.is_empty() {
        return None;
    }
    let zeros = bytes[at..].iter().take_while(|&&b| b == 0).count();
    if at + zeros < bytes.len() {
        parts.push(Piece::new("rest", bytes.slice(at..)));
        return Some(Found::container(Tar { zeros: 0, filled: false }, parts));
    }
    let least = 2 * BLOCK;
    let filled = bytes.len().is_multiple_of(RECORD) && zeros >= least && zeros - least < RECORD;
    let zeros = if filled { least } else { zeros };
    Some(Found::container(Tar { zeros, filled }, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, leaf, path, python, python_reads};

    const WRITE: &str = "
import io, sys, tarfile
form = {'gnu': tarfile.GNU_FORMAT, 'pax': tarfile.PAX_FORMAT, 'ustar': tarfile.USTAR_FORMAT}[sys.argv[1]]
out = io.BytesIO()
with tarfile.open(fileobj=out, mode='w', format=form) as t:
    for name, data in [('home/brandt/notes.txt', b'call Dr. Solheim\\n' * 60), ('empty', b''), ('x/' * 60 + 'long', b'1' * 512)]:
        i = tarfile.TarInfo(name); i.size = len(data); i.mtime = 1700000000; i.uname = 'brandt'
        t.addfile(i, io.BytesIO(data))
    i = tarfile.TarInfo('link'); i.type = tarfile.SYMTYPE; i.linkname = 'home/brandt'; t.addfile(i)
sys.stdout.buffer.write(out.getvalue())
";
    const CHECK: &str = "
import io, sys, tarfile
t = tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read()))
for m in t.getmembers(): print(m.name[-12:], m.size, len(t.extractfile(m).read()) if m.isfile() else m.linkname)
";

    #[test]
    fn archives_are_written_as_they_were() {
        for format in ["gnu", "pax", "ustar"] {
            let bytes = python(WRITE, &[format], b"");
            let doc = document(&bytes);
            assert_eq!(doc.root().kind(), Kind::Tar, "{format}");
            assert!(doc.render() == bytes);
            assert!(leaf(&doc, b"call Dr.").is_some());
        }
    }

    #[test]
    fn edited_archives_are_read_by_others() {
        for format in ["gnu", "pax", "ustar"] {
            let doc = document(&python(WRITE, &[format], b""));
            let notes = leaf(&doc, b"call Dr.").unwrap();
            let edited = doc.with_leaf(&notes, vec![b'x'; 2000]).without([&path(&doc, "empty")]);
            let list = python_reads(CHECK, &edited.render());
            assert_eq!(list, "dt/notes.txt 2000 2000\nx/x/x/x/long 512 512\nlink 0 home/brandt\n");
            assert!(document(&edited.render()).same_tree(&edited));
        }
    }
}
