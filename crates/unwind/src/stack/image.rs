//! A parsed ELF file: which parts of it are of use to a stack.
//!
//! Always holds: every `Part` lies inside the file. A file is hostile until it is parsed: what does
//! not fit is left out, and what is left out only makes stacks poorer. Parsing reads the headers
//! and nothing else; symbols, lines and call frame information are read elsewhere and later.

use std::ops::Range;

use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64};
use object::endian::LittleEndian as Little;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable};

use super::bytes::Bytes;
use super::frame::BuildId;

/// The note type of a build identity.
const NT_GNU_BUILD_ID: u32 = 3;

/// A piece of a file that has an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its address before the bias.
    pub address: u64,
    /// Where it is in the file.
    pub range: Range<usize>,
}

/// A section with bytes that can be read as they are.
struct Section {
    name: Box<[u8]>,
    kind: elf::SectionType,
    part: Part,
}

/// A loadable segment.
struct Segment {
    part: Part,
    executable: bool,
}

/// A parsed ELF file for x86-64.
pub(super) struct Image {
    bytes: Bytes,
    sections: Vec<Section>,
    segments: Vec<Segment>,
    eh_frame_hdr: Option<Part>,
    build_id: Option<BuildId>,
}

impl Image {
    /// Parses the headers. Nothing if this is no ELF file for x86-64.
    pub fn parse(bytes: &Bytes) -> Option<Self> {
        let data: &[u8] = bytes;
        let header = FileHeader64::<Little>::parse(data).ok()?;
        if !header.is_little_endian() || header.e_machine(Little) != elf::EM_X86_64 {
            return None;
        }
        let programs = header.program_headers(Little, data).unwrap_or_default();
        let mut image = Self {
            bytes: bytes.clone(),
            sections: Vec::new(),
            segments: Vec::new(),
            eh_frame_hdr: None,
            build_id: None,
        };
        for program in programs {
            image.read_program_header(program);
        }
        // A file may have lost its sections; then its program headers have to be enough.
        if let Ok(sections) = header.sections(Little, data) {
            image.sections = read_sections(&sections, data);
        }
        if image.build_id.is_none() {
            let note = image.section(b".note.gnu.build-id").map(|part| part.range.clone());
            image.build_id = note.and_then(|range| build_id(&image.bytes[range]));
        }
        Some(image)
    }

    fn read_program_header(&mut self, program: &ProgramHeader64<Little>) {
        let (offset, size) = program.file_range(Little);
        let Some(range) = within(&self.bytes, offset, size) else { return };
        let part = Part { address: program.p_vaddr(Little), range };
        match program.p_type(Little) {
            elf::PT_LOAD => {
                let executable = program.p_flags(Little).contains(elf::PF_X);
                self.segments.push(Segment { part, executable });
            }
            elf::PT_GNU_EH_FRAME => self.eh_frame_hdr = Some(part),
            elf::PT_NOTE if self.build_id.is_none() => {
                self.build_id = build_id(&self.bytes[part.range]);
            }
            _ => {}
        }
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The identity that the linker gave the file.
    pub fn build_id(&self) -> Option<&BuildId> {
        self.build_id.as_ref()
    }

    /// The header of the call frame information, with its search table.
    pub fn eh_frame_hdr(&self) -> Option<&Part> {
        self.eh_frame_hdr.as_ref().or_else(|| self.section(b".eh_frame_hdr"))
    }

    /// A section by name, if it has bytes and they are not compressed.
    pub fn section(&self, name: &[u8]) -> Option<&Part> {
        self.sections.iter().find(|section| *section.name == *name).map(|section| &section.part)
    }

    /// Whether there is a section of this type with bytes.
    pub fn has(&self, kind: elf::SectionType) -> bool {
        self.sections.iter().any(|section| section.kind == kind)
    }

    /// The bytes of a section by name, empty if there is none.
    pub fn contents(&self, name: &[u8]) -> &[u8] {
        self.section(name).map_or(&[], |part| &self.bytes[part.range.clone()])
    }

    /// What is in the file from an address to the end of its segment.
    pub fn starting_at(&self, address: u64) -> Option<Part> {
        self.segments.iter().find_map(|segment| {
            let into = usize::try_from(address.checked_sub(segment.part.address)?).ok()?;
            (into < segment.part.range.len()).then(|| Part {
                address,
                range: segment.part.range.start + into..segment.part.range.end,
            })
        })
    }

    /// By how much the file is shifted if offset `offset` of it is mapped at `start`.
    pub fn bias(&self, start: u64, offset: u64, executable: bool) -> Option<u64> {
        // A loader maps whole pages: a segment may begin anywhere in the first one.
        let page = |value: u64| value & !0xfff;
        self.segments
            .iter()
            .find(|segment| {
                segment.executable == executable
                    && page(segment.part.range.start as u64) == page(offset)
            })
            .map(|segment| page(start).wrapping_sub(page(segment.part.address)))
    }
}

fn read_sections(table: &SectionTable<'_, FileHeader64<Little>>, data: &[u8]) -> Vec<Section> {
    let usable = |section: &&SectionHeader64<Little>| {
        !section.sh_flags(Little).contains(elf::SHF_COMPRESSED)
    };
    table
        .iter()
        .filter(usable)
        .filter_map(|section| {
            let (offset, size) = section.file_range(Little)?;
            let range = within(data, offset, size)?;
            Some(Section {
                name: table.section_name(Little, section).ok()?.into(),
                kind: section.sh_type(Little),
                part: Part { address: section.sh_addr(Little), range },
            })
        })
        .collect()
}

/// The range of `size` bytes from `offset` on, if the file has them.
pub(super) fn within(data: &[u8], offset: u64, size: u64) -> Option<Range<usize>> {
    let end = usize::try_from(offset.checked_add(size)?).ok()?;
    (end <= data.len()).then(|| end - size as usize..end)
}

/// The build identity among the notes of a segment or section.
fn build_id(mut notes: &[u8]) -> Option<BuildId> {
    loop {
        let word = |at: usize| Some(u32::from_le_bytes(notes.get(at..at + 4)?.try_into().ok()?));
        let (name_size, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let content = 12usize.checked_add(name_size.checked_next_multiple_of(4)?)?;
        let end = content.checked_add(size)?;
        let name = notes.get(12..12usize.checked_add(name_size)?)?;
        let found = notes.get(content..end)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" && !found.is_empty() {
            return Some(BuildId::new(found));
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_behind_other_notes() {
        let mut notes = Vec::new();
        for (name, kind, content) in [
            (&b"CORE\0"[..], 3u32, &[9u8; 5][..]),
            (b"GNU\0", 1, &[0; 16]),
            (b"GNU\0", 3, &[1, 2, 3]),
        ] {
            notes.extend((name.len() as u32).to_le_bytes());
            notes.extend((content.len() as u32).to_le_bytes());
            notes.extend(kind.to_le_bytes());
            for bytes in [name, content] {
                notes.extend(bytes);
                notes.resize(notes.len().next_multiple_of(4), 0);
            }
        }
        assert_eq!(build_id(&notes).map(|id| id.to_string()), Some("010203".into()));
        assert_eq!(build_id(&notes[..40]), None);
        assert_eq!(build_id(&[0xff; 64]), None);
    }

    #[test]
    fn what_is_no_elf_file_is_no_image() {
        for bytes in [&b""[..], b"\x7fELF", &[0; 64], b"#!/bin/sh\n"] {
            assert!(Image::parse(&bytes.to_vec().into()).is_none());
        }
    }
}
