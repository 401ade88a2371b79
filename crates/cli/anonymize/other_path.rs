//! Doubles that take another path to the same failure: `mpp`, `reap-brw`, `reap-bag`, `reap-rm` and
//! `respa`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use rand_chacha::ChaCha20Rng;
use serde_json::{Value, json};
use stunt_leakage::Bits;
use stunt_machine::{Following, Judge, Machine, Options};
use stunt_path::{Failure, Run, Test};
use stunt_search::paths::{
    self, Found as Paths, Limits, Manner, Progress, ReapOptions, ReapRmOptions, RespaOptions, Task,
};
use stunt_search::{PathCondition, castro};
use stunt_terms::{Pool, Term};
use stunt_unwind::stack::Symbols;
use tracing::{info, info_span};

use super::Choice;
use super::base::wait;
use super::job::{Found, Halt, Job, Proved};
use super::stage::Stage;
use super::starts::Start;
use super::weakening::SLOW;
use crate::follow::{Followed, texts_without_zeros};
use crate::interrupt;

/// What a search took and found, by name.
type Facts = BTreeMap<&'static str, Value>;

/// Why the double is on a path that the search did not find.
const NO_BETTER: &str =
    "The search found no path that reveals less than that of the input it started from.";
const UNPROVED: &str = "Doubles of the path that the search found do not fail natively; so the double takes the path of the \
     input that the search started from.";

/// From so many tests on, every search starts from a blanked input: walking a path costs a second, and
/// what detours around it save is lost in what the rest of it tells.
const LONG: usize = 10_000;
/// The most doubles of a path that are run until one fails natively.
const MOST_DRAWS: u32 = 4;

impl Job<'_> {
    /// A double on another path, or on the original's, if none is better.
    pub(super) fn other_path(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        let (path_leak, tests) = match self.path_leak(failure)? {
            Some(known) => known,
            // Says what is in the way.
            None => return self.on_path(failure, rng),
        };
        let search = &self.arguments.search;
        let blanked = !search.as_is && (self.arguments.algorithm == Choice::Respa || tests >= LONG);
        let start_bits = if blanked { self.start_blank(failure)? } else { None };
        let blank = start_bits.is_some();
        self.progress.stage(Stage::Paths);
        let begun = Instant::now();
        let span = info_span!("search").entered();
        let mut pool = Pool::new();
        let start = self.start(&mut pool)?;
        let texts = texts_without_zeros(&mut pool, self.subject);
        let searched = self.search(start, failure, &texts, &mut pool, rng);
        self.seconds.search += begun.elapsed().as_secs_f64();
        drop(span);
        // The figure of the original's path is known, whichever path this one is.
        let on_path = |job: &mut Self, facts: Facts, note: &str, rng: &mut ChaCha20Rng| {
            let found = job.on_path(failure, rng)?;
            let notes = vec![note.to_owned()];
            Ok(found.map(|found| Found { path_leak: Some(path_leak), facts, notes, ..found }))
        };
        let found = match searched {
            Ok(found) => found,
            Err(astray) => {
                info!("{astray}");
                let note = match astray {
                    paths::Astray::Cancelled => "The search was ended before it began.",
                    paths::Astray::Lost(_) | paths::Astray::OtherEnd => {
                        "The program could not be followed from test to test; no other path was looked \
                         for."
                    }
                };
                return on_path(self, Facts::new(), note, rng);
            }
        };
        let facts = facts(&found, blank);
        // That the original may have taken either path is said of the path that the search began with;
        // mpp draws from all of them, wherever it began.
        let together = !blank || self.arguments.algorithm == Choice::Mpp;
        let leak = if together { found.leak } else { found.chosen().leak() };
        // A path that is walked step by step has no clauses joined, and can be harder to count.
        if start_bits.is_some_and(|bits| bits < leak.upper()) {
            return on_path(self, facts, NO_BETTER, rng);
        }
        let drawn = self.draw_from(failure, &mut pool, &found, &texts, leak, rng)?;
        let Some(drawn) = drawn else {
            return on_path(self, facts, UNPROVED, rng);
        };
        let followed = Followed::of_path(pool, found.chosen().tests(), failure);
        let relax = self.arguments.relaxations();
        let notes = notes(self.arguments.algorithm, &found, blank);
        let path_leak = Some(path_leak);
        Ok(Ok(Found { path_leak, facts, notes, ..Found::new(drawn, followed, relax) }))
    }

    /// Goes over to a blanked input: its path says less than the original's to begin with, and the search
    /// has less to replace. Gives what that path reveals, if it did.
    fn start_blank(&mut self, failure: &Failure) -> Result<Option<f64>> {
        if self.base.is_some() {
            return Ok(None);
        }
        let (begun, before) = (Instant::now(), self.seconds.parts());
        let Some(mut oracle) = self.runner(failure)? else { return Ok(None) };
        let relax = self.arguments.relaxations();
        let Ok(own) = self.follow(failure, relax)? else { return Ok(None) };
        let own = Start::new(own, &self.subject.original);
        let path_bits = own.bits();
        let mut known = vec![own];
        if self.pace(&mut *oracle)? <= SLOW {
            // Nothing else takes runs.
            known.extend(self.padded(failure, &mut *oracle)?);
        }
        if begun.elapsed() < self.time() {
            let blanked = self.blanked(&mut *oracle)?;
            known.extend(self.start_of(failure, &blanked)?);
        }
        known.sort_by(|a, b| a.bits().total_cmp(&b.bits()));
        self.seconds.searched(begun.elapsed().as_secs_f64(), before);
        let best = known.into_iter().next().filter(|start| start.bits() < path_bits);
        let bits = best.as_ref().map(Start::bits);
        info!(bits, runs = oracle.runs(), "blanked");
        self.base = best.map(|start| start.input);
        self.allowed.time = self.allowed.time.saturating_sub(begun.elapsed());
        Ok(bits)
    }

    /// The program in the machine, before its first test.
    fn start(&self, pool: &mut Pool) -> Result<Following> {
        let (setup, inputs) = match &self.base {
            Some(base) => self.subject.in_machine_on(base)?,
            None => self.subject.in_machine()?,
        };
        let machine = Machine::new(setup)
            .map_err(|errno| anyhow!("the program cannot be started: {}", errno.text()))?;
        let symbols = Symbols::new(Box::new(|path| std::fs::read(path).ok().map(Arc::from)));
        let options =
            Options { check_memory: self.checked, judge: self.judge(), ..Options::default() };
        let original = self.base().assignment();
        Following::start(machine, &inputs, &original, Arc::new(symbols), options, pool)
            .map_err(|errno| anyhow!("the input cannot be followed: {}", errno.text()))
    }

    /// What counts as the failure, if the user said so.
    fn judge(&self) -> Option<Box<Judge>> {
        let condition = self.fails_if.clone()?;
        Some(Box::new(move |run: Run| {
            condition.holds(&run).then(|| Failure::stated(condition.text()))
        }))
    }

    fn search(
        &self,
        start: Following,
        failure: &Failure,
        texts: &[Test],
        pool: &mut Pool,
        rng: &mut ChaCha20Rng,
    ) -> Result<Paths, paths::Astray> {
        let arguments = &self.arguments.search;
        let (line, original) = (&self.progress, self.base());
        let given: Vec<Term> = texts.iter().map(|test| test.condition).collect();
        interrupt::search(|cancel| {
            info!("from here on, an interrupt ends the search with what it has");
            let task = Task {
                pool,
                original: &original,
                target: failure,
                given: &given,
                limits: Limits {
                    nodes: arguments.nodes,
                    time: self.time(),
                    clock: &Instant::now,
                    cancel,
                },
                rng,
                progress: &mut |at: Progress| line.falling(at.best_bits, at.nodes, "tests"),
                pause: &mut |time| wait(time, cancel),
            };
            let detour = |manner| ReapOptions {
                longest: arguments.max_detour,
                attempts: arguments.attempts,
                detours: arguments.detours,
                ..ReapOptions::new(manner)
            };
            match self.arguments.algorithm {
                Choice::Mpp => paths::mpp(start, task),
                Choice::ReapBrw => paths::reap(start, task, &detour(Manner::RandomWalk)),
                Choice::ReapRm => {
                    let options = ReapRmOptions {
                        longest: arguments.max_detour,
                        attempts: arguments.attempts,
                        detours: arguments.detours,
                    };
                    paths::reap_rm(start, task, &options)
                }
                Choice::Respa => {
                    let hide_time = arguments.hide_time.map(Duration::from_secs);
                    let radius = arguments.radius.0;
                    let options = RespaOptions { radius, hide_time, ..RespaOptions::default() };
                    paths::respa(start, task, &options)
                }
                _ => paths::reap(start, task, &detour(Manner::AdaptiveGreedy)),
            }
        })
    }

    /// A double of the chosen path.
    fn draw_from(
        &mut self,
        failure: &Failure,
        pool: &mut Pool,
        found: &Paths,
        texts: &[Test],
        leak: Bits,
        rng: &mut ChaCha20Rng,
    ) -> Result<Option<Proved>> {
        self.progress.stage(Stage::Draw);
        let begun = Instant::now();
        let mut tests = texts.to_vec();
        tests.extend(found.chosen().tests());
        // Where bytes have to be fixed, it is to those of an input that takes this path.
        let original = &self.base();
        let witness = original.with_bytes(original.replaced_by(found.chosen().witness()));
        let mut condition = PathCondition::new(pool, &tests, &witness);
        let size = condition.size();
        self.seconds.solve += begun.elapsed().as_secs_f64();
        for draws in 1..=MOST_DRAWS {
            let begun = Instant::now();
            let Ok(double) = castro(&mut condition, &witness, rng) else { return Ok(None) };
            self.seconds.solve += begun.elapsed().as_secs_f64();
            let Some(failure) = self.proved(failure, &double)? else { continue };
            let begun = Instant::now();
            let mut measured = condition.measure();
            self.seconds.count += begun.elapsed().as_secs_f64();
            // What is said of paths as a whole holds for doubles of the whole path.
            if condition.fixed().is_empty() {
                measured.total = leak;
            }
            return Ok(Some(Proved { double, failure, measured, size, draws }));
        }
        Ok(None)
    }
}

fn facts(found: &Paths, blank: bool) -> Facts {
    let statistics = &found.statistics;
    [
        ("nodes", json!(statistics.nodes)),
        ("paths", json!(statistics.paths)),
        ("attempts", json!(statistics.attempts)),
        ("spa", json!(statistics.spa)),
        ("hybrid", json!(statistics.hybrid)),
        ("suspected", json!(statistics.suspected)),
        ("lost", json!(statistics.lost)),
        ("complete", json!(found.complete)),
        // Of the map from originals to paths nothing is known if the search began elsewhere.
        ("fixed_point", json!(found.fixed_point.filter(|_| !blank))),
        ("by_path", json!(found.by_path && !blank)),
        ("chosen_path_leak", bits(found.chosen().leak())),
    ]
    .into()
}

fn bits(bits: Bits) -> Value {
    json!({ "bits": bits.value(), "kind": bits.kind() })
}

fn notes(algorithm: Choice, found: &Paths, blank: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if algorithm == Choice::Mpp {
        let all = match (found.complete, found.paths.len()) {
            (true, 1) => "One path leads to the failure: no double can reveal less.".to_owned(),
            (true, number) => {
                format!("All {number} paths to the failure were found: no double can reveal less.")
            }
            (false, _) => {
                "Not all paths to the failure were found; others would lower the figure.".to_owned()
            }
        };
        notes.push(all);
    }
    if found.chosen > 0 && !blank && !found.by_path && algorithm != Choice::Mpp {
        notes.push(
            "On its way, the search had to decide by more than the path of the original; so the figure is \
             that of the double's path alone."
                .to_owned(),
        );
    }
    if found.chosen == 0 && !blank {
        notes.push("The double takes the path of the original.".to_owned());
    }
    if !found.complete {
        notes.push(
            "The search was ended before its own end; with more --time it may find a better double."
                .to_owned(),
        );
    }
    if found.fixed_point == Some(false) && !blank {
        notes.push(
            "The path of the double would lead the search to yet another one; so the figure is that of \
             the path alone."
                .to_owned(),
        );
    }
    notes
}
