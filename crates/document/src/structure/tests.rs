//! Elements are where a person would mark them, and what is left after a removal is well-formed.

use super::*;

fn layout(bytes: &[u8]) -> Layout {
    Structure::of(bytes).layout()
}

/// The elements of a role, as text.
fn all(bytes: &[u8], role: Role) -> Vec<String> {
    let structure = Structure::of(bytes);
    let of_role = structure.elements().iter().filter(|element| element.role == role);
    of_role.map(|element| String::from_utf8_lossy(&bytes[element.range.clone()]).into()).collect()
}

fn without(bytes: &[u8], gone: impl Fn(&Element, &[u8]) -> bool) -> Vec<u8> {
    let structure = Structure::of(bytes);
    let numbers: Vec<usize> = (0..structure.elements().len())
        .filter(|&number| {
            let element = &structure.elements()[number];
            gone(element, &bytes[element.range.clone()])
        })
        .collect();
    assert!(!numbers.is_empty());
    apply(bytes, &structure.without(bytes, &numbers))
}

/// What always holds.
fn check(structure: &Structure, length: usize) {
    for (number, element) in structure.elements().iter().enumerate() {
        assert!(element.range.start <= element.range.end && element.range.end <= length);
        if let Some(parent) = element.parent {
            let around = &structure.elements()[parent];
            assert!(parent < number && number < around.end);
            assert!(around.range.start <= element.range.start);
            assert!(element.range.end <= around.range.end);
        }
        let mut end = element.range.start;
        for child in structure.children(number) {
            assert_eq!(structure.elements()[child].parent, Some(number));
            assert!(structure.elements()[child].range.start >= end);
            end = structure.elements()[child].range.end;
        }
    }
}

#[test]
fn markup() {
    let xml = br#"<?xml version="1.0"?><a x="1" y='2'><b>text</b><c/><!-- no --> tail</a>"#;
    assert_eq!(layout(xml), Layout::Markup);
    assert_eq!(all(xml, Role::Attribute), [r#" x="1""#, " y='2'"]);
    assert_eq!(all(xml, Role::AttributeValue), ["1", "2"]);
    assert_eq!(all(xml, Role::Text), ["text", " tail"]);
    assert_eq!(all(xml, Role::Tag)[1..], ["<b>text</b>", "<c/>"]);
    let left = without(xml, |_, text| text == b"<b>text</b>" || text == br#" x="1""#);
    assert_eq!(left, br#"<?xml version="1.0"?><a y='2'><c/><!-- no --> tail</a>"#);
}

#[test]
fn html_is_not_always_closed() {
    let html =
        b"<!DOCTYPE html><html><p>one<br>two<P>three</p><script>if (a<b) x()</script></HTML>";
    assert_eq!(layout(html), Layout::Markup);
    assert_eq!(all(html, Role::Text), ["one", "two", "three", "if (a<b) x()"]);
}

#[test]
fn json() {
    let text = br#"{"a": 1, "b": [1, {"c": "x,y"}, 3], "d": null}"#;
    assert_eq!(layout(text), Layout::Json);
    assert_eq!(
        without(text, |_, t| t == br#""a": 1"#),
        br#"{"b": [1, {"c": "x,y"}, 3], "d": null}"#
    );
    assert_eq!(
        without(text, |_, t| t == br#""d": null"#),
        br#"{"a": 1, "b": [1, {"c": "x,y"}, 3]}"#
    );
    assert_eq!(
        without(text, |_, t| t == b"1" || t == b"3"),
        br#"{"a": null, "b": [{"c": "x,y"}], "d": null}"#
    );
    assert_eq!(without(text, |e, _| e.role == Role::Member), b"{}");
    assert_eq!(
        without(text, |e, _| e.role == Role::Quote),
        br#"{"a": 1, "b": [1, {"c": ""}, 3], "d": null}"#
    );
    assert_eq!(layout(b"{\"a\": 1}\n{\"a\": 2}\n"), Layout::Json);
    assert_eq!(layout(b"{\"a\": [1, {\"x\": 2}, }"), Layout::Brackets);
}

#[test]
fn values_of_pdf() {
    let text = b"<< /Type /Page /Kids [3 0 R 4 0 R] /A <</B (x \\(y\\)) /C <41>>> /N 12>>\n";
    assert_eq!(layout(text), Layout::Pdf);
    assert_eq!(all(text, Role::Quote), ["x \\(y\\)", "41"]);
    let left = without(text, |_, t| t == b"/Type /Page " || t == b"4 0 R" || t == b"/N 12");
    assert_eq!(left, b"<< /Kids [3 0 R ] /A <</B (x \\(y\\)) /C <41>>> >>\n");
    assert_eq!(
        without(text, |_, t| t == b"12"),
        b"<< /Type /Page /Kids [3 0 R 4 0 R] /A <</B (x \\(y\\)) /C <41>>> /N null>>\n"
    );
}

#[test]
fn tables() {
    let csv = b"a,b,c\n1,\"x, \"\"y\"\"\n2\",3\r\n4,,6\n";
    assert_eq!(layout(csv), Layout::Table);
    assert_eq!(all(csv, Role::Row).len(), 3);
    assert_eq!(
        all(csv, Role::Cell),
        ["a", "b", "c", "1", "\"x, \"\"y\"\"\n2\"", "3", "4", "", "6"]
    );
    assert_eq!(without(csv, |_, t| t == b"4,,6\n"), b"a,b,c\n1,\"x, \"\"y\"\"\n2\",3\r\n");
    assert_eq!(
        without(csv, |_, t| t == b"c" || t == b"3" || t == b"6"),
        b"a,b\n1,\"x, \"\"y\"\"\n2\"\r\n4,\n"
    );
}

#[test]
fn lines_and_what_belongs_to_them() {
    let yaml = b"people:\n- name: Anneliese\n  born: 1987\n- name: Tomasz\nlast: x\n";
    assert_eq!(layout(yaml), Layout::Indented);
    let blocks = all(yaml, Role::Block);
    assert!(blocks.contains(&"- name: Anneliese\n  born: 1987\n".to_owned()));
    assert!(blocks[0].ends_with("- name: Tomasz\n"));
    assert_eq!(all(yaml, Role::Value), ["Anneliese", "1987", "Tomasz", "x"]);
    let ini = b"[one]\na = 1\nb = 2\n\n[two]\nc = 3\n";
    assert_eq!(all(ini, Role::Block)[0], "[one]\na = 1\nb = 2\n\n");
    let log = b"12:00 started\n  at x\n  at y\n12:01 ended\n";
    assert_eq!(without(log, |_, t| t.starts_with(b"12:00")), b"12:01 ended\n");
}

#[test]
fn brackets() {
    let text = b"f(a, g(b), \"x)\");\nif (x) { y; z(1); }\n";
    assert_eq!(layout(text), Layout::Brackets);
    assert_eq!(without(text, |_, t| t == b" g(b)"), b"f(a, \"x)\");\nif (x) { y; z(1); }\n");
    assert_eq!(without(text, |_, t| t == b" z(1);"), b"f(a, g(b), \"x)\");\nif (x) { y; }\n");
}

#[test]
fn der_lengths_follow() {
    // SEQUENCE { INTEGER 5, OCTET STRING of 200 bytes, SEQUENCE { INTEGER 1, INTEGER 2 } }
    let mut der = vec![0x30, 0x81, 214, 2, 1, 5, 4, 0x81, 200];
    der.extend([7; 200]);
    der.extend([0x30, 6, 2, 1, 1, 2, 1, 2]);
    assert_eq!(layout(&der), Layout::Der);
    let structure = Structure::of(&der);
    let long = |e: &Element| e.role == Role::Payload && e.range.len() == 200;
    let payload = structure.elements().iter().position(long).unwrap();
    let shorter = apply(&der, &structure.replacing(&der, [(payload, &b"ab"[..])]));
    assert_eq!(shorter, [0x30, 15, 2, 1, 5, 4, 2, b'a', b'b', 0x30, 6, 2, 1, 1, 2, 1, 2]);
    let gone = without(&shorter, |e, t| e.role == Role::Record && t == [2, 1, 1]);
    assert_eq!(gone, [0x30, 12, 2, 1, 5, 4, 2, b'a', b'b', 0x30, 3, 2, 1, 2]);
}

#[test]
fn counts_and_lengths_follow_in_message_pack_and_cbor() {
    // {"a": [1, 2, 3], "bb": "x" * 40}
    let mut pack = vec![0x82, 0xa1, b'a', 0x93, 1, 2, 3, 0xa2, b'b', b'b', 0xd9, 40];
    pack.extend([b'x'; 40]);
    let binary = pack;
    let structure = Structure::of(&binary);
    assert_eq!(structure.layout(), Layout::MessagePack);
    check(&structure, binary.len());
    let left = without(&binary, |e, t| e.role == Role::Value && t == [2]);
    assert_eq!(left[..6], [0x82, 0xa1, b'a', 0x92, 1, 3]);
    let left = without(&binary, |e, t| e.role == Role::Payload && t.len() == 40);
    assert_eq!(left, [0x82, 0xa1, b'a', 0x93, 1, 2, 3, 0xa2, b'b', b'b', 0xa0]);
    let left = without(&binary, |e, t| e.role == Role::Member && t[1] == b'a');
    assert_eq!(left[..4], [0x81, 0xa2, b'b', b'b']);

    let mut cbor = vec![0xa2, 0x61, b'a', 0x83, 1, 2, 3, 0x61, b'b', 0x58, 30];
    cbor.extend([0; 30]);
    assert_eq!(layout(&cbor), Layout::Cbor);
    let left = without(&cbor, |e, t| t == [3] || (e.role == Role::Payload && t.len() == 30));
    assert_eq!(left, [0xa2, 0x61, b'a', 0x82, 1, 2, 0x61, b'b', 0x40]);
}

#[test]
fn records_are_found_by_trying() {
    let mut bytes = b"HEAD\x01\x02".to_vec();
    for (kind, text) in [(b"NAME", "Anneliese"), (b"BORN", "1987-03-04"), (b"NOTE", "none")] {
        bytes.extend(kind);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    let structure = Structure::of(&bytes);
    assert_eq!(structure.layout(), Layout::Records);
    check(&structure, bytes.len());
    let left = without(&bytes, |e, t| e.role == Role::Payload && t == b"Anneliese");
    assert!(left.starts_with(b"HEAD\x01\x02NAME\0\0BORN\x0a\0"));
}

#[test]
fn deep_texts_need_no_stack() {
    for (open, close) in [("[", "]"), ("<a>", "</a>"), ("{\"a\":", "}"), ("f(1,", ")")] {
        let text = open.repeat(200_000) + "1" + &close.repeat(200_000);
        let structure = Structure::of(text.as_bytes());
        assert!(structure.elements().len() > 100_000, "{open}");
    }
    let der = [0x30, 0x80].repeat(100_000);
    check(&Structure::of(&der), der.len());
}

mod any {
    use proptest::prelude::*;

    use super::*;

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            Just("<a>"),
            Just("</a>"),
            Just("<b x=\"1\">"),
            Just("</b>"),
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just("\""),
            Just(","),
            Just(":"),
            Just("\n"),
            Just("  "),
            Just("- "),
            Just("key"),
            Just("1"),
            Just("="),
            Just("<!--"),
            Just("-->"),
            Just("("),
            Just(")"),
            Just(";"),
            Just("'"),
            Just("\\"),
            Just("é"),
        ];
        proptest::collection::vec(word, 0..60).prop_map(|words| words.concat().into_bytes())
    }

    fn holds(bytes: &[u8], picks: &[usize]) {
        let structure = Structure::of(bytes);
        check(&structure, bytes.len());
        let count = structure.elements().len();
        if count == 0 {
            return;
        }
        let gone: Vec<usize> = picks.iter().map(|pick| pick % count).collect();
        let changes = structure.without(bytes, &gone);
        assert!(changes.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        let left = apply(bytes, &changes);
        assert!(
            structure.layout() != Layout::Json
                || Structure::of(&left).layout() == Layout::Json
                || left.len() < 4
                || structure.roots().any(|root| gone.contains(&root))
                || Structure::of(&left).elements().is_empty()
        );
    }

    proptest! {
        #[test]
        fn texts_hold(bytes in texts(), picks in proptest::collection::vec(0..1000_usize, 1..5)) {
            holds(&bytes, &picks);
        }

        #[test]
        fn bytes_hold(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            picks in proptest::collection::vec(0..1000_usize, 1..5),
        ) {
            holds(&bytes, &picks);
        }
    }
}

#[test]
fn of_too_many_elements_the_deepest_are_left_out() {
    let row = "[".to_owned() + &["1"; 20].join(",") + "]";
    let text = "[".to_owned() + &vec![row; 60_000].join(",") + "]";
    let structure = Structure::of(text.as_bytes());
    assert_eq!(structure.layout(), Layout::Json);
    assert_eq!(structure.elements().len(), 60_001);
    check(&structure, text.len());
}

#[test]
fn siblings_go_as_elements_do() {
    let texts: [&[u8]; 4] = [
        b"[1,[2,3],{\"a\":4},5]",
        b"<r><a/>t<b>u</b></r>",
        b"a,b\nc,d\n",
        b"\x30\x06\x02\x01\x05\x02\x01\x07",
    ];
    for bytes in texts {
        let structure = Structure::of(bytes);
        let inner = (0..structure.elements().len()).map(|it| structure.children(it).collect());
        for siblings in std::iter::once(structure.roots().collect::<Vec<usize>>()).chain(inner) {
            for first in 0..siblings.len() {
                for end in first + 1..=siblings.len() {
                    let one = structure.without_siblings(bytes, &siblings, first..end);
                    let other = structure.without(bytes, &siblings[first..end]);
                    assert_eq!(apply(bytes, &one), apply(bytes, &other), "{first}..{end}");
                }
            }
        }
    }
}
