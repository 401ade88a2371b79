//! Files that are mapped into memory: their content now, and what was written through a mapping.

use super::{Files, content::Content, ids::InodeId, inode::Kind};
use crate::{linux::inputs::FileInput, memory::Mark};

impl Files {
    /// The content of the file with this number, if it still exists.
    pub fn mapped_content(&self, number: u64) -> Option<(Content, InodeId)> {
        let id = InodeId(number);
        match &self.inodes.get(&id)?.kind {
            Kind::File(content) => Some((content.clone(), id)),
            _ => None,
        }
    }

    /// Takes over a page that was written through a shared mapping. A mapping cannot make a file
    /// longer: what is behind the end is dropped.
    pub fn write_back(
        &mut self,
        number: u64,
        offset: u64,
        bytes: &[u8],
        marks: Option<&[Option<Mark>]>,
    ) {
        let Some((content, id)) = self.mapped_content(number) else { return };
        let count = content.len().saturating_sub(offset).min(bytes.len() as u64) as usize;
        if count > 0 {
            // The inode is a regular file that is open: changing it cannot fail.
            let _ = self.change(id, |content| {
                content.write_at(offset, &bytes[..count]);
                if let Some(marks) = marks {
                    content.mark(offset, &marks[..count]);
                }
            });
        }
    }

    /// Gives bytes of a file other values, as if it had always had them: nothing else about the file
    /// changes. Bytes behind its end are dropped.
    pub(crate) fn rewrite(&mut self, id: InodeId, bytes: impl IntoIterator<Item = (u64, u8)>) {
        // A file that cannot be read has no bytes to change.
        if self.load(id).is_err() {
            return;
        }
        if let Kind::File(content) = &mut self.inode_mut(id).kind {
            for (offset, byte) in bytes {
                if offset < content.len() {
                    content.give_at(offset, &[byte]);
                }
            }
        }
    }

    /// Gives a file other bytes, as if it had always had them; they are those of an input, or plain.
    pub(crate) fn replace(&mut self, id: InodeId, bytes: &[u8], input: Option<FileInput>) {
        if let Kind::File(content) = &mut self.inode_mut(id).kind {
            *content = Content::from_bytes(bytes);
            if let Some(input) = input {
                content.mark_input(input);
            }
        }
    }
}
