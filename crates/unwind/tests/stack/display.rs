//! How stacks read: a golden file that a person has found readable.

use std::fs;
use std::path::Path;

use stunt_unwind::stack::{CallStack, End, Frame, Gap, InModule, InSymbol, Kind, Location, Trust};

fn frame(trust: Trust, module: &str, offset: u64, symbol: Option<(&str, u64)>) -> Frame {
    Frame {
        address: 0x5555_0000_0000 + offset,
        trust,
        kind: Kind::Call,
        module: Some(InModule { name: module.into(), build_id: None, offset, function: None }),
        symbol: symbol.map(|(name, offset)| InSymbol { name: name.into(), offset }),
        location: None,
    }
}

fn at(frame: Frame, file: &str, line: u32) -> Frame {
    Frame { location: Some(Location { file: file.into(), line }), ..frame }
}

fn examples() -> Vec<(&'static str, CallStack)> {
    use Trust::{Cfi, Context, FramePointer, Scan};
    let main = || at(frame(Cfi, "prog", 0x1200, Some(("main", 0x40))), "/src/prog.c", 60);
    let start = || frame(Cfi, "prog", 0x1091, Some(("_start", 0x21)));
    let inner = at(frame(Context, "libfoo.so.1", 0x1234, Some(("read_field", 0))), "/src/f.c", 31);
    let outside =
        |address| Frame { address, module: None, symbol: None, ..frame(Context, "", 0, None) };
    let long = "std::vector<std::pair<int, std::string>, std::allocator<std::pair<int, std::string> > >::at(unsigned long)";
    let plain = CallStack {
        frames: vec![
            Frame { kind: Kind::Inlined, ..inner.clone() },
            at(frame(Context, "libfoo.so.1", 0x1234, Some(("parse", 0x12))), "/src/parse.c", 102),
            frame(Cfi, "libstdc++.so.6", 0x9_8765, Some((long, 0x1f))),
            frame(Cfi, "libc.so.6", 0x3_c050, None),
            Frame { kind: Kind::Signal, ..frame(Cfi, "libc.so.6", 0x3_c060, None) },
            main(),
            start(),
        ],
        gap: None,
        end: End::Outermost,
    };
    let weak = CallStack {
        frames: vec![
            outside(0x4141_4141_4141),
            frame(Scan, "prog", 0x1150, Some(("dispatch", 0x20))),
            frame(FramePointer, "prog", 0x1180, Some(("run", 0x8))),
        ],
        gap: None,
        end: End::Lost,
    };
    let deeper = |trust| at(frame(trust, "prog", 0x1139, Some(("deeper", 0x9))), "deep.c", 3);
    let deep = CallStack {
        frames: vec![deeper(Context), deeper(Cfi), deeper(Cfi), main(), start()],
        gap: Some(Gap { before: 2, count: 29_312, alike: true }),
        end: End::Outermost,
    };
    let null =
        CallStack { frames: vec![outside(0), main(), start()], gap: None, end: End::Outermost };
    let endless = CallStack {
        gap: Some(Gap { before: 2, count: 1_234_567, alike: false }),
        frames: vec![deeper(Context), deeper(Cfi)],
        end: End::Limit,
    };
    vec![
        ("inlined functions, a long name, a signal", plain),
        ("a wild jump", weak),
        ("recursion", deep),
        ("a call through a null pointer", null),
        ("no end", endless),
    ]
}

#[test]
fn stacks_read_as_they_should() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stack/display.txt");
    let text: Vec<String> =
        examples().into_iter().map(|(title, stack)| format!("## {title}\n{stack}")).collect();
    let text = text.join("\n");
    if std::env::var_os("STUNT_BLESS").is_some() {
        fs::write(&path, &text).expect("the golden file can be written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == golden, "set STUNT_BLESS=1 to accept this as tests/stack/display.txt:\n{text}");
}

#[test]
fn addresses_outside_of_modules_are_not_shown() {
    for (_, stack) in examples() {
        let text = format!("{stack}{stack:?}{:?}", stack.frames);
        assert!(!text.contains("4141"), "{text}");
    }
}
