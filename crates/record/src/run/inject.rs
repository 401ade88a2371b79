//! Gives a running program one more filter of system calls.
//!
//! At the end of a system call, a stopped thread is made to call `seccomp` for all threads of its
//! process, and is put back to where it was. The filter is written below its stack, beyond what the
//! thread may use, and what was there is written back.

use std::io;

use stunt_tracee::{self as tracee, CALL, Event, Memory, Onward};

/// What a thread may use below its stack pointer.
const RED_ZONE: u64 = 128;

/// The filter is for all threads of the process.
const ALL_THREADS: u64 = libc::SECCOMP_FILTER_FLAG_TSYNC;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// The filter is set.
    Done,
    /// It could not be set; the program goes on without it.
    Refused,
    /// The thread ended meanwhile, in this way.
    Gone(Event),
}

/// Sets a filter in the process of a thread that is stopped at the end of a system call.
pub fn inject(thread: i32, filter: &[libc::sock_filter]) -> io::Result<Injected> {
    let old = tracee::registers(thread)?;
    // The list of instructions, and before it what names it: their number, and their address.
    let size = 16 + 8 * filter.len() as u64;
    let place = (old.rsp.wrapping_sub(RED_ZONE + size)) & !15;
    let mut bytes = Vec::with_capacity(size as usize);
    bytes.extend((filter.len() as u64).to_le_bytes());
    bytes.extend((place + 16).to_le_bytes());
    for step in filter {
        bytes.extend(step.code.to_le_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_le_bytes());
    }
    let memory = Memory::of(thread)?;
    let mut before = vec![0; bytes.len()];
    if !memory.read(place, &mut before) || memory.write(place, &bytes).is_err() {
        // The stack ends here, or is no stack.
        return Ok(Injected::Refused);
    }
    let mut call = old;
    // Back to the instruction that made the call, which has two bytes.
    call.rip = old.rip.wrapping_sub(2);
    call.rax = libc::SYS_seccomp.cast_unsigned();
    call.orig_rax = u64::MAX;
    call.rdi = u64::from(libc::SECCOMP_SET_MODE_FILTER);
    call.rsi = ALL_THREADS;
    call.rdx = place;
    tracee::set_registers(thread, &call)?;
    let result = match finish(thread)? {
        Ok(result) => result,
        Err(event) => return Ok(Injected::Gone(event)),
    };
    memory.write(place, &before)?;
    // The number of the call is gone: the call that we come from must not be made again.
    let mut back = old;
    back.orig_rax = u64::MAX;
    tracee::set_registers(thread, &back)?;
    Ok(if result == 0 { Injected::Done } else { Injected::Refused })
}

/// Lets a thread make its call to the end; the result, or how the thread ended.
fn finish(thread: i32) -> io::Result<Result<u64, Event>> {
    let mut ends = 0;
    let mut late = Vec::new();
    while ends < 2 {
        tracee::go_on(thread, Onward::ToCall, 0)?;
        match tracee::wait(Some(thread))? {
            Some((_, Event::Stopped(CALL, 0))) => ends += 1,
            // A signal that came at this moment is delivered afterwards.
            Some((_, Event::Stopped(signal, 0))) => late.push(signal),
            Some((_, Event::Stopped(..))) => {}
            Some((_, event)) => return Ok(Err(event)),
            None => return Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }
    let result = tracee::registers(thread)?.rax;
    for signal in late {
        tracee::send(thread, signal);
    }
    Ok(Ok(result))
}
