//! Search engines for what the other layers leave open.

pub(crate) mod cadical;
mod gates;
