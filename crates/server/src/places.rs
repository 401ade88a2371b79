//! Places: how many connections, or requests under way, one address may have at a time.
//!
//! Always: a place is given back when it goes out of scope, and an address without one is forgotten.
//! A network of version 6 is one address. Addresses are never logged.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::limits::network;

/// The places of all addresses.
pub struct Places {
    of_one: usize,
    taken: Mutex<FxHashMap<IpAddr, usize>>,
}

/// A place of one address.
pub struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

impl Places {
    /// So many for each address.
    pub fn new(of_one: usize) -> Arc<Places> {
        Arc::new(Places { of_one, taken: Mutex::default() })
    }

    /// Takes a place, if the address has one left.
    pub fn take(self: &Arc<Places>, address: IpAddr) -> Option<Place> {
        let address = network(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(address).or_insert(0);
        if *count >= self.of_one {
            return None;
        }
        *count += 1;
        Some(Place { places: Arc::clone(self), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_takes_none_of_others() {
        let places = Places::new(2);
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let first = places.take(a).unwrap();
        let _second = places.take(a).unwrap();
        assert!(places.take(a).is_none());
        assert!(places.take(b).is_some());
        drop(first);
        assert!(places.take(a).is_some());
        assert_eq!(places.taken.lock().unwrap().len(), 1, "who has no place is forgotten");
    }
}
