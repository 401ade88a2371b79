//! The way from a program's entry point to the last moment before it looks at its input.
//!
//! The process goes from system call to system call as long as these are harmless, and waits before
//! the first that is not. That call has not been made then: whoever goes on from here makes it.
//!
//! Always holds: a copy of a process that waits here knows its own number. On the way the process takes
//! a stand-in for its number, which no process has; wherever its memory or registers have that in the
//! end, copies get their own ([`Late::places`]), be it in the C library, in a mutex that is held, or in
//! a variable. A process that has made text of it, or does anything but harmless calls and computing
//! (a signal, a throw), does not get here.

use std::io;

use libc::user_regs_struct;
use stunt_tracee::{self as tracee, AT_CALL, Event, Memory, Onward};

use crate::harmless::{Call, Meaning, Surroundings, THREAD_NUMBER};
use crate::process;

/// What a process takes for its number: more than the kernel gives (4,194,304), and less than 30 bits,
/// which is what a mutex keeps and what Python has in one digit.
pub const STAND_IN: u32 = 0x35a1_7c9b;

/// So many calls are made on the way at most: a program that makes more may never look at its input.
const MOST_CALLS: u32 = 200_000;

/// Bytes of memory that are searched for the number at most, and at a time.
const MOST_MEMORY: u64 = 512 << 20;
const PIECE: u64 = 1 << 20;

/// Places where the number is at most: every copy is written to in each of them.
const MOST_PLACES: usize = 256;

/// The instruction that makes a call.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// A process that waits before it looks at its input.
pub struct Late {
    /// What it has when it goes on: it is about to execute the instruction that makes the call.
    pub registers: user_regs_struct,
    /// Where its memory has the stand-in.
    pub places: Vec<u64>,
}

/// Where a process has come.
pub enum Arrival {
    /// To the last moment before its input.
    BeforeInput(Box<Late>),
    /// To something else; it is stopped.
    Elsewhere,
    /// To its end.
    Gone,
}

/// Lets a process go on that is stopped at its entry point.
pub fn until_input(
    process: i32,
    memory: &Memory,
    surroundings: &Surroundings,
) -> io::Result<Arrival> {
    let thread = tracee::registers(process)?.fs_base;
    if thread != 0 {
        // Mutexes take the number from here.
        let mut known = [0; 4];
        let at = thread.wrapping_add(THREAD_NUMBER);
        if !memory.read(at, &mut known) || i32::from_le_bytes(known) != process {
            return Ok(Arrival::Elsewhere);
        }
        memory.write(at, &STAND_IN.to_le_bytes())?;
    }
    for _ in 0..MOST_CALLS {
        match next_stop(process)? {
            Stop::AtCall => {}
            Stop::Elsewhere => return Ok(Arrival::Elsewhere),
            Stop::Gone => return Ok(Arrival::Gone),
        }
        let before = tracee::registers(process)?;
        let mut instruction = [0; SYSCALL.len()];
        // Calls of another architecture have other numbers.
        if !memory.read(before.rip.wrapping_sub(2), &mut instruction) || instruction != SYSCALL {
            return Ok(Arrival::Elsewhere);
        }
        let call = Call {
            process,
            number: before.orig_rax,
            arguments: [before.rdi, before.rsi, before.rdx, before.r10, before.r8, before.r9],
            thread: before.fs_base,
            known_as: STAND_IN,
        };
        let meaning = surroundings.meaning(&call, memory);
        match meaning {
            Meaning::Harmless | Meaning::TellsNumber => {}
            Meaning::NamesItself => {
                tracee::set_registers(process, &user_regs_struct { rdi: 0, ..before })?;
            }
            Meaning::Own => {
                let none = user_regs_struct { orig_rax: u64::MAX, ..before };
                tracee::set_registers(process, &none)?;
            }
        }
        match next_stop(process)? {
            Stop::AtCall => {}
            Stop::Elsewhere => return Ok(Arrival::Elsewhere),
            Stop::Gone => return Ok(Arrival::Gone),
        }
        match meaning {
            Meaning::Harmless => {}
            Meaning::TellsNumber => {
                let after = tracee::registers(process)?;
                let told = user_regs_struct { rax: STAND_IN.into(), ..after };
                tracee::set_registers(process, &told)?;
            }
            Meaning::NamesItself => {
                let after = tracee::registers(process)?;
                tracee::set_registers(process, &user_regs_struct { rdi: before.rdi, ..after })?;
            }
            Meaning::Own => {
                let registers = user_regs_struct {
                    rip: before.rip.wrapping_sub(SYSCALL.len() as u64),
                    rax: before.orig_rax,
                    orig_rax: u64::MAX,
                    ..before
                };
                return Ok(match places(process, memory) {
                    Some(places) => Arrival::BeforeInput(Box::new(Late { registers, places })),
                    None => Arrival::Elsewhere,
                });
            }
        }
    }
    Ok(Arrival::Elsewhere)
}

/// Where a process stops next.
enum Stop {
    /// Before or after a call.
    AtCall,
    /// At a mark, before a signal, or for an event.
    Elsewhere,
    /// It is no more.
    Gone,
}

fn next_stop(process: i32) -> io::Result<Stop> {
    tracee::go_on(process, Onward::ToCall, 0)?;
    Ok(match tracee::wait(Some(process))? {
        Some((_, AT_CALL)) => Stop::AtCall,
        Some((_, Event::Stopped(..))) => Stop::Elsewhere,
        Some((_, Event::Exited(_) | Event::Killed(_))) | None => Stop::Gone,
    })
}

/// Where memory has the stand-in. Nothing if there is too much of either, or if it has become text, whose
/// length is another for another number.
fn places(process: i32, memory: &Memory) -> Option<Vec<u64>> {
    let text = STAND_IN.to_string();
    let mut places = Vec::new();
    let mut left = MOST_MEMORY;
    for range in process::own_memory(process) {
        left = left.checked_sub(range.end - range.start)?;
        let mut at = range.start;
        while at < range.end {
            // What lies across two pieces is found in the first.
            let most = PIECE.min(range.end - at) + text.len() as u64 - 1;
            let bytes = memory.read_up_to(at, usize::try_from(most).ok()?);
            if !find(&bytes, text.as_bytes()).is_empty() {
                return None;
            }
            let found = find(&bytes, &STAND_IN.to_le_bytes()).into_iter();
            places.extend(found.map(|offset| at + offset as u64).filter(|at| *at < range.end));
            if places.len() > MOST_PLACES {
                return None;
            }
            at += PIECE;
        }
    }
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// Where these bytes, at least four, are among others.
fn find(all: &[u8], wanted: &[u8]) -> Vec<usize> {
    const PAGE: usize = 4096;
    let begins = u32::from_le_bytes([wanted[0], wanted[1], wanted[2], wanted[3]]);
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let mut found = Vec::new();
    for start in (0..all.len()).step_by(PAGE) {
        let end = all.len().min(start + PAGE + wanted.len() - 1);
        let page = &all[start..end];
        // All words are compared, which compilers turn into wide instructions: hardly a page has one.
        let count = |from: usize| {
            let words = page.get(from..).unwrap_or_default().chunks_exact(4);
            words.map(|bytes| u32::from(word(bytes) == begins)).sum::<u32>()
        };
        if (0..4).map(count).sum::<u32>() > 0 {
            let windows = page.windows(wanted.len()).enumerate();
            let here = windows.filter(|(at, bytes)| *at < PAGE && *bytes == wanted);
            found.extend(here.map(|(at, _)| start + at));
        }
    }
    found
}

impl Late {
    /// The registers of a copy with this number.
    pub fn registers_of(&self, copy: i32) -> user_regs_struct {
        let mut registers = self.registers;
        let user_regs_struct {
            r15,
            r14,
            r13,
            r12,
            rbp,
            rbx,
            r11,
            r10,
            r9,
            r8,
            rax,
            rcx,
            rdx,
            rsi,
            rdi,
            ..
        } = &mut registers;
        for register in [r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi] {
            if *register == u64::from(STAND_IN) {
                *register = u64::from(copy.cast_unsigned());
            }
        }
        registers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_wherever_they_are() {
        let wanted = STAND_IN.to_le_bytes();
        let mut all = vec![0; 20_000];
        let places = [0, 5, 1001, 4093, 8190, 8196, 12_286, 19_996];
        for at in places {
            all[at..at + 4].copy_from_slice(&wanted);
        }
        assert_eq!(find(&all, &wanted), places);
        assert_eq!(find(&all[..19_999], &wanted), places[..7]);
        all[4090..4099].copy_from_slice(b"899775643");
        assert_eq!(find(&all, STAND_IN.to_string().as_bytes()), [4090]);
        assert!(find(&all[..3], &wanted).is_empty());
    }
}
