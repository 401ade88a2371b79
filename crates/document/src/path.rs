//! Where a node is: which child, from the root on.

use std::fmt;
use std::sync::Arc;

/// The way from the root of a document to one of its nodes. Paths are ordered as the nodes are when the
/// tree is walked from the front, a parent before its children.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Arc<[u32]>);

impl Path {
    /// The root.
    pub fn root() -> Path {
        Path(Arc::from([]))
    }

    /// The way as child numbers.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.0.iter().map(|&step| step as usize)
    }

    /// How many steps it has.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// The way to a child.
    pub fn child(&self, number: usize) -> Path {
        let number = u32::try_from(number).expect("fewer nodes than that fit into the limits");
        Path(self.0.iter().copied().chain([number]).collect())
    }

    /// The way to the parent, and which child this is; nothing for the root.
    pub fn parent(&self) -> Option<(Path, usize)> {
        let (&last, rest) = self.0.split_last()?;
        Some((Path(rest.into()), last as usize))
    }

    /// Whether the other node is this one or lies inside it.
    pub fn holds(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl From<&[usize]> for Path {
    fn from(steps: &[usize]) -> Path {
        steps.iter().fold(Path::root(), |path, &step| path.child(step))
    }
}

impl<const N: usize> From<[usize; N]> for Path {
    fn from(steps: [usize; N]) -> Path {
        Path::from(&steps[..])
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("/");
        }
        self.0.iter().try_for_each(|step| write!(f, "/{step}"))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
