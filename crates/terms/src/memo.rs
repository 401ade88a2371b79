//! What the constructors were asked lately, and what they answered.
//!
//! A program's instructions make the same terms again and again: a byte is extended, cut, and
//! compared, each time anew. The answer to a question depends on its operands alone, and these never
//! change, so that an old answer is as good as a new one. Always: an answer that is found here is the
//! one that would be worked out. How often each rule was applied is counted when it is applied, not
//! when its result is remembered.

use crate::pool::Pool;
use crate::term::Term;

/// How many answers are kept. A newer one takes the place of an older.
const PLACES: usize = 1 << 13;

/// A constructor with two operands, or with one and numbers.
#[derive(Clone, Copy)]
pub(crate) enum Question {
    /// The bits from `lo` on, so many.
    Slice {
        lo: u8,
        width: u8,
    },
    ZeroExtend {
        width: u8,
    },
    SignExtend {
        width: u8,
    },
    Concat,
    Eq,
    Ult,
    Slt,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Not,
}

impl Question {
    /// A number for each question. No question is zero.
    #[inline(always)]
    fn number(self) -> u32 {
        let (kind, lo, width) = match self {
            Question::Slice { lo, width } => (1, lo, width),
            Question::ZeroExtend { width } => (2, 0, width),
            Question::SignExtend { width } => (3, 0, width),
            Question::Concat => (4, 0, 0),
            Question::Eq => (5, 0, 0),
            Question::Ult => (6, 0, 0),
            Question::Slt => (7, 0, 0),
            Question::Add => (8, 0, 0),
            Question::Sub => (9, 0, 0),
            Question::And => (10, 0, 0),
            Question::Or => (11, 0, 0),
            Question::Xor => (12, 0, 0),
            Question::Not => (13, 0, 0),
        };
        kind | u32::from(lo) << 8 | u32::from(width) << 16
    }
}

#[derive(Clone, Copy)]
struct Answer {
    question: u32,
    operands: [Term; 2],
    result: Term,
}

/// Answers by question and operands.
#[derive(Default)]
pub(crate) struct Memo(Vec<Option<Answer>>);

impl Pool {
    /// The answer to a question: the last one, or the one that `make` gives.
    #[inline(always)]
    pub(crate) fn remembered(
        &mut self,
        question: Question,
        operands: [Term; 2],
        make: impl FnOnce(&mut Pool) -> Term,
    ) -> Term {
        // Inside of a sum's low bits, how deep the walk is counts, too.
        if self.depth > 0 {
            return make(self);
        }
        let number = question.number();
        let [a, b] = operands.map(|term| u64::from(term.handle().get()));
        let key = (a | b << 32) ^ u64::from(number) << 24;
        let at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51) as usize % PLACES;
        if let Some(Some(answer)) = self.memo.0.get(at)
            && answer.question == number
            && answer.operands == operands
        {
            return answer.result;
        }
        let result = make(self);
        if self.memo.0.is_empty() {
            self.memo.0 = vec![None; PLACES];
        }
        self.memo.0[at] = Some(Answer { question: number, operands, result });
        result
    }
}
