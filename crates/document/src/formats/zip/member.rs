//! A member of an archive: its local header, its data, its line in the directory.

use std::sync::Arc;

use super::extra::{self, Sizes, Wide};
use crate::content::Content;
use crate::formats::numbers::le;
use crate::formats::roles::Roles;
use crate::node::{Field, Form, Kind, Node, Parts, Sum};
use crate::out::{Out, Style};

pub(super) const LOCAL: &[u8] = b"PK\x03\x04";
pub(super) const CENTRAL: &[u8] = b"PK\x01\x02";
pub(super) const DESCRIPTOR: &[u8] = b"PK\x07\x08";
/// The flag that says: sizes follow the data.
pub(super) const FOLLOWS: u16 = 8;
const VERSION: u16 = 20;
const UTF8: u16 = 1 << 11;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Name,
    /// The name in the directory, where it is another one.
    OtherName,
    Time,
    /// The time in the directory, where it is another one.
    OtherTime,
    LocalExtra,
    CentralExtra,
    Comment,
    Content,
}

/// Checksum and sizes as one place states them.
#[derive(Clone)]
pub(super) struct Stated {
    pub version: u16,
    pub flags: u16,
    pub method: u16,
    pub crc: Field,
    pub packed: Field,
    pub unpacked: Field,
    pub wide: Option<Wide>,
}

/// Checksum and sizes behind the data.
#[derive(Clone)]
pub(super) struct Descriptor {
    pub signature: bool,
    pub wide: bool,
}

#[derive(Clone)]
pub(super) struct Member {
    pub roles: Roles<Role>,
    pub local: Stated,
    pub central: Stated,
    pub descriptor: Option<Descriptor>,
    /// The content is compressed or encrypted in a way that was not undone: it keeps its method.
    pub opaque: bool,
    /// The content is compressed by its member, and not merely a compressed file.
    pub packed: bool,
    pub made: u16,
    /// The disk, and the attributes.
    pub rest: [u8; 8],
    pub offset: Field,
}

/// What was written for a member.
pub(super) struct Place {
    offset: u64,
    method: u16,
    plain: bool,
    sum: Sum,
    packed: u64,
}

/// The method that says how a node is compressed.
fn method_of(node: &Node) -> Option<u16> {
    match node.kind() {
        Kind::Deflate => Some(8),
        Kind::Bzip2 => Some(12),
        Kind::Zstd => Some(93),
        Kind::Xz => Some(95),
        _ => None,
    }
}

impl Form for Member {
    fn kind(&self) -> Kind {
        Kind::ZipMember
    }

    /// Alone, without its archive, a member is its content.
    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        self.roles.write(Role::Content, parts, out);
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        Arc::new(Member { roles: self.roles.keep(kept), ..self.clone() })
    }
}

impl Member {
    /// A member for a node that came from elsewhere.
    fn new() -> Member {
        let stated = Stated {
            version: VERSION,
            flags: UTF8,
            method: 0,
            crc: Field::Right,
            packed: Field::Right,
            unpacked: Field::Right,
            wide: None,
        };
        Member {
            roles: Roles(Vec::new()),
            local: stated.clone(),
            central: stated,
            descriptor: None,
            opaque: false,
            packed: false,
            made: VERSION,
            rest: [0; 8],
            offset: Field::Right,
        }
    }

    /// The form and the parts of a part of the archive. A node that is no member is one with that content.
    fn of<'a>(at: usize, parts: &Parts<'a>) -> (Member, Option<Parts<'a>>) {
        match parts.node(at).parts_of::<Member>() {
            Some((member, _)) => (member.clone(), Some(parts.inside(at))),
            None => (Member::new(), None),
        }
    }

    fn write_name(&self, at: usize, own: Option<&Parts<'_>>, parts: &Parts<'_>, out: &mut Out) {
        match own {
            Some(own) => drop(self.roles.write(Role::Name, own, out)),
            None => out.push(parts.node(at).name().as_bytes()),
        }
    }

    pub fn write_local(at: usize, parts: &Parts<'_>, base: usize, out: &mut Out) -> Place {
        let (member, own) = Member::of(at, parts);
        let start = out.len();
        let content = match &own {
            Some(own) => member.roles.place(Role::Content, own).map(|at| own.node(at)),
            None => Some(parts.node(at)),
        };
        let compressed = match (&own, content) {
            (Some(_), Some(node)) if member.packed => method_of(node),
            (None, Some(node)) if node.kind() == Kind::Deflate => method_of(node),
            _ => None,
        };
        // Stored members have their sizes in front: readers that stream cannot find their end otherwise.
        let plain = compressed.is_some() && parts.style() == Style::Stored;
        let method = match compressed {
            Some(_) if plain => 0,
            Some(method) => method,
            None if member.opaque => member.local.method,
            None => 0,
        };
        let mut data = out.fresh();
        match (&own, content) {
            (Some(own), Some(_)) if plain => {
                let place = member.roles.place(Role::Content, own).unwrap_or(0);
                own.inside(place).write(0, &mut data);
            }
            (Some(own), Some(_)) => drop(member.roles.write(Role::Content, own, &mut data)),
            (None, _) if plain => parts.inside(at).write(0, &mut data),
            (None, _) => parts.write(at, &mut data),
            (Some(_), None) => {}
        }
        let sum = match content {
            Some(node) if compressed.is_some() => node.children()[0].sum(parts.style()),
            Some(node) => node.sum(parts.style()),
            None => Sum::of(b""),
        };
        let packed = data.len() as u64;
        let sizes = Sizes { unpacked: sum.length, packed, offset: 0 };
        let stated = &member.local;
        let flags = if plain { stated.flags & !FOLLOWS } else { stated.flags };
        let late = |field: Field, computed: u64| match field {
            Field::Was(0) if plain => computed,
            field => field.or(computed),
        };
        out.push(LOCAL);
        for number in [stated.version, flags, method] {
            out.push(&number.to_le_bytes());
        }
        match &own {
            Some(own) => member.roles.write_exactly(Role::Time, 4, own, out),
            None => out.push(&[0, 0, 0x21, 0]),
        }
        out.push(&le::<4>(late(stated.crc, u64::from(sum.crc))));
        out.push(&le::<4>(late(stated.packed, packed)));
        out.push(&le::<4>(late(stated.unpacked, sum.length)));
        let lengths = out.len();
        out.push(&[0; 4]);
        member.write_name(at, own.as_ref(), parts, out);
        let name = out.len() - lengths - 4;
        let mut leaf = out.fresh();
        if let Some(own) = &own {
            member.roles.write(Role::LocalExtra, own, &mut leaf);
        }
        extra::write(&leaf, stated.wide.as_ref(), &sizes, out);
        let extra = out.len() - lengths - 4 - name;
        out.patch(lengths, &le::<2>(name as u64));
        out.patch(lengths + 2, &le::<2>(extra as u64));
        out.append(&data);
        let place = Place { offset: (start - base) as u64, method, plain, sum, packed };
        if let Some(descriptor) = member.descriptor.as_ref().filter(|_| !plain) {
            descriptor.write(&member, &place, out);
        }
        place
    }

    pub fn write_central(at: usize, parts: &Parts<'_>, place: &Place, out: &mut Out) {
        let (member, own) = Member::of(at, parts);
        let stated = &member.central;
        let (sum, packed) = (place.sum, place.packed);
        let sizes = Sizes { unpacked: sum.length, packed, offset: place.offset };
        out.push(CENTRAL);
        let flags = if place.plain { stated.flags & !FOLLOWS } else { stated.flags };
        // Two different methods are one of the things that break readers: they stay.
        let method =
            if stated.method == member.local.method { place.method } else { stated.method };
        for number in [member.made, stated.version, flags, method] {
            out.push(&number.to_le_bytes());
        }
        let role = |own: &Parts<'_>, other, usual| {
            if member.roles.place(other, own).is_some() { other } else { usual }
        };
        match &own {
            Some(own) => {
                member.roles.write_exactly(role(own, Role::OtherTime, Role::Time), 4, own, out);
            }
            None => out.push(&[0, 0, 0x21, 0]),
        }
        out.push(&le::<4>(stated.crc.or(u64::from(sum.crc))));
        out.push(&le::<4>(stated.packed.or(packed)));
        out.push(&le::<4>(stated.unpacked.or(sum.length)));
        let lengths = out.len();
        out.push(&[0; 6]);
        out.push(&member.rest);
        out.push(&le::<4>(member.offset.or(place.offset)));
        let mut before = out.len();
        match &own {
            Some(own) => {
                member.roles.write(role(own, Role::OtherName, Role::Name), own, out);
            }
            None => member.write_name(at, None, parts, out),
        }
        let mut patch = |out: &mut Out, field: usize| {
            let length = (out.len() - before) as u64;
            out.patch(lengths + field, &le::<2>(length));
            before = out.len();
        };
        patch(out, 0);
        let mut leaf = out.fresh();
        if let Some(own) = &own {
            member.roles.write(Role::CentralExtra, own, &mut leaf);
        }
        extra::write(&leaf, stated.wide.as_ref(), &sizes, out);
        patch(out, 2);
        if let Some(own) = &own {
            member.roles.write(Role::Comment, own, out);
        }
        patch(out, 4);
    }
}

impl Descriptor {
    fn write(&self, member: &Member, place: &Place, out: &mut Out) {
        if self.signature {
            out.push(DESCRIPTOR);
        }
        let stated = &member.central;
        out.push(&le::<4>(stated.crc.or(u64::from(place.sum.crc))));
        for (field, number) in [(stated.packed, place.packed), (stated.unpacked, place.sum.length)]
        {
            // A size that is among the extra fields is right there.
            let number = if stated.wide.is_some() { number } else { field.or(number) };
            match self.wide {
                true => out.push(&le::<8>(number)),
                false => out.push(&le::<4>(number)),
            }
        }
    }

    /// The descriptor at this place that agrees with the directory, and its length.
    pub fn find(
        bytes: &Content,
        at: usize,
        crc: u64,
        sizes: &Sizes,
    ) -> Option<(Descriptor, usize)> {
        for (signature, wide) in [(true, false), (true, true), (false, false), (false, true)] {
            let mut expected = if signature { DESCRIPTOR.to_vec() } else { Vec::new() };
            expected.extend(le::<4>(crc));
            for number in [sizes.packed, sizes.unpacked] {
                match wide {
                    true => expected.extend(le::<8>(number)),
                    false => expected.extend(le::<4>(number)),
                }
            }
            if bytes.get(at..)?.starts_with(&expected) {
                return Some((Descriptor { signature, wide }, expected.len()));
            }
        }
        None
    }
}
