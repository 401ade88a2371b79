//! Minimising: the steps that a failure needs, found by trials alone.
//!
//! Complements only, halving, with the last step fixed, after A. Zeller and R. Hildebrandt, "Simplifying and
//! isolating failure-inducing input" (2002): of their `ddmin` the half that looks at complements. What a subset
//! could find, the complement of the next round finds as well, and on random instances it needs fewer trials than
//! anything else that leaves nothing over (`docs/gui.md` has the table). Steps whose widget is gone are skipped and
//! cost no trial of their own: a trial tells which steps it did.
//!
//! What always holds: what is in hand fails, as far as the tester says; no step of the result can be left out alone
//! (the last round says so, if there was time for it); how many candidates are tried at once does not depend on the
//! host. What a step is, and how one is done, is not known here.

use rustc_hash::FxHashSet;
use stunt_reduce::Broken;

/// How many candidates are tried at once, at most.
pub(crate) const AT_ONCE: usize = 4;

/// Tries steps.
pub trait Tester {
    /// For each candidate, steps in their order, those of them that were done until it failed in the same way;
    /// nothing if it does not. A step that cannot be done is skipped.
    ///
    /// # Errors
    /// Nothing can be tried any more.
    fn try_all(&mut self, candidates: &[Vec<usize>]) -> Result<Vec<Option<Vec<usize>>>, Broken>;
}

impl<F: FnMut(&[usize]) -> Option<Vec<usize>>> Tester for F {
    fn try_all(&mut self, candidates: &[Vec<usize>]) -> Result<Vec<Option<Vec<usize>>>, Broken> {
        Ok(candidates.iter().map(|candidate| self(candidate)).collect())
    }
}

/// What a search may take.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The most trials.
    pub trials: u64,
    /// Whether it is to end with what it has.
    pub over: &'a dyn Fn() -> bool,
}

/// Whether a result was looked at to the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checked {
    /// No step can be left out alone: each was tried.
    OneMinimal,
    /// There was no time left to see.
    Unfinished,
}

/// What minimising came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Minimised {
    /// The steps that are left.
    pub steps: Vec<usize>,
    /// How many trials it took.
    pub trials: u64,
    /// Whether it is done.
    pub checked: Checked,
}

/// Whoever tries, and what is known of it.
pub(crate) struct Trials<'a> {
    tester: &'a mut dyn Tester,
    budget: Budget<'a>,
    pub(crate) made: u64,
    /// Candidates that did not fail.
    vain: FxHashSet<Vec<usize>>,
}

impl<'a> Trials<'a> {
    pub(crate) fn new(tester: &'a mut dyn Tester, budget: Budget<'a>) -> Self {
        Self { tester, budget, made: 0, vain: FxHashSet::default() }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.made >= self.budget.trials || (self.budget.over)()
    }

    /// The first of these that fails, and what it did.
    pub(crate) fn first(
        &mut self,
        mut candidates: Vec<Vec<usize>>,
    ) -> Result<Option<Vec<usize>>, Broken> {
        candidates.retain(|it| !self.vain.contains(it));
        candidates.truncate((self.budget.trials - self.made) as usize);
        if candidates.is_empty() {
            return Ok(None);
        }
        self.made += candidates.len() as u64;
        let results = self.tester.try_all(&candidates)?;
        let mut found = None;
        for (candidate, done) in candidates.into_iter().zip(results) {
            match done {
                Some(done) if found.is_none() => found = Some(done),
                Some(_) => {}
                None => drop(self.vain.insert(candidate)),
            }
        }
        Ok(found)
    }
}

/// The steps that are needed of so many; nothing if all of them do not fail.
///
/// # Errors
/// Nothing can be tried any more.
pub fn minimise(
    count: usize,
    tester: &mut dyn Tester,
    budget: Budget<'_>,
) -> Result<Option<Minimised>, Broken> {
    let mut trials = Trials::new(tester, budget);
    let Some(mut kept) = trials.first(vec![(0..count).collect()])? else { return Ok(None) };
    let mut size = kept.len().saturating_sub(1);
    let mut checked = Checked::OneMinimal;
    while size > 0 {
        let smaller = round(&mut trials, &mut kept, size)?;
        if trials.is_over() {
            checked = Checked::Unfinished;
            break;
        }
        let most = kept.len().saturating_sub(1);
        size = match size {
            1 if smaller => most.min(1),
            1 => 0,
            _ => (size.min(most + 1) / 2).max(most.min(1)),
        };
    }
    Ok(Some(Minimised { steps: kept, trials: trials.made, checked }))
}

/// Leaves out groups of this size, one after the other. Whether one was not needed.
fn round(trials: &mut Trials<'_>, kept: &mut Vec<usize>, size: usize) -> Result<bool, Broken> {
    let (mut at, mut at_once, mut smaller) = (0, 1, false);
    // The last step stays: the run ends when it fails, so that whatever is last is needed.
    while at + 1 < kept.len() && !trials.is_over() {
        let starts: Vec<usize> = (at..kept.len() - 1).step_by(size).take(at_once).collect();
        let without = |&start: &usize| {
            let end = (start + size).min(kept.len() - 1);
            kept[..start].iter().chain(&kept[end..]).copied().collect::<Vec<usize>>()
        };
        let candidates: Vec<Vec<usize>> = starts.iter().map(without).collect();
        match trials.first(candidates)? {
            Some(done) => {
                // What is before the group stays as it is, unless it was skipped; of those that were tried
                // beside it, the later ones are tried anew.
                let same = done.iter().zip(kept.iter()).take_while(|(a, b)| a == b).count();
                at = same.min(done.len().saturating_sub(1));
                *kept = done;
                (smaller, at_once) = (true, 1);
            }
            None => {
                at += size * starts.len();
                at_once = (at_once * 2).min(AT_ONCE);
            }
        }
    }
    Ok(smaller)
}

#[cfg(test)]
pub(crate) mod models {
    //! Applications in memory: steps of which some need others, and a failure that needs some of them.

    use rand::Rng;
    use rand_chacha::ChaCha20Rng;

    pub struct Model {
        pub count: usize,
        /// The step by which the widget of a step comes into being.
        pub parent: Vec<Option<usize>>,
        /// All of these have to be done, in their order; the last one fails.
        pub needed: Vec<usize>,
        /// After this step, nothing fails until it is undone by the next one.
        pub spoils: Option<usize>,
    }

    impl Model {
        pub fn random(rng: &mut ChaCha20Rng, count: usize) -> Self {
            let parent = (0..count)
                .map(|step| (step > 0 && rng.gen_bool(0.4)).then(|| rng.gen_range(0..step)))
                .collect();
            let mut needed: Vec<usize> =
                (0..count - 1).filter(|_| rng.gen_bool(2.0 / count as f64)).collect();
            needed.push(count - 1);
            let spoils = (rng.gen_bool(0.3) && count > 3).then(|| rng.gen_range(0..count - 2));
            let spoils = spoils.filter(|it| !needed.contains(it) && !needed.contains(&(it + 1)));
            let mut model = Self { count, parent, needed, spoils };
            // What spoils can be undone.
            if let Some(step) = model.spoils {
                model.parent[step + 1] = None;
            }
            model
        }

        /// As a [`super::Tester`] does.
        pub fn run(&self, steps: &[usize]) -> Option<Vec<usize>> {
            let (mut done, mut spoilt, mut reached) = (Vec::new(), false, 0);
            for &step in steps {
                if self.parent[step].is_some_and(|parent| !done.contains(&parent)) {
                    continue;
                }
                done.push(step);
                if let Some(spoils) = self.spoils {
                    spoilt = (spoilt || step == spoils) && step != spoils + 1;
                }
                if self.needed.get(reached) == Some(&step) && !spoilt {
                    reached += 1;
                }
                if reached == self.needed.len() {
                    return Some(done);
                }
            }
            None
        }

        /// All subsets, as lists.
        pub fn subsets(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
            (0..1_u32 << self.count)
                .map(|set| (0..self.count).filter(|step| set >> step & 1 == 1).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::models::Model;
    use super::*;

    const ENOUGH: Budget<'_> = Budget { trials: 1 << 20, over: &|| false };

    #[test]
    fn what_is_left_fails_and_no_step_of_it_can_go() {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let mut failing = 0;
        for _ in 0..600 {
            let model = Model::random(&mut rng, 10);
            let mut tester = |steps: &[usize]| model.run(steps);
            let all: Vec<usize> = (0..10).collect();
            let found = minimise(10, &mut tester, ENOUGH).expect("it cannot break");
            let Some(found) = found else {
                assert_eq!(model.run(&all), None);
                continue;
            };
            failing += 1;
            let steps = &found.steps;
            assert_eq!(model.run(steps).as_ref(), Some(steps));
            for left_out in 0..steps.len() {
                let mut fewer = steps.clone();
                fewer.remove(left_out);
                assert_eq!(model.run(&fewer), None, "{steps:?} without number {left_out}");
            }
            // Brute force finds none within it.
            let within = model.subsets().filter(|set| set.len() < steps.len());
            let mut within = within.filter(|set| set.iter().all(|step| steps.contains(step)));
            assert!(!within.any(|set| model.run(&set).is_some()) || model.spoils.is_some());
            assert_eq!(found.checked, Checked::OneMinimal);
        }
        assert!(failing > 400, "{failing}");
    }

    #[test]
    fn trials_are_few_and_counted() {
        for (needed, most) in [(vec![99], 2), (vec![40, 70, 99], 40), (vec![3, 20, 50, 80, 99], 75)]
        {
            let parent = vec![None; 100];
            let model = Model { count: 100, parent, needed: needed.clone(), spoils: None };
            let mut made = 0;
            let mut tester = |steps: &[usize]| {
                made += 1;
                model.run(steps)
            };
            let found = minimise(100, &mut tester, ENOUGH).expect("it cannot break");
            let found = found.expect("all steps fail");
            assert_eq!((found.steps, found.trials), (needed, made));
            assert!(made <= most, "{made} trials");
        }
    }

    #[test]
    fn a_failure_of_the_page_itself_needs_no_step() {
        let mut tester = |_: &[usize]| Some(Vec::new());
        let found = minimise(5, &mut tester, ENOUGH).expect("it cannot break");
        assert_eq!(found.expect("it fails").steps, Vec::<usize>::new());
    }

    #[test]
    fn who_has_no_time_gets_what_there_is() {
        let model =
            Model { count: 30, parent: vec![None; 30], needed: vec![3, 9, 29], spoils: None };
        let mut tester = |steps: &[usize]| model.run(steps);
        let budget = Budget { trials: 9, over: &|| false };
        let found = minimise(30, &mut tester, budget).expect("it cannot break").expect("it fails");
        assert_eq!((found.trials, found.checked), (9, Checked::Unfinished));
        assert!(model.run(&found.steps).is_some());
    }
}
