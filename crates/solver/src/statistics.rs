//! How often each layer had the answer.

use std::fmt;

/// A layer that answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// The model at hand, a constant, or a byte that only its own literals constrain.
    Hint,
    /// Sets of byte values.
    Domains,
    /// An answer given before.
    Cache,
    /// A recent model.
    Recent,
    /// Values repaired literal by literal.
    Repair,
    /// Bounds that cross.
    Bounds,
    /// Relations of two bytes.
    Pairs,
    /// Few cases, all tried.
    Product,
    /// A counting stage.
    Counted,
    /// The SAT solver.
    Sat,
}

impl Layer {
    /// All layers, in order.
    pub const ALL: [Layer; 10] = [
        Layer::Hint,
        Layer::Domains,
        Layer::Cache,
        Layer::Recent,
        Layer::Repair,
        Layer::Bounds,
        Layer::Pairs,
        Layer::Product,
        Layer::Counted,
        Layer::Sat,
    ];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Hint => "hint",
            Layer::Domains => "domains",
            Layer::Cache => "cache",
            Layer::Recent => "recent",
            Layer::Repair => "repair",
            Layer::Bounds => "bounds",
            Layer::Pairs => "pairs",
            Layer::Product => "product",
            Layer::Counted => "counted",
            Layer::Sat => "sat",
        }
    }
}

/// Answers by layer. Whole questions for the first layer, parts of questions for the others.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    counts: [u64; Layer::ALL.len()],
}

impl Statistics {
    pub(crate) fn count(&mut self, layer: Layer) {
        self.counts[layer as usize] += 1;
    }

    /// How often the layer answered.
    pub fn answered_by(&self, layer: Layer) -> u64 {
        self.counts[layer as usize]
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = Layer::ALL.iter().filter(|&&layer| self.answered_by(layer) > 0);
        for (i, &layer) in shown.enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{} {}", layer.name(), self.answered_by(layer))?;
        }
        Ok(())
    }
}
