//! What the tests of this crate share: expressions with a meaning of their own, ways to make them,
//! and checks of what the crate builds from them.
//!
//! Nothing here uses the crate's own arithmetic; each test binary uses a part of it.
#![allow(dead_code)]

pub mod generate;
pub mod lab;
pub mod normal_form;
pub mod reference;
