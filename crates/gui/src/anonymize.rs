//! From a recording that fails to a double: fewest steps, plain surroundings, other texts, and what that tells.
//!
//! 1. the steps that the failure needs (`minimise`, or GAUDI's way), at the plainest `pace` at which it fails;
//! 2. time, chance, the window, stored things and answers of the network become plain (`plain`);
//! 3. texts are reduced, then weakened and drawn anew, with the browser as the oracle; a chosen value becomes
//!    another one of the list;
//! 4. every widget is described as the double's own run shows it (`describe`), and nothing is left of what was
//!    recorded on the original but which steps they are;
//! 5. the double is proved: by the player, and by mouse and keys of the browser.
//!
//! What always holds: what is handed out was seen to fail in the same way as it is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::RngCore;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use stunt_reduce::Broken;
use stunt_search::weaken::length_bits;
use tracing::info;

use crate::case::{Case, NoCase, Steps};
use crate::claim::{Claim, rendered};
use crate::content::Content;
use crate::describe::{Described, describe};
use crate::failure::PageFailure;
use crate::leaves::{Written, bytes_of};
use crate::minimise::{Budget, Checked, Minimised};
use crate::pace::{PACE_BITS, PACES, Pace};
use crate::plain::{Stays, bare, plain};
use crate::recording::{Recording, Step};
use crate::replay::Manner;
use crate::texts::{TextsFound, Until, remains};
use crate::{gaudi, minimise};

/// A double is replayed so often by the player at the end,
const PROOFS: usize = 3;
/// and so often by trusted input.
const TRUSTED_PROOFS: usize = 2;
/// Texts are drawn anew at most so often because a step went.
const MOST_DRAWS: usize = 2;
/// The most options of a list that are tried.
const MOST_OPTIONS: usize = 12;

/// How steps are minimised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// Complements, with the last step fixed.
    Complements,
    /// As in the paper.
    Gaudi,
}

impl Algorithm {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Complements => "gui",
            Algorithm::Gaudi => "gaudi",
        }
    }
}

/// What is allowed.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// How steps are minimised.
    pub algorithm: Algorithm,
    /// The time for all of it, about.
    pub time: Duration,
    /// The most trials of steps.
    pub trials: u64,
    /// Set by someone else: it ends with what it has.
    pub cancel: &'a AtomicBool,
    /// Told what is being done.
    pub stage: &'a dyn Fn(&'static str),
}

/// Why there is no double.
#[derive(Debug, thiserror::Error)]
pub enum NoDouble {
    /// The recording is none to begin with.
    #[error(transparent)]
    Case(#[from] NoCase),
    /// The browser does not do its part.
    #[error(transparent)]
    Browser(#[from] crate::chromium::Error),
    /// The oracle broke.
    #[error("the browser cannot be asked any more: {0}")]
    Broken(Broken),
    /// What was found could not be seen to fail again.
    #[error(
        "no double could be proved: it does not fail again in the same way. Nothing is handed out"
    )]
    Unproved,
    /// What is left to find was not looked at, and so the original's words are still there.
    #[error(
        "there was no time to find other texts than the original's: give it more with --time. Nothing is handed out"
    )]
    NoTime,
}

impl From<Broken> for NoDouble {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// A double, and all that is told of it.
#[derive(Debug)]
pub struct Double {
    /// The recording that may be handed out.
    pub recording: Recording,
    /// Its bytes, and what each of them tells.
    pub bytes: (Vec<u8>, Vec<f64>),
    /// How its own run fails.
    pub failure: PageFailure,
    /// What it tells.
    pub claim: Claim,
    /// How many steps there were.
    pub before: usize,
    /// What minimising came to.
    pub minimised: Minimised,
    /// What had to stay.
    pub stays: Vec<Stays>,
    /// Of how many replays of the original how many failed.
    pub seen: (usize, usize),
    /// How many replays of the double failed, of how many; and by trusted input.
    pub proved: [(usize, usize); 2],
    /// Replays in all.
    pub trials: u64,
    /// Replays that minimised the steps took, in seconds.
    pub minimising: Duration,
    /// How long all took.
    pub took: Duration,
}

/// Makes a double.
///
/// # Errors
/// The recording does not fail, or no double could be proved, or there is no browser.
pub fn anonymize(
    case: &Case<'_>,
    original: &Recording,
    settings: Settings<'_>,
    rng: &mut dyn RngCore,
) -> Result<Double, NoDouble> {
    let begun = Instant::now();
    let over = || settings.cancel.load(Ordering::Relaxed) || begun.elapsed() >= settings.time;
    let budget = Budget { trials: settings.trials, over: &over };
    (settings.stage)("Minimising the steps");
    let bare = bare(original);
    let (pace, all) = first_pace(case, &bare, &PACES)?.ok_or(NoDouble::Unproved)?;
    let (count, mut tester) = (all.actions().len(), Steps { case, recording: &all });
    let needs = original.needs();
    let minimise_steps = |tester: &mut Steps<'_>| match settings.algorithm {
        Algorithm::Complements => minimise::minimise(count, tester, budget),
        Algorithm::Gaudi => gaudi::minimise(count, &needs, tester, budget),
    };
    let mut minimised = minimise_steps(&mut tester)?.ok_or(NoDouble::Unproved)?;
    // The player reaches widgets that are hidden from people.
    let few = all.with_actions(&minimised.steps);
    let by_hand = |recording: &Recording| case.proved(recording, Manner::Trusted, 1);
    if by_hand(&few)?.is_empty() && !by_hand(&all)?.is_empty() {
        info!("the fewest steps fail by the player only: once more by mouse and keys");
        case.trust_input_only();
        let trials = minimised.trials;
        minimised = minimise_steps(&mut tester)?.ok_or(NoDouble::Unproved)?;
        minimised.trials += trials;
    }
    let minimising = begun.elapsed();
    info!(before = count, after = minimised.steps.len(), trials = minimised.trials, "minimised");

    (settings.stage)("Making what is left plain");
    let few = bare.with_actions(&minimised.steps);
    let easier: Vec<Pace> = PACES.into_iter().take_while(|it| *it != pace).collect();
    let (pace, few) = match first_pace(case, &few, &easier)? {
        Some(found) => found,
        None => (pace, pace.of(&few)),
    };
    let (plain, mut stays) = plain(case, &few)?;
    info!(stay = stays.len(), "plain");
    (settings.stage)("Looking for other texts");
    let (chosen, options) = other_options(case, &plain, rng)?;
    let until = Until { begun, settings };
    let reduced = until.reduced(case, &chosen)?;
    // With less around it, a step may have become needless.
    let mut tester = Steps { case, recording: &reduced };
    let again = Budget { trials: settings.trials.max(64), over: &|| false };
    let left = minimise::minimise(reduced.actions().len(), &mut tester, again)?;
    let left = left.ok_or(NoDouble::Unproved)?;
    let options = left.steps.iter().map(|&at| options[at]).collect::<Vec<f64>>();
    let reduced = reduced.with_actions(&left.steps);
    minimised.trials += left.trials;
    // All of them were tried one by one just now, whoever minimised before.
    if left.checked == Checked::OneMinimal {
        minimised.checked = Checked::OneMinimal;
    }
    minimised.steps = left.steps.iter().map(|&at| minimised.steps[at]).collect();
    stays.extend(pace.stays(&reduced));

    let mut texts = until.drawn(case, &reduced, rng)?;
    // With another text, a step may be one that nobody can do: it goes, and the text is drawn once more for those that
    // are left, so that what is said of it is true of them.
    let mut options = options;
    for _ in 0..MOST_DRAWS {
        let tried = case.fails(std::slice::from_ref(&texts.recording))?;
        let ids = |done: &u64| texts.recording.actions().iter().position(|it| it["id"] == *done);
        let Some(done) = tried.into_iter().next().flatten() else { break };
        let done: Vec<usize> = done.iter().filter_map(ids).collect();
        if done.len() == texts.recording.actions().len() {
            break;
        }
        let fewer = texts.recording.with_actions(&done);
        if case.fails(std::slice::from_ref(&fewer))?[0].is_none() {
            break;
        }
        options = done.iter().map(|&at| options[at]).collect();
        minimised.steps = done.iter().map(|&at| minimised.steps[at]).collect();
        texts = until.drawn(case, &fewer, rng)?;
    }
    if until.is_over() {
        let content = Content::of(case, original)?;
        if remains(&few, &texts.recording, &|word| content.has_word(word)) {
            return Err(NoDouble::NoTime);
        }
    }
    (settings.stage)("Proving the double");
    let recording = renumbered(&texts.recording);
    let described = describe(case, &recording)?;
    let mut double = redescribed(&recording, &described);
    let proofs = |double: &Recording, manner, runs| case.proved(double, manner, runs);
    let mut seen = proofs(&double, case.manner(), PROOFS)?;
    let mut described = described;
    if seen.len() < PROOFS && case.seen.0 == case.seen.1 {
        // The widgets cannot be found by what was seen of them: all of the selectors count.
        let structural = structural(&recording);
        seen = proofs(&structural, case.manner(), PROOFS)?;
        double = structural;
        described = vec![Described::default(); described.len()];
    }
    let failure = seen.first().and_then(|run| run.same(&case.failure)).cloned();
    let failure = failure.ok_or(NoDouble::Unproved)?;
    let trusted = proofs(&double, Manner::Trusted, TRUSTED_PROOFS)?;
    let proved = [(seen.len(), PROOFS), (trusted.len(), TRUSTED_PROOFS)];
    double.value_mut()["failure"] = failure.write(failure.after);
    double.set_afterwards(case.afterwards);

    let double = double.placeless();
    let mut claim = Claim::new(&double, &described, &stays);
    claim.steps += PACE_BITS + options.iter().sum::<f64>();
    claim.texts = texts.bits;
    let lengths = texts.leaves.iter().filter_map(|leaf| bytes_of(&double, leaf)).map(|it| it.len());
    // A text that became empty still says so; those of steps are looked for by their fields.
    let empty = double.actions().iter().filter(|it| it["text"] == "" || it["value"] == "").count();
    claim.lengths = length_bits(lengths) + empty as f64;
    let bytes = rendered(&double, &figures(&claim, &texts));
    Ok(Double {
        recording: double,
        bytes,
        failure,
        claim,
        before: count,
        minimised,
        stays,
        seen: case.seen,
        proved,
        trials: case.trials(),
        minimising,
        took: begun.elapsed(),
    })
}

/// The first of these paces at which it fails, and the recording at it.
fn first_pace(
    case: &Case<'_>,
    recording: &Recording,
    paces: &[Pace],
) -> Result<Option<(Pace, Recording)>, NoDouble> {
    for &pace in paces {
        let paced = pace.of(recording);
        if case.fails(std::slice::from_ref(&paced))?[0].is_some() {
            return Ok(Some((pace, paced)));
        }
    }
    Ok(None)
}

/// Of each chosen value, another one with which it fails as well; and what the choice tells.
fn other_options(
    case: &Case<'_>,
    recording: &Recording,
    rng: &mut dyn RngCore,
) -> Result<(Recording, Vec<f64>), NoDouble> {
    let mut current = recording.clone();
    let mut bits = vec![0.0; recording.actions().len()];
    let is_choice = |action: &Value| action["values"].as_array().is_some_and(|it| !it.is_empty());
    if !recording.actions().iter().any(is_choice) {
        return Ok((current, bits));
    }
    let described = describe(case, recording)?;
    for (number, Described { options, .. }) in described.iter().enumerate() {
        let action = &current.actions()[number];
        if !is_choice(action) {
            continue;
        }
        let own = action["values"].clone();
        let choices = own.as_array().map_or(0, Vec::len) as f64;
        let set = |option: &String| {
            let mut other = current.clone();
            other.value_mut()["actions"][number]["values"] = json!([option]);
            other
        };
        let mut tried: Vec<&String> = options.iter().collect();
        tried.shuffle(rng);
        tried.truncate(MOST_OPTIONS);
        let candidates: Vec<Recording> = tried.iter().map(|it| set(it)).collect();
        let failing: Vec<Recording> = case
            .fails(&candidates)?
            .into_iter()
            .zip(candidates)
            .filter_map(|(done, candidate)| done.map(|_| candidate))
            .collect();
        let many = (options.len().max(2) as f64).log2();
        match failing.choose(rng) {
            Some(other) => {
                // One of those that fail, of those that were tried.
                bits[number] = (tried.len() as f64 / failing.len() as f64).log2();
                current = other.clone();
            }
            None => bits[number] = many * choices + length_bits([choices as usize]),
        }
    }
    Ok((current, bits))
}

/// Ids from 1: which ones they were says how much was done before and between.
fn renumbered(recording: &Recording) -> Recording {
    let mut all = recording.clone();
    let ids: Vec<u64> = all.actions().iter().filter_map(|it| it["id"].as_u64()).collect();
    let value = all.value_mut();
    for (number, action) in value["actions"].as_array_mut().into_iter().flatten().enumerate() {
        action["id"] = json!(number + 1);
    }
    for (number, answer) in value["answers"].as_array_mut().into_iter().flatten().enumerate() {
        let after = answer["after"].as_u64().unwrap_or(0);
        answer["after"] = json!(ids.iter().filter(|&&id| id <= after).count());
        (answer["id"], answer["at_ms"]) = (json!(number + 1), json!(100 * (number + 1)));
    }
    all
}

/// Every widget as the double's own run shows it.
fn redescribed(recording: &Recording, described: &[Described]) -> Recording {
    let mut all = structural(recording);
    let actions = all.value_mut()["actions"].as_array_mut().into_iter().flatten();
    for (action, described) in actions.zip(described) {
        if described.target.is_object() {
            action["target"] = described.target.clone();
        }
        if described.to.is_object() {
            action["to"] = described.to.clone();
        }
    }
    all
}

/// No widget has a name: structure alone.
fn structural(recording: &Recording) -> Recording {
    let mut all = recording.clone();
    for action in all.value_mut()["actions"].as_array_mut().into_iter().flatten() {
        for name in ["target", "to"] {
            let target = &mut action[name];
            if !target.is_object() {
                continue;
            }
            target["name"] = json!("");
            let is_text = |it: &Value| {
                it.as_str().is_some_and(|it| it.starts_with("aria/") || it.starts_with("text/"))
            };
            if let Some(selectors) = target["selectors"].as_array_mut() {
                let structure =
                    |it: &&Value| !it.as_array().map_or(&[][..], Vec::as_slice).iter().any(is_text);
                // The last one is structure only, and enough.
                let last = selectors.iter().rfind(structure).cloned();
                if let Some(last) = last {
                    *selectors = vec![last];
                }
            }
        }
        // Indexing a member that is not there has made it null.
        if let Some(action) = action.as_object_mut() {
            action.retain(|name, value| !(value.is_null() && (name == "target" || name == "to")));
        }
    }
    all
}

/// What is told where.
fn figures(claim: &Claim, texts: &TextsFound) -> BTreeMap<String, Vec<f64>> {
    let mut at: BTreeMap<String, Vec<f64>> =
        claim.at.iter().map(|(pointer, bits)| (pointer.clone(), vec![*bits])).collect();
    for (leaf, figures) in texts.leaves.iter().zip(&texts.figures) {
        let pointer = leaf.place.iter().fold(String::new(), |pointer, step| match step {
            Step::Name(name) => format!("{pointer}/{name}"),
            Step::At(number) => format!("{pointer}/{number}"),
        });
        // Where the writing is longer than the bytes, they share it.
        let figures = match leaf.written {
            Written::Text | Written::Base64 | Written::Query => figures.clone(),
        };
        at.insert(pointer, figures);
    }
    at
}
