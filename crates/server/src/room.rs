//! Room: how much memory strangers may make the server use, all together.
//!
//! ```text
//! a quarter   large bodies under way, and large answers that are being read
//! a half      parcels that are being opened, and reports that wait for the disk
//! a quarter   small bodies: there are so many connections, and each has a little for nothing
//! ```
//!
//! Always: what is opened has room for what comes out of it before it is opened, and few are opened at
//! a time. Room goes with the bytes, not with the request: who closes a connection gets none of it
//! back early. No sender can keep the room for opening, because nothing in it waits for one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a report waits for room.
const PATIENCE: Duration = Duration::from_secs(20);
/// A kibibyte is the unit of room.
const UNIT: usize = 1 << 10;
/// The most that are opened at a time.
const OPENERS: usize = 4;
/// What the document in a report takes while it is read, whatever it says: 256 KiB of it, of which
/// an empty text in a list is the dearest, at 24 bytes for three, and twice that while the list grows.
const DOCUMENT: usize = 8 << 20;
/// What is kept of that document until it is written.
const KEPT: usize = 512 << 10;

/// All the room there is.
pub struct Rooms {
    passing: Room,
    opening: Room,
    openers: Arc<Semaphore>,
}

/// Room of one kind.
struct Room {
    units: usize,
    free: Arc<Semaphore>,
}

impl Room {
    fn new(bytes: usize) -> Room {
        let units = (bytes / UNIT).max(1);
        Room { units, free: Arc::new(Semaphore::new(units)) }
    }

    /// Waits until there is room; nothing if that takes too long. What is larger than all of it has
    /// all of it.
    async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from((bytes / UNIT + 1).min(self.units)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.free).acquire_many_owned(units);
        tokio::time::timeout(PATIENCE, room).await.ok()?.ok()
    }
}

/// Room for bytes that come in or go out.
pub type Passing = OwnedSemaphorePermit;

/// Room for a parcel that is opened, and for its report until it is written.
pub struct Opening {
    room: OwnedSemaphorePermit,
    opener: Option<OwnedSemaphorePermit>,
}

impl Rooms {
    /// So many bytes in all.
    pub fn new(bytes: usize) -> Rooms {
        let openers = std::thread::available_parallelism().map_or(1, usize::from).min(OPENERS);
        Rooms {
            passing: Room::new(bytes / 4),
            opening: Room::new(bytes / 2),
            openers: Arc::new(Semaphore::new(openers)),
        }
    }

    /// Room for a large body.
    pub async fn to_pass(&self, bytes: usize) -> Option<Passing> {
        self.passing.take(bytes).await
    }

    /// Room and a turn for opening a parcel of so many bytes: itself, what was sealed in it, and a
    /// copy for its signature. Doubles are unpacked piece by piece, and take no more.
    pub async fn to_open(&self, bytes: usize) -> Option<Opening> {
        let room = self.opening.take(bytes.saturating_mul(3).saturating_add(DOCUMENT)).await?;
        let opener = Arc::clone(&self.openers).acquire_owned();
        let opener = tokio::time::timeout(PATIENCE, opener).await.ok()?.ok()?;
        Some(Opening { room, opener: Some(opener) })
    }
}

impl Opening {
    /// It is open: only a report of so many bytes is left.
    pub fn opened(mut self, bytes: usize) -> Opening {
        self.opener = None;
        let units = bytes.saturating_add(KEPT) / UNIT + 1;
        if let Some(more) = self.room.num_permits().checked_sub(units) {
            drop(self.room.split(more));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn room_is_taken_for_what_comes_out() {
        let rooms = Rooms::new(256 << 20);
        let mut small = Vec::new();
        // However many come, as many are opened as there are openers; the others wait, and give up.
        while let Some(opening) = rooms.to_open(62 << 10).await {
            small.push(opening);
        }
        assert!((1..=OPENERS).contains(&small.len()));
        // Those that are open wait for the disk, and leave room for others.
        let mut waiting: Vec<Opening> =
            small.drain(..).map(|opening| opening.opened(62 << 10)).collect();
        while let Some(opening) = rooms.to_open(62 << 10).await {
            waiting.push(opening.opened(62 << 10));
        }
        assert!((100..=256).contains(&waiting.len()), "{}", waiting.len());
        let held: usize = waiting.iter().map(|opening| opening.room.num_permits()).sum();
        assert!(held * UNIT <= 128 << 20);
        // Bodies under way have room of their own.
        assert!(rooms.to_pass(16 << 20).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_larger_than_all_room_has_all_of_it() {
        let rooms = Rooms::new(1 << 20);
        let opening = rooms.to_open(16 << 20).await.unwrap();
        assert!(rooms.to_open(1).await.is_none());
        drop(opening);
        assert!(rooms.to_open(1).await.is_some());
    }
}
