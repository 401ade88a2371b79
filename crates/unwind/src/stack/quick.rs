//! The step to a caller in its most frequent form, for whoever walks a stack very often: the frame
//! address is the stack or the frame pointer plus an offset, and the return address is right below.
//!
//! Nothing is read from memory here, and what is not of that form is left to `walk`.

use std::sync::PoisonError;

use super::cfi::{FrameRule, Rule};
use super::module::Module;
use super::registers::Register;
use super::symbols::{Images, Symbols};

/// How to find the caller of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerRule {
    /// The frame address is counted from the frame pointer, not from the stack pointer.
    pub by_frame_pointer: bool,
    /// The offset of the frame address. The return address is 8 below.
    pub frame: i64,
    /// Where the caller's frame pointer is, from the frame address, if it was saved.
    pub frame_pointer: Option<i64>,
}

impl Symbols {
    /// The rule for an address of a module's file, if it has the frequent form.
    pub fn caller_rule(&self, module: &Module, address: u64) -> Option<CallerRule> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let modules = std::slice::from_ref(module);
        let image = Images::new(modules).get(&mut cache, modules, 0)?;
        let row = cache.get(image).row(address)?;
        let FrameRule::Register(register, frame) = row.frame else { return None };
        let rule = |wanted: Register| row.rules.iter().find(|(register, _)| *register == wanted);
        let in_place = matches!(rule(row.return_address), Some((_, Rule::At(-8))));
        let usual = register == Register::RSP || register == Register::RBP;
        let frame_pointer = match rule(Register::RBP) {
            None | Some((_, Rule::Same)) => None,
            Some(&(_, Rule::At(offset))) => Some(offset),
            Some(_) => return None,
        };
        (usual && in_place && !row.signal).then_some(CallerRule {
            by_frame_pointer: register == Register::RBP,
            frame,
            frame_pointer,
        })
    }
}
