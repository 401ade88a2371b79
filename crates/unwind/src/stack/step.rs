//! One step outward by call frame information: a row's rules applied to registers and memory.
//!
//! Always holds: the result follows from the rules alone. A rule that needs a lost register or
//! unreadable memory loses its register, and without a return address the step fails.
//! Expressions run for a bounded number of operations.

use gimli::{EvaluationResult, Location, Value};

use super::cfi::{Expression, FrameRule, Row, Rule, Slice};
use super::image::Image;
use super::memory::{Memory, word};
use super::registers::{Register, Registers};

/// Operations of one expression; those of real tables have about ten.
const OPERATIONS: u32 = 10_000;

/// Where a step led.
pub(super) enum Step {
    /// To the caller.
    Caller(Registers),
    /// Nowhere: the tables say that this frame has no caller.
    Outermost,
    /// Nowhere: the rules need what is not there.
    Failed,
}

/// Applies a row.
pub(super) fn step(
    image: &Image,
    row: &Row,
    registers: &Registers,
    memory: &mut Memory<'_>,
) -> Step {
    let rule_of = |wanted: Register| row.rules.iter().find(|(register, _)| *register == wanted);
    if let Some((_, Rule::Undefined)) = rule_of(row.return_address) {
        return Step::Outermost;
    }
    let frame = match row.frame {
        FrameRule::Register(register, offset) => {
            registers.get(register).map(|value| value.wrapping_add_signed(offset))
        }
        FrameRule::Expression(code) => evaluate(image, code, None, registers, memory),
    };
    let Some(frame) = frame else { return Step::Failed };
    // Without a rule a callee keeps the registers that the calling convention makes it keep.
    let mut caller = Registers::nothing();
    for register in Register::KEPT_BY_CALLEES {
        if let Some(value) = registers.get(register) {
            caller.set(register, value);
        }
    }
    // By definition the stack pointer before the call; a rule may say otherwise.
    caller.set(Register::RSP, frame);
    for &(register, rule) in &row.rules {
        let value = match rule {
            Rule::Undefined => None,
            Rule::Same => registers.get(register),
            Rule::At(offset) => word(memory, frame.wrapping_add_signed(offset)),
            Rule::Is(offset) => Some(frame.wrapping_add_signed(offset)),
            Rule::In(other) => registers.get(other),
            Rule::AtExpression(code) => evaluate(image, code, Some(frame), registers, memory)
                .and_then(|address| word(memory, address)),
            Rule::IsExpression(code) => evaluate(image, code, Some(frame), registers, memory),
        };
        match value {
            Some(value) => caller.set(register, value),
            None => caller.forget(register),
        }
    }
    match caller.get(row.return_address) {
        Some(address) if rule_of(row.return_address).is_some() => {
            caller.set(Register::RIP, address);
            Step::Caller(caller)
        }
        _ => Step::Failed,
    }
}

/// What an expression computes, with the frame address on its stack if it is given.
fn evaluate(
    image: &Image,
    expression: Expression,
    frame: Option<u64>,
    registers: &Registers,
    memory: &mut Memory<'_>,
) -> Option<u64> {
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 4 };
    let mut evaluation =
        gimli::Expression::<Slice<'_>>(expression.code(image)?).evaluation(encoding);
    evaluation.set_max_iterations(OPERATIONS);
    if let Some(frame) = frame {
        evaluation.set_initial_value(frame);
    }
    let mut state = evaluation.evaluate().ok()?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                let mut bytes = [0; 8];
                let wanted = bytes.get_mut(..usize::from(size))?;
                if !memory.read(address, wanted) {
                    return None;
                }
                evaluation.resume_with_memory(Value::Generic(u64::from_le_bytes(bytes))).ok()?
            }
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers.get(Register::from_dwarf(register.0)?)?;
                evaluation.resume_with_register(Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresCallFrameCfa => {
                evaluation.resume_with_call_frame_cfa(frame?).ok()?
            }
            // Nothing else makes sense in a frame's rule.
            _ => return None,
        };
    }
    let pieces = evaluation.result();
    let [piece] = pieces.as_slice() else { return None };
    match piece.location {
        Location::Address { address } => Some(address),
        Location::Value { value } => value.to_u64(u64::MAX).ok(),
        Location::Register { register } => registers.get(Register::from_dwarf(register.0)?),
        _ => None,
    }
}
