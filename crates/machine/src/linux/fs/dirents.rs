//! `getdents64`: the entries of a directory, in the kernel's layout.
//!
//! Entries come sorted by name, behind `.` and `..`. The list is made at the first call and when
//! the offset goes back to zero; a name made meanwhile shows up after that.

use std::sync::Arc;

use super::description::{Listed, Object};
use super::ids::{FileId, Node};
use super::{Caller, Files};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// Bytes before the name.
const HEAD: usize = 19;

impl Files {
    /// Fills at most `room` bytes with entries; an empty answer is the end.
    pub fn entries(
        &mut self,
        caller: &Caller<'_>,
        file: FileId,
        room: usize,
    ) -> Result<Vec<u8>, Errno> {
        let description = self.description(file)?;
        if description.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        let node = match description.object {
            Object::Inode(id) => Node::Inode(id),
            Object::ProcDirectory(node) => Node::Proc(node),
            _ => return Err(Errno::ENOTDIR),
        };
        if !self.is_directory(node) {
            return Err(Errno::ENOTDIR);
        }
        if let Node::Inode(id) = node
            && self.directory(Node::Inode(id))?.1.removed
        {
            return Err(Errno::ENOENT);
        }
        let mut index = description.offset;
        let listing = match (&description.listing, index) {
            (Some(listing), 1..) => listing.clone(),
            _ => self.full_list(caller, node)?,
        };
        let mut out = Vec::new();
        for (name, ino, kind) in listing.iter().skip(index as usize) {
            let size = (HEAD + name.len() + 1).next_multiple_of(8);
            if out.len() + size > room {
                if out.is_empty() {
                    return Err(Errno::EINVAL);
                }
                break;
            }
            index += 1;
            let end = out.len() + size;
            out.extend_from_slice(&ino.to_le_bytes());
            out.extend_from_slice(&index.to_le_bytes());
            out.extend_from_slice(&(size as u16).to_le_bytes());
            out.push(*kind);
            out.extend_from_slice(name);
            out.resize(end, 0);
        }
        let description = self.description_mut(file)?;
        description.offset = index;
        description.listing = Some(listing);
        Ok(out)
    }

    fn full_list(&self, caller: &Caller<'_>, node: Node) -> Result<Arc<[Listed]>, Errno> {
        let above = self.parent(node);
        let mut listed: Vec<Listed> = vec![
            (b"."[..].into(), self.stat(node)?.ino, DT_DIR),
            (b".."[..].into(), self.stat(above)?.ino, DT_DIR),
        ];
        listed.extend(self.list(caller.processes, node)?);
        Ok(listed.into())
    }

    /// The names in a directory with their types, sorted, without `.` and `..`.
    pub fn names(&self, caller: &Caller<'_>, dir: Node) -> Result<Vec<(Vec<u8>, u8)>, Errno> {
        let listed = self.list(caller.processes, dir)?;
        Ok(listed.into_iter().map(|(name, _, kind)| (name.to_vec(), kind)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    #[test]
    fn the_layout_is_the_hosts() {
        assert_eq!(offset_of!(libc::dirent64, d_off), 8);
        assert_eq!(offset_of!(libc::dirent64, d_reclen), 16);
        assert_eq!(offset_of!(libc::dirent64, d_type), 18);
        assert_eq!(offset_of!(libc::dirent64, d_name), super::HEAD);
    }
}
