//! The report about a double of a user interface: the same as that about any other input.

use std::collections::BTreeMap;

use stunt_gui::minimise::Checked;
use stunt_gui::{Algorithm, Content, Double};
use stunt_leakage::Bits;
use stunt_path::Frame;
use stunt_report::{
    ByteKind, ByteRuns, Draw, Kind, Leak, Module, Program, Replay, Report, Schema, Source,
    SourceName, Verified, steps, visible,
};

/// Whether no step can be left out: each was tried.
pub fn is_minimal(double: &Double) -> bool {
    double.minimised.checked == Checked::OneMinimal
}

/// The report.
pub fn report(double: &Double, algorithm: Algorithm, content: &Content) -> Report {
    let failure = double.failure.to_path(&|script| content.digest(script));
    let (bytes, figures) = &double.bytes;
    let size = bytes.len() as u64;
    let source = Source::new(SourceName::File, size, Some("json"));
    let total = double.claim.total();
    let kind = match total {
        Bits::Exact(_) => Kind::Exact,
        Bits::AtMost(_) => Kind::AtMost,
        Bits::Estimate { .. } => Kind::Estimate,
    };
    let byte_kind = ByteKind::from(kind);
    let figures = figures.iter().map(|&bits| (bits, byte_kind));
    let modules = content
        .scripts()
        .iter()
        .filter(|(name, _)| failure.frames.iter().any(|frame| frame.module == **name));
    let modules =
        modules.map(|(name, digest)| Module { name: name.clone(), build_id: Some(digest.clone()) });
    let [player, trusted] = double.proved;
    // What is shown is shorter than what was recorded, and how long that was is said nowhere.
    let mut parameters = BTreeMap::from([("resize".to_owned(), "yes".to_owned())]);
    if is_minimal(double) {
        parameters.insert("minimal".to_owned(), "yes".to_owned());
    }
    Report {
        schema: Schema,
        stunt: env!("CARGO_PKG_VERSION").to_owned(),
        program: Program {
            name: double.recording.page(),
            build_id: content.build(),
            modules: modules.collect(),
        },
        arguments: vec!["@@".to_owned()],
        per_byte: vec![ByteRuns::new(source.name.clone(), figures)],
        sources: vec![source],
        failure: stunt_report::Failure {
            kind: failure.kind.word().to_owned(),
            signature: failure.signature(),
            words: failure.to_string(),
            frames: failure.frames.iter().skip(1).map(frame).collect(),
        },
        replay: Replay { native: true, check_memory: false, fails_if: None },
        tells: None,
        leak: Leak::new(total.value(), 8 * size, kind, total.to_string()),
        algorithm: stunt_report::Algorithm { name: algorithm.name().to_owned(), parameters },
        draw: Draw::NotUniform {
            why: "its steps are those that the failure needs, told in a fixed code; the figure counts that".to_owned(),
        },
        verified: Verified { native: true, runs: (player.0 + trusted.0) as u32 },
        notes: notes(double),
        comment: None,
    }
    .tidied()
}

fn frame(frame: &Frame) -> stunt_report::Frame {
    stunt_report::Frame {
        module: frame.module.clone(),
        build_id: frame.build_id.clone(),
        offset: frame.offset,
        symbol: frame.symbol.clone(),
        location: frame.location.as_ref().map(|it| format!("{}:{}", it.file, it.line)),
    }
}

fn notes(double: &Double) -> Vec<String> {
    let claim = &double.claim;
    let mut notes = vec![format!(
        "A recording of a user interface: `stunt gui replay` does its steps in a browser. At most {:.1} bits tell \
         which steps there are, {:.1} which widgets they are on, {:.1} how long texts are.",
        claim.steps, claim.widgets, claim.lengths
    )];
    if !double.stays.is_empty() {
        let what: Vec<&str> = double.stays.iter().map(|it| it.what.as_str()).collect();
        notes.push(format!(
            "The failure needs, and so this is the original's: {}.",
            what.join("; ")
        ));
    }
    let [(player, of), (trusted, trusted_of)] = double.proved;
    if player < of {
        notes.push(format!("It failed in {player} of {of} replays: it does not always."));
    }
    if trusted == 0 {
        notes.push(
            "It failed when the player in the page did the steps, and not by mouse and keys of the browser.".to_owned(),
        );
    } else if trusted < trusted_of {
        notes.push(format!(
            "By mouse and keys of the browser it failed in {trusted} of {trusted_of} replays."
        ));
    }
    if !is_minimal(double) {
        notes.push("There was no time to see whether fewer steps suffice.".to_owned());
    }
    notes
}

/// The steps in words, a line for each; nothing if the double is no recording.
pub fn steps_text(report: &Report, double: &[u8]) -> String {
    let Some(steps) = steps(double, report.per_byte.first()) else { return String::new() };
    let width = steps.len().to_string().len();
    let lines =
        (1..).zip(steps).map(|(number, step)| format!("{number:>width$}. {}\n", visible(&step)));
    lines.collect()
}
