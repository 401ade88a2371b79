//! The parts of an input that need not be hidden, as the user says it: `file:0-15`, `stdin`,
//! `env:HOME:0-3`.

use std::ops::Range;

use stunt_report::SourceName;

use crate::error::Error;

/// What the user does not want to hide.
pub struct Public {
    parts: Vec<Part>,
    /// The first that goes beyond the end of its input.
    beyond: Option<Error>,
}

/// A part of an input.
struct Part {
    /// As it was said.
    text: String,
    source: String,
    /// All of it, if there is none.
    range: Option<Range<u64>>,
    used: bool,
}

impl Public {
    /// What the user says.
    ///
    /// # Errors
    /// A range is none.
    pub fn parse(texts: &[String]) -> Result<Self, Error> {
        let mut all = Vec::new();
        for text in texts {
            let wrong = |why| Error::PublicRange { text: text.clone(), why };
            let (source, range) = match text.rsplit_once(':') {
                Some((source, range)) if range.starts_with(|c: char| c.is_ascii_digit()) => {
                    let (first, last) = range.split_once('-').unwrap_or((range, range));
                    let number = |digits: &str| {
                        let offset = digits.parse::<u64>().ok();
                        offset.ok_or_else(|| wrong("a range is two offsets, such as 0-15"))
                    };
                    let (first, last) = (number(first)?, number(last)?);
                    if first > last {
                        return Err(wrong("the range ends before it begins"));
                    }
                    (source, Some(first..last + 1))
                }
                _ => (text.as_str(), None),
            };
            all.push(Part { text: text.clone(), source: source.to_owned(), range, used: false });
        }
        Ok(Self { parts: all, beyond: None })
    }

    /// The parts of a source that are public.
    pub fn of(&mut self, name: &SourceName, length: u64) -> Vec<Range<u64>> {
        let own = match name {
            SourceName::File => "file".to_owned(),
            SourceName::NumberedFile(number) => format!("file{number}"),
            SourceName::Member(number) => format!("member{number}"),
            SourceName::Stdin => "stdin".to_owned(),
            SourceName::Argument(number) => format!("arg{number}"),
            SourceName::Environment(name) => format!("env:{name}"),
            SourceName::Socket(number) => format!("socket{number}"),
        };
        let mut ranges = Vec::new();
        for part in self.parts.iter_mut().filter(|part| part.source == own) {
            part.used = true;
            let range = part.range.clone().unwrap_or(0..length);
            if range.end > length && self.beyond.is_none() {
                self.beyond = Some(Error::PublicBeyond {
                    text: part.text.clone(),
                    source_words: name.words(),
                    bytes: length,
                });
            }
            ranges.push(range.start.min(length)..range.end.min(length));
        }
        ranges
    }

    /// Every part was one of an input, and lies in it.
    ///
    /// # Errors
    /// One was not, or does not.
    pub fn all_used(&mut self) -> Result<(), Error> {
        if let Some(part) = self.parts.iter().find(|part| !part.used) {
            return Err(Error::PublicUnused(part.source.clone()));
        }
        self.beyond.take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_parts_are_ranges_of_known_sources() {
        let mut public =
            Public::parse(&["file:0-15".into(), "env:HOME:3".into(), "stdin".into()]).unwrap();
        assert_eq!(public.of(&SourceName::File, 100), vec![0..16; 1]);
        assert_eq!(public.of(&SourceName::Environment("HOME".into()), 9), vec![3..4; 1]);
        assert!(public.all_used().is_err());
        assert_eq!(public.of(&SourceName::Stdin, 7), vec![0..7; 1]);
        assert!(public.all_used().is_ok());
        let mut public = Public::parse(&["socket0:4".into(), "file2".into()]).unwrap();
        assert_eq!(public.of(&SourceName::Socket(0), 100), vec![4..5; 1]);
        assert_eq!(public.of(&SourceName::NumberedFile(2), 9), vec![0..9; 1]);
        let mut public = Public::parse(&["file:90-100".into()]).unwrap();
        assert_eq!(public.of(&SourceName::File, 100), vec![90..100; 1]);
        let beyond = public.all_used().unwrap_err().to_string();
        assert_eq!(
            beyond,
            "--public file:90-100: the file has 100 bytes, and offsets count from 0"
        );
        let mut public = Public::parse(&["file:7-9".into(), "file:90-99".into()]).unwrap();
        assert_eq!(public.of(&SourceName::File, 100), vec![7..10, 90..100]);
        assert!(public.all_used().is_ok());
        assert!(Public::parse(&["file:9-3".into()]).is_err());
        assert!(Public::parse(&["file:9-x".into()]).is_err());
    }
}
