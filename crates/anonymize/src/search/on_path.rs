//! Doubles that take the path of the original: `castro`, `relaxed` and `camouflage`.

use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use stunt_leakage::Claim;
use stunt_machine::symbolic::Relaxations;
use stunt_search::{PathCondition, camouflage, castro};
use stunt_subject::Followed;
use tracing::info_span;

use super::{Found, Origin, Proved, Search, drawn_again};
use crate::job::Way;
use crate::options::Method;
use crate::refusal::{Error, Refusal, unless_refused};
use crate::stage::Stage;
use crate::target::Target;

/// The most doubles that are tried on the program before it is followed without relaxations.
const MOST_DRAWS: u32 = 12;

impl<T: Target> Search<'_, T> {
    /// A double that takes the path of the original, as far as relaxations ask for it.
    pub(super) fn on_path(&mut self, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        let chosen = self.options.relaxations();
        let mut ways = vec![chosen];
        if chosen != Relaxations::NONE {
            ways.push(Relaxations::NONE);
        }
        for relax in ways {
            let mut followed = match self.follow(relax) {
                // Runs alone are slow to tell, but they tell.
                Err(Error::Refused(why))
                    if self.options.method == Method::Weaken
                        && !self.target.is_only_in_machine() =>
                {
                    return self.blackbox(&why.to_string(), rng);
                }
                followed => followed?,
            };
            let Some(drawn) = self.draw(&mut followed, rng)? else { continue };
            let path_leak = drawn.measured.total;
            let found = Found::new(drawn, Origin::Run(Box::new(followed)), relax);
            let mut found = Found { path_leak: Some(path_leak), ..found };
            if relax == Relaxations::NONE || self.conditions.way != Way::Asked {
                return Ok(found);
            }
            self.hold_on_path(&mut found);
            return self.or_plain(found, rng);
        }
        Err(Refusal::Unproved { drawn: MOST_DRAWS, only_watched: self.target.only_watched() }
            .into())
    }

    /// Compares with the path condition as it is. A relaxed one says less, but what it says can be
    /// harder to solve or to count; then the double comes from the other one, if any will do.
    fn or_plain(&mut self, found: Found, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        let plain = unless_refused(self.follow(Relaxations::NONE))?;
        let Some(mut followed) = plain else { return Ok(found) };
        self.stage(Stage::Count);
        let span = info_span!("count").entered();
        let begun = Instant::now();
        let mut condition = PathCondition::new(&mut followed.pool, &followed.tests, &self.base());
        let path_leak = condition.total();
        self.seconds.count += begun.elapsed().as_secs_f64();
        drop(span);
        let worse = found.drawn.measured.total.upper() > path_leak.upper();
        if worse
            && self.options.method != Method::Camouflage
            && let Some(drawn) = self.draw(&mut followed, rng)?
            && drawn.measured.total.upper() < found.drawn.measured.total.upper()
        {
            let path_leak = Some(path_leak);
            let origin = Origin::Run(Box::new(followed));
            return Ok(Found { path_leak, ..Found::new(drawn, origin, Relaxations::NONE) });
        }
        Ok(Found { path_leak: Some(path_leak), ..found })
    }

    /// Draws doubles until one is proved.
    fn draw(
        &mut self,
        followed: &mut Followed,
        rng: &mut ChaCha20Rng,
    ) -> Result<Option<Proved>, Error> {
        let original = &self.base();
        let begun = Instant::now();
        let mut condition = PathCondition::new(&mut followed.pool, &followed.tests, original);
        self.seconds.solve += begun.elapsed().as_secs_f64();
        let size = condition.size();
        let mut measured = None;
        for draws in 1..=MOST_DRAWS {
            self.stage(Stage::Draw);
            let begun = Instant::now();
            let span = info_span!("solve", draws).entered();
            let double = match self.options.method {
                Method::Camouflage => {
                    let (double, figures) = camouflage(&mut condition, original, rng)?;
                    measured = Some(figures);
                    double
                }
                _ => castro(&mut condition, original, rng)?,
            };
            drop(span);
            self.seconds.solve += begun.elapsed().as_secs_f64();
            if let Some(failure) = self.proved(&double)? {
                let begun = Instant::now();
                self.stage(Stage::Count);
                let _span = info_span!("count").entered();
                let measured = measured.unwrap_or_else(|| condition.measure());
                self.seconds.count += begun.elapsed().as_secs_f64();
                let claim = drawn_again(Claim::of_set(measured.total), draws);
                // What was chosen to differ is not drawn from the set.
                let is_drawn =
                    self.options.method != Method::Camouflage && double.not_uniform.is_none();
                let set = is_drawn.then(|| condition.drawn_from(&self.base()));
                return Ok(Some(Proved { double, failure, measured, claim, set, size, draws }));
            }
        }
        Ok(None)
    }
}
