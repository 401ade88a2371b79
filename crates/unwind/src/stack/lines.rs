//! Lines and inlined functions of an address, from DWARF.
//!
//! DWARF is only read when a line is asked for. It can be hostile; whatever `addr2line` does not
//! make sense of is as if it were not there. Compressed sections are not read.

use gimli::{EndianReader, LittleEndian as Little, SectionId};

use super::bytes::Bytes;
use super::frame::Location;
use super::image::Image;

/// Inlined functions of one address: more than this is no program.
const INLINED: usize = 64;

/// A function that an address is in, innermost first: those before the last were inlined.
pub(super) struct Place {
    /// The name for linkers, if it has one.
    pub name: Option<String>,
    /// The file and line.
    pub location: Option<Location>,
}

/// The line tables of one file.
pub(super) struct Lines(Option<addr2line::Context<EndianReader<Little, Bytes>>>);

impl Lines {
    /// Prepares the tables of an image.
    pub fn read(image: &Image) -> Self {
        if image.section(b".debug_info").is_none() {
            return Self(None);
        }
        let whole = EndianReader::new(image.bytes().clone(), Little);
        let load = |id: SectionId| -> Result<_, gimli::Error> {
            let part = image.section(id.name().as_bytes());
            Ok(whole.range(part.map_or(0..0, |part| part.range.clone())))
        };
        let dwarf = gimli::Dwarf::load(load);
        Self(dwarf.and_then(addr2line::Context::from_dwarf).ok())
    }

    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The functions that an address of the file is in, innermost first.
    pub fn find(&self, address: u64) -> Vec<Place> {
        let mut places = Vec::new();
        let Some(context) = &self.0 else { return places };
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return places };
        while places.len() < INLINED
            && let Ok(Some(frame)) = frames.next()
        {
            let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
            let location = frame.location.and_then(|location| {
                Some(Location { file: location.file?.into(), line: location.line? })
            });
            places.push(Place { name: name.map(Into::into), location });
        }
        places
    }
}
