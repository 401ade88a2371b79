//! Who runs stunt, as programs in the machine see it.

use std::os::unix::fs::MetadataExt;

use stunt_machine::linux::fs::User;

use crate::error::Error;

/// The user and the groups of this process.
///
/// # Errors
/// The kernel does not say.
pub fn user() -> Result<User, Error> {
    // The kernel's account of this process; nothing else tells the groups without unsafe code.
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        // A process that has closed itself off cannot read it; it works in a folder of its user's.
        let folder =
            std::fs::metadata(".").map_err(Error::host("cannot read the working folder"))?;
        return Ok(User { uid: folder.uid(), gid: folder.gid(), groups: Vec::new() });
    };
    let numbers = |key: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_default().split_whitespace().flat_map(str::parse).collect()
    };
    let first = |key| numbers(key).first().copied().ok_or(Error::NoUser(key));
    Ok(User { uid: first("Uid:")?, gid: first("Gid:")?, groups: numbers("Groups:") })
}
