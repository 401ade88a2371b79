//! GAUDI: the shortest suffix that fails, and of that the smallest ordered subset.
//!
//! After J. Matos, N. Coracao and J. Garcia, "GAUDI: Graphical Anonymizer for User Domain Input", in FastFix's
//! deliverable D5.4 (2012), sections 4.2.3 and III.D. Delimitation tries the suffixes, the shortest first. Reduction
//! keeps the first and the last step of what was found, and tries all subsets of those between them in their order,
//! the smallest first. Subsets in which a step comes without one that the graph says it needs are not tried
//! (Invalid Test Removal).
//!
//! Guarantees: the result is the smallest subset of the shortest suffix that has its first and last step and fails,
//! if the budget suffices. It need not be the smallest of all: the suffix may begin with a step of which a longer one has
//! no need.
//!
//! Departures: subsets are made when they are wanted, not all at the beginning; some are tried at once, as
//! everywhere here. A candidate in which a step cannot be done counts as one that does not fail, as in the paper,
//! where its log is not replayed to the end. Tests: `fewest` below against brute force, on models with and without
//! needs.

use stunt_reduce::Broken;

use crate::minimise::{AT_ONCE, Budget, Checked, Minimised, Tester, Trials};

/// What the graph says: of a step, earlier ones of which one has to be done before; nothing if it needs none.
pub type Needs = Vec<Vec<usize>>;

/// A tester that holds that a step which cannot be done is a failure of the trial.
struct Strict<'a>(&'a mut dyn Tester);

impl Tester for Strict<'_> {
    fn try_all(&mut self, candidates: &[Vec<usize>]) -> Result<Vec<Option<Vec<usize>>>, Broken> {
        let results = self.0.try_all(candidates)?;
        // Steps behind the one that failed were not reached; none before it may be absent.
        let whole = |(candidate, done): (&Vec<usize>, Option<Vec<usize>>)| {
            done.filter(|done| candidate.starts_with(done))
        };
        Ok(candidates.iter().zip(results).map(whole).collect())
    }
}

/// The steps that are needed of so many; nothing if all of them do not fail.
///
/// # Errors
/// Nothing can be tried any more.
pub fn minimise(
    count: usize,
    needs: &Needs,
    tester: &mut dyn Tester,
    budget: Budget<'_>,
) -> Result<Option<Minimised>, Broken> {
    let mut strict = Strict(tester);
    let mut trials = Trials::new(&mut strict, budget);
    let suffixes = (0..count).rev().map(|start| (start..count).collect());
    let Some(suffix) = first(&mut trials, suffixes)? else { return Ok(None) };
    let [begin, between @ .., end] = &suffix[..] else {
        return Ok(Some(Minimised {
            steps: suffix,
            trials: trials.made,
            checked: Checked::OneMinimal,
        }));
    };
    let subsets =
        (0..between.len()).flat_map(|size| Subsets::new(between.len(), size)).map(|set| {
            let chosen = set.iter().map(|&at| between[at]);
            [*begin].into_iter().chain(chosen).chain([*end]).collect()
        });
    let valid = subsets.filter(|steps: &Vec<usize>| is_valid(steps, needs, *begin));
    let found = first(&mut trials, valid)?;
    let checked =
        if found.is_none() && trials.is_over() { Checked::Unfinished } else { Checked::OneMinimal };
    let steps = found.unwrap_or(suffix);
    Ok(Some(Minimised { steps, trials: trials.made, checked }))
}

/// The first that fails.
fn first(
    trials: &mut Trials<'_>,
    candidates: impl Iterator<Item = Vec<usize>>,
) -> Result<Option<Vec<usize>>, Broken> {
    let mut candidates = candidates.peekable();
    while candidates.peek().is_some() && !trials.is_over() {
        let some = candidates.by_ref().take(AT_ONCE).collect();
        if let Some(found) = trials.first(some)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether each step has one before it that it needs. What lies before the suffix was not needed by it.
fn is_valid(steps: &[usize], needs: &Needs, begin: usize) -> bool {
    steps.iter().enumerate().all(|(at, &step)| {
        let before = |need: &usize| *need < begin || steps[..at].contains(need);
        needs.get(step).is_none_or(|needs| needs.is_empty() || needs.iter().any(before))
    })
}

/// All subsets of so many things with so many of them, in lexicographic order.
struct Subsets {
    count: usize,
    next: Option<Vec<usize>>,
}

impl Subsets {
    fn new(count: usize, size: usize) -> Self {
        Self { count, next: (size <= count).then(|| (0..size).collect()) }
    }
}

impl Iterator for Subsets {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let now = self.next.take()?;
        let size = now.len();
        // The last place that is not as far right as it can be.
        if let Some(at) = (0..size).rev().find(|&at| now[at] < self.count - size + at) {
            let mut next = now.clone();
            next[at] += 1;
            for later in at + 1..size {
                next[later] = next[later - 1] + 1;
            }
            self.next = Some(next);
        }
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::minimise::models::Model;

    const ENOUGH: Budget<'_> = Budget { trials: 1 << 20, over: &|| false };

    /// By definition, from the list of all subsets.
    fn fewest(model: &Model) -> Option<usize> {
        let strictly =
            |steps: &[usize]| model.run(steps).filter(|done| steps.starts_with(done)).is_some();
        let start =
            (0..model.count).rev().find(|&it| strictly(&(it..model.count).collect::<Vec<_>>()))?;
        let last = model.run(&(start..model.count).collect::<Vec<_>>())?.last().copied()?;
        let sets =
            model.subsets().filter(|it| it.first() == Some(&start) && it.last() == Some(&last));
        sets.filter(|it| strictly(it)).map(|it| it.len()).min()
    }

    #[test]
    fn subsets_are_all_there_once() {
        for (count, size) in [(0, 0), (5, 0), (5, 2), (6, 6), (3, 4)] {
            let all: Vec<Vec<usize>> = Subsets::new(count, size).collect();
            let expected: Vec<u32> =
                (0..1_u32 << count).filter(|set| set.count_ones() as usize == size).collect();
            let mut sets: Vec<u32> =
                all.iter().map(|it| it.iter().map(|at| 1 << at).sum()).collect();
            sets.sort_unstable();
            assert_eq!(sets, expected, "{size} of {count}");
        }
    }

    #[test]
    fn it_finds_the_smallest_and_the_graph_saves_trials() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let (mut with, mut without, mut failing) = (0, 0, 0);
        for _ in 0..300 {
            let model = Model::random(&mut rng, 9);
            let needs: Needs =
                model.parent.iter().map(|parent| parent.iter().copied().collect()).collect();
            let run = |needs: &Needs| {
                let mut tester = |steps: &[usize]| model.run(steps);
                minimise(9, needs, &mut tester, ENOUGH).expect("it cannot break")
            };
            let plain = run(&vec![Vec::new(); 9]);
            let pruned = run(&needs);
            let sizes = [&plain, &pruned].map(|it| it.as_ref().map(|it| it.steps.len()));
            assert_eq!(sizes, [fewest(&model); 2]);
            if let (Some(plain), Some(pruned)) = (plain, pruned) {
                failing += 1;
                without += plain.trials;
                with += pruned.trials;
            }
        }
        assert!(failing > 150 && with < without, "{failing} fail, {with} of {without} trials");
    }

    #[test]
    fn it_ends_when_it_has_taken_what_it_may() {
        let model = Model {
            count: 30,
            parent: vec![None; 30],
            needed: vec![0, 5, 9, 13, 29],
            spoils: None,
        };
        let mut tester = |steps: &[usize]| model.run(steps);
        let budget = Budget { trials: 200, over: &|| false };
        let found = minimise(30, &Needs::new(), &mut tester, budget).expect("it cannot break");
        let found = found.expect("the whole fails");
        assert_eq!((found.trials, found.checked), (200, Checked::Unfinished));
        assert_eq!(found.steps.len(), 30);
    }
}
