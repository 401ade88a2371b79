//! Archives as Python's own writer makes them, byte for byte, before and after edits.

use crate::formats::testing::{document, leaf, path, python, python_reads};
use crate::node::Kind;

const WRITE: &str = "
import io, sys, zipfile
out = io.BytesIO()
mode = sys.argv[1]
class Pipe(io.RawIOBase):
    def writable(self): return True
    def write(self, data): return out.write(data)
target = Pipe() if mode == 'pipe' else out
with zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr(zipfile.ZipInfo('mimetype', (2020, 2, 3, 4, 5, 6)), 'application/epub+zip')
    z.writestr('content/chapter 1.xml', '<p>' + 'Anneliese Brandt ' * 50 + '</p>')
    with z.open('big', 'w', force_zip64=(mode == 'wide')) as f: f.write(b'0123456789' * 30000)
    z.writestr('bz', 'x' * 1000, zipfile.ZIP_BZIP2)
    z.writestr('empty', '')
    if mode == 'comment': z.comment = b'made by hand'
data = out.getvalue()
if mode == 'prefix': data = b'#!/bin/sh\\nexit 0\\n' + data
if mode == 'suffix': data += b'trailing'
sys.stdout.buffer.write(data)
";

const CHECK: &str = "
import io, sys, zipfile
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert z.testzip() is None
for i in z.infolist(): print(i.filename, len(z.read(i)))
";

#[test]
fn archives_are_written_as_they_were() {
    for mode in ["plain", "pipe", "wide", "comment", "prefix", "suffix"] {
        let bytes = python(WRITE, &[mode], b"");
        let doc = document(&bytes);
        assert_eq!(doc.root().kind(), Kind::Zip, "{mode}");
        assert!(doc.render() == bytes, "{mode}");
        assert!(leaf(&doc, b"<p>Anneliese").is_some(), "{mode}");
    }
}

#[test]
fn edited_archives_are_read_by_others() {
    for mode in ["plain", "pipe", "wide", "comment", "prefix", "suffix"] {
        let doc = document(&python(WRITE, &[mode], b""));
        let chapter = leaf(&doc, b"<p>Anneliese").unwrap();
        let edited = doc.with_leaf(&chapter, b"<p/>".to_vec());
        let big = path(&edited, "big");
        let smaller = edited.without([&big]);
        let list = python_reads(CHECK, &smaller.render());
        assert_eq!(list, "mimetype 20\ncontent/chapter 1.xml 4\nbz 1000\nempty 0\n", "{mode}");
        assert_eq!(python_reads(CHECK, &smaller.render_stored().bytes), list, "{mode}");
        let blocks = smaller.render_as(crate::Style::Blocks);
        assert_eq!(python_reads(CHECK, &blocks.bytes), list, "{mode}");
        assert!(document(&smaller.render()).same_tree(&smaller), "{mode}");
    }
}

#[test]
fn only_what_follows_from_an_edit_changes() {
    let bytes = python(WRITE, &["plain"], b"");
    let doc = document(&bytes);
    let edited = doc.without([&path(&doc, "empty")]).render();
    let same = bytes.iter().zip(&edited).take_while(|(one, two)| one == two).count();
    let local =
        bytes.windows(35).position(|w| w.starts_with(b"PK\x03\x04") && w.ends_with(b"empty"));
    assert!(same >= local.unwrap());
}

#[test]
fn a_wrong_checksum_stays_wrong() {
    let mut bytes = python(WRITE, &["plain"], b"");
    bytes[14] ^= 1;
    let doc = document(&bytes);
    assert_eq!(doc.root().kind(), Kind::Zip);
    let edited = doc.without([&path(&doc, "big")]).render();
    assert_eq!(edited[14..18], bytes[14..18]);
}

#[test]
fn a_foreign_node_becomes_a_member() {
    let doc = document(&python(WRITE, &["plain"], b""));
    let chapter = leaf(&doc, b"<p>Anneliese").unwrap();
    let node = doc.node(&chapter).unwrap().clone();
    let list = python_reads(CHECK, &doc.instead(&path(&doc, "big"), &node).render());
    assert!(list.contains("content/chapter 1.xml 857\nbz 1000"), "{list}");
}

#[test]
fn stored_archives_say_what_is_copied() {
    let doc = document(&python(WRITE, &["plain"], b""));
    let rendered = doc.render_stored();
    let mut copied = 0;
    for span in &rendered.spans {
        let leaf = doc.node(&span.leaf).unwrap().content().unwrap();
        assert_eq!(rendered.bytes[span.at.clone()], leaf[span.from..span.from + span.at.len()]);
        copied += span.at.len();
    }
    assert!(copied > 300_000, "{copied}");
}

#[test]
fn an_archive_that_was_cut_off_is_still_read() {
    for mode in ["plain", "pipe"] {
        let bytes = python(WRITE, &[mode], b"");
        let end = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
        for length in [end - 1, end, end + 30] {
            let doc = document(&bytes[..length]);
            assert_eq!(doc.root().kind(), Kind::Zip, "{mode} {length}");
            assert!(doc.render() == bytes[..length]);
            assert!(leaf(&doc, b"<p>Anneliese").is_some());
        }
    }
}

#[test]
fn a_line_that_leads_nowhere_stays() {
    let mut bytes = python(WRITE, &["plain"], b"");
    let line = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[line + 42] ^= 0x55;
    let doc = document(&bytes);
    assert_eq!(doc.root().kind(), Kind::Zip);
    assert!(doc.render() == bytes);
    assert!(leaf(&doc, b"PK\x01\x02").is_some());
    let edited = doc.without([&path(&doc, "big")]);
    assert!(document(&edited.render()).same_tree(&edited));
}

#[test]
fn a_compressed_file_in_an_archive_is_no_compressed_member() {
    let write = "
import io, sys, zipfile, lzma, bz2, zlib
o = io.BytesIO(); text = b' '.join(b'private %d' % i for i in range(99))
with zipfile.ZipFile(o, 'w', zipfile.ZIP_STORED) as z:
    z.writestr('a.xz', lzma.compress(text)); z.writestr('b.bz2', bz2.compress(text))
    z.writestr('c', zlib.compress(text)[2:-4])
sys.stdout.buffer.write(o.getvalue())
";
    let bytes = python(write, &[], b"");
    let doc = document(&bytes);
    assert!(doc.render() == bytes);
    assert_eq!(doc.leaves().filter(|(_, leaf)| leaf.starts_with(b"private")).count(), 3);
    let edits = doc.leaves().filter(|(_, leaf)| leaf.starts_with(b"private"));
    let edits: Vec<_> = edits.map(|(path, _)| (path, b"x".to_vec().into())).collect();
    let read = "
import io, sys, zipfile, lzma, bz2, zlib
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())); assert z.testzip() is None
print(lzma.decompress(z.read('a.xz')), bz2.decompress(z.read('b.bz2')), zlib.decompress(z.read('c'), -15))
";
    assert_eq!(python_reads(read, &doc.with_leaves(edits).render()), "b'x' b'x' b'x'\n");
}
