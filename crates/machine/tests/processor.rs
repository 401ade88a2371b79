//! The machine's processor compared with the real one, instruction by instruction.
//!
//! Random states, corners included, run one instruction on the host and in the machine; all that
//! a program can see must be the same: registers, flags, memory, and the signal if there is one.
//!
//! ```console
//! $ cargo nextest run -p stunt-machine --test processor
//! $ STUNT_FORM=paddb STUNT_STATES=100000 cargo nextest run -p stunt-machine --test processor
//! ```

#[path = "processor/bytes.rs"]
mod bytes;
#[path = "processor/corners.rs"]
mod corners;
#[path = "processor/encode.rs"]
mod encode;
#[path = "processor/forms.rs"]
mod forms;
#[path = "processor/host.rs"]
mod host;
#[path = "processor/machine.rs"]
mod machine;
#[path = "processor/modes.rs"]
mod modes;
#[path = "processor/pair.rs"]
mod pair;
#[path = "processor/place.rs"]
mod place;
#[path = "processor/prepare.rs"]
mod prepare;
#[path = "processor/sequences.rs"]
mod sequences;
#[path = "processor/state.rs"]
mod state;
#[path = "processor/undefined.rs"]
mod undefined;
#[path = "processor/values.rs"]
mod values;

use forms::{Family, check, scaled};

/// The variable that rewrites `corners.txt` from what the host does.
const BLESS: &str = "STUNT_BLESS";

/// As many codes are compared as ever were: one that is dropped from the list is missed here.
#[test]
fn the_list_has_all_codes() {
    let codes = forms::codes();
    let unlike: std::collections::BTreeSet<_> = codes.iter().map(|&code| code as usize).collect();
    assert_eq!(unlike.len(), codes.len(), "a code is there twice");
    assert!(codes.len() >= 1227, "{} codes", codes.len());
}

#[test]
fn integer() {
    check(Family::Integer);
}

#[test]
fn control() {
    check(Family::Control);
}

#[test]
fn strings() {
    check(Family::Strings);
}

#[test]
fn vector() {
    check(Family::Vector);
}

#[test]
fn float() {
    check(Family::Float);
}

#[test]
fn mmx() {
    check(Family::Mmx);
}

#[test]
fn x87() {
    check(Family::X87);
}

#[test]
fn random_bytes_never_panic() {
    bytes::never_panic(scaled(200_000));
}

#[test]
fn random_bytes_agree() {
    bytes::agree(scaled(200_000));
}

#[test]
fn what_was_wrong_once_is_right() {
    bytes::once_wrong(scaled(2000));
}

#[test]
fn invalid_bytes_are_invalid() {
    bytes::invalid(scaled(100_000));
}

#[test]
fn sequences_of_instructions_agree() {
    sequences::agree(scaled(20_000));
}

#[test]
fn a_baseline_processor_scans_where_others_count() {
    modes::baseline(2000);
}

#[test]
fn fs_has_a_base() {
    modes::fs();
}

#[test]
fn jumps_to_nowhere_fault_there() {
    modes::nowhere();
}

#[test]
fn corners_are_as_written_down() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/processor/corners.txt");
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(path, corners::host()).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    assert!(golden.lines().count() >= 150, "too few corners");
    for (side, lines) in [("host", corners::host()), ("machine", corners::machine())] {
        for (expected, line) in golden.lines().zip(lines.lines()) {
            assert_eq!(line, expected, "{side}; {BLESS}=1 rewrites the file");
        }
        assert_eq!(lines.lines().count(), golden.lines().count(), "{side}");
    }
}
