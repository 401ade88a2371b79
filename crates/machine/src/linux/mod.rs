//! The Linux kernel as a program sees it: files, memory, processes, signals, time.
//!
//! ```text
//! schedule ──► call ──► file_calls, memory_calls, process_calls, signal_calls, time_calls, timers
//!     │                     fs        memory       process, loader    signal      clock
//!     └──► signal (delivery)
//! ```
//!
//! Everything is deterministic and closed; a system call that is not here answers `ENOSYS` and is
//! counted.

/// Compares numbers of the module around a test with those of the host.
#[cfg(test)]
macro_rules! same_as_the_host {
    ($($name:ident)*) => {
        $(assert_eq!(super::$name as i64 as u32, libc::$name as i64 as u32, stringify!($name));)*
    };
}

pub mod abi;
mod call;
mod clock;
pub mod errno;
mod file_calls;
pub mod fs;
mod ids;
mod inputs;
mod kernel;
mod loader;
mod memory_calls;
mod modules;
mod numbers;
mod proc_texts;
mod process;
mod process_calls;
mod schedule;
mod signal;
mod signal_calls;
mod threads;
mod time_calls;
mod timers;

pub use ids::{Pid, ThreadId, Tid};
pub use inputs::Input;
pub(crate) use kernel::FIRST_PID;
pub use kernel::{Kernel, Missing, Setup};
pub(crate) use modules::{Mapped, mapped_files};
pub use numbers::syscall_name;
pub use process::Death;
pub use schedule::{Crash, Ending, LimitReached, Limits};
pub(crate) use schedule::{Engine, of_trap};

pub use signal::{Signal, signal_name};
