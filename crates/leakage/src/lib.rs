//! How much a condition reveals.
