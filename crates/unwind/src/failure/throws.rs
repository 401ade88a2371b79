//! Which throws led to the end of a run.
//!
//! What ends a program may have been thrown before: a payload that was caught in one thread and is thrown
//! again in another (`resume_unwind`, `std::rethrow_exception`, futures), an exception that has an earlier
//! one inside (`std::throw_with_nested`), a panic of a thread that waited for one which panicked
//! (`join().unwrap()`). Where it is thrown again says nothing about why: two bugs meet there. So whoever
//! runs a program notes each throw, and the throws that led to the last one count, the first of them first.
//!
//! The rule, for what was thrown last:
//! 1. The same payload (Rust), or an exception whose header or object names an earlier one (C++), was
//!    thrown before: that throw led to it.
//! 2. A panic whose thread has the payload of another thread's panic on its stack: that panic led to it.
//! 3. A panic of which nothing of the kind is known, after panics of other threads: all of them count. A
//!    lock that is poisoned, a channel that is closed and a scope that ends name nobody. That is stricter
//!    than need be where such panics are caught and forgotten; it is never less.
//!
//! C++ programs throw and catch all the time, so that 3 is for panics alone. This file knows memory and
//! addresses, and neither stacks nor who noted them.

use std::collections::BTreeMap;

use crate::stack::Thread;

/// The class of Rust's exceptions, the vendor and the language; older libraries have it the other way
/// round.
const RUST: [u64; 2] = [u64::from_le_bytes(*b"MOZ\0RUST"), u64::from_be_bytes(*b"MOZ\0RUST")];

/// The last four letters of the classes of C++'s: `C++\0`, or with 1 what depends on another one.
const CPP: u32 = 0x432b_2b00;

/// Bytes of an exception's header, which the object or the payload follows.
const HEADER: u64 = 32;

/// Words before the header in which a dependent exception names what it depends on.
const BEFORE: u64 = 14;

/// Bytes before the header that belong to it: so far back is the block of memory that has both.
const BLOCK: u64 = 96;

/// The largest object that is looked into.
const LARGEST: u64 = 4096;

/// So many throws lead to one at most.
const LONGEST: usize = 8;

/// An exception, as it is in memory when it is thrown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    header: u64,
    kind: Kind,
    /// What stays when it is thrown again: the payload with its table of functions and how it begins, or
    /// the address of the object.
    own: [u64; 4],
    /// Addresses that may be those of earlier ones.
    names: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rust,
    Cpp,
    Other,
}

impl Exception {
    /// The exception with this header, which a thread throws.
    pub fn read(header: u64, thread: &mut dyn Thread) -> Self {
        let mut word = |at: u64| {
            let mut bytes = [0; 8];
            thread.read(at, &mut bytes).then(|| u64::from_le_bytes(bytes))
        };
        let class = word(header).unwrap_or(0);
        let (kind, mut own, mut names) = match class as u32 & !1 {
            _ if RUST.contains(&class) => (Kind::Rust, [0; 4], Vec::new()),
            CPP => (Kind::Cpp, [header.wrapping_add(HEADER), 0, 0, 0], Vec::new()),
            _ => (Kind::Other, [0; 4], Vec::new()),
        };
        match kind {
            Kind::Rust => {
                // Behind the header is an address of the library that made it; then the payload.
                let payload = word(header.wrapping_add(HEADER + 8)).unwrap_or(0);
                let table = word(header.wrapping_add(HEADER + 16)).unwrap_or(0);
                let begins = [0, 8].map(|at| word(payload.wrapping_add(at)).unwrap_or(0));
                own = [payload, table, begins[0], begins[1]];
            }
            Kind::Cpp if class & 1 == 1 => {
                names.extend((1..=BEFORE).filter_map(|back| word(header.wrapping_sub(8 * back))));
            }
            Kind::Cpp => {
                // The size of the block, as the C library's allocator keeps it before the block.
                let start = header.wrapping_sub(BLOCK);
                let size = word(start.wrapping_sub(8)).unwrap_or(0) & !7;
                let object = size.saturating_sub(BLOCK + HEADER + 8);
                if size.is_multiple_of(16) && object <= LARGEST {
                    let words = (0..object / 8).filter_map(|at| word(own[0].wrapping_add(8 * at)));
                    names.extend(words.filter(|it| *it != own[0]));
                }
            }
            Kind::Other => {}
        }
        Self { header, kind, own, names }
    }

    /// Whether it is an earlier one that is thrown again, or has that inside.
    fn is_of(&self, earlier: &Self) -> bool {
        match (self.kind, earlier.kind) {
            (Kind::Rust, Kind::Rust) => self.own == earlier.own,
            (Kind::Cpp, Kind::Cpp) => self.names.contains(&earlier.own[0]),
            _ => false,
        }
    }

    /// Whether a stack has its payload: as two words, one behind the other.
    fn is_on(&self, stack: &[u8]) -> bool {
        let pair = [self.own[0].to_le_bytes(), self.own[1].to_le_bytes()].concat();
        let mut words =
            stack.chunks_exact(8).zip(stack.get(8..).unwrap_or_default().chunks_exact(8));
        self.own[1] != 0 && words.any(|(one, two)| *one == pair[..8] && *two == pair[8..])
    }
}

/// A throw, with what its follower needs to know of it.
#[derive(Clone)]
pub struct Thrown<T> {
    /// The thread.
    thread: u64,
    exception: Exception,
    /// The number of the throw that it is of, and of the panic whose payload its thread has.
    of: Option<u64>,
    holds: Option<u64>,
    /// What the follower left here.
    pub left: T,
}

/// The throws of a process.
#[derive(Clone)]
pub struct Throws<T> {
    all: BTreeMap<u64, Thrown<T>>,
    next: u64,
    /// The last throw of each thread.
    last: BTreeMap<u64, u64>,
    most: usize,
}

/// The throws that led to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leading {
    /// One led to the next, and the last to the one that was asked about.
    pub causes: Vec<u64>,
    /// Panics of other threads of which nothing better is known.
    pub beside: Vec<u64>,
}

impl<T> Throws<T> {
    /// None yet; so many are kept, the last ones, and what threads threw last.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { all: BTreeMap::new(), next: 0, last: BTreeMap::new(), most }
    }

    /// A thread throws. Its stack tells whose payload it has.
    pub fn threw(&mut self, thread: u64, exception: Exception, stack: &[u8], left: T) {
        let mut earlier = self.all.iter().rev();
        let of = earlier.find(|(_, it)| exception.is_of(&it.exception)).map(|(number, _)| *number);
        let holds = self.all.iter().rev().find(|(_, it)| {
            let panics = exception.kind == Kind::Rust && it.exception.kind == Kind::Rust;
            panics && it.thread != thread && it.exception.is_on(stack)
        });
        let holds = holds.map(|(number, _)| *number);
        if exception.kind == Kind::Cpp {
            // What was there before is no more.
            self.all.retain(|number, it| {
                it.exception.header != exception.header || Some(*number) == of
            });
        }
        let number = self.next;
        self.next += 1;
        self.all.insert(number, Thrown { thread, exception, of, holds, left });
        self.last.insert(thread, number);
        while self.all.len() > self.most {
            let lasts: Vec<u64> = self.last.values().copied().collect();
            let Some(old) = self.all.keys().copied().find(|it| !lasts.contains(it)) else { break };
            self.all.remove(&old);
        }
    }

    /// A thread goes on to throw what it has caught; `false` if that is not known.
    pub fn threw_again(&mut self, thread: u64, header: u64) -> bool {
        let mut known = self.all.iter().rev();
        let known = known.find(|(_, it)| it.exception.header == header).map(|(number, _)| *number);
        if let Some(number) = known {
            self.last.insert(thread, number);
        }
        known.is_some()
    }

    /// Nothing was thrown, as far as anybody knows.
    pub fn clear(&mut self) {
        self.all.clear();
        self.last.clear();
    }

    /// The last throw of a thread.
    #[must_use]
    pub fn last_of(&self, thread: u64) -> Option<u64> {
        self.last.get(&thread).copied().filter(|number| self.all.contains_key(number))
    }

    /// The last throw of all.
    #[must_use]
    pub fn last(&self) -> Option<u64> {
        self.last_where(|_| true)
    }

    /// The last throw of the threads that are meant.
    #[must_use]
    pub fn last_where(&self, meant: impl Fn(u64) -> bool) -> Option<u64> {
        let last = self.last.iter().filter(|(thread, _)| meant(**thread)).map(|(_, it)| *it).max();
        last.filter(|number| self.all.contains_key(number))
    }

    /// A throw.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&Thrown<T>> {
        self.all.get(&number)
    }

    /// A throw, to look at it.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut Thrown<T>> {
        self.all.get_mut(&number)
    }

    /// What led to a throw. `is_new` says of one whether it is certain that it was not of something that
    /// was thrown before: memory is used again.
    pub fn leading_to(&self, number: u64, is_new: &mut dyn FnMut(u64) -> bool) -> Leading {
        let mut leading = Leading::default();
        let mut at = number;
        while leading.causes.len() < LONGEST
            && let Some(thrown) = self.all.get(&at)
        {
            let rust = thrown.exception.kind == Kind::Rust;
            let of = thrown.of.filter(|_| !rust || !is_new(at));
            let Some(earlier) = of.or(thrown.holds).filter(|it| self.all.contains_key(it)) else {
                break;
            };
            leading.causes.push(earlier);
            at = earlier;
        }
        leading.causes.reverse();
        if leading.causes.is_empty() {
            leading.beside = self.beside(number);
        }
        leading
    }

    /// Panics of other threads before a panic.
    fn beside(&self, number: u64) -> Vec<u64> {
        let panic = self.all.get(&number).filter(|it| it.exception.kind == Kind::Rust);
        let Some(panic) = panic else { return Vec::new() };
        let before = self.all.range(..number);
        let others =
            before.filter(|(_, it)| it.thread != panic.thread && it.exception.kind == Kind::Rust);
        others.map(|(number, _)| *number).take(LONGEST).collect()
    }

    /// All throws that may be asked about to find what led to one, and that one.
    #[must_use]
    pub fn near(&self, number: u64) -> Vec<u64> {
        let mut near = vec![number];
        let mut at = 0;
        while let Some(thrown) = near.get(at).and_then(|it| self.all.get(it)) {
            let earlier = [thrown.of, thrown.holds].into_iter().flatten();
            let new: Vec<u64> = earlier.filter(|it| !near.contains(it)).collect();
            near.extend(new);
            at += 1;
            if at > 2 * LONGEST {
                break;
            }
        }
        near.extend(self.beside(number));
        near
    }

    /// The same, with what followers left forked.
    pub fn fork(&mut self, fork: impl Fn(&mut T) -> T) -> Self {
        let all = self.all.iter_mut().map(|(number, it)| {
            let left = fork(&mut it.left);
            let exception = it.exception.clone();
            (*number, Thrown { thread: it.thread, exception, of: it.of, holds: it.holds, left })
        });
        Self { all: all.collect(), next: self.next, last: self.last.clone(), most: self.most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::Held;
    use crate::stack::Registers;

    /// Memory of words, by address.
    fn read(header: u64, words: &[(u64, u64)]) -> Exception {
        let words: Vec<_> = words.iter().map(|&(at, value)| (at, value.to_le_bytes())).collect();
        let memory = words.iter().map(|(at, bytes)| (*at, &bytes[..])).collect();
        Exception::read(header, &mut Held { registers: Registers::new(&[0; 16], 0), memory })
    }

    fn panic(header: u64, payload: u64) -> Exception {
        read(
            header,
            &[(header, RUST[0]), (header + 40, payload), (header + 48, 0x5000), (payload, 7)],
        )
    }

    const GNU: u64 = 0x474e_5543_432b_2b00;

    fn leading(throws: &Throws<()>, number: u64) -> Leading {
        throws.leading_to(number, &mut |_| false)
    }

    #[test]
    fn a_payload_that_is_thrown_again_leads_back_to_its_first_throw() {
        let mut throws = Throws::new(8);
        throws.threw(2, panic(0x100, 0x9000), &[], ());
        throws.threw(3, panic(0x200, 0xa000), &[], ());
        throws.threw(1, panic(0x300, 0x9000), &[], ());
        throws.threw(1, panic(0x400, 0x9000), &[], ());
        assert_eq!(leading(&throws, 3), Leading { causes: vec![0, 2], beside: vec![] });
        // The same address, and known to be another panic: nothing is known but who else panicked.
        let new = throws.leading_to(2, &mut |_| true);
        assert_eq!(new, Leading { causes: vec![], beside: vec![0, 1] });
        assert_eq!(
            (throws.last_of(1), throws.last_of(2), throws.last()),
            (Some(3), Some(0), Some(3))
        );
    }

    #[test]
    fn a_payload_on_the_stack_leads_to_its_panic() {
        let mut throws = Throws::new(8);
        throws.threw(2, panic(0x100, 0x9000), &[], ());
        throws.threw(3, panic(0x200, 0xa000), &[], ());
        let stack = [1u64, 0x9000, 0x5000, 2].map(u64::to_le_bytes).concat();
        throws.threw(1, panic(0x300, 0xb000), &stack, ());
        assert_eq!(leading(&throws, 2), Leading { causes: vec![0], beside: vec![] });
        let stack = [1u64, 0x9000, 2, 0x5000].map(u64::to_le_bytes).concat();
        throws.threw(1, panic(0x400, 0xc000), &stack, ());
        assert_eq!(leading(&throws, 3).beside, [0, 1]);
    }

    #[test]
    fn exceptions_of_cpp_name_what_they_depend_on_or_have_inside() {
        let mut throws = Throws::new(8);
        throws.threw(2, read(0x1000, &[(0x1000, GNU)]), &[], ());
        // Thrown again in another thread: the object of the first is named before the header.
        throws.threw(1, read(0x2000, &[(0x2000, GNU | 1), (0x2000 - 80, 0x1020)]), &[], ());
        assert_eq!(leading(&throws, 1).causes, [0]);
        // One with the other inside; the block has 160 bytes.
        let nested = [(0x3000, GNU), (0x3000 - 104, 161), (0x3028, 0x1020)];
        throws.threw(1, read(0x3000, &nested), &[], ());
        assert_eq!(leading(&throws, 2).causes, [0]);
        // Not outside of the block; and others' exceptions are no reason.
        let outside = [(0x4000, GNU), (0x4000 - 104, 145), (0x4028, 0x1020)];
        throws.threw(1, read(0x4000, &outside), &[], ());
        assert_eq!(leading(&throws, 3), Leading::default());
        // Memory that is used again is another exception.
        throws.threw(2, read(0x1000, &[(0x1000, GNU)]), &[], ());
        assert!(throws.get(0).is_none() && throws.get(4).is_some());
        assert!(throws.threw_again(1, 0x1000) && throws.last_of(1) == Some(4));
        assert!(!throws.threw_again(1, 0x7777));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut throws = Throws::new(3);
        throws.threw(9, panic(0x100, 0x9000), &[], ());
        for at in 1..10 {
            throws.threw(1, panic(0x100 * at, 0x9000 + at), &[], ());
        }
        assert_eq!((throws.all.len(), throws.last_of(9), throws.last_of(1)), (3, Some(0), Some(9)));
    }
}
