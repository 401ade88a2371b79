//! Where each byte's component is found, in a form that is cheap to clone and to change.
//!
//! One byte of each component holds it, the others name that byte; joining components thus only
//! touches the bytes of the smaller ones. The last few changes are kept in a short list beside the
//! persistent map: a search clones, changes a byte or two and throws the clone away, and copying a
//! map's nodes for that would touch the reference counts of all neighbours.

use std::sync::Arc;

use imbl::{GenericHashMap, shared_ptr::DefaultSharedPtr};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use stunt_terms::InputByte;

use crate::component::Component;

/// So many changes are kept outside of the map.
const MOST_RECENT: usize = 12;

/// A byte's component, or where it is.
#[derive(Clone)]
pub(crate) enum Slot {
    Here(Arc<Component>),
    At(InputByte),
}

/// A slot for every byte that is in a component.
#[derive(Clone, Default)]
pub(crate) struct Slots {
    settled: GenericHashMap<InputByte, Slot, FxBuildHasher, DefaultSharedPtr>,
    /// Newer than the map; each byte once.
    recent: SmallVec<[(InputByte, Slot); MOST_RECENT]>,
}

impl Slots {
    /// The slot of a byte.
    pub fn get(&self, byte: InputByte) -> Option<&Slot> {
        match self.recent.iter().find(|(known, _)| *known == byte) {
            Some((_, slot)) => Some(slot),
            None => self.settled.get(&byte),
        }
    }

    /// Gives a byte a slot.
    pub fn set(&mut self, byte: InputByte, slot: Slot) {
        if let Some((_, known)) = self.recent.iter_mut().find(|(known, _)| *known == byte) {
            *known = slot;
            return;
        }
        if self.recent.len() == MOST_RECENT {
            for (byte, slot) in self.recent.drain(..) {
                self.settled.insert(byte, slot);
            }
        }
        self.recent.push((byte, slot));
    }

    /// The byte that holds the component of `byte`, and the component.
    pub fn home(&self, byte: InputByte) -> Option<(InputByte, &Arc<Component>)> {
        match self.get(byte)? {
            Slot::Here(component) => Some((byte, component)),
            Slot::At(holder) => match self.get(*holder) {
                Some(Slot::Here(component)) => Some((*holder, component)),
                Some(Slot::At(_)) | None => unreachable!("a named byte holds a component"),
            },
        }
    }

    /// All components, each once.
    pub fn components(&self) -> impl Iterator<Item = &Arc<Component>> + '_ {
        let recent = self.recent.iter().map(|(_, slot)| slot);
        let is_recent = |byte: &InputByte| self.recent.iter().any(|(known, _)| known == byte);
        let settled = self.settled.iter().filter(move |(byte, _)| !is_recent(byte));
        recent.chain(settled.map(|(_, slot)| slot)).filter_map(|slot| match slot {
            Slot::Here(component) => Some(component),
            Slot::At(_) => None,
        })
    }
}
