//! What a double of a user interface tells, in bits.
//!
//! Steps are no bytes: there is no set of all recordings of the same length from which they were drawn. So they are
//! priced by a code that is fixed beforehand: how many steps there are (`log2((n + 1) (n + 2))`), of each which of
//! the seventeen kinds it is, and which widget of how many that are there at that moment. A double that is told in
//! so many bits tells no more about the original than these (`I(X;D) ≤ E[KL(P(D|X) ‖ π)]`, with the code's `π`),
//! however it was found. Texts are drawn as the input of any program is, and are counted as it is, with their
//! lengths. What could not be made plain is added at its full price.
//!
//! What always holds: what is not priced was the same for everybody, or comes from the double's own run.

use std::collections::BTreeMap;

use serde_json::Value;
use stunt_leakage::Bits;
use stunt_search::weaken::length_bits;

use crate::describe::Described;
use crate::plain::Stays;
use crate::recording::Recording;

/// How many kinds of actions there are.
const KINDS: f64 = 17.0;

/// What is told, part by part.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// How many steps there are, of which kinds.
    pub steps: f64,
    /// Which widgets.
    pub widgets: f64,
    /// What could not be made plain.
    pub stays: f64,
    /// The lengths of texts.
    pub lengths: f64,
    /// What of the texts themselves.
    pub texts: Option<Bits>,
    /// What is told where, by JSON pointer; the texts have figures of their own.
    pub at: BTreeMap<String, f64>,
}

impl Claim {
    /// Prices a double's steps.
    #[must_use]
    pub fn new(double: &Recording, described: &[Described], stays: &[Stays]) -> Self {
        let mut claim = Self { stays: stays.iter().map(|it| it.bits).sum(), ..Self::default() };
        let actions = double.actions();
        claim.steps = length_bits([actions.len()]);
        for (number, (action, described)) in actions.iter().zip(described).enumerate() {
            let kind = KINDS.log2() + own(action);
            let widget = if action["target"].is_object() { widget(action, described) } else { 0.0 };
            claim.steps += kind;
            claim.widgets += widget;
            claim.at.insert(format!("/actions/{number}/kind"), kind);
            claim.at.insert(format!("/actions/{number}/target/selectors"), widget);
        }
        claim
    }

    /// The part that is code, not text.
    #[must_use]
    pub fn structure(&self) -> f64 {
        self.steps + self.widgets + self.stays + self.lengths
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> Bits {
        // Bounds upwards: what is printed is never below the sum of its parts.
        let structure = Bits::AtMost(self.structure());
        self.texts.map_or(structure, |texts| structure + texts)
    }
}

/// What a step says beside its kind, its widget and its text.
fn own(action: &Value) -> f64 {
    let mut bits = 0.0;
    if let Some(key) = action["key"].as_str() {
        bits += if key.len() == 1 { 8.0 } else { 7.0 };
    }
    if action["secret"].is_object() {
        // One of five lengths, some of four classes.
        bits += 5f64.log2() + 4.0;
    }
    if action["kind"] == "auxclick" {
        bits += 2.0;
    }
    if action["kind"] == "navigate" {
        bits += 3f64.log2();
    }
    bits
}

/// Which widget it is.
fn widget(action: &Value, described: &Described) -> f64 {
    let mut bits = match described.count {
        // Nobody knows of how many: all of its name counts.
        0 => 8.0 * action["target"]["selectors"].to_string().len() as f64,
        count => 1.0 + (count as f64).log2(),
    };
    let frames = action["target"]["frame"].as_array().map_or(0, Vec::len);
    bits += 1.0 + 4.0 * frames as f64;
    if action["to"].is_object() {
        bits += 1.0 + (described.count.max(2) as f64).log2().max(10.0);
    }
    bits
}

/// A recording as bytes, and the figure of each byte: what is told somewhere is spread over what stands there.
#[must_use]
pub fn rendered(double: &Recording, at: &BTreeMap<String, Vec<f64>>) -> (Vec<u8>, Vec<f64>) {
    let mut rendered = (Vec::new(), Vec::new());
    render(double.value(), "", at, &mut rendered);
    rendered
}

fn render(
    value: &Value,
    pointer: &str,
    at: &BTreeMap<String, Vec<f64>>,
    out: &mut (Vec<u8>, Vec<f64>),
) {
    let begin = out.0.len();
    let mut put = |text: &str| out.0.extend_from_slice(text.as_bytes());
    match value {
        Value::Object(members) => {
            put("{");
            for (number, (name, member)) in members.iter().enumerate() {
                let comma = if number > 0 { "," } else { "" };
                out.0.extend_from_slice(
                    format!("{comma}{}:", Value::from(name.as_str())).as_bytes(),
                );
                render(member, &format!("{pointer}/{name}"), at, out);
            }
            out.0.push(b'}');
        }
        Value::Array(elements) => {
            put("[");
            for (number, element) in elements.iter().enumerate() {
                if number > 0 {
                    out.0.push(b',');
                }
                render(element, &format!("{pointer}/{number}"), at, out);
            }
            out.0.push(b']');
        }
        other => put(&other.to_string()),
    }
    out.1.resize(out.0.len(), 0.0);
    if let Some(figures) = at.get(pointer) {
        let bytes = &mut out.1[begin..];
        // The quotes of a text tell nothing.
        let bytes = if value.is_string() && bytes.len() > 2 {
            let end = bytes.len() - 1;
            &mut bytes[1..end]
        } else {
            bytes
        };
        spread(figures, bytes);
    }
}

/// Puts figures onto bytes; where there are as many, one to one.
fn spread(figures: &[f64], bytes: &mut [f64]) {
    if figures.len() == bytes.len() {
        bytes.iter_mut().zip(figures).for_each(|(byte, figure)| *byte = figure.min(8.0));
        return;
    }
    let each = figures.iter().sum::<f64>() / bytes.len() as f64;
    bytes.iter_mut().for_each(|byte| *byte = each.min(8.0));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recording::examples::{on, recording};

    #[test]
    fn a_step_costs_its_kind_and_one_widget_of_many() {
        let double = recording(&json!([on(1, "click", "#a", &json!({}))]));
        let described = [Described { usable: true, count: 32, ..Described::default() }];
        let claim = Claim::new(&double, &described, &[]);
        assert!((claim.steps - 6f64.log2() - 17f64.log2()).abs() < 1e-9);
        assert!((claim.widgets - 7.0).abs() < 1e-9, "five, and what kind of widget and frame");
        let nobody = Claim::new(&double, &[Described::default()], &[]);
        assert!(nobody.widgets > 60.0, "all of the selector");
        let stays = [Stays { what: "the time".into(), bits: 43.0 }];
        let more = Claim::new(&double, &described, &stays);
        assert!((more.total().value() - claim.total().value() - 43.0).abs() < 1e-9);
    }

    #[test]
    fn figures_lie_on_what_they_are_about() {
        let double = recording(&json!([on(1, "type", "#a", &json!({ "text": "abc" }))]));
        let at = BTreeMap::from([("/actions/0/text".to_owned(), vec![1.0, 2.0, 9.0])]);
        let (bytes, figures) = rendered(&double, &at);
        assert_eq!(bytes, double.to_bytes());
        let told: Vec<(u8, f64)> =
            bytes.iter().copied().zip(figures).filter(|it| it.1 > 0.0).collect();
        assert_eq!(told, [(b'a', 1.0), (b'b', 2.0), (b'c', 8.0)]);
    }
}
