//! The host's calls, raw: a number, or an error number.

use std::ffi::CString;
use std::os::fd::RawFd;

use stunt_machine::linux::errno::Errno;

/// The result of a call, as the C library gives it.
pub fn result(value: i64) -> Result<i64, Errno> {
    if value >= 0 {
        return Ok(value);
    }
    let number = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Err(Errno::from_number(number).expect("an error number of Linux"))
}

pub fn path(text: &str) -> CString {
    CString::new(text).expect("no zero inside")
}

macro_rules! call {
    ($name:ident($($argument:expr),*)) => {
        // SAFETY: every argument is a number, or points to memory that outlives the call and has
        // the size that the call is told.
        crate::native::result(unsafe { libc::$name($($argument),*) } as i64)
    };
}
pub(crate) use call;

/// What `fstatat` tells, as far as it can be compared: mode, links, size.
pub fn stat(dir: RawFd, text: &str, flags: i32) -> Result<(u32, u64, u64), Errno> {
    let name = path(text);
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut out: libc::stat = unsafe { std::mem::zeroed() };
    call!(fstatat(dir, name.as_ptr(), &mut out, flags))?;
    let size = if out.st_mode & libc::S_IFMT == libc::S_IFDIR { 0 } else { out.st_size as u64 };
    Ok((out.st_mode, out.st_nlink, size))
}

pub fn fstat(fd: RawFd) -> Result<(u32, u64, u64), Errno> {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut out: libc::stat = unsafe { std::mem::zeroed() };
    call!(fstat(fd, &mut out))?;
    let size = if out.st_mode & libc::S_IFMT == libc::S_IFDIR { 0 } else { out.st_size as u64 };
    Ok((out.st_mode, out.st_nlink, size))
}
