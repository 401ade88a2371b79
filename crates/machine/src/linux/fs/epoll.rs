//! `epoll`: a list of files and the events that a program waits for.
//!
//! Level-triggered interest is answered from readiness alone. For edge-triggered interest every
//! pipe, socket and counter counts its events; an edge is a count that has moved on.

use imbl::OrdMap;

use super::Files;
use super::description::Object;
use super::event::Event;
use super::ids::{EventId, FileId};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// How deep epoll instances may watch each other.
const MOST_DEPTH: u32 = 5;

/// An epoll instance.
#[derive(Clone, Debug, Default)]
pub struct Epoll {
    interests: OrdMap<(i32, FileId), Interest>,
    /// The last one reported: the next wait starts behind it, so that none starves.
    last: Option<(i32, FileId)>,
}

/// What is wanted of one file.
#[derive(Clone, Copy, Debug)]
struct Interest {
    events: u32,
    data: u64,
    /// The file's count of events at the last report.
    seen: Option<u64>,
    /// Switched off until it is set again (`EPOLLONESHOT`).
    off: bool,
}

/// An event as `epoll_wait` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpollEvent {
    /// `EPOLL` bits.
    pub events: u32,
    /// What the program attached.
    pub data: u64,
}

impl EpollEvent {
    /// `struct epoll_event`, which is packed on x86-64.
    pub fn encode(self) -> [u8; 12] {
        let mut out = [0; 12];
        out[..4].copy_from_slice(&self.events.to_le_bytes());
        out[4..].copy_from_slice(&self.data.to_le_bytes());
        out
    }

    /// The event that these bytes stand for.
    pub fn decode(bytes: &[u8; 12]) -> EpollEvent {
        let (events, data) = bytes.split_at(4);
        EpollEvent {
            events: u32::from_le_bytes(events.try_into().expect("four bytes")),
            data: u64::from_le_bytes(data.try_into().expect("eight bytes")),
        }
    }
}

impl Files {
    /// `epoll_create1`.
    pub fn new_epoll(&mut self, flags: u32) -> Result<FileId, Errno> {
        if flags & !EPOLL_CLOEXEC != 0 {
            return Err(Errno::EINVAL);
        }
        Ok(self.make_event(Event::Poll(Epoll::default()), 0))
    }

    fn epoll_id(&self, file: FileId) -> Result<EventId, Errno> {
        match self.description(file)?.object {
            Object::Event(id)
                if matches!(self.events.get(&id).map(|event| &**event), Some(Event::Poll(_))) =>
            {
                Ok(id)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    fn epoll(&self, id: EventId) -> Option<&Epoll> {
        match self.events.get(&id).map(|event| &**event) {
            Some(Event::Poll(epoll)) => Some(epoll),
            _ => None,
        }
    }

    /// `epoll_ctl` on the file behind descriptor `fd`.
    pub fn epoll_control(
        &mut self,
        epoll: FileId,
        operation: u32,
        fd: i32,
        file: FileId,
        event: EpollEvent,
    ) -> Result<(), Errno> {
        // Regular files and directories are always ready: Linux refuses to watch them.
        let watchable = match self.description(file)?.object {
            Object::Inode(id) => {
                matches!(
                    self.inode(id).kind,
                    super::inode::Kind::Device(super::Device::Random | super::Device::Urandom)
                )
            }
            Object::Text(..) | Object::ProcDirectory(_) => false,
            Object::Path(_) => return Err(Errno::EBADF),
            _ => true,
        };
        if !watchable {
            return Err(Errno::EPERM);
        }
        if file == epoll {
            return Err(Errno::EINVAL);
        }
        let id = self.epoll_id(epoll)?;
        if operation == EPOLL_CTL_ADD
            && let Object::Event(inner) = self.description(file)?.object
            && self.reaches(inner, id, MOST_DEPTH)
        {
            return Err(Errno::ELOOP);
        }
        let Event::Poll(state) = self.event_mut(id)? else { return Err(Errno::EINVAL) };
        let key = (fd, file);
        let interest = Interest {
            events: event.events | POLLERR | POLLHUP,
            data: event.data,
            seen: None,
            off: false,
        };
        match operation {
            EPOLL_CTL_ADD if state.interests.contains_key(&key) => Err(Errno::EEXIST),
            EPOLL_CTL_ADD => {
                state.interests.insert(key, interest);
                Ok(())
            }
            EPOLL_CTL_MOD => match state.interests.get_mut(&key) {
                Some(known) => {
                    *known = interest;
                    Ok(())
                }
                None => Err(Errno::ENOENT),
            },
            EPOLL_CTL_DEL => state.interests.remove(&key).map(|_| ()).ok_or(Errno::ENOENT),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Whether `from` watches `to`, or is it; also true where that is too deep to tell.
    fn reaches(&self, from: EventId, to: EventId, depth: u32) -> bool {
        if from == to || depth == 0 {
            return true;
        }
        let Some(epoll) = self.epoll(from) else { return false };
        epoll.interests.keys().any(|(_, file)| match self.description(*file).map(|d| &d.object) {
            Ok(Object::Event(inner)) => self.reaches(*inner, to, depth - 1),
            _ => false,
        })
    }

    /// How many events a file has had.
    fn activity(&self, file: FileId) -> u64 {
        let Ok(description) = self.description(file) else { return 0 };
        match description.object {
            Object::Pipe(pipe) => self.pipe(pipe).activity,
            Object::Socket(socket) => self.socket(socket).map_or(0, |socket| socket.activity),
            Object::Event(event) => match self.events.get(&event).map(|event| &**event) {
                Some(Event::Counter { activity, .. }) => *activity,
                Some(Event::Timer { next, .. }) => next.unwrap_or(0),
                _ => 0,
            },
            Object::Feed(_) => self.fed,
            _ => 0,
        }
    }

    fn pending(&self, file: FileId, interest: &Interest) -> u32 {
        if interest.off {
            return 0;
        }
        let ready = self.ready(file) & interest.events;
        let edge = interest.events & EPOLLET != 0;
        if edge && interest.seen == Some(self.activity(file)) { 0 } else { ready }
    }

    /// Whether a wait would end at once.
    pub(super) fn epoll_has_events(&self, id: EventId) -> bool {
        let Some(epoll) = self.epoll(id) else { return false };
        epoll.interests.iter().any(|((_, file), interest)| self.pending(*file, interest) != 0)
    }

    /// `epoll_wait`: the events that are there now, at most `most`; none means to wait until
    /// [`Files::ready`] of the instance.
    pub fn epoll_events(&mut self, epoll: FileId, most: usize) -> Result<Vec<EpollEvent>, Errno> {
        let id = self.epoll_id(epoll)?;
        if most == 0 {
            return Err(Errno::EINVAL);
        }
        let Some(state) = self.epoll(id) else { return Err(Errno::EINVAL) };
        let mut order: Vec<_> = state.interests.iter().map(|(&key, &value)| (key, value)).collect();
        let start = order.iter().position(|(key, _)| Some(*key) > state.last).unwrap_or(0);
        if state.last.is_some() {
            order.rotate_left(start);
        }
        let mut events = Vec::new();
        for (key, interest) in order {
            if events.len() == most {
                break;
            }
            let ready = self.pending(key.1, &interest);
            if ready == 0 {
                continue;
            }
            events.push(EpollEvent { events: ready, data: interest.data });
            let seen = self.activity(key.1);
            let Event::Poll(state) = self.event_mut(id)? else { continue };
            state.last = Some(key);
            if let Some(interest) = state.interests.get_mut(&key) {
                interest.seen = Some(seen);
                interest.off = interest.events & EPOLLONESHOT != 0;
            }
        }
        if events.len() < most
            && let Event::Poll(state) = self.event_mut(id)?
        {
            state.last = None;
        }
        Ok(events)
    }

    /// Nanoseconds until the next timer goes off that a file is, or that it watches; one that is
    /// over already does not count.
    pub fn next_timer(&self, file: FileId) -> Option<u64> {
        let Object::Event(id) = self.description(file).ok()?.object else { return None };
        match self.epoll(id) {
            Some(epoll) => {
                epoll.interests.keys().filter_map(|(_, file)| self.next_timer(*file)).min()
            }
            None => self.timer_rest(file).filter(|&rest| rest > 0),
        }
    }

    /// A closed file is watched by nobody.
    pub(super) fn forget_interest(&mut self, file: FileId) {
        let watching: Vec<EventId> = self
            .events
            .iter()
            .filter(|(_, event)| match &***event {
                Event::Poll(epoll) => epoll.interests.keys().any(|key| key.1 == file),
                _ => false,
            })
            .map(|(&id, _)| id)
            .collect();
        for id in watching {
            if let Ok(Event::Poll(epoll)) = self.event_mut(id) {
                let keys: Vec<_> =
                    epoll.interests.keys().filter(|key| key.1 == file).copied().collect();
                for key in keys {
                    epoll.interests.remove(&key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_packed() {
        assert_eq!(size_of::<libc::epoll_event>(), 12);
        let event = EpollEvent { events: POLLIN | EPOLLET, data: 0x1122_3344_5566_7788 };
        assert_eq!(EpollEvent::decode(&event.encode()), event);
        assert_eq!(event.encode()[4], 0x88);
    }
}
