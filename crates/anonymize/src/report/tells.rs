//! What a double tells, whatever was believed before: its set in the code of `stunt-belief`, with the words of the
//! program, and what is charged on top.
//!
//! Always: the description is of the set, not of the double, and is part of the report, so that who reads it can
//! decode it; what stands beside it adds up to the figure.

use std::collections::VecDeque;
use std::rc::Rc;

use stunt_belief::{Described, Drawn, Element, Length, Public, describe, dictate};
use stunt_leakage::{Bits, Charge, Claim};
use stunt_reduce::Rendering;
use stunt_report::{Tells, Told};
use stunt_search::weaken::{DrawnFrom, unpacked};
use stunt_subject::Subject;
use stunt_words::Cache;
use tracing::info_span;

use super::assemble::kind_of;
use crate::crash::Crash;
use crate::search::Found;

/// So many descriptions are remembered.
const REMEMBERED: usize = 4;

/// What is public.
pub(crate) struct Known {
    public: Public,
    /// The name of the lists.
    identity: String,
}

impl Known {
    fn new(subject: &Subject, examples: &[Vec<u8>]) -> Known {
        let _span = info_span!("words").entered();
        let lists = stunt_words::of(subject.program(), &Cache::of_user());
        let identity = stunt_words::identity(&lists);
        let public = Public { lists, documents: examples.to_vec(), doubles: Vec::new() };
        Known { public, identity }
    }
}

/// A claim, and the description that it counts.
pub(super) struct Claimed {
    pub(super) claim: Claim,
    described: Option<Rc<Described>>,
}

/// All that is claimed of a double.
pub(super) fn claimed(crash: &Crash<'_>, found: &Found) -> Claimed {
    let claim = found.drawn.claim.clone();
    let Some(from) = &found.drawn.set else { return Claimed { claim, described: None } };
    let set = with_lengths(crash, &from.set, found);
    match description(crash, &set) {
        Some(described) => {
            Claimed { claim: of_description(claim, from, &described), described: Some(described) }
        }
        None => Claimed { claim, described: None },
    }
}

/// A double as its description means it: documents without compression, if it was described so.
#[must_use]
pub fn as_described(double: &[Vec<u8>], apart: Option<&[usize]>) -> Option<Vec<Vec<u8>>> {
    let Some(apart) = apart else { return Some(double.to_vec()) };
    let rendering = Rendering::of(double, &vec![true; double.len()])?;
    Some(unpacked(&rendering, apart))
}

/// A claim whose set has a description.
#[must_use]
pub fn of_description(claim: Claim, from: &DrawnFrom, described: &Described) -> Claim {
    let bits = described.cost.bits() + from.joined;
    match from.failing {
        Some(failing) => claim.described_in_part(bits, failing),
        None => claim.described(bits),
    }
}

/// What the description of a set costs.
pub(crate) fn price(crash: &Crash<'_>, set: &Drawn) -> Option<f64> {
    description(crash, set).map(|it| it.cost.bits())
}

/// The description of a set. The last ones are remembered: several figures are made of one.
fn description(crash: &Crash<'_>, set: &Drawn) -> Option<Rc<Described>> {
    let known_already = |all: &VecDeque<(Drawn, Option<Rc<Described>>)>| {
        all.iter().find(|(of, _)| of == set).map(|(_, it)| it.clone())
    };
    if let Some(described) = known_already(&crash.described.borrow()) {
        return described;
    }
    let _span = info_span!("describe").entered();
    let described = describe(set, &known(crash).public).map(Rc::new);
    let mut all = crash.described.borrow_mut();
    all.push_front((set.clone(), described.clone()));
    all.truncate(REMEMBERED);
    described
}

fn known<'a>(crash: &'a Crash<'_>) -> &'a Known {
    let job = &crash.job;
    job.known.get_or_init(|| Known::new(job.subject, &job.options.examples))
}

/// A length that was chosen with a look at the original has to be told.
fn with_lengths(crash: &Crash<'_>, set: &Drawn, found: &Found) -> Drawn {
    let mut set = set.clone();
    for (source, of) in set.sources.iter_mut().zip(&crash.job.subject.sources) {
        let is_hidden = !source.elements.iter().any(|it| matches!(it, Element::Public(_)));
        if found.is_shorter && is_hidden && of.name.may_be_resized() {
            source.length = Length::Told(source.length.bytes());
        }
    }
    set
}

/// The same in the words of a report.
pub(super) fn tells(crash: &Crash<'_>, found: &Found, claimed: &Claimed) -> Tells {
    let Claimed { claim, described } = claimed;
    let bits = claim.tells();
    let mut tells = Tells {
        bits: bits.value(),
        kind: kind_of(bits),
        words: bits.to_string(),
        belief: stunt_belief::VERSION,
        lists: None,
        advice: None,
        apart: None,
        pieces: Vec::new(),
    };
    let told = |words: &str, bits: Bits| Told {
        source: None,
        words: words.to_owned(),
        bits: bits.value(),
    };
    let charges = claim.charges().iter();
    match described {
        Some(described) if claim.is_by_description() => {
            let known = known(crash);
            tells.lists = Some(known.identity.clone());
            let apart = found.drawn.set.as_ref().and_then(|from| from.apart.as_deref());
            let double = &found.drawn.double.bytes;
            let read = as_described(double, apart).is_some_and(|it| described.set.contains(&it));
            if described.advice.count > 0 && read {
                tells.advice = Some(described.advice.bits());
                tells.apart = apart.map(|it| it.iter().map(|&leaf| leaf as u32).collect());
            }
            let count = double.len();
            for said in dictate(described, &known.public) {
                // Leaves that stand apart belong to no source by themselves.
                let source = said.source.filter(|&it| it < count).map(|it| it as u32);
                tells.pieces.push(Told { source, words: said.words, bits: said.cost.bits() });
            }
            if let Some(from) = &found.drawn.set {
                if from.joined > 0.0 {
                    tells.pieces.push(told("how bytes go together", Bits::AtMost(from.joined)));
                }
                let of_part = from.failing.filter(|&bits| bits != Bits::ZERO);
                tells.pieces.extend(of_part.map(|bits| told(Charge::Failing.words(), bits)));
            }
            let charges = charges.filter(|(charge, _)| claim.counts_for_description(*charge));
            tells.pieces.extend(charges.map(|&(charge, bits)| told(charge.words(), bits)));
        }
        _ => {
            let half = "that there might have been a description";
            tells.pieces.push(told("the set, of all inputs of its length", claim.set()));
            tells.pieces.push(told(half, Bits::Exact(stunt_leakage::HALF)));
            tells.pieces.extend(charges.map(|&(charge, bits)| told(charge.words(), bits)));
        }
    }
    tells
}
