//! Doing without: stretches of literals go, or become the class that their bytes belong to.
//!
//! Stretches of neighbours are tried as a whole, then their halves (`groups.rs`).

use rustc_hash::FxHashMap;
use stunt_reduce::Broken;
use stunt_terms::InputByte;

use super::Move;
use crate::weaken::classes::{self, Class};
use crate::weaken::groups::{Group, Order, Stretches, Which, groups};
use crate::weaken::parts::{Item, Weak};
use crate::weaken::search::{LEAST_GAIN, Search};

/// Drops what is asked, group by group.
pub(crate) struct Drop {
    pub(crate) name: &'static str,
    pub(crate) order: Order,
    pub(crate) which: Which,
    /// The least share of failing runs, of that at the beginning. A small one costs runs in every later try.
    pub(crate) floor: f64,
    /// The runs after which a try is given up.
    pub(crate) patience: u32,
}

impl Move for Drop {
    fn name(&self) -> &'static str {
        self.name
    }

    fn make(&self, search: &mut Search<'_>) -> Result<(), Broken> {
        let Drop { order, which, floor, patience, .. } = *self;
        search.drop_stretches(&Tried { order, which, class: None, floor, patience })
    }
}

/// Lets bytes be anything of a class.
pub(crate) struct Widen {
    pub(crate) class: Class,
    pub(crate) floor: f64,
    pub(crate) patience: u32,
}

impl Move for Widen {
    fn name(&self) -> &'static str {
        "classes"
    }

    fn make(&self, search: &mut Search<'_>) -> Result<(), Broken> {
        let Widen { class, floor, patience } = *self;
        let (order, which) = (Order::Bytes, Which::All);
        search.drop_stretches(&Tried { order, which, class: Some(class), floor, patience })
    }
}

/// What is tried on each stretch.
struct Tried {
    order: Order,
    which: Which,
    /// What bytes are instead, if they do not become free.
    class: Option<Class>,
    floor: f64,
    patience: u32,
}

/// Places whose literals turn out to be needed one after the other: the rest of them are taken to be
/// needed too, since trying each would cost more runs than it may save bits.
#[derive(Default)]
struct Needed {
    in_a_row: FxHashMap<Option<u64>, usize>,
}

/// So many single groups of a place that cannot be dropped, one after the other, are enough.
const ENOUGH: usize = 12;

impl Needed {
    fn saw(&mut self, place: Option<u64>, dropped: bool, groups: usize) {
        let in_a_row = self.in_a_row.entry(place).or_default();
        *in_a_row = if dropped { 0 } else { *in_a_row + usize::from(groups == 1) };
    }

    fn everywhere(&self, place: Option<u64>) -> bool {
        // Without a place, groups have nothing in common but their order.
        let enough = if place.is_some() { ENOUGH } else { 4 * ENOUGH };
        self.in_a_row.get(&place).is_some_and(|&in_a_row| in_a_row >= enough)
    }
}

impl Search<'_> {
    /// Tries to drop stretches of groups, long ones first.
    fn drop_stretches(&mut self, tried: &Tried) -> Result<(), Broken> {
        let groups = groups(&self.parts, &self.weak, tried.order, tried.which);
        let mut stretches = Stretches::new(groups.len());
        let mut needed = Needed::default();
        while let Some(stretch) = stretches.next() {
            if self.over() {
                break;
            }
            let place = groups[stretch.start].place;
            let one_place = groups[stretch.end - 1].place == place;
            if one_place && needed.everywhere(place) {
                continue;
            }
            let weak = self.weak.clone();
            let Some(changed) = self.without(&weak, &groups[stretch.clone()], tried.class) else {
                continue;
            };
            if weak.bits() - changed.bits() < LEAST_GAIN {
                // Nothing in it promises more by itself.
                continue;
            }
            let dropped = self.attempt(changed, tried.floor, tried.patience)?;
            if one_place {
                needed.saw(place, dropped, stretch.len());
            }
            if !dropped {
                stretches.split(stretch);
            }
        }
        Ok(())
    }

    /// The condition without some groups; their bytes are of a class instead, if there is one. None
    /// if no byte is.
    fn without(&mut self, weak: &Weak, groups: &[Group], class: Option<Class>) -> Option<Weak> {
        let Some(class) = class else {
            let mut items: Vec<Item> = groups.iter().flat_map(|it| it.items.clone()).collect();
            items.sort_unstable();
            items.dedup();
            return Some(self.parts.changed(weak, &items, &[]));
        };
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for group in groups {
            let Some(byte) = group.byte else { continue };
            if class.values().contains(self.parts.own(byte)) {
                without.extend_from_slice(&group.items);
                with.push(self.class_literal(byte, class));
            }
        }
        without.sort_unstable();
        without.dedup();
        (!with.is_empty()).then(|| self.parts.changed(weak, &without, &with))
    }

    /// That a byte is of a class; always the same literal.
    fn class_literal(&mut self, byte: InputByte, class: Class) -> Item {
        if let Some(&item) = self.classes.get(&(byte, class)) {
            return item;
        }
        let term = classes::literal(self.parts.pool, byte, class.values());
        let item = self.parts.add(term, 0);
        self.classes.insert((byte, class), item);
        item
    }
}
