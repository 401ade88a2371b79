//! One address space: loads, stores, and the mapping calls of the kernel.
//!
//! Always: a load or store that gives a [`Fault`] has changed nothing. The lines of the TLB agree
//! with the table and the regions; everything that changes these drops lines first.

use std::{
    collections::BTreeSet,
    ops::{Range, RangeInclusive},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rustc_hash::FxHashSet;

use super::{
    Access, Backing, Fault, Mark, PAGE, Protection, Reason, Region, Source, TOP,
    marks::{Look, Marks},
    page::Page,
    page_ceil, page_floor,
    regions::Regions,
    table::Table,
    tlb::Tlb,
};

/// A number that no other address space of this process has. It names, and nothing is computed
/// from it.
fn fresh_version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A page of a shared region that was written and not yet brought to its file.
pub struct Unsynced {
    /// Which file.
    pub identity: u64,
    /// Where in the file.
    pub offset: u64,
    /// What the page holds.
    pub bytes: Vec<u8>,
    /// What its bytes stand for, if any stands for more than its value.
    pub marks: Option<Vec<Option<Mark>>>,
}

/// The memory of a process.
pub struct AddressSpace {
    tlb: Tlb,
    table: Table,
    regions: Regions,
    /// Pages from which code was decoded: stores to them are reported in `code_writes`.
    code: Arc<FxHashSet<u64>>,
    code_writes: Vec<u64>,
    /// Pages of shared regions that were written and not yet brought to their file.
    unsynced: Arc<BTreeSet<u64>>,
    /// Pages that may still be allocated.
    left: u64,
    /// A page was needed, and none was left.
    exhausted: bool,
    /// Names the executable content: equal versions decode alike.
    code_version: u64,
    /// The version that was current when code writes were last taken.
    known_code: u64,
    /// What bytes stand for. A page with marks has no line in the TLB.
    marks: Marks,
    /// Loads of marked bytes do not stop.
    blind: bool,
    /// Stores to marked bytes stop as well.
    guarded: bool,
    /// The same, for somebody to whom marks mean nothing else.
    watched: bool,
    /// Marked bytes that were looked at as values, by the kernel or as code.
    looked: Vec<(Mark, u8)>,
    /// Where the kernel was told to store and must not.
    refused: Option<u64>,
    /// How many pages were copied because another space has them, too.
    copied: u64,
}

impl AddressSpace {
    /// An empty address space that may hold `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            tlb: Tlb::default(),
            table: Table::default(),
            regions: Regions::default(),
            code: Arc::default(),
            code_writes: Vec::new(),
            unsynced: Arc::default(),
            left: limit / PAGE,
            exhausted: false,
            code_version: fresh_version(),
            known_code: fresh_version(),
            marks: Marks::default(),
            blind: false,
            guarded: false,
            watched: false,
            looked: Vec::new(),
            refused: None,
            copied: 0,
        }
    }

    /// A second address space with the same content; later stores of one are not seen by the
    /// other. Cheap: pages are shared until written.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        // From here on no page belongs to one space alone.
        self.tlb.drop_stores();
        Self {
            tlb: Tlb::default(),
            table: self.table.clone(),
            regions: self.regions.clone(),
            code: Arc::clone(&self.code),
            code_writes: self.code_writes.clone(),
            unsynced: Arc::clone(&self.unsynced),
            left: self.left,
            exhausted: self.exhausted,
            code_version: self.code_version,
            known_code: self.known_code,
            marks: self.marks.clone(),
            blind: self.blind,
            guarded: self.guarded,
            watched: self.watched,
            looked: self.looked.clone(),
            refused: self.refused,
            copied: self.copied,
        }
    }

    // ---- loads and stores ----------------------------------------------------------------

    /// Loads `N` bytes.
    ///
    /// # Errors
    /// The fault of the first byte that cannot be read.
    #[inline(always)]
    pub fn load<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Fault> {
        match self.tlb.load(address) {
            Some(bytes) => Ok(bytes),
            None => self.load_slowly(address),
        }
    }

    /// Stores `N` bytes, all or none.
    ///
    /// # Errors
    /// The fault of the first byte that cannot be written.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) -> Result<(), Fault> {
        if self.tlb.store(address, value) { Ok(()) } else { self.store_slowly(address, value) }
    }

    #[cold]
    #[inline(never)]
    fn load_slowly<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Fault> {
        into_the_hole(address, N, Access::Read)?;
        let marked = |it: &Self| !it.blind && it.marks.any(address, N as u64);
        let fault = Fault { address, access: Access::Read, reason: Reason::Marked };
        // Most often it is a page with marks that was read before. When its last mark is gone, it
        // gets a line as other pages have it.
        if let Some(bytes) = self.tlb.load_marked(address) {
            if self.blind {
                return Ok(bytes);
            }
            match self.marks.look(address, N as u64) {
                Look::Here => return Err(fault),
                Look::Near => return Ok(bytes),
                Look::Elsewhere => {}
            }
        }
        self.readable(address, Access::Read)?;
        // Now there is a line, unless the bytes are on two pages, or something there is marked.
        if let Some(bytes) = self.tlb.load(address) {
            return Ok(bytes);
        }
        if marked(self) {
            return Err(fault);
        }
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    #[cold]
    #[inline(never)]
    fn store_slowly<const N: usize>(&mut self, address: u64, value: [u8; N]) -> Result<(), Fault> {
        into_the_hole(address, N, Access::Write)?;
        let stops = (self.guarded || self.watched) && !self.blind;
        let guarded = |it: &Self| stops && it.marks.any(address, N as u64);
        let fault = Fault { address, access: Access::Write, reason: Reason::Marked };
        match self.marks.look(address, N as u64) {
            Look::Elsewhere => {}
            Look::Here if stops => {
                // What cannot be written at all fails for that reason.
                self.writable(address)?;
                return Err(fault);
            }
            look => {
                if self.tlb.store_marked(address, value) {
                    if look == Look::Here {
                        self.marks.clear(address, N as u64);
                    }
                    return Ok(());
                }
            }
        }
        self.writable(address)?;
        if self.tlb.store(address, value) {
            return Ok(());
        }
        if guarded(self) {
            return Err(fault);
        }
        self.write(address, &value)
    }

    /// Fills `buffer` from `address` on.
    ///
    /// # Errors
    /// The fault of the first byte that cannot be read.
    pub fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        if buffer.is_empty() || self.tlb.read(address, buffer) {
            return Ok(());
        }
        let mut done = 0;
        while done < buffer.len() {
            let at = address.wrapping_add(done as u64);
            let page = self.readable(at, Access::Read)?;
            let offset = (at % PAGE) as usize;
            let length = (PAGE as usize - offset).min(buffer.len() - done);
            buffer[done..done + length].copy_from_slice(&page.bytes()[offset..offset + length]);
            done += length;
        }
        Ok(())
    }

    /// Stores all of `bytes` at `address`, or nothing.
    ///
    /// # Errors
    /// The fault of the first byte that cannot be written.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let last = address.wrapping_add(bytes.len() as u64 - 1);
        if page_floor(address) != page_floor(last) {
            // Every page must be writable before the first is changed.
            let mut at = address;
            while page_floor(at) != page_floor(last) {
                self.writable(at)?;
                at = page_floor(at).wrapping_add(PAGE);
            }
            self.writable(at)?;
        }
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let offset = (at % PAGE) as usize;
            let length = (PAGE as usize - offset).min(bytes.len() - done);
            let page = self.writable(at)?;
            page.bytes_mut()[offset..offset + length].copy_from_slice(&bytes[done..done + length]);
            done += length;
        }
        self.marks.clear(address, bytes.len() as u64);
        Ok(())
    }

    /// The bytes from `address` to the first zero, without it; at most `limit` of them.
    ///
    /// # Errors
    /// The fault of the first byte that cannot be read before a zero is met.
    pub fn read_string(&mut self, address: u64, limit: usize) -> Result<Vec<u8>, Fault> {
        let mut text = Vec::new();
        while text.len() < limit {
            let at = address.wrapping_add(text.len() as u64);
            let page = self.readable(at, Access::Read)?;
            let rest = &page.bytes()[(at % PAGE) as usize..];
            match rest.iter().position(|&byte| byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&rest[..end]);
                    break;
                }
                None => text.extend_from_slice(rest),
            }
        }
        text.truncate(limit);
        Ok(text)
    }

    /// Fills `buffer` with code; gives how many bytes could be fetched, at least one.
    ///
    /// # Errors
    /// The fault of the first byte, if not even that is executable.
    pub fn fetch(&mut self, address: u64, buffer: &mut [u8]) -> Result<usize, Fault> {
        let mut done = 0;
        while done < buffer.len() {
            let at = address.wrapping_add(done as u64);
            match self.readable(at, Access::Execute) {
                Ok(page) => {
                    let offset = (at % PAGE) as usize;
                    let length = (PAGE as usize - offset).min(buffer.len() - done);
                    buffer[done..done + length]
                        .copy_from_slice(&page.bytes()[offset..offset + length]);
                    done += length;
                }
                Err(fault) if done == 0 => return Err(fault),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    /// The page at `address`, for reading or executing; made if it is touched for the first time.
    fn readable(&mut self, address: u64, access: Access) -> Result<&Page, Fault> {
        let need = match access {
            Access::Execute => Protection::EXECUTE,
            _ => Protection::READ,
        };
        self.check(address, access, need)?;
        let number = address / PAGE;
        if self.table.get(number).is_none() {
            self.fill(address, access)?;
        }
        let page = self.table.get(number).expect("filled above");
        if access == Access::Read {
            if self.marks.on_page(number) {
                self.tlb.add_marked_load(number, page);
            } else {
                self.tlb.add_load(number, page);
            }
        }
        Ok(page)
    }

    /// The page at `address`, for writing, and owned by this space alone.
    fn writable(&mut self, address: u64) -> Result<&mut Page, Fault> {
        let shared = self.check(address, Access::Write, Protection::WRITE)?;
        let number = address / PAGE;
        // A copy of a page counts as the page did: whether there are other spaces, such as
        // snapshots, must not show.
        if self.table.get(number).is_none() {
            self.fill(address, Access::Write)?;
        }
        if shared && !self.unsynced.contains(&number) {
            Arc::make_mut(&mut self.unsynced).insert(number);
        }
        let code = self.code.contains(&number);
        if code && self.code_writes.last() != Some(&number) {
            self.code_writes.push(number);
        }
        // The copy has another place than what the lines point to.
        self.tlb.drop_page(number);
        let page = self.table.entry(number).as_mut().expect("filled above");
        self.copied += u64::from(Arc::strong_count(page) > 1);
        let page = Arc::make_mut(page);
        // What may be written may be read.
        if self.marks.on_page(number) {
            self.tlb.add_marked_load(number, page);
            if !code {
                self.tlb.add_marked_store(number, page);
            }
        } else {
            self.tlb.add_load(number, page);
            if !code {
                self.tlb.add_store(number, page);
            }
        }
        Ok(page)
    }

    /// Whether the region allows `need`; gives whether it is shared.
    fn check(&self, address: u64, access: Access, need: Protection) -> Result<bool, Fault> {
        let fault = |reason| Err(Fault { address, access, reason });
        match self.regions.find(address) {
            // The processor of this machine, like all of its kind, reads what it may write or
            // execute: a page that is mapped at all is readable unless it is PROT_NONE.
            Some(region) if need == Protection::READ && !region.protection.is_empty() => {
                Ok(region.shared)
            }
            Some(region) if region.protection.contains(need) => Ok(region.shared),
            Some(_) => fault(Reason::Protected),
            None if (TOP + PAGE..!(TOP + PAGE - 1)).contains(&address) => {
                fault(Reason::NotCanonical)
            }
            None => fault(Reason::Unmapped),
        }
    }

    fn take(&mut self, pages: u64, address: u64, access: Access) -> Result<(), Fault> {
        match self.left.checked_sub(pages) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.exhausted = true;
                Err(Fault { address, access, reason: Reason::Limit })
            }
        }
    }

    /// Whether an access failed with [`Reason::Limit`].
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Makes the page at `address`, which is mapped and was never touched.
    fn fill(&mut self, address: u64, access: Access) -> Result<(), Fault> {
        let start = page_floor(address);
        let region = self.regions.find(address).expect("checked before");
        let mut page = Page::zero();
        let mut marks = Vec::new();
        if let Backing::File { source, offset } = &region.backing {
            let from = offset + (start - region.start);
            if from >= page_ceil(source.size()) {
                return Err(Fault { address, access, reason: Reason::BehindFile });
            }
            source.read_at(from, page.bytes_mut());
            if source.is_marked() {
                marks = (from..from + PAGE).map(|offset| source.mark(offset)).collect();
            }
        }
        self.take(1, address, access)?;
        *self.table.entry(start / PAGE) = Some(Arc::new(page));
        self.mark(start, &marks);
        Ok(())
    }

    /// Where the lines of the TLB are, for compiled code, which does what [`Self::load`] and
    /// [`Self::store`] do first.
    pub(crate) fn lines(&mut self) -> (*const u8, *const u8) {
        self.tlb.lines()
    }

    // ---- marks ---------------------------------------------------------------------------

    /// Says what the bytes from `address` on stand for.
    pub(crate) fn mark(&mut self, address: u64, marks: &[Option<Mark>]) {
        let tlb = &mut self.tlb;
        self.marks.set(address, marks, |number| tlb.drop_page(number));
    }

    /// What neighbouring bytes stand for; gives whether any of them stands for more than its value.
    #[inline]
    pub(crate) fn copy_marks(&self, address: u64, into: &mut [Option<Mark>]) -> bool {
        self.marks.copy(address, into)
    }

    /// What a byte stands for, if for more than its value.
    #[inline]
    pub(crate) fn mark_of(&self, address: u64) -> Option<Mark> {
        self.marks.get(address)
    }

    /// Whether any of these bytes is marked.
    #[inline]
    pub(crate) fn marked(&self, address: u64, length: u64) -> bool {
        self.marks.any(address, length)
    }

    /// Whether any byte is marked.
    pub(crate) fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Whether any byte is marked, or would be if it were looked at.
    pub(crate) fn sees_marks(&self) -> bool {
        let marked = |region: &Region| match &region.backing {
            Backing::File { source, .. } => source.is_marked(),
            Backing::Anonymous => false,
        };
        self.has_marks() || self.regions.iter().any(marked)
    }

    /// Gives marked bytes new values, whatever may be done with their pages. The marks stay. Pages are
    /// passed over whose marks lie between two of which `none` says that nothing between them has a new
    /// value: an input fills pages, and another one differs from it in a few places.
    pub(crate) fn give_values(
        &mut self,
        none: impl Fn(RangeInclusive<Mark>) -> bool,
        mut value: impl FnMut(Mark) -> Option<u8>,
    ) {
        for number in self.marks.pages() {
            if self.marks.range(number).is_none_or(&none) {
                continue;
            }
            // A page that was never touched gets its values when it is.
            let Some(page) = self.table.get(number) else { continue };
            let old = page.bytes();
            let changed: Vec<(usize, u8)> = (self.marks.of_page(number))
                .filter_map(|(at, mark)| Some((at, value(mark)?)))
                .filter(|&(at, new)| old[at] != new)
                .collect();
            if changed.is_empty() {
                continue;
            }
            if self.code.contains(&number) {
                self.code_writes.push(number);
            }
            self.tlb.drop_page(number);
            let page = Arc::make_mut(self.table.entry(number).as_mut().expect("it is there"));
            for (at, new) in changed {
                page.bytes_mut()[at] = new;
            }
        }
    }

    /// The file behind `source` always had this content: pages that are touched from now on show
    /// it, pages that were touched are left alone.
    pub(crate) fn exchange_source(&mut self, source: &Arc<dyn Source>) {
        let maps = |region: &Region| match &region.backing {
            Backing::File { source: old, .. } => old.identity() == source.identity(),
            Backing::Anonymous => false,
        };
        let regions: Vec<(u64, u64)> = (self.regions.iter())
            .filter(|region| maps(region))
            .map(|region| (region.start, region.end))
            .collect();
        for (start, end) in regions {
            self.regions.change(start, end, |region| {
                if let Backing::File { source: old, .. } = &mut region.backing {
                    *old = Arc::clone(source);
                }
            });
        }
    }

    /// Whether loads of marked bytes go through instead of stopping.
    pub(crate) fn set_blind(&mut self, blind: bool) {
        self.blind = blind;
    }

    /// Lets stores to marked bytes stop from now on, too.
    pub(crate) fn set_guarded(&mut self) {
        self.guarded = true;
    }

    /// Whether stores to marked bytes stop.
    pub(crate) fn is_guarded(&self) -> bool {
        self.guarded
    }

    /// Loads of and stores to some bytes stop from now on, and of no others: whoever does this is the
    /// only one to mark anything.
    pub(crate) fn watch(&mut self, ranges: impl Iterator<Item = Range<u64>>, mark: Mark) {
        if self.has_marks() {
            self.marks = Marks::default();
            self.tlb.drop_all();
        }
        self.watched = true;
        for range in ranges {
            let marks = vec![Some(mark); (range.end - range.start) as usize];
            self.mark(range.start, &marks);
        }
    }

    /// What is at `address`, and how much of it there is, as somebody sees it who looks from outside:
    /// nothing changes by it, and no protection is heeded.
    #[must_use]
    pub fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        let mut done = 0;
        while done < buffer.len() {
            let at = address.wrapping_add(done as u64);
            let Some(region) = self.regions.find(at) else { break };
            let offset = (at % PAGE) as usize;
            let length = (PAGE as usize - offset).min(buffer.len() - done);
            let part = &mut buffer[done..done + length];
            match (self.table.get(at / PAGE), &region.backing) {
                (Some(page), _) => part.copy_from_slice(&page.bytes()[offset..offset + length]),
                (None, Backing::Anonymous) => part.fill(0),
                (None, Backing::File { source, offset }) => {
                    part.fill(0);
                    source.read_at(offset + (at - region.start), part);
                }
            }
            done += length;
        }
        done
    }

    /// Changes what is at `address`, whatever may be done with it; gives whether all of it is mapped. If
    /// not, some of it may be changed.
    pub(crate) fn poke(&mut self, address: u64, bytes: &[u8]) -> bool {
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let number = at / PAGE;
            let Some(region) = self.regions.find(at) else { return false };
            let shared = region.shared;
            if self.table.get(number).is_none() && self.fill(at, Access::Write).is_err() {
                return false;
            }
            if shared && !self.unsynced.contains(&number) {
                Arc::make_mut(&mut self.unsynced).insert(number);
            }
            if self.code.contains(&number) {
                self.code_writes.push(number);
            }
            self.tlb.drop_page(number);
            let Some(page) = self.table.entry(number).as_mut() else { return false };
            let offset = (at % PAGE) as usize;
            let length = (PAGE as usize - offset).min(bytes.len() - done);
            let part = &bytes[done..done + length];
            Arc::make_mut(page).bytes_mut()[offset..offset + length].copy_from_slice(part);
            done += length;
        }
        true
    }

    /// How many pages were copied because another space has them, too.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.copied
    }

    /// The kernel was told to store at an address where nobody may.
    pub(crate) fn refuse(&mut self, address: u64) {
        self.refused.get_or_insert(address);
    }

    /// Where the kernel was told to store and must not, since the last call.
    pub(crate) fn take_refused(&mut self) -> Option<u64> {
        self.refused.take()
    }

    /// Stops as a load would, if one of these bytes is marked: for whoever reads them in one piece.
    ///
    /// # Errors
    /// One of them is marked, and loads of marked bytes stop.
    pub(crate) fn stop_at_marks(&self, address: u64, length: u64) -> Result<(), Fault> {
        if self.blind || !self.marks.any(address, length) {
            return Ok(());
        }
        Err(Fault { address, access: Access::Read, reason: Reason::Marked })
    }

    /// The kernel looks at bytes; if any is marked, it is in [`Self::take_looks`].
    pub(crate) fn look(&mut self, address: u64, length: u64) {
        if !self.marks.any(address, length) {
            return;
        }
        for at in address..address.wrapping_add(length) {
            let mut byte = [0];
            if let Some(mark) = self.marks.get(at)
                && self.read(at, &mut byte).is_ok()
            {
                self.looked.push((mark, byte[0]));
            }
        }
    }

    /// A byte of an input that is not in memory was looked at.
    pub(crate) fn look_elsewhere(&mut self, mark: Mark, value: u8) {
        self.looked.push((mark, value));
    }

    /// The marked bytes that were looked at since the last call, and their values.
    pub(crate) fn take_looks(&mut self) -> Vec<(Mark, u8)> {
        std::mem::take(&mut self.looked)
    }

    // ---- mapping -------------------------------------------------------------------------

    /// Maps a region, replacing whatever was there.
    pub fn map(&mut self, region: Region) {
        debug_assert!(region.start.is_multiple_of(PAGE) && region.end.is_multiple_of(PAGE));
        debug_assert!(region.start < region.end && region.end <= TOP);
        self.unmap(region.start, region.end);
        if region.protection.contains(Protection::EXECUTE) {
            self.code_changed(region.start, region.end);
        }
        self.regions.insert(region);
    }

    /// Lets the region that begins at `start` go on up to `end`. Nothing may be mapped there yet.
    pub(crate) fn extend(&mut self, start: u64, end: u64) {
        let Some(region) = self.regions.find(start).cloned() else { return };
        debug_assert!(end.is_multiple_of(PAGE) && region.start == start && region.end <= end);
        self.regions.remove(start, region.end);
        self.regions.insert(Region { end, ..region });
    }

    /// Unmaps `[start, end)`; what is not mapped there is left alone.
    pub fn unmap(&mut self, start: u64, end: u64) {
        let removed = self.regions.remove(start, end);
        if removed.is_empty() {
            return;
        }
        for region in removed {
            if region.protection.contains(Protection::EXECUTE) {
                self.code_changed(region.start, region.end);
            }
        }
        self.forget(start, end);
    }

    /// Changes what may be done with `[start, end)`; gives whether all of it is mapped. If not,
    /// nothing is changed.
    pub fn protect(&mut self, start: u64, end: u64, protection: Protection) -> bool {
        if !self.regions.covered(start, end) {
            return false;
        }
        let mut executable = protection.contains(Protection::EXECUTE);
        self.regions.change(start, end, |region| {
            executable |= region.protection.contains(Protection::EXECUTE);
            region.protection = protection;
        });
        if executable {
            self.code_changed(start, end);
        }
        self.tlb.drop_all();
        true
    }

    /// Moves the mapping of `[from, from + length)` to `to`, pages and all, as `mremap` does.
    pub fn relocate(&mut self, from: u64, to: u64, length: u64) {
        self.unmap(to, to + length);
        let regions = self.regions.remove(from, from + length);
        for mut region in regions {
            if region.protection.contains(Protection::EXECUTE) {
                self.code_changed(region.start, region.end);
            }
            region.start = region.start - from + to;
            region.end = region.end - from + to;
            self.regions.insert(region);
        }
        for number in self.table.touched(from / PAGE, (from + length - 1) / PAGE) {
            let page = self.table.entry(number).take();
            let moved = number - from / PAGE + to / PAGE;
            *self.table.entry(moved) = page;
            self.marks.relocate(number, moved);
            if self.unsynced.contains(&number) {
                let unsynced = Arc::make_mut(&mut self.unsynced);
                unsynced.remove(&number);
                unsynced.insert(moved);
            }
        }
        self.tlb.drop_all();
    }

    /// Forgets the content of `[start, end)`: the next touch fills the pages anew, as after
    /// `madvise(MADV_DONTNEED)`.
    pub fn forget(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        self.marks.forget(start / PAGE, (end - 1) / PAGE);
        for number in self.table.touched(start / PAGE, (end - 1) / PAGE) {
            *self.table.entry(number) = None;
            self.left += 1;
            if self.code.contains(&number) {
                self.code_writes.push(number);
            }
            if self.unsynced.contains(&number) {
                Arc::make_mut(&mut self.unsynced).remove(&number);
            }
        }
        self.tlb.drop_all();
    }

    /// The region that holds `address`.
    #[must_use]
    pub fn region(&self, address: u64) -> Option<&Region> {
        self.regions.find(address)
    }

    /// All regions, by address.
    pub fn regions(&self) -> impl DoubleEndedIterator<Item = &Region> {
        self.regions.iter()
    }

    /// How many regions there are.
    #[must_use]
    pub fn region_count(&self) -> usize {
        self.regions.len()
    }

    /// Pages that may still be allocated.
    #[must_use]
    pub fn pages_left(&self) -> u64 {
        self.left
    }

    /// Whether every byte of `[start, end)` is mapped.
    #[must_use]
    pub fn mapped(&self, start: u64, end: u64) -> bool {
        self.regions.covered(start, end)
    }

    /// Whether no byte of `[start, end)` is mapped.
    #[must_use]
    pub fn free(&self, start: u64, end: u64) -> bool {
        self.regions.within(start, end).next().is_none()
    }

    /// The highest free gap of `length` bytes below `ceiling`.
    #[must_use]
    pub fn gap_below(&self, ceiling: u64, length: u64) -> Option<u64> {
        self.regions.gap_below(ceiling, length)
    }

    // ---- shared files --------------------------------------------------------------------

    /// The pages of shared regions that were written since the last call: where, which file, at
    /// which offset, and the bytes.
    pub fn take_unsynced(&mut self) -> Vec<Unsynced> {
        if self.unsynced.is_empty() {
            return Vec::new();
        }
        // Later stores must be noticed again.
        self.tlb.drop_stores();
        let numbers = std::mem::take(&mut self.unsynced);
        let mut pages = Vec::new();
        for &number in numbers.iter() {
            let (Some(region), Some(page)) =
                (self.regions.find(number * PAGE), self.table.get(number))
            else {
                continue;
            };
            if let (true, Backing::File { source, offset }) = (region.shared, &region.backing) {
                let at = offset + (number * PAGE - region.start);
                let marks = self.marks.on_page(number).then(|| {
                    let mut marks = vec![None; PAGE as usize];
                    self.marks.of_page(number).for_each(|(at, mark)| marks[at] = Some(mark));
                    marks
                });
                let (identity, bytes) = (source.identity(), page.bytes().to_vec());
                pages.push(Unsynced { identity, offset: at, bytes, marks });
            }
        }
        pages
    }

    /// Whether a page of a shared region was written since the last [`Self::take_unsynced`].
    #[must_use]
    pub fn has_unsynced(&self) -> bool {
        !self.unsynced.is_empty()
    }

    /// The file behind `source` has this content now: shared mappings of it show it. Pages that
    /// were written and not yet synced keep what was written.
    pub fn refresh(&mut self, source: &Arc<dyn Source>) {
        let mut stale = Vec::new();
        for region in self.regions.iter() {
            if let Backing::File { source: old, .. } = &region.backing
                && old.identity() == source.identity()
            {
                stale.push((region.start, region.end, region.shared));
            }
        }
        for (start, end, shared) in stale {
            self.regions.change(start, end, |region| {
                if let Backing::File { source: old, .. } = &mut region.backing {
                    *old = Arc::clone(source);
                }
            });
            if shared {
                for number in self.table.touched(start / PAGE, (end - 1) / PAGE) {
                    if !self.unsynced.contains(&number) {
                        *self.table.entry(number) = None;
                        self.marks.forget(number, number);
                        self.left += 1;
                    }
                }
                self.tlb.drop_all();
            }
        }
    }

    /// Whether a shared region maps the file with this identity.
    #[must_use]
    pub fn maps_shared(&self, identity: u64) -> bool {
        self.regions.iter().any(|region| match &region.backing {
            Backing::File { source, .. } => region.shared && source.identity() == identity,
            Backing::Anonymous => false,
        })
    }

    // ---- code ----------------------------------------------------------------------------

    /// Notes that code was decoded from the page of `address`: from now on stores to it show up
    /// in [`Self::take_code_writes`].
    pub fn watch_code(&mut self, address: u64) {
        let number = address / PAGE;
        if !self.code.contains(&number) {
            Arc::make_mut(&mut self.code).insert(number);
            self.tlb.drop_page(number);
        }
    }

    /// Whether watched code changed since the last [`Self::take_code_writes`].
    #[inline]
    #[must_use]
    pub fn code_written(&self) -> bool {
        !self.code_writes.is_empty()
    }

    /// The numbers of the watched pages that changed. They are no longer watched.
    pub fn take_code_writes(&mut self) -> Vec<u64> {
        let writes = std::mem::take(&mut self.code_writes);
        if !writes.is_empty() {
            self.code_version = fresh_version();
        }
        let code = Arc::make_mut(&mut self.code);
        for number in &writes {
            code.remove(number);
        }
        writes
    }

    /// Names the executable content: two spaces with equal versions decode alike.
    #[must_use]
    pub fn code_version(&self) -> u64 {
        self.code_version
    }

    /// The version that whoever decodes knows; what changed since is in the code writes.
    #[must_use]
    pub fn known_code(&self) -> u64 {
        self.known_code
    }

    /// Whoever decodes knows the current version now.
    pub fn code_is_known(&mut self) {
        self.known_code = self.code_version;
    }

    fn code_changed(&mut self, start: u64, end: u64) {
        self.code_version = fresh_version();
        let (first, last) = (start / PAGE, (end - 1) / PAGE);
        let changed = self.code.iter().filter(|number| (first..=last).contains(number));
        self.code_writes.extend(changed);
    }
}

/// An access that begins in the lower half of the addresses and ends behind it fails as one to the hole
/// does, and not at its first byte. Nothing is mapped at the end of that half.
fn into_the_hole(address: u64, size: usize, access: Access) -> Result<(), Fault> {
    const END: u64 = TOP + PAGE;
    if address < END && address + size as u64 > END {
        return Err(Fault { address, access, reason: Reason::NotCanonical });
    }
    Ok(())
}
