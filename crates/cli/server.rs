//! The built-in example: a small web server with a buffer overflow, and a run of it.
//!
//! The server is the one that Castro, Costa and Martin use to explain path conditions (*Better bug
//! reporting with better privacy*, ASPLOS 2008, figure 1): it copies the URL of a GET request into
//! an array without looking at its length. Here it is written once, over a [`Run`] that follows
//! the concrete bytes and records every test as a term; so the path condition is what the run
//! found out, not a list made by hand. Running it on a double shows that the double fails alike.

use stunt_terms::{Assignment, Evaluator, Pool, Term};

/// Room for the URL in the server's array; one byte more is the overflow.
const ROOM: u32 = 20;

/// How a run of the server ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The request was answered.
    Answered,
    /// The message is not a GET request.
    NotGet,
    /// The URL was written past the end of its array; the write is at this place in the message.
    Overflow {
        /// The offset of the byte that was written outside.
        at: u32,
    },
}

/// A run on concrete bytes that records what it finds out about them.
pub struct Run<'a> {
    pool: &'a mut Pool,
    input: &'a Assignment,
    /// The tests of the run in order, each as a term that holds for the input.
    pub path: Vec<Term>,
}

impl<'a> Run<'a> {
    /// A run that is about to start.
    pub fn new(pool: &'a mut Pool, input: &'a Assignment) -> Run<'a> {
        Run { pool, input, path: Vec::new() }
    }

    /// Byte `offset` of the message, loaded into a register with sign extension, as compilers do.
    fn load(&mut self, offset: u32) -> Term {
        let byte = self.pool.input(0, offset);
        self.pool.sign_extend(32, byte)
    }

    /// A conditional branch on `register == character`: goes where the input goes, and records
    /// the side that was taken.
    fn equals(&mut self, register: Term, character: u8) -> bool {
        let character = self.pool.constant(32, u128::from(character));
        let test = self.pool.eq(register, character);
        let taken = Evaluator::new().holds(self.pool, test, self.input);
        self.path.push(if taken { test } else { self.pool.not(test) });
        taken
    }
}

/// The server: handles one message.
pub fn process_message(run: &mut Run<'_>) -> Outcome {
    for (offset, expected) in (0..).zip(*b"GET ") {
        let character = run.load(offset);
        if !run.equals(character, expected) {
            return Outcome::NotGet;
        }
    }
    let mut written = 0;
    loop {
        let at = 4 + written;
        let character = run.load(at);
        if run.equals(character, b'\n') || run.equals(character, b' ') {
            return Outcome::Answered;
        }
        if written == ROOM {
            return Outcome::Overflow { at };
        }
        written += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(message: &[u8]) -> (Outcome, usize) {
        let mut pool = Pool::new();
        let input = Assignment::from_bytes(message);
        let mut run = Run::new(&mut pool, &input);
        let outcome = process_message(&mut run);
        let path = run.path.clone();
        assert!(path.iter().all(|&test| Evaluator::new().holds(&pool, test, &input)));
        (outcome, path.len())
    }

    #[test]
    fn the_server_fails_at_the_twenty_first_byte_of_a_url() {
        assert_eq!(outcome(b"POST /"), (Outcome::NotGet, 1));
        assert_eq!(outcome(b"GET /index.html HTTP/1.1"), (Outcome::Answered, 4 + 11 * 2 + 2));
        assert_eq!(outcome(b"GET /234567890123456789 "), (Outcome::Answered, 4 + 19 * 2 + 2));
        let path = 4 + 21 * 2;
        assert_eq!(outcome(b"GET /2345678901234567890X"), (Outcome::Overflow { at: 24 }, path));
    }
}
