//! How much work the stages may do before they give up.
//!
//! A budget counts work, never time: the same problem under the same budget has the same answer on
//! every machine. A stage that runs out declines; it never answers approximately.

/// Limits of the stages for one component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Decision diagrams: the most nodes of one diagram.
    pub nodes: usize,
    /// Decision diagrams: the most nodes made in all, over all operations and variable orders.
    pub node_work: usize,
    /// Frontier: the most states of one level.
    pub states: usize,
    /// Frontier: the most transitions (a state with a value of the next byte) in all.
    pub transitions: u64,
    /// Enumeration: the most cases (the product of the domains' sizes).
    pub cases: u64,
    /// Histograms: the most entries of one histogram.
    pub entries: usize,
    /// Histograms: the most additions of counts in all.
    pub additions: u64,
}

impl Budget {
    /// For a first try: at most some tens of milliseconds for each stage.
    pub fn quick() -> Budget {
        Budget {
            nodes: 20_000,
            node_work: 400_000,
            states: 5_000,
            transitions: 500_000,
            cases: 1 << 20,
            entries: 1 << 17,
            additions: 1 << 24,
        }
    }
}

impl Budget {
    /// For one of many tries: at most a few milliseconds for each stage.
    pub fn hasty() -> Budget {
        Budget {
            nodes: 4_000,
            node_work: 40_000,
            states: 1_000,
            transitions: 100_000,
            cases: 1 << 17,
            entries: 1 << 14,
            additions: 1 << 20,
        }
    }

    /// The smaller of the two limits, each by itself.
    #[must_use]
    pub fn at_most(self, other: Budget) -> Budget {
        Budget {
            nodes: self.nodes.min(other.nodes),
            node_work: self.node_work.min(other.node_work),
            states: self.states.min(other.states),
            transitions: self.transitions.min(other.transitions),
            cases: self.cases.min(other.cases),
            entries: self.entries.min(other.entries),
            additions: self.additions.min(other.additions),
        }
    }
}

impl Default for Budget {
    /// For a component that matters: up to some seconds for each stage.
    fn default() -> Budget {
        Budget {
            nodes: 1_000_000,
            node_work: 10_000_000,
            states: 200_000,
            transitions: 50_000_000,
            cases: 1 << 28,
            entries: 1 << 20,
            additions: 1 << 28,
        }
    }
}
