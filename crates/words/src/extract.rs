//! Words in a file: strings of its data, parts of them, and numbers in its code that are text.

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};
use object::{Architecture, Object, ObjectSection, SectionKind};

/// A word is at least so long,
const SHORTEST: usize = 2;
/// and at most. What is longer is there in its parts.
const LONGEST: usize = 64;
/// No more words are taken from one file: the first ones in alphabetical order of all.
const MOST: usize = 1 << 18;

/// The words in a program or library, in order, each once. Of what is none, the words in its text.
#[must_use]
pub fn words_in(file: &[u8]) -> Vec<Vec<u8>> {
    let Ok(object) = object::File::parse(file) else { return words_in_text(file) };
    let mut words = BTreeSet::new();
    let mut starts = pointers(&object);
    if object.architecture() == Architecture::X86_64 {
        for section in object.sections().filter(|it| it.kind() == SectionKind::Text) {
            let Ok(code) = section.data() else { continue };
            in_code(code, section.address(), &mut starts, &mut words);
        }
    }
    for section in object.sections() {
        let is_data = matches!(
            section.kind(),
            SectionKind::ReadOnlyData
                | SectionKind::ReadOnlyString
                | SectionKind::ReadOnlyDataWithRel
                | SectionKind::Data
        );
        let Some(data) = section.data().ok().filter(|_| is_data) else { continue };
        strings(data, SHORTEST, &mut words);
        side_by_side(data, section.address(), &starts, &mut words);
    }
    words.into_iter().take(MOST).collect()
}

/// Where pointers in data lead to that the loader fills in.
fn pointers(object: &object::File<'_>) -> BTreeSet<u64> {
    let relocations = object.dynamic_relocations().into_iter().flatten();
    let addends = relocations.map(|(_, it)| it.addend());
    addends.filter_map(|addend| u64::try_from(addend).ok()).collect()
}

/// Strings that stand side by side without anything between them, as some compilers write them: each begins where
/// the program points to.
fn side_by_side(data: &[u8], address: u64, starts: &BTreeSet<u64>, words: &mut BTreeSet<Vec<u8>>) {
    let end = address.saturating_add(data.len() as u64);
    let mut here = starts.range(address..end).map(|start| (start - address) as usize).peekable();
    while let Some(start) = here.next() {
        let next = here.peek().copied().unwrap_or(data.len()).min(start + LONGEST);
        let is_text = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\t');
        let length = data[start..next].iter().take_while(is_text).count();
        // What is followed by something else is found anyway.
        if start + length == next && length >= SHORTEST {
            words.insert(data[start..next].to_vec());
        }
    }
}

/// The words in a text: a script, say.
#[must_use]
pub fn words_in_text(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = BTreeSet::new();
    strings(text, SHORTEST, &mut words);
    words.into_iter().take(MOST).collect()
}

/// Numbers of two, four and eight bytes in code that are text: what short comparisons are compiled to; and the
/// places that code points to.
fn in_code(code: &[u8], address: u64, starts: &mut BTreeSet<u64>, words: &mut BTreeSet<Vec<u8>>) {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if instruction.is_ip_rel_memory_operand() {
            starts.insert(instruction.ip_rel_memory_address());
        }
        for operand in 0..instruction.op_count() {
            let width = match instruction.op_kind(operand) {
                OpKind::Immediate16 => 2,
                OpKind::Immediate32 | OpKind::Immediate32to64 => 4,
                OpKind::Immediate64 => 8,
                _ => continue,
            };
            let number = instruction.immediate(operand).to_le_bytes();
            let text = number[..width].split(|&byte| byte == 0).next().unwrap_or_default();
            if text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')) {
                strings(text, SHORTEST, words);
            }
        }
    }
}

/// Stretches of text, and their parts.
fn strings(data: &[u8], shortest: usize, words: &mut BTreeSet<Vec<u8>>) {
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t');
    for line in data.split(|byte| !is_text(byte)) {
        if line.len() < shortest {
            continue;
        }
        let mut add = |word: &[u8]| {
            if (shortest..=LONGEST).contains(&word.len()) && !words.contains(word) {
                words.insert(word.to_vec());
            }
        };
        add(line);
        for part in line.split(|byte| matches!(byte, b' ' | b'\t')) {
            add(part);
            for name in part.split(|byte| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte)) {
                add(name);
                for word in name.split(|byte| b"-_".contains(byte)) {
                    add(word);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &[u8]) -> Vec<String> {
        words_in_text(text).into_iter().map(|it| String::from_utf8(it).unwrap()).collect()
    }

    #[test]
    fn strings_side_by_side_begin_where_the_program_points_to() {
        let data = b"typeFeatureCollectionfeatures\0\x01";
        let starts = BTreeSet::from([0x1000, 0x1004, 0x1015, 0x101e, 0x2000]);
        let mut words = BTreeSet::new();
        side_by_side(data, 0x1000, &starts, &mut words);
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        // The last one ends with a zero, and is found as any string is.
        assert_eq!(words, [&b"FeatureCollection"[..], b"type"]);
        // This test is a program with such strings itself.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let found = words_in(&own);
        for word in ["sidereal-whatnot", "sidereal-gadgetry"] {
            assert!(std::hint::black_box(word).len() > 9);
            assert!(found.contains(&word.as_bytes().to_vec()), "{word}");
        }
    }

    #[test]
    fn strings_and_their_parts() {
        assert_eq!(
            of(b"\0Content-Disposition: form-data\0\xffx\0"),
            [
                "Content",
                "Content-Disposition",
                "Content-Disposition:",
                "Content-Disposition: form-data",
                "Disposition",
                "data",
                "form",
                "form-data",
            ]
        );
        assert!(of(b"").is_empty() && of(b"a\0b").is_empty());
    }

    #[test]
    fn a_short_comparison_is_a_number_in_the_code() {
        let mut words = BTreeSet::new();
        // cmp dword [rdi], "GET "; cmp eax, 10; cmp word [rdi], "no"
        in_code(b"\x81\x3fGET \x83\xf8\x0a\x66\x81\x3fno", 0, &mut BTreeSet::new(), &mut words);
        let expected = ["GET", "GET ", "no"].map(|word| word.as_bytes().to_vec());
        assert_eq!(words.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_program_has_its_own_words() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let words = words_in(&file);
        let has = |word: &str| words.binary_search(&word.as_bytes().to_vec()).is_ok();
        assert!(has("Disposition") && has("strings"));
        assert_eq!(words, words_in(&file));
    }
}
