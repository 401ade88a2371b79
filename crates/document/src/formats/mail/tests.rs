//! Mails as Python writes them.

use crate::formats::testing::{document, leaf, path, python, python_reads};
use crate::node::Kind;

const WRITE: &str = "
import sys
from email.message import EmailMessage
from email import policy
m = EmailMessage(policy=policy.SMTP if sys.argv[1] == 'crlf' else policy.default)
m['From'] = 'Anneliese Brandt <a.brandt@example.org>'
m['To'] = 'dr.solheim@clinic.example'
m['Subject'] = 'List of patients'
m.set_content('Liebe Ingrid,\\n\\nGrüße aus München, und ' + 'lange Zeilen ' * 20 + '\\n', cte='quoted-printable')
m.add_alternative('<p>Liebe Ingrid</p>', subtype='html')
m.add_attachment(b'name,born\\nBrandt,1987\\n' * 40, maintype='text', subtype='csv', filename='patients.csv', cte='base64')
inner = EmailMessage(); inner['From'] = 'x@example.org'; inner['Subject'] = 'inner'
inner.set_content('forwarded text'); inner.add_attachment(b'\\x00\\x01' * 100, maintype='application', subtype='x', filename='b.bin')
m.add_attachment(inner)
b = bytes(m)
if sys.argv[1] == 'mbox': b = b'From a Mon Jan  1 00:00:00 2024\\n' + b + b'\\n'; b += b
sys.stdout.buffer.write(b)
";

const CHECK: &str = "
import sys, email, email.policy
m = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
for p in m.walk():
    assert not p.defects, p.defects
    if not p.is_multipart(): print(p.get_content_type(), p.get_filename(), len(p.get_payload(decode=True)))
    else: print(p.get_content_type())
";

#[test]
fn mails_are_written_as_they_were() {
    for mode in ["lf", "crlf", "mbox"] {
        let bytes = python(WRITE, &[mode], b"");
        let doc = document(&bytes);
        assert!(doc.render() == bytes);
        assert!(leaf(&doc, b"name,born").is_some(), "{mode}: {doc:?}");
        assert!(leaf(&doc, "Liebe Ingrid".as_bytes()).is_some(), "{mode}");
        assert!(leaf(&doc, b"forwarded").is_some(), "{mode}");
        assert!(leaf(&doc, b"\0\x01\0").is_some(), "{mode}");
        let kind = if mode == "mbox" { Kind::Mailbox } else { Kind::Mail };
        assert_eq!(doc.root().kind(), kind);
    }
}

#[test]
fn edited_mails_are_read_by_others() {
    for mode in ["lf", "crlf"] {
        let doc = document(&python(WRITE, &[mode], b""));
        let csv = leaf(&doc, b"name,born").unwrap();
        let letter = leaf(&doc, "Liebe Ingrid".as_bytes()).unwrap();
        let edited = doc.with_leaves([
            (csv, b"name".to_vec().into()),
            (letter, "= Öl =".repeat(40).into_bytes().into()),
        ]);
        let inner = edited
            .nodes()
            .find(|(path, node)| {
                node.kind() == Kind::Mail && path.depth() == 2 && node.name() == "part 3"
            })
            .unwrap();
        let smaller = edited.without([&inner.0]);
        let list = python_reads(CHECK, &smaller.render());
        let expected = "multipart/mixed\nmultipart/alternative\ntext/plain None 280\n\
            text/html None 20\ntext/csv patients.csv 4\n";
        assert_eq!(list, expected.replace("20", if mode == "lf" { "20" } else { "21" }));
        assert!(document(&smaller.render()).same_tree(&smaller));
    }
}

#[test]
fn a_mail_that_ends_in_the_middle_is_still_a_mail() {
    let bytes = python(WRITE, &["lf"], b"");
    for length in (0..bytes.len()).step_by(97) {
        let doc = document(&bytes[..length]);
        assert!(doc.render() == bytes[..length]);
    }
    let doc = document(&bytes[..bytes.len() - 300]);
    assert_eq!(doc.root().kind(), Kind::Mail);
    assert!(path(&doc, "patients.csv").depth() > 1);
}

#[test]
fn stored_mails_hold_the_same_text_plainly() {
    let bytes = python(WRITE, &["lf"], b"");
    let doc = document(&bytes);
    let stored = doc.render_stored();
    assert_eq!(python_reads(CHECK, &stored.bytes), python_reads(CHECK, &bytes));
    let csv = leaf(&doc, b"name,born").unwrap();
    assert!(stored.spans.iter().any(|span| span.leaf == csv && span.at.len() > 800));
    // Bytes that are no text stay encoded.
    let binary = leaf(&doc, b"\0\x01\0").unwrap();
    assert!(stored.spans.iter().all(|span| span.leaf != binary));
}

#[test]
fn mails_that_are_nested_too_deep_are_mails_as_far_as_limits_go() {
    let mut mail = b"Content-Type: text/plain\n\nat the bottom\n".to_vec();
    for depth in 0..80 {
        let head = format!("Content-Type: multipart/mixed; boundary=\"B{depth}\"\n\n--B{depth}\n");
        mail = [head.as_bytes(), &mail, format!("\n--B{depth}--\n").as_bytes()].concat();
    }
    let mail = [b"From: a@example.org\nMIME-Version: 1.0\n", &mail[..]].concat();
    for depth in 1..45 {
        let limits = crate::Limits { depth, ..crate::Limits::default() };
        let doc = crate::Document::parse(&mail[..], &limits);
        assert!(doc.render() == mail);
        let deepest = doc.nodes().map(|(path, _)| path.depth()).max().unwrap();
        assert!(deepest <= depth && (depth < 4 || deepest + 4 >= depth), "{depth} {deepest}");
    }
}
