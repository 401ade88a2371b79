//! Doubles that take the path of the original: `castro`, `relaxed` and `camouflage`.

use std::time::Instant;

use anyhow::Result;
use rand_chacha::ChaCha20Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Failure;
use stunt_search::{PathCondition, camouflage, castro};
use tracing::info_span;

use super::Choice;
use super::job::{Found, Halt, Job, Proved, Way};
use super::stage::Stage;
use crate::follow::Followed;
use crate::outcome::Outcome;

/// The most doubles that are tried on the program before it is followed without relaxations.
const MOST_DRAWS: u32 = 12;

impl Job<'_> {
    /// A double that takes the path of the original, as far as relaxations ask for it.
    pub(super) fn on_path(
        &mut self,
        failure: &Failure,
        rng: &mut ChaCha20Rng,
    ) -> Result<Result<Found, Halt>> {
        let chosen = self.arguments.relaxations();
        let mut ways = vec![chosen];
        if chosen != Relaxations::NONE {
            ways.push(Relaxations::NONE);
        }
        for relax in ways {
            let mut followed = match self.follow(failure, relax)? {
                Ok(followed) => followed,
                // Runs alone are slow to tell, but they tell.
                Err(halt) if self.arguments.algorithm == Choice::Weaken && !self.checked => {
                    return self.blackbox(failure, &halt.why, rng);
                }
                Err(halt) => return Ok(Err(halt)),
            };
            let Some(drawn) = self.draw(failure, &mut followed, rng)? else { continue };
            let path_leak = drawn.measured.total;
            let found = Found { path_leak: Some(path_leak), ..Found::new(drawn, followed, relax) };
            return Ok(Ok(if relax == Relaxations::NONE || self.conditions.way != Way::Asked {
                found
            } else {
                self.hold_on_path(&found);
                self.or_plain(failure, found, rng)?
            }));
        }
        let why = format!(
            "no double could be proved: {MOST_DRAWS} solutions of the path condition do not fail natively \
             as the original does. Nothing is handed out."
        );
        Ok(Err(Halt { outcome: Outcome::Unproved, why }))
    }

    /// Compares with the path condition as it is. A relaxed one says less, but what it says can be
    /// harder to solve or to count; then the double comes from the other one, if any will do.
    fn or_plain(
        &mut self,
        failure: &Failure,
        found: Found,
        rng: &mut ChaCha20Rng,
    ) -> Result<Found> {
        let Ok(mut followed) = self.follow(failure, Relaxations::NONE)? else { return Ok(found) };
        self.progress.stage(Stage::Count);
        let span = info_span!("count").entered();
        let begun = Instant::now();
        let mut condition = PathCondition::new(&mut followed.pool, &followed.tests, &self.base());
        let path_leak = condition.total();
        self.seconds.count += begun.elapsed().as_secs_f64();
        drop(span);
        let worse = found.drawn.measured.total.upper() > path_leak.upper();
        if worse
            && self.arguments.algorithm != Choice::Camouflage
            && let Some(drawn) = self.draw(failure, &mut followed, rng)?
            && drawn.measured.total.upper() < found.drawn.measured.total.upper()
        {
            let path_leak = Some(path_leak);
            return Ok(Found { path_leak, ..Found::new(drawn, followed, Relaxations::NONE) });
        }
        Ok(Found { path_leak: Some(path_leak), ..found })
    }

    /// Draws doubles until one is proved.
    fn draw(
        &mut self,
        failure: &Failure,
        followed: &mut Followed,
        rng: &mut ChaCha20Rng,
    ) -> Result<Option<Proved>> {
        let original = &self.base();
        let begun = Instant::now();
        let mut condition = PathCondition::new(&mut followed.pool, &followed.tests, original);
        self.seconds.solve += begun.elapsed().as_secs_f64();
        let size = condition.size();
        let mut measured = None;
        for draws in 1..=MOST_DRAWS {
            self.progress.stage(Stage::Draw);
            let begun = Instant::now();
            let span = info_span!("solve", draws).entered();
            let double = match self.arguments.algorithm {
                Choice::Camouflage => {
                    let (double, figures) = camouflage(&mut condition, original, rng)?;
                    measured = Some(figures);
                    double
                }
                _ => castro(&mut condition, original, rng)?,
            };
            drop(span);
            self.seconds.solve += begun.elapsed().as_secs_f64();
            if let Some(failure) = self.proved(failure, &double)? {
                let begun = Instant::now();
                self.progress.stage(Stage::Count);
                let _span = info_span!("count").entered();
                let measured = measured.unwrap_or_else(|| condition.measure());
                self.seconds.count += begun.elapsed().as_secs_f64();
                return Ok(Some(Proved { double, failure, measured, size, draws }));
            }
        }
        Ok(None)
    }
}
