//! Questions about terms.
