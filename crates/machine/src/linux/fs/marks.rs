//! What the bytes stand for that files, pipes and sockets hold, if for more than their values.
//!
//! By offset: into a file, or into the stream through a pipe or a socket, from its first byte on.
//! An input is marked as a whole and costs nothing until it is changed; other marks are kept in
//! pages. Whoever changes a byte says so here. What a mark means is not known here.

use std::sync::Arc;

use imbl::OrdMap;

use super::Files;
use super::description::Object;
use super::ids::{FileId, InodeId, PipeId, Place, SocketId, SourceId};
use super::inode::{Inode, Kind};
use crate::linux::abi::PAGE;
use crate::linux::errno::Errno;
use crate::linux::inputs::FileInput;
use crate::memory::Mark;

type Page = [Option<Mark>; PAGE];

/// The marks of a file or a stream.
#[derive(Clone, Default)]
pub(crate) struct HeldMarks {
    /// The input that this is, and how many of its leading bytes still count.
    input: Option<(FileInput, u64)>,
    pages: OrdMap<u64, Arc<Page>>,
}

/// The offset of the first byte of a page, and where in its page an offset is.
fn split(offset: u64) -> (u64, usize) {
    (offset / PAGE as u64, (offset % PAGE as u64) as usize)
}

impl HeldMarks {
    /// The marks of an input.
    pub(crate) fn of_input(input: FileInput) -> Self {
        Self { input: Some((input, u64::MAX)), pages: OrdMap::new() }
    }

    /// Whether nothing is marked.
    pub(crate) fn is_empty(&self) -> bool {
        self.input.is_none() && self.pages.is_empty()
    }

    /// What a byte stands for.
    pub(crate) fn get(&self, offset: u64) -> Option<Mark> {
        let (number, at) = split(offset);
        match self.pages.get(&number) {
            Some(page) => page[at],
            None => self.of_original(offset),
        }
    }

    fn of_original(&self, offset: u64) -> Option<Mark> {
        let (input, length) = self.input.as_ref()?;
        if offset < *length { input.mark(offset) } else { None }
    }

    /// What neighbouring bytes stand for; nothing if none stands for more than its value.
    pub(crate) fn range(&self, offset: u64, count: usize) -> Option<Vec<Option<Mark>>> {
        if self.is_empty() {
            return None;
        }
        let marks: Vec<Option<Mark>> =
            (offset..offset + count as u64).map(|offset| self.get(offset)).collect();
        marks.iter().any(Option::is_some).then_some(marks)
    }

    /// Says what bytes stand for that were just written.
    pub(crate) fn set(&mut self, offset: u64, marks: &[Option<Mark>]) {
        let mut done = 0;
        while done < marks.len() {
            let (number, at) = split(offset + done as u64);
            let count = (PAGE - at).min(marks.len() - done);
            let new = &marks[done..done + count];
            done += count;
            let page = self.pages.get(&number);
            if page.is_none() && self.input.is_none() && new.iter().all(Option::is_none) {
                continue;
            }
            let mut page = page.map_or_else(
                || {
                    let start = number * PAGE as u64;
                    std::array::from_fn(|k| self.of_original(start + k as u64))
                },
                |page| **page,
            );
            page[at..at + count].copy_from_slice(new);
            if self.input.is_none() && page.iter().all(Option::is_none) {
                self.pages.remove(&number);
            } else {
                self.pages.insert(number, Arc::new(page));
            }
        }
    }

    /// Bytes were overwritten with plain values.
    pub(crate) fn clear(&mut self, offset: u64, count: u64) {
        let none = [None; PAGE];
        let end = offset.saturating_add(count);
        let touched = self.pages.range(split(offset).0..=split(end).0);
        let touched: Vec<u64> = touched.map(|(&number, _)| number).collect();
        for number in touched {
            let start = number * PAGE as u64;
            let (from, to) = (offset.max(start), end.min(start + PAGE as u64));
            self.set(from, &none[..to.saturating_sub(from) as usize]);
        }
        // What is still as it came with the input gets pages to say that it is not. A hole may be
        // larger than any input.
        let Some((_, length)) = self.input else { return };
        let (mut at, end) = (offset, end.min(length).min(1 << 32));
        while at < end {
            let (number, start) = split(at);
            let size = (end - at).min((PAGE - start) as u64);
            if !self.pages.contains_key(&number) {
                self.set(at, &none[..size as usize]);
            }
            at += size;
        }
    }

    /// The file was cut: what comes behind later is not what was there.
    pub(crate) fn truncate(&mut self, length: u64) {
        if let Some((_, kept)) = &mut self.input {
            *kept = (*kept).min(length);
        }
        let (number, at) = split(length);
        self.pages = self.pages.split(&(number + u64::from(at > 0))).0;
        if at > 0 && self.pages.contains_key(&number) {
            self.set(length, &vec![None; PAGE - at]);
        }
    }

    /// All before an offset is gone, and will not be asked for again.
    pub(crate) fn forget_before(&mut self, offset: u64) {
        while let Some(&(number, _)) = self.pages.get_min()
            && number < split(offset).0
        {
            self.pages.remove(&number);
        }
    }

    /// All marks that are kept one by one, with their offsets.
    pub(crate) fn single(&self) -> impl Iterator<Item = (u64, Mark)> {
        self.pages.iter().flat_map(|(&number, page)| {
            let start = number * PAGE as u64;
            page.iter().zip(start..).filter_map(|(mark, at)| Some((at, (*mark)?)))
        })
    }
}

impl Files {
    /// This file is an input: its bytes are marked, wherever they go.
    pub(crate) fn mark_input(&mut self, id: InodeId, input: FileInput) -> Result<(), Errno> {
        self.load(id)?;
        match &mut self.inode_mut(id).kind {
            Kind::File(content) => {
                content.mark_input(input);
                Ok(())
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// Whether bytes of an input are anywhere but in the files that are inputs.
    pub(crate) fn has_marks_besides(&self, is_input: impl Fn(InodeId) -> bool) -> bool {
        let in_file = |(&id, inode): (&InodeId, &Arc<Inode>)| match &inode.kind {
            Kind::File(content) => content.marks().is_some() && !is_input(id),
            _ => false,
        };
        self.inodes.iter().any(in_file)
            || self.pipes.values().any(|pipe| !pipe.marks.is_empty())
            || self.sockets.values().any(|socket| !socket.marks.is_empty())
    }

    /// What bytes stand for that were read from a place; nothing if for their values alone.
    pub(crate) fn marks_at(&self, place: Place, count: usize) -> Option<Vec<Option<Mark>>> {
        let held = match place.source {
            SourceId::Inode(id) => match &self.inodes.get(&id)?.kind {
                Kind::File(content) => content.marks()?,
                _ => return None,
            },
            SourceId::Pipe(id) => &self.pipes.get(&id)?.marks,
            SourceId::Socket(id) => &self.socket(id)?.marks,
        };
        held.range(place.offset, count)
    }

    /// Says what bytes stand for that were just written to a place.
    pub(crate) fn keep_marks(&mut self, place: Place, marks: &[Option<Mark>]) {
        match place.source {
            SourceId::Inode(id) => {
                if let Some(Kind::File(content)) =
                    self.inodes.get_mut(&id).map(|inode| &mut Arc::make_mut(inode).kind)
                {
                    content.mark(place.offset, marks);
                }
            }
            SourceId::Pipe(id) => {
                if self.pipes.contains_key(&id) {
                    self.pipe_mut(id).marks.set(place.offset, marks);
                }
            }
            SourceId::Socket(id) => {
                if let Ok(socket) = self.socket_mut(id) {
                    socket.marks.set(place.offset, marks);
                }
            }
        }
    }

    /// Where the last `count` bytes went that were written to a stream.
    pub(crate) fn end_of_stream(&self, file: FileId, count: usize) -> Option<Place> {
        let (source, end) = match self.description(file).ok()?.object {
            Object::Pipe(id) => (SourceId::Pipe(id), self.pipe(id).written()),
            Object::Socket(id) => {
                let peer = self.socket(id)?.peer()?;
                (SourceId::Socket(peer), self.socket(peer)?.received())
            }
            _ => return None,
        };
        Some(Place { source, offset: end.checked_sub(count as u64)? })
    }

    /// Gives all marked bytes, but those of inputs that were never changed, the values that they
    /// have for another input; gives the files in which that changed something.
    pub(crate) fn give_values(
        &mut self,
        mut value: impl FnMut(Mark) -> Option<u8>,
    ) -> Vec<InodeId> {
        let mut changed = Vec::new();
        let marked = |inode: &Inode| matches!(&inode.kind, Kind::File(it) if it.marks().is_some());
        let files: Vec<InodeId> =
            self.inodes.iter().filter(|(_, inode)| marked(inode)).map(|(&id, _)| id).collect();
        for id in files {
            let content = self.content_now(id);
            let Some(held) = content.marks() else { continue };
            let new: Vec<(u64, u8)> =
                held.single().filter_map(|(at, mark)| Some((at, value(mark)?))).collect();
            if !new.is_empty() {
                self.rewrite(id, new);
                changed.push(id);
            }
        }
        let pipes = self.pipes.iter().filter(|(_, pipe)| !pipe.marks.is_empty());
        let pipes: Vec<PipeId> = pipes.map(|(&id, _)| id).collect();
        for id in pipes {
            self.pipe_mut(id).give_values(&mut value);
        }
        let sockets = self.sockets.iter().filter(|(_, socket)| !socket.marks.is_empty());
        let sockets: Vec<SocketId> = sockets.map(|(&id, _)| id).collect();
        for id in sockets {
            if let Ok(socket) = self.socket_mut(id) {
                socket.give_values(&mut value);
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn random_changes_agree_with_a_plain_vector() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for round in 0..40 {
            let (mut held, mut plain) = (HeldMarks::default(), vec![None; 20_000]);
            if round % 2 == 0 {
                let input = FileInput::whole(3);
                plain = (0..20_000).map(|offset| input.mark(offset)).collect();
                held = HeldMarks::of_input(input);
            }
            for _ in 0..40 {
                let at = rng.gen_range(0..12_000);
                let count = rng.gen_range(0..8000);
                match rng.gen_range(0..5) {
                    0 => {
                        held.truncate(at as u64);
                        plain[at..].fill(None);
                    }
                    1 | 2 => {
                        held.clear(at as u64, count as u64);
                        plain[at..at + count].fill(None);
                    }
                    _ => {
                        let new: Vec<Option<Mark>> = (0..count)
                            .map(|_| NonZeroU64::new(rng.gen_range(0..3)).map(Mark))
                            .collect();
                        held.set(at as u64, &new);
                        plain[at..at + count].copy_from_slice(&new);
                    }
                }
                let all = held.range(0, plain.len()).unwrap_or_else(|| vec![None; plain.len()]);
                assert!(all == plain);
            }
            assert!(held.single().all(|(at, mark)| plain[at as usize] == Some(mark)));
        }
    }

    #[test]
    fn what_a_stream_has_given_is_forgotten() {
        let mark = NonZeroU64::new(5).map(Mark);
        let mut held = HeldMarks::default();
        held.set(10_000, &[mark; 3]);
        held.set(100, &[mark]);
        held.forget_before(9000);
        assert_eq!(held.single().map(|(at, _)| at).collect::<Vec<_>>(), [10_000, 10_001, 10_002]);
        assert!(held.range(0, 9000).is_none());
    }
}
