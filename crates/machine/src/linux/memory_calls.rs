//! System calls about memory: `mmap` and its family, `brk`.

use std::sync::Arc;

use super::{
    Pid,
    call::{Call, Flow},
    errno::Errno,
    fs::{Content, FileId, InodeId, Object},
    kernel::MAPPING_TOP,
    numbers as n,
};
use crate::memory::{
    Backing, Mark, PAGE, Protection, Region, Source, TOP, Unsynced, page_ceil, page_floor,
};

/// Mappings that a process may have: `vm.max_map_count`.
const MOST_REGIONS: usize = 65_530;

const MAP_SHARED: u64 = 1;
const MAP_PRIVATE: u64 = 2;
const MAP_SHARED_VALIDATE: u64 = 3;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const MAP_32BIT: u64 = 0x40;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;

/// The content of a file as the memory sees it.
pub(crate) struct FileSource {
    content: Content,
    identity: u64,
}

impl FileSource {
    pub(crate) fn shared(content: Content, inode: InodeId) -> Arc<dyn Source> {
        Arc::new(Self { content, identity: inode.number() })
    }
}

impl Source for FileSource {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> usize {
        self.content.read_at(offset, buffer).unwrap_or(0)
    }

    fn size(&self) -> u64 {
        self.content.len()
    }

    fn identity(&self) -> u64 {
        self.identity
    }

    fn is_marked(&self) -> bool {
        self.content.marks().is_some()
    }

    fn mark(&self, offset: u64) -> Option<Mark> {
        if offset < self.content.len() { self.content.marks()?.get(offset) } else { None }
    }
}

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, ..] = call.arguments;
    let result = match call.number {
        n::MMAP => map(call),
        n::MUNMAP => unmap(call, a, b),
        n::MPROTECT | n::PKEY_MPROTECT => protect(call, a, b, c),
        n::BRK => Ok(set_break(call, a)),
        n::MREMAP => remap(call),
        n::MADVISE => advise(call, a, b, c),
        n::MSYNC => synchronise(call, a, b, c),
        n::MLOCK | n::MUNLOCK | n::MLOCK2 => covered(call, a, b).map(|()| 0),
        n::MLOCKALL | n::MUNLOCKALL => Ok(0),
        n::MINCORE => resident(call, a, b, c),
        n::GET_MEMPOLICY => call.put_if(a, &0u32.to_le_bytes()).map(|()| 0),
        n::SET_MEMPOLICY | n::MBIND => Ok(0),
        n::MEMBARRIER => Ok(if a == 0 { 0 } else { return Some(Errno::EINVAL.into()) }),
        n::PKEY_ALLOC => Err(Errno::ENOSPC),
        n::PKEY_FREE => Err(Errno::EINVAL),
        _ => return None,
    };
    Some(result.into())
}

fn protection(bits: u64) -> Result<Protection, Errno> {
    // The bits above are hints about how a stack grows.
    if bits & !0x0300_000f != 0 {
        return Err(Errno::EINVAL);
    }
    Ok(Protection::from_bits_truncate(bits as u8 & 7))
}

fn map(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [hint, length, bits, flags, fd, offset] = call.arguments;
    if length == 0 || !offset.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    let length = page_ceil(length);
    if length == 0 || length > TOP {
        return Err(Errno::ENOMEM);
    }
    if offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64) {
        return Err(Errno::EOVERFLOW);
    }
    if call.space().region_count() >= MOST_REGIONS {
        return Err(Errno::ENOMEM);
    }
    let protection = protection(bits)?;
    let shared = match flags & 0xf {
        MAP_SHARED | MAP_SHARED_VALIDATE => true,
        MAP_PRIVATE => false,
        _ => return Err(Errno::EINVAL),
    };
    let (backing, name) = if flags & MAP_ANONYMOUS != 0 {
        if shared { anonymous_file(call, length)? } else { (Backing::Anonymous, Arc::from("")) }
    } else {
        let file = call.file(fd as i32)?;
        file_backing(call, file, offset, protection, shared)?
    };
    let fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0;
    let start = if fixed {
        if !hint.is_multiple_of(PAGE) {
            return Err(Errno::EINVAL);
        }
        let end = hint.checked_add(length).filter(|&end| end <= TOP).ok_or(Errno::ENOMEM)?;
        if hint < 16 * PAGE {
            return Err(Errno::EPERM);
        }
        if flags & MAP_FIXED_NOREPLACE != 0 && !call.space().free(hint, end) {
            return Err(Errno::EEXIST);
        }
        sync_range(call, hint, end);
        hint
    } else {
        place(call, hint, length, flags)?
    };
    if protection.contains(Protection::EXECUTE) && matches!(backing, Backing::File { .. }) {
        call.kernel.mapped_code = Some(start);
    }
    call.space().map(Region { start, end: start + length, protection, shared, backing, name });
    Ok(start)
}

/// Chooses an address, near the hint if it can be.
fn place(call: &mut Call<'_>, hint: u64, length: u64, flags: u64) -> Result<u64, Errno> {
    let space = call.space();
    let hint = page_floor(hint);
    if hint >= 16 * PAGE
        && let Some(end) = hint.checked_add(length).filter(|&end| end <= TOP)
        && space.free(hint, end)
    {
        return Ok(hint);
    }
    let ceiling = if flags & MAP_32BIT != 0 { 0x8000_0000 } else { MAPPING_TOP };
    space.gap_below(ceiling, length).ok_or(Errno::ENOMEM)
}

/// Shared memory without a file is a file without a name.
fn anonymous_file(call: &mut Call<'_>, length: u64) -> Result<(Backing, Arc<str>), Errno> {
    let (content, inode, file) = call.with_files(|files, caller| {
        let file = files.memory_file(caller, b"", 0)?;
        files.file_truncate(file, length as i64)?;
        let Object::Inode(inode) = files.description(file)?.object else {
            return Err(Errno::ENODEV);
        };
        let content = files.content(inode)?.clone();
        Ok((content, inode, file))
    })?;
    call.kernel.keep_mapped(inode);
    call.kernel.files.release(file);
    let source = FileSource::shared(content, inode);
    Ok((Backing::File { source, offset: 0 }, Arc::from("/dev/zero (deleted)")))
}

fn file_backing(
    call: &mut Call<'_>,
    file: FileId,
    offset: u64,
    protection: Protection,
    shared: bool,
) -> Result<(Backing, Arc<str>), Errno> {
    let files = &mut call.kernel.files;
    let description = files.description(file)?;
    if !description.reads() {
        return Err(Errno::EACCES);
    }
    if shared && protection.contains(Protection::WRITE) && !description.writes() {
        return Err(Errno::EACCES);
    }
    let Object::Inode(inode) = description.object else { return Err(Errno::ENODEV) };
    let name = String::from_utf8_lossy(&files.file_name(file)?).into_owned();
    if name == "/dev/zero" {
        return Ok((Backing::Anonymous, Arc::from("")));
    }
    let content = files.content(inode).map_err(|_| Errno::ENODEV)?.clone();
    if shared {
        call.kernel.keep_mapped(inode);
    }
    let source = FileSource::shared(content, inode);
    Ok((Backing::File { source, offset }, name.into()))
}

fn range(start: u64, length: u64) -> Result<(u64, u64), Errno> {
    if !start.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    let end = start.checked_add(page_ceil(length)).ok_or(Errno::EINVAL)?;
    if end > TOP { Err(Errno::EINVAL) } else { Ok((start, end)) }
}

fn unmap(call: &mut Call<'_>, start: u64, length: u64) -> Result<u64, Errno> {
    let (start, end) = range(start, length)?;
    if start == end {
        return Err(Errno::EINVAL);
    }
    if splits(call, start, end) {
        return Err(Errno::ENOMEM);
    }
    sync_range(call, start, end);
    call.space().unmap(start, end);
    call.kernel.release_mapped();
    Ok(0)
}

/// Whether a change of this range would cut a mapping in two where there are too many already.
fn splits(call: &mut Call<'_>, start: u64, end: u64) -> bool {
    let space = call.space();
    let cut = |region: &Region| region.start < start || region.end > end;
    space.region_count() >= MOST_REGIONS
        && (space.region(start).is_some_and(cut) || space.region(end - 1).is_some_and(cut))
}

/// Before a mapping goes away, what was written through it goes to its file.
fn sync_range(call: &mut Call<'_>, start: u64, end: u64) {
    let space = call.space();
    if space.has_unsynced() && !space.free(start, end) {
        let pid = call.pid;
        call.kernel.sync_mappings(pid);
    }
}

fn protect(call: &mut Call<'_>, start: u64, length: u64, bits: u64) -> Result<u64, Errno> {
    let protection = protection(bits)?;
    let (start, end) = range(start, length).map_err(|e| {
        if e == Errno::EINVAL && start.is_multiple_of(PAGE) { Errno::ENOMEM } else { e }
    })?;
    if start == end {
        return Ok(0);
    }
    if splits(call, start, end) {
        return Err(Errno::ENOMEM);
    }
    if call.space().protect(start, end, protection) { Ok(0) } else { Err(Errno::ENOMEM) }
}

fn set_break(call: &mut Call<'_>, wanted: u64) -> u64 {
    let (start, now) = call.process().program.heap;
    if wanted < start || wanted >= MAPPING_TOP {
        return now;
    }
    let (old, new) = (page_ceil(now), page_ceil(wanted));
    if new > old {
        if !call.space().free(old, new) {
            return now;
        }
        call.space().map(Region {
            start: old,
            end: new,
            protection: Protection::READ | Protection::WRITE,
            shared: false,
            backing: Backing::Anonymous,
            name: Arc::from("[heap]"),
        });
    } else if new < old {
        call.space().unmap(new, old);
    }
    call.process().program.heap.1 = wanted;
    wanted
}

fn remap(call: &mut Call<'_>) -> Result<u64, Errno> {
    const MAY_MOVE: u64 = 1;
    const FIXED: u64 = 2;
    let [old, old_length, new_length, flags, target, _] = call.arguments;
    let (old_length, new_length) = (page_ceil(old_length), page_ceil(new_length));
    if !old.is_multiple_of(PAGE) || new_length == 0 || flags & !7 != 0 || flags & 4 != 0 {
        return Err(Errno::EINVAL);
    }
    if flags & FIXED != 0 && (flags & MAY_MOVE == 0 || !target.is_multiple_of(PAGE)) {
        return Err(Errno::EINVAL);
    }
    let Some(region) = call.space().region(old).cloned() else { return Err(Errno::EFAULT) };
    let old_end = old.checked_add(old_length).ok_or(Errno::EINVAL)?;
    if old_length == 0 || region.end < old_end {
        return Err(Errno::EFAULT);
    }
    if let Backing::File { offset, .. } = &region.backing
        && offset.checked_add(new_length).is_none_or(|end| end > i64::MAX as u64)
    {
        return Err(Errno::EINVAL);
    }
    let grow = |from: u64, to: u64, at: u64| Region {
        start: from,
        end: to,
        backing: match &region.backing {
            Backing::Anonymous => Backing::Anonymous,
            Backing::File { source, offset } => Backing::File {
                source: Arc::clone(source),
                offset: offset + (old - region.start) + at,
            },
        },
        ..region.clone()
    };
    if flags & FIXED == 0 {
        if new_length <= old_length {
            if new_length < old_length {
                call.space().unmap(old + new_length, old_end);
            }
            return Ok(old);
        }
        let new_end = old.checked_add(new_length).ok_or(Errno::ENOMEM)?;
        if new_end <= TOP && call.space().free(old_end, new_end) {
            call.space().map(grow(old_end, new_end, old_length));
            return Ok(old);
        }
        if flags & MAY_MOVE == 0 {
            return Err(Errno::ENOMEM);
        }
    }
    let to = if flags & FIXED != 0 {
        target
    } else {
        call.space().gap_below(MAPPING_TOP, new_length).ok_or(Errno::ENOMEM)?
    };
    let to_end = to.checked_add(new_length).filter(|&end| end <= TOP).ok_or(Errno::ENOMEM)?;
    if to < old_end && old < to_end {
        return Err(Errno::EINVAL);
    }
    call.space().unmap(to, to_end);
    let moved = old_length.min(new_length);
    call.space().relocate(old, to, moved);
    call.space().unmap(old, old_end);
    if new_length > moved {
        call.space().map(grow(to + moved, to_end, moved));
    }
    Ok(to)
}

fn advise(call: &mut Call<'_>, start: u64, length: u64, advice: u64) -> Result<u64, Errno> {
    const DONT_NEED: u64 = 4;
    const FREE: u64 = 8;
    const DONT_NEED_LOCKED: u64 = 24;
    let (start, end) = range(start, length)?;
    match advice {
        DONT_NEED | DONT_NEED_LOCKED => {
            if call.space().has_unsynced() {
                let pid = call.pid;
                call.kernel.sync_mappings(pid);
            }
            call.space().forget(start, end);
        }
        // The kernel may free later, or never.
        0..=3 | FREE..=23 | 25 => {}
        _ => return Err(Errno::EINVAL),
    }
    covered(call, start, length).map(|()| 0)
}

fn covered(call: &mut Call<'_>, start: u64, length: u64) -> Result<(), Errno> {
    let start = page_floor(start);
    let end = page_ceil(start.saturating_add(length));
    if call.space().mapped(start, end) { Ok(()) } else { Err(Errno::ENOMEM) }
}

fn synchronise(call: &mut Call<'_>, start: u64, length: u64, flags: u64) -> Result<u64, Errno> {
    if !start.is_multiple_of(PAGE) || flags & !7 != 0 || flags & 5 == 5 {
        return Err(Errno::EINVAL);
    }
    covered(call, start, length)?;
    let pid = call.pid;
    call.kernel.sync_mappings(pid);
    Ok(0)
}

fn resident(call: &mut Call<'_>, start: u64, length: u64, to: u64) -> Result<u64, Errno> {
    if !start.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    covered(call, start, length)?;
    // In parts: a mapping may be larger than all memory.
    const PART: u64 = 1 << 16;
    let pages = page_ceil(length) / PAGE;
    for at in (0..pages).step_by(PART as usize) {
        let part = vec![1; (pages - at).min(PART) as usize];
        call.put(to.wrapping_add(at), &part)?;
    }
    Ok(0)
}

impl super::Kernel {
    /// A shared mapping keeps its file, also without a name and a descriptor.
    fn keep_mapped(&mut self, inode: InodeId) {
        if self.mapped.insert(inode) {
            self.files.pin(inode);
        }
    }

    /// Lets files go that no process maps any more.
    pub(crate) fn release_mapped(&mut self) {
        if self.mapped.is_empty() {
            return;
        }
        let Self { mapped, processes, files, .. } = self;
        mapped.retain(|&inode| {
            let mut spaces = processes.0.values().filter_map(|process| process.space.as_ref());
            let used = spaces.any(|space| space.maps_shared(inode.number()));
            if !used {
                files.unpin(inode);
            }
            used
        });
    }

    /// Brings what a process wrote to shared mappings to the files.
    pub(crate) fn sync_mappings(&mut self, pid: Pid) {
        let process = self.process(pid);
        let Some(space) = process.space.as_mut() else { return };
        if !space.has_unsynced() {
            return;
        }
        for Unsynced { identity, offset, bytes, marks } in space.take_unsynced() {
            self.files.write_back(identity, offset, &bytes, marks.as_deref());
            self.file_changed(identity, Some(pid));
        }
    }

    /// A file changed: mappings of it show that, except those of `but`.
    pub(crate) fn file_changed(&mut self, identity: u64, but: Option<Pid>) {
        let mut source = None;
        for (&pid, process) in &mut self.processes.0 {
            let Some(space) = process.space.as_mut() else { continue };
            if Some(pid) == but || !space.maps_shared(identity) {
                continue;
            }
            if source.is_none() {
                source = self
                    .files
                    .mapped_content(identity)
                    .map(|(content, inode)| FileSource::shared(content, inode));
            }
            if let Some(source) = &source {
                space.refresh(source);
            }
        }
    }
}
