//! What a double tells, whatever was believed before: the headline figure, and the advice that it counts.
//!
//! Always: a figure that is a bound stays one in print. The advice is in words that its writer made; who reads a
//! report from a stranger prints it as any other text of theirs.

use serde::{Deserialize, Serialize};

use crate::figure::{Kind, rounded};
use crate::report::Report;

/// What a double tells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tells {
    /// The bits; an estimate's best guess.
    pub bits: f64,
    /// How the figure is meant. It is never exact.
    pub kind: Kind,
    /// The figure as people read it, with its kind: `at most 43.20 bits`. An estimate says its confidence here.
    pub words: String,
    /// Which code the double is described in: its version.
    pub belief: u32,
    /// The name of the word lists that were used: equal for equal lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<String>,
    /// The description in bits, as digits 0 and 1, if the figure counts one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The advice is about documents without compression, and these of their leaves stand apart behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Vec<u32>>,
    /// The same in words, piece by piece, and what else was charged. The sum is `bits`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Told>,
}

/// A piece of what is told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Told {
    /// The source that it is about, by its number; of all if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<u32>,
    /// The words.
    pub words: String,
    /// The bits.
    pub bits: f64,
}

/// A report has no more pieces than this.
pub(crate) const MOST_PIECES: usize = 4096;
/// Words of a piece are no longer than this, in characters.
const MOST_WORDS: usize = 400;
/// Advice is no longer than this, in bits.
const MOST_ADVICE: usize = 16_384;

impl Tells {
    /// The figure as it is written: six digits after the point, a bound upwards.
    pub(crate) fn tidied(&self) -> Tells {
        let mut tells = self.clone();
        tells.bits = rounded(self.bits, self.kind, 1e6);
        for piece in &mut tells.pieces {
            piece.bits = rounded(piece.bits, Kind::Exact, 1e6);
        }
        if tells.pieces.len() > MOST_PIECES {
            tells.pieces.clear();
        }
        if tells.advice.as_ref().is_some_and(|it| it.len() > MOST_ADVICE) {
            tells.advice = None;
        }
        tells
    }

    /// With no more than so many pieces and so much advice; all or nothing of each.
    pub(crate) fn shortened(&mut self, most: usize) {
        if self.pieces.len() > most {
            self.pieces.clear();
        }
        if self.advice.as_ref().is_some_and(|it| it.len() > 32 * most) {
            self.advice = None;
        }
    }

    /// What of the schema types do not say.
    pub(crate) fn check(&self) -> Result<(), String> {
        let is_figure = |bits: f64| bits.is_finite() && bits >= 0.0;
        let digits = |text: &String| text.bytes().all(|it| matches!(it, b'0' | b'1'));
        if !is_figure(self.bits) || !self.pieces.iter().all(|it| is_figure(it.bits)) {
            return Err("tells.bits is not a figure".to_owned());
        }
        if self.kind == Kind::Exact {
            return Err("tells is never exact".to_owned());
        }
        if self.pieces.len() > MOST_PIECES {
            return Err(format!("tells has more than {MOST_PIECES} pieces"));
        }
        if self.pieces.iter().any(|it| it.words.chars().count() > MOST_WORDS) {
            return Err("tells has a piece that is too long".to_owned());
        }
        if !self.advice.iter().all(|it| digits(it) && it.len() <= MOST_ADVICE) {
            return Err("the advice is not written in bits".to_owned());
        }
        Ok(())
    }
}

impl Report {
    /// What the double tells, in a sentence: `It tells at most 43 bits: somebody who has the program could have made
    /// this file with 43 answers of yes or no.`
    pub fn tells_sentence(&self) -> Option<String> {
        let tells = self.tells.as_ref()?;
        // An answer is whole.
        let answers = (tells.bits - 1e-6).ceil().max(0.0);
        let made = if self.sources.len() == 1 { "this input" } else { "these inputs" };
        Some(match answers {
            0.0 => format!(
                "It tells nothing: somebody who has the program could have made {made} without help."
            ),
            1.0 => format!(
                "It tells {} 1 bit: somebody who has the program could have made {made} with 1 answer of yes or no.",
                tells.kind
            ),
            _ => format!(
                "It tells {} {answers} bits: somebody who has the program could have made {made} with {answers} \
                 answers of yes or no.",
                tells.kind
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tells(pieces: usize) -> Tells {
        let piece = Told { source: Some(0), words: "`x`".into(), bits: 1.000_000_4 };
        Tells {
            bits: 43.200_000_2,
            kind: Kind::AtMost,
            words: "at most 43.21 bits".into(),
            belief: 1,
            lists: None,
            advice: Some("01".repeat(20)),
            apart: None,
            pieces: vec![piece; pieces],
        }
    }

    #[test]
    fn a_bound_is_rounded_up_and_pieces_go_together() {
        let tidied = tells(3).tidied();
        assert!(tidied.bits >= 43.200_000_2 && tidied.tidied() == tidied);
        assert_eq!(tidied.pieces[0].bits, 1.0);
        assert!(tells(MOST_PIECES + 1).tidied().pieces.is_empty());
        let mut short = tells(3);
        short.shortened(2);
        assert!(short.pieces.is_empty() && short.advice.is_some());
        short.shortened(1);
        assert_eq!(short.advice, None);
    }

    #[test]
    fn attack_what_is_no_figure_is_refused() {
        assert_eq!(tells(3).check(), Ok(()));
        for bits in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(Tells { bits, ..tells(1) }.check().is_err());
        }
        assert!(Tells { kind: Kind::Exact, ..tells(1) }.check().is_err());
        assert!(Tells { advice: Some("012".into()), ..tells(1) }.check().is_err());
        let mut long = tells(1);
        long.pieces[0].words = "x".repeat(500);
        assert!(long.check().is_err());
    }
}
