//! Attacks: content that is moved, packed, or in another case.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::*;

const SECRET: &[u8] = b"Anna Qvistgaard;DE44 5001 0517 5407 3249 31;Wyczolkowska 7";

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(original: &[u8], double: &[u8]) -> Remains {
    Contents::of(&[original.to_vec()], &Vocabulary::default()).in_others(&[double.to_vec()])
}

#[test]
fn attack_a_double_holds_the_original_somewhere_else_or_packed() {
    let moved = [b"noise;noise;", SECRET, b"."].concat();
    assert_eq!(read(SECRET, &moved).percent_of_bytes(), 100.0);
    // Packed in the one, in the other, in both, and twice.
    let sheet = [b"PDF header 1.7 \n", &zlib(SECRET)[..], b"\nendstream"].concat();
    for double in [SECRET.to_vec(), zlib(&moved), zlib(&zlib(SECRET)), sheet.clone()] {
        let found = read(&sheet, &double);
        assert!(found.percent_of_bytes() > 50.0, "{found:?}");
        assert_eq!(found.stretches[0], SECRET);
        for word in ["anna", "qvistgaard", "wyczolkowska"] {
            assert!(found.words.iter().any(|it| it == word), "{word}");
        }
        assert_eq!(found.numbers, ["0517", "3249", "5001", "5407"]);
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(SECRET).unwrap();
    let gzip = gzip.finish().unwrap();
    assert_eq!(read(&gzip, SECRET).stretches[0], SECRET);
    // One that breaks off is read as far as it goes.
    assert!(read(&gzip[..gzip.len() - 20], SECRET).words.contains(&"anna".to_owned()));
    let encoded =
        b"QW5uYSBRdmlzdGdhYXJkO0RFNDQgNTAwMSAwNTE3IDU0MDcgMzI0OSAzMTtXeWN6\r\nb2xrb3dza2EgNw==";
    assert!(read(SECRET, &[&b"\r\n\r\n"[..], encoded].concat()).percent_of_bytes() > 90.0);
}

#[test]
fn attack_words_in_another_case_and_beside_other_things() {
    let found = read("Ängström, Élodie: 12345".as_bytes(), "<élodie12345>ÄNGSTRÖMS".as_bytes());
    assert_eq!((found.words, found.of_words), (vec!["élodie".to_owned()], 2));
    assert_eq!((found.numbers, found.of_numbers), (vec!["12345".to_owned()], 1));
}

#[test]
fn what_the_format_says_and_what_is_public_is_no_content() {
    let sheet = b"<?xml version=\"1.0\"?>\n<worksheet xmlns=\"http://schemas.example\"><sheetData ref=\"Patients\">Anneliese \
                  Brandt</sheetData></worksheet>";
    let mut public = Vocabulary::default();
    public.add(b"\0Brandt %s\0");
    let known = Contents::of(&[sheet.to_vec()], &public);
    let found = known.in_others(&[sheet.to_vec()]);
    assert_eq!(found.words, ["anneliese", "patients"]);
    assert_eq!((found.of_words, found.percent()), (2, 100.0));
    let other = known.in_others(&[b"<sheetData>Brandt, Patients".to_vec()]);
    assert_eq!((other.words.len(), other.percent().round()), (1, 47.0));
}

#[test]
fn what_every_writer_writes_is_no_content() {
    let known = b"<Relationship Type=\"http://schemas.openxmlformats.org/officeDocument/worksheet\" Target=\"Brandt\"/>";
    let found =
        Contents::of(&[known.to_vec()], &Vocabulary::of_formats()).in_others(&[known.to_vec()]);
    assert_eq!(found.words, ["brandt"]);
}

#[test]
fn chance_and_filler_are_not_read() {
    let noise: Vec<u8> =
        (0u32..4096).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert_eq!(read(SECRET, &noise).bytes, 0);
    let blank = [&[b' '; 100][..], SECRET].concat();
    assert_eq!(read(&blank, &[b' '; 100]).bytes, 0);
    assert_eq!(read(b"", b"").percent(), 0.0);
}

#[test]
fn a_part_is_read_in_part() {
    let found = read(b"0123456789abcdefghij", b"xx456789abcdxx");
    assert_eq!((found.bytes, found.of), (10, 20));
    assert_eq!(found.stretches, [b"456789abcd".to_vec()]);
}

#[test]
fn what_unpacks_without_end_is_bounded() {
    let bomb = zlib(&zlib(&vec![b'x'; 40 << 20]));
    let (mut content, mut room) = (Vec::new(), 1 << 20);
    unpack::unpack(&bomb, &mut room, &mut content);
    assert!(content.iter().map(Vec::len).sum::<usize>() <= 1 << 20);
}
