//! Layer 1: constants, and the model at hand.
//!
//! The run's own input satisfies the condition. When it satisfies the question too, nothing has
//! to be searched; and a question about a byte that nothing else ties is a set of values.

use stunt_models::{ByteSet, Condition, Masks};
use stunt_terms::{Assignment, Evaluator, Op, Pool, Term};

use crate::query::{Answer, Model};

/// The answer, if the hint satisfies all questions; and to a single question also if it is
/// constant, or about one byte that only literals about that byte constrain. With a hint only.
pub(crate) fn answer(
    pool: &Pool,
    masks: &mut Masks,
    evaluator: &mut Evaluator,
    condition: &Condition,
    hint: &Assignment,
    questions: &[Term],
) -> Option<Answer> {
    let &[question] = questions else {
        evaluator.reset();
        let hold = questions.iter().all(|&question| evaluator.holds(pool, question, hint));
        return hold.then(|| Answer::Sat(Model::default()));
    };
    if let Op::Const(value) = pool.op(question) {
        return Some(if value == 1 { Answer::Sat(Model::default()) } else { Answer::Unsat });
    }
    let Some((byte, mask)) = masks.mask_of(pool, question) else {
        evaluator.reset();
        let holds = evaluator.holds(pool, question, hint);
        return holds.then(|| Answer::Sat(Model::default()));
    };
    if mask.contains(hint.get(byte)) {
        return Some(Answer::Sat(Model::default()));
    }
    let domain = match condition.component_of(byte) {
        None => ByteSet::ALL,
        Some(component) => {
            let domain = component.domain(byte)?;
            if domain.intersect(&mask).is_empty() {
                return Some(Answer::Unsat);
            }
            component.single()?.1
        }
    };
    Some(match domain.intersect(&mask).nth(0) {
        Some(value) => Answer::Sat(Model::from_values(vec![(byte, value)])),
        None => Answer::Unsat,
    })
}
