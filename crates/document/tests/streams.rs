//! Streams and small formats by ordinary writers: written as they were, and read by the ordinary reader after
//! an edit, packed and stored.

use std::io::Write as _;
use std::process::{Command, Stdio};

use stunt_document::{Document, Kind, Limits, Path};

fn python(script: &str, words: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new("python3")
        .arg("-c")
        .arg(script)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    child.stdin.take().expect("a pipe").write_all(input).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    output.stdout
}

fn leaf(document: &Document, beginning: &[u8]) -> Path {
    let mut leaves = document.leaves();
    leaves.find(|(_, content)| content.starts_with(beginning)).expect("such a leaf").0
}

const WRITE: &str = "
import sys, zlib, gzip, bz2, lzma, io
text = b''.join(b'Anneliese Brandt %d, ' % (i * i) for i in range(4000))
def gz(**k):
    o = io.BytesIO(); f = gzip.GzipFile(fileobj=o, mode='wb', **k); f.write(text); f.close(); return o.getvalue()
sys.stdout.buffer.write({'zlib': lambda: zlib.compress(text), 'gzip': lambda: gz(filename='notes.txt', mtime=5),
  'plain gzip': lambda: gz(filename='', mtime=0), 'twice': lambda: gz(filename='', mtime=0) * 2,
  'bzip2': lambda: bz2.compress(text, 5), 'xz': lambda: lzma.compress(text), 'deflate': lambda: zlib.compress(text)[2:-4]}[sys.argv[1]]())
";
const READ: &str = "
import sys, zlib, gzip, bz2, lzma
d = sys.stdin.buffer.read()
print({'zlib': zlib.decompress, 'gzip': gzip.decompress, 'plain gzip': gzip.decompress, 'twice': gzip.decompress,
  'bzip2': bz2.decompress, 'xz': lzma.decompress, 'deflate': lambda d: zlib.decompress(d, -15)}[sys.argv[1]](d)[:9])
";

#[test]
fn streams() {
    for (mode, kind) in [
        ("zlib", Kind::Zlib),
        ("gzip", Kind::Gzip),
        ("plain gzip", Kind::Gzip),
        ("twice", Kind::Sequence),
        ("bzip2", Kind::Bzip2),
        ("xz", Kind::Xz),
        ("deflate", Kind::Deflate),
    ] {
        let bytes = python(WRITE, &[mode], b"");
        let document = Document::parse(&bytes[..], &Limits::default());
        assert_eq!(document.root().kind(), kind);
        assert!(document.render() == bytes, "{mode}");
        let edited = document.with_leaf(&leaf(&document, b"Anneliese"), b"other text".to_vec());
        for written in [edited.render(), edited.render_stored().bytes.to_vec()] {
            assert_eq!(python(READ, &[mode], &written), b"b'other tex'\n", "{mode}");
        }
        if mode != "bzip2" && mode != "xz" {
            let stored = document.render_stored();
            let copied: usize = stored.spans.iter().map(|span| span.at.len()).sum();
            assert!(copied > 80_000, "{mode}: {copied}");
        }
    }
}

#[test]
fn a_name_in_a_gzip_header_can_vanish() {
    let document = Document::parse(python(WRITE, &["gzip"], b""), &Limits::default());
    let name = leaf(&document, b"notes.txt");
    let without = document.without([&name]).render();
    assert_eq!(without[3], 0, "the flag follows");
    assert_eq!(python(READ, &["gzip"], &without), b"b'Anneliese'\n");
}

#[test]
fn zstandard_by_its_own_program_and_back() {
    let text = b"Anneliese Brandt, ".repeat(9000);
    let run = |arguments: &[&str], input: &[u8]| {
        let mut child = Command::new("zstd")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut stdin = child.stdin.take()?;
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().ok()?;
        writer.join().ok()?;
        assert!(output.status.success());
        Some(output.stdout)
    };
    // Where the program is absent, the library stands in for it.
    let packed = run(&["-q", "-c"], &text)
        .unwrap_or_else(|| zstd::stream::encode_all(&text[..], 3).expect("it packs"));
    let document = Document::parse(&packed[..], &Limits::default());
    assert_eq!(document.root().kind(), Kind::Zstd);
    assert!(document.render() == packed);
    let edited = document.with_leaf(&leaf(&document, b"Anneliese"), text[9..].to_vec());
    for written in [edited.render(), edited.render_stored().bytes.to_vec()] {
        let back = zstd::stream::decode_all(&written[..]).expect("it unpacks");
        assert!(back == text[9..]);
        assert!(run(&["-q", "-d", "-c"], &written).is_none_or(|back| back == text[9..]));
    }
}

#[test]
fn utf16() {
    for (encoding, mark) in [("utf-16-le", ""), ("utf-16-be", ""), ("utf-16-le", "\u{feff}")] {
        let script = "import sys; sys.stdout.buffer.write((sys.argv[2] + 'Grüße 😀, Anneliese\\r\\n' * 9).encode(sys.argv[1]))";
        let bytes = python(script, &[encoding, mark], b"");
        let document = Document::parse(&bytes[..], &Limits::default());
        assert_eq!(document.root().kind(), Kind::Utf16, "{encoding} {}", mark.len());
        assert!(document.render() == bytes);
        let edited = document.with_leaf(&leaf(&document, "Grüße".as_bytes()), "für 😀".as_bytes());
        let read = "import sys; print(ascii(sys.stdin.buffer.read().decode(sys.argv[1])))";
        let text = python(read, &[encoding], &edited.render());
        let mark = if mark.is_empty() { "" } else { "\\ufeff" };
        assert_eq!(String::from_utf8(text).unwrap(), format!("'{mark}f\\xfcr \\U0001f600'\n"));
    }
}

#[test]
fn a_picture_of_a_camera() {
    let mut exif =
        b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x3b\0\x02\0\0\0\x11\0\0\0\x1a\0\0\0\0".to_vec();
    exif.extend(b"Anneliese Brandt\0");
    let mut bytes = b"\xff\xd8\xff\xe1".to_vec();
    bytes.extend((exif.len() as u16 + 2).to_be_bytes());
    bytes.extend(&exif);
    bytes.extend(b"\xff\xda\0\x08\x01\x01\0\0\x3f\0\x12\x34\xff\0\x56\xff\xd9");
    let document = Document::parse(&bytes[..], &Limits::default());
    assert_eq!(document.root().kind(), Kind::Jpeg);
    assert!(document.nodes().any(|(_, node)| node.kind() == Kind::Tiff));
    assert!(document.render() == bytes);
    let edited = document.with_leaf(&leaf(&document, b"Anneliese"), b"Bo\0".to_vec());
    let written = edited.render();
    // The short name stands in its entry, and the segment is shorter.
    assert_eq!(usize::from(u16::from_be_bytes([written[4], written[5]])), 2 + exif.len() - 17);
    assert!(Document::parse(&written[..], &Limits::default()).same_tree(&edited));
}

#[test]
fn a_stream_that_was_cut_off_stays_cut_off() {
    let read = "
import sys, zlib
d = zlib.decompressobj(31); t = d.decompress(sys.stdin.buffer.read()); print(len(t), t[:5], d.eof)
";
    let whole = python(WRITE, &["gzip"], b"");
    let bytes = &whole[..whole.len() / 2];
    let document = Document::parse(bytes, &Limits::default());
    assert_eq!(document.root().kind(), Kind::Gzip);
    assert!(document.render() == bytes);
    let text = leaf(&document, b"Anneliese");
    let edited = document.with_leaf(&text, b"other ".repeat(100));
    for written in [edited.render(), edited.render_stored().bytes.to_vec()] {
        assert_eq!(python(read, &[], &written), b"600 b'other' False\n");
    }
}
