//! The report of a proved double: what was found, in the words of the report's schema.

use stunt_leakage::Bits;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Failure;
use stunt_report::{
    Algorithm, ByteKind, ByteRuns, Draw, Kind, Leak, Module, Pins, Program, Replay, Report, Schema,
    Seconds, Source, Verified,
};
use stunt_search::Measured;

use super::Choice;
use super::job::{Found, Job};
use super::lengths::bytes;

/// What a double reveals and has in common with the original, in percent of the original.
pub struct ForOwner {
    /// How long the original is.
    pub(super) bytes: usize,
    pub(super) leak: Leak,
    pub(super) original_path_leak: Leak,
    pub(super) residue_percent: f64,
}

/// The most frames of a failure that a report shows.
const MOST_FRAMES: usize = 32;

impl Job<'_> {
    /// The report.
    pub(super) fn assemble(&self, failure: &Failure, found: &Found) -> Report {
        let name = self.subject.name();
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
        let total = self.revealed(found);
        // The double may be shorter than the original.
        let mut sources = self.subject.sources.clone();
        for (source, bytes) in sources.iter_mut().zip(&found.drawn.double.bytes) {
            source.bytes = bytes.len() as u64;
        }
        let shown = self.arguments.search.hide_time.is_none();
        let mut pins = found.followed.pins();
        let uniform = match (self.arguments.algorithm, found.drawn.double.not_uniform) {
            _ if self.arguments.canonical => Draw::NotUniform {
                why: "it is the canonical one of its path; the figure counts that".to_owned(),
            },
            (Choice::Camouflage, _) => Draw::NotUniform {
                why: "it was chosen to differ most from the original; the figure counts that"
                    .to_owned(),
            },
            (_, Some(reason)) => Draw::NotUniform { why: reason.to_string() },
            (_, None) => Draw::Uniform,
        };
        let mut notes = found.notes.clone();
        notes.extend_from_slice(&self.subject.notes);
        if self.share.hits < self.share.runs {
            notes.push(format!(
                "The failure does not come every time: it came in {} of {} runs on the original.",
                self.share.hits, self.share.runs
            ));
        }
        if self.any_fails {
            notes.push(
                "The program fails in this way on harmless inputs as well, an empty one among them: the \
                 double proves no more than that."
                    .to_owned(),
            );
        }
        if self.checked {
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
        if found.relax == Relaxations::NONE && self.arguments.algorithm != Choice::Castro {
            notes.push(
                "This double keeps the path: the relaxed condition gave none, or one that reveals more.".to_owned(),
            );
        }
        for call in &found.followed.missing {
            notes.push(format!("The machine does not have the system call {}.", call.name));
        }
        let mut parameters = std::collections::BTreeMap::new();
        for without in &self.arguments.no_relax {
            parameters.insert(format!("no-relax {without:?}").to_lowercase(), "yes".to_owned());
        }
        if !shown {
            // What differs between originals, and says nothing that the double does not.
            pins.clear();
        }
        let flags = [
            ("canonical", self.arguments.canonical),
            ("resize", found.shorter_than.is_some()),
            ("hide-time", !shown),
        ];
        for (flag, _) in flags.iter().filter(|(_, given)| *given) {
            parameters.insert((*flag).to_owned(), "yes".to_owned());
        }
        Report {
            schema: Schema,
            stunt: env!("CARGO_PKG_VERSION").to_owned(),
            program: Program { name, build_id, modules },
            arguments: self.subject.shown_arguments(),
            per_byte: per_byte(&sources, &found.drawn.measured),
            sources,
            failure: stunt_report::Failure {
                kind: failure.kind.word().to_owned(),
                signature: failure.signature(),
                words: failure.to_string(),
                frames,
            },
            replay: Replay {
                native: !self.checked,
                check_memory: self.checked,
                fails_if: self.fails_if.as_ref().map(|it| it.text().to_owned()),
            },
            leak: leak_of(total, found.drawn.size),
            original_path_leak: leak_of(found.path_leak, found.drawn.size),
            residue_percent: match found.shorter_than {
                // Byte by byte with what the double was made from.
                Some(_) => self.base().residue(&found.drawn.double.bytes),
                None => self.subject.original.residue(&found.drawn.double.bytes),
            },
            algorithm: Algorithm { name: self.arguments.algorithm.name().to_owned(), parameters },
            draw: uniform,
            verified: if self.checked {
                Verified { native: false, runs: 1 }
            } else {
                Verified { native: true, runs: self.arguments.runs }
            },
            tests: if shown { found.followed.tests.len() as u64 } else { 0 },
            pins: Pins { total: pins.values().sum(), by_reason: pins },
            instructions: if shown { found.followed.instructions } else { 0 },
            seconds: if shown { self.seconds.clone() } else { Seconds::default() },
            notes,
        }
        .tidied()
    }

    /// The figures beside the original, for its owner: of a shorter double they are not in the report.
    pub(super) fn for_owner(&self, report: &Report, found: &Found) -> ForOwner {
        let hidden = self.subject.original.hidden().len();
        let mut figures = ForOwner {
            bytes: bytes(&self.subject.original),
            leak: report.leak.clone(),
            original_path_leak: report.original_path_leak.clone(),
            residue_percent: report.residue_percent,
        };
        if let Some(path_leak) = found.shorter_than {
            let size = 8 * hidden;
            figures.leak = leak_of(self.revealed(found), size);
            figures.original_path_leak = leak_of(path_leak, size);
            let left = self.base().hidden().len();
            figures.residue_percent *= left as f64 / hidden.max(1) as f64;
        }
        figures
    }

    /// What the double reveals. Doubles that were drawn and did not fail make the set smaller from
    /// which it comes; by how much is estimated by their number.
    pub(super) fn revealed(&self, found: &Found) -> Bits {
        if found.drawn.draws == 1 {
            return found.drawn.measured.total;
        }
        // With this probability a share that is smaller would have taken more draws.
        let confidence: f64 = 0.99;
        let draws = f64::from(found.drawn.draws);
        let least_share = 1.0 - confidence.powf(1.0 / draws);
        let total = found.drawn.measured.total;
        Bits::Estimate {
            value: total.value() + draws.log2(),
            at_most: total.upper() - least_share.log2(),
            confidence,
        }
    }
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

fn kind_of(bits: Bits) -> Kind {
    match bits.kind() {
        "exact" => Kind::Exact,
        "at-most" => Kind::AtMost,
        _ => Kind::Estimate,
    }
}

fn leak_of(bits: Bits, size: usize) -> Leak {
    Leak::new(bits.value(), size as u64, kind_of(bits), bits.to_string())
}
