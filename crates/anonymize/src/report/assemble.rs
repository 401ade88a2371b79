//! The report of a proved double: what was found, in the words of the report's schema.
//!
//! Always: what a report says of a run comes from the run on the double, which its reader can make as
//! well. Before it is handed on, every frame of it is compared with that run ([`told_by`]).

use stunt_leakage::Bits;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Failure;
use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Kind, Leak, Module, Program, Replay, Report, Schema,
    Source, Verified,
};
use stunt_search::Measured;

use super::tells::{claimed, tells};
use crate::crash::Crash;
use crate::job::Job;
use crate::options::Method;
use crate::refusal::Error;
use crate::search::Found;
use crate::telling::Telling;

/// The most frames of a failure that a report shows.
const MOST_FRAMES: usize = 32;

/// The report, with what is told of the arguments, compared with the run on the double.
pub(crate) fn report(crash: &Crash<'_>, telling: &Telling, found: &Found) -> Result<Report, Error> {
    let report = telling.told_in(assemble(crash, found));
    if !told_by(&report, &found.drawn.failure) {
        return Err(Error::Told);
    }
    Ok(report)
}

fn assemble(crash: &Crash<'_>, found: &Found) -> Report {
    let Crash { job: Job { subject, options, fails_if, .. }, failing, .. } = crash;
    let failure = &found.drawn.failure;
    let name = subject.name();
    let module = |frame: &&stunt_path::Frame| frame.module == name && frame.build_id.is_some();
    let build_id = failure.frames.iter().find(module).and_then(|it| it.build_id.clone());
    let frames: Vec<stunt_report::Frame> =
        failure.frames.iter().take(MOST_FRAMES).map(report_frame).collect();
    let mut modules: Vec<Module> = Vec::new();
    for frame in &frames {
        let module = Module { name: frame.module.clone(), build_id: frame.build_id.clone() };
        if !module.name.is_empty() && !modules.contains(&module) {
            modules.push(module);
        }
    }
    let claimed = claimed(crash, found);
    // The double may be shorter than the original.
    let mut sources = subject.sources.clone();
    for (source, bytes) in sources.iter_mut().zip(&found.drawn.double.bytes) {
        source.bytes = bytes.len() as u64;
    }
    let uniform = match (options.method, found.drawn.double.not_uniform) {
        _ if options.canonical => Draw::NotUniform {
            why: "it is the canonical one of its path; the figure counts that".to_owned(),
        },
        (Method::Camouflage, _) => Draw::NotUniform {
            why: "it was chosen to differ most from the original; the figure counts that"
                .to_owned(),
        },
        (_, Some(reason)) => Draw::NotUniform { why: reason.to_string() },
        (_, None) => Draw::Uniform,
    };
    let mut notes = found.notes.clone();
    notes.extend_from_slice(&subject.notes);
    if failing.share.hits < failing.share.runs {
        notes.push("The failure does not come every time: replay it more than once.".to_owned());
    }
    if failing.any_fails {
        notes.push(
                "The program fails in this way on harmless inputs as well, an empty one among them: the \
                 double proves no more than that."
                    .to_owned(),
            );
    }
    if failing.checked {
        notes.push(
            "The failure is an invalid access that only checked memory shows; it is \
                 replayed in the machine, with the same check."
                .to_owned(),
        );
    }
    if found.drawn.double.fixed > 0 {
        notes.push(format!(
            "{} bytes stay as they are: what the program computes from them is too hard to solve.",
            found.drawn.double.fixed
        ));
    }
    if found.drawn.draws > 1 {
        notes.push(format!(
            "{} doubles were drawn until one failed; the figure allows for that.",
            found.drawn.draws
        ));
    }
    if found.relax == Relaxations::NONE && options.method != Method::Castro {
        notes.push(
                "This double keeps the path: the relaxed condition gave none, or one that reveals more.".to_owned(),
            );
    }
    let mut parameters = std::collections::BTreeMap::new();
    for without in &options.no_relax {
        parameters.insert(format!("no-relax {without:?}").to_lowercase(), "yes".to_owned());
    }
    let flags = [
        ("canonical", options.canonical),
        ("resize", found.is_shorter),
        ("hide-time", options.paths.hide_time.is_some()),
    ];
    for (flag, _) in flags.iter().filter(|(_, given)| *given) {
        parameters.insert((*flag).to_owned(), "yes".to_owned());
    }
    Report {
        schema: Schema,
        stunt: env!("CARGO_PKG_VERSION").to_owned(),
        program: Program { name, build_id, modules },
        // What is told of them is found out by runs (`needed.rs`).
        arguments: Vec::new(),
        per_byte: per_byte(&sources, &found.drawn.measured),
        sources,
        failure: stunt_report::Failure {
            kind: failure.kind.word().to_owned(),
            signature: failure.signature(),
            words: failure.to_string(),
            frames,
        },
        replay: Replay {
            native: !failing.checked,
            check_memory: failing.checked,
            fails_if: fails_if.as_ref().map(|it| it.text().to_owned()),
        },
        tells: Some(tells(crash, found, &claimed)),
        leak: leak_of(claimed.claim.leak(), found.drawn.size),
        algorithm: Algorithm { name: options.method.name().to_owned(), parameters },
        draw: uniform,
        verified: if failing.checked {
            Verified { native: false, runs: 1 }
        } else {
            Verified { native: true, runs: options.runs }
        },
        notes,
        comment: None,
    }
    .tidied()
}

/// What the double reveals, with all that it is charged.
pub(super) fn revealed(crash: &Crash<'_>, found: &Found) -> Bits {
    claimed(crash, found).claim.leak()
}

fn per_byte(sources: &[Source], measured: &Measured) -> Vec<ByteRuns> {
    let mut all = Vec::new();
    for (source, number) in sources.iter().zip(0u16..) {
        let mut figures = vec![(0.0, ByteKind::Public); source.bytes as usize];
        for leak in measured.bytes.iter().filter(|leak| leak.byte.source == number) {
            let kind = ByteKind::from(kind_of(leak.bits));
            figures[leak.byte.offset as usize] = (leak.bits.value(), kind);
        }
        all.push(ByteRuns::new(source.name.clone(), figures));
    }
    all
}

fn report_frame(frame: &stunt_path::Frame) -> stunt_report::Frame {
    stunt_report::Frame {
        module: frame.module.clone(),
        build_id: frame.build_id.clone(),
        offset: frame.offset,
        symbol: frame.symbol.clone(),
        location: frame.location.as_ref().map(|it| format!("{}:{}", it.file, it.line)),
    }
}

/// Whether a report says of the failure what the run on the double showed, and nothing else: what is
/// cut is shorter, and what is not from that run is not there.
fn told_by(report: &Report, seen: &Failure) -> bool {
    let cut = |text: &str, whole: &str| match text.strip_suffix('…') {
        Some(begin) => whole.starts_with(begin),
        None => text == whole,
    };
    let cut_or_none = |text: &Option<String>, whole: &Option<String>| match (text, whole) {
        (Some(text), Some(whole)) => cut(text, whole),
        (None, None) => true,
        _ => false,
    };
    let frames = &report.failure.frames;
    let same = |(frame, seen): (&stunt_report::Frame, &stunt_path::Frame)| {
        let seen = report_frame(seen);
        frame.module == seen.module
            && frame.build_id == seen.build_id
            && frame.offset == seen.offset
            && cut_or_none(&frame.symbol, &seen.symbol)
            && cut_or_none(&frame.location, &seen.location)
    };
    let modules = report.program.modules.iter();
    report.failure.kind == seen.kind.word()
        && report.failure.signature == seen.signature()
        && cut(&report.failure.words, &seen.to_string())
        && frames.len() <= seen.frames.len()
        && frames.iter().zip(&seen.frames).all(same)
        && modules.map(|it| &it.name).all(|name| seen.frames.iter().any(|it| it.module == *name))
}

pub(super) fn kind_of(bits: Bits) -> Kind {
    match bits.kind() {
        "exact" => Kind::Exact,
        "at-most" => Kind::AtMost,
        _ => Kind::Estimate,
    }
}

pub(super) fn leak_of(bits: Bits, size: usize) -> Leak {
    Leak::new(bits.value(), size as u64, kind_of(bits), bits.to_string())
}

#[cfg(test)]
mod tests {
    use stunt_path::{FailureKind, Frame, Location, Role};

    use super::*;

    fn frame(symbol: &str, role: Role) -> Frame {
        Frame {
            module: "prog".into(),
            build_id: Some("00ff".into()),
            offset: 0x10,
            symbol: Some(symbol.into()),
            location: Some(Location { file: "a.c".into(), line: 7 }),
            role,
        }
    }

    fn failure(outer: &[&str]) -> Failure {
        let mut frames = vec![frame("inner", Role::Counts)];
        frames.extend(outer.iter().map(|symbol| frame(symbol, Role::Beyond)));
        Failure { kind: FailureKind::Signal(11), frames }
    }

    fn report(failure: &Failure) -> Report {
        Report {
            schema: Schema,
            stunt: String::new(),
            program: Program { name: "prog".into(), build_id: None, modules: Vec::new() },
            arguments: Vec::new(),
            sources: Vec::new(),
            failure: stunt_report::Failure {
                kind: failure.kind.word().to_owned(),
                signature: failure.signature(),
                words: failure.to_string(),
                frames: failure.frames.iter().map(report_frame).collect(),
            },
            replay: Replay::default(),
            tells: None,
            leak: Leak::new(0.0, 0, Kind::Exact, ""),
            per_byte: Vec::new(),
            algorithm: Algorithm::default(),
            draw: Draw::Uniform,
            verified: Verified::default(),
            notes: Vec::new(),
            comment: None,
        }
    }

    /// Both failures are the same one, and yet one of them spells the original.
    #[test]
    fn attack_outer_frames_of_the_original_are_noticed_before_a_report_is_written() {
        let (original, double) = (failure(&["list", "dict", "list"]), failure(&["list"]));
        assert_eq!(original, double);
        assert!(told_by(&report(&double), &double));
        assert!(told_by(&report(&double).tidied(), &double));
        assert!(!told_by(&report(&original), &double));
        let mut named = report(&double);
        named.failure.frames[1].symbol = Some("secret".into());
        assert!(!told_by(&named, &double));
        let mut named = report(&double);
        named.program.modules = vec![Module { name: "secret.so".into(), build_id: None }];
        assert!(!told_by(&named, &double));
    }

    #[test]
    fn what_is_cut_is_told_by_the_run() {
        let long = failure(&[&"x".repeat(500)]);
        assert!(told_by(&report(&long).tidied(), &long));
    }
}
