//! Doubles that take another path to the same failure: `mpp`, `reap-brw`, `reap-bag`, `reap-rm` and
//! `respa`.

use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use stunt_leakage::{Bits, Claim};
use stunt_path::Test;
use stunt_search::paths::{
    self, Found as Paths, Limits, Manner, Progress, ReapOptions, ReapRmOptions, RespaOptions, Task,
};
use stunt_search::{PathCondition, castro};
use stunt_terms::{Pool, Term};
use tracing::{info, info_span};

use super::canonical::wait;
use super::starts::Start;
use super::weakened::SLOW;
use super::{Found, Origin, Proved, Search, Searched, drawn_again};
use crate::options::Method;
use crate::refusal::{Error, unless_refused};
use crate::stage::Stage;
use crate::target::Target;

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

impl<T: Target> Search<'_, T> {
    /// A double on another path, or on the original's, if none is better.
    pub(super) fn other_path(&mut self, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        let (path_leak, tests) = match self.path_leak()? {
            Some(known) => known,
            // Says what is in the way.
            None => return self.on_path(rng),
        };
        let search = &self.options.paths;
        let blanked = !search.as_is && (self.options.method == Method::Respa || tests >= LONG);
        let start_bits = if blanked { self.start_blank()? } else { None };
        let blank = start_bits.is_some();
        self.stage(Stage::Paths);
        let begun = Instant::now();
        let span = info_span!("search").entered();
        let mut pool = Pool::new();
        let start = self.target.walk(self.base.as_ref(), &mut pool)?;
        let texts = self.target.given(&mut pool);
        let walked = self.walk(start, &texts, &mut pool, rng);
        self.seconds.search += begun.elapsed().as_secs_f64();
        drop(span);
        // The figure of the original's path is known, whichever path this one is.
        let on_path = |search: &mut Self, searched, note: &str, rng: &mut ChaCha20Rng| {
            let found = search.on_path(rng)?;
            let notes = vec![note.to_owned()];
            Ok(Found { path_leak: Some(path_leak), searched, notes, ..found })
        };
        let found = match walked {
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
                return on_path(self, Searched::Nothing, note, rng);
            }
        };
        let searched = |found| Searched::Paths { found: Box::new(found), is_from_original: !blank };
        // That the original may have taken either path is said of the path that the search began with;
        // mpp draws from all of them, wherever it began.
        let together = !blank || self.options.method == Method::Mpp;
        let leak = if together { found.leak } else { found.chosen().leak() };
        // A path that is walked step by step has no clauses joined, and can be harder to count.
        if start_bits.is_some_and(|bits| bits < leak.upper()) {
            return on_path(self, searched(found), NO_BETTER, rng);
        }
        let drawn = self.draw_from(&mut pool, &found, &texts, leak, rng)?;
        let Some(drawn) = drawn else {
            return on_path(self, searched(found), UNPROVED, rng);
        };
        let origin = Origin::Path(found.chosen().tests());
        let relax = self.options.relaxations();
        let notes = notes(self.options.method, &found, blank);
        let (path_leak, searched) = (Some(path_leak), searched(found));
        Ok(Found { path_leak, searched, notes, ..Found::new(drawn, origin, relax) })
    }

    /// Goes over to a blanked input: its path says less than the original's to begin with, and the search
    /// has less to replace. Gives what that path reveals, if it did.
    fn start_blank(&mut self) -> Result<Option<f64>, Error> {
        if self.base.is_some() {
            return Ok(None);
        }
        let (begun, before) = (Instant::now(), self.seconds.parts());
        let Some(mut oracle) = self.runner()? else { return Ok(None) };
        let relax = self.options.relaxations();
        let own = unless_refused(self.follow(relax))?;
        let Some(own) = own else { return Ok(None) };
        let own = Start::new(own, self.target.original());
        let path_bits = own.bits();
        let mut known = vec![own];
        if self.pace(&mut *oracle)? <= SLOW {
            // Nothing else takes runs.
            known.extend(self.padded(&mut *oracle)?);
        }
        if begun.elapsed() < self.time() {
            let blanked = self.blanked(&mut *oracle)?;
            known.extend(self.start_of(&blanked)?);
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

    fn walk(
        &self,
        start: T::Walk,
        texts: &[Test],
        pool: &mut Pool,
        rng: &mut ChaCha20Rng,
    ) -> Result<Paths, paths::Astray> {
        let arguments = &self.options.paths;
        let original = self.base();
        let given: Vec<Term> = texts.iter().map(|test| test.condition).collect();
        self.searching(|cancel| {
            info!("from here on, an interrupt ends the search with what it has");
            let task = Task {
                pool,
                original: &original,
                target: self.target.failure(),
                given: &given,
                limits: Limits {
                    nodes: arguments.nodes,
                    time: self.time(),
                    clock: &Instant::now,
                    cancel,
                },
                rng,
                progress: &mut |at: Progress| {
                    self.observer.better(at.best_bits, at.nodes, "tests");
                },
                pause: &mut |time| wait(time, cancel),
            };
            let detour = |manner| ReapOptions {
                longest: arguments.max_detour,
                attempts: arguments.attempts,
                detours: arguments.detours,
                ..ReapOptions::new(manner)
            };
            match self.options.method {
                Method::Mpp => paths::mpp(start, task),
                Method::ReapBrw => paths::reap(start, task, &detour(Manner::RandomWalk)),
                Method::ReapRm => {
                    let options = ReapRmOptions {
                        longest: arguments.max_detour,
                        attempts: arguments.attempts,
                        detours: arguments.detours,
                    };
                    paths::reap_rm(start, task, &options)
                }
                Method::Respa => {
                    let (radius, hide_time) = (arguments.radius, arguments.hide_time);
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
        pool: &mut Pool,
        found: &Paths,
        texts: &[Test],
        leak: Bits,
        rng: &mut ChaCha20Rng,
    ) -> Result<Option<Proved>, Error> {
        self.stage(Stage::Draw);
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
            let Some(failure) = self.proved(&double)? else { continue };
            let begun = Instant::now();
            let mut measured = condition.measure();
            self.seconds.count += begun.elapsed().as_secs_f64();
            // What is said of paths as a whole holds for doubles of the whole path.
            if condition.fixed().is_empty() {
                measured.total = leak;
            }
            let claim = drawn_again(Claim::of_set(measured.total), draws);
            let set = None;
            return Ok(Some(Proved { double, failure, measured, claim, set, size, draws }));
        }
        Ok(None)
    }
}

fn notes(method: Method, found: &Paths, blank: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if method == Method::Mpp {
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
    if found.chosen > 0 && !blank && !found.by_path && method != Method::Mpp {
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
