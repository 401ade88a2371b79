//! Layer 6: search with the SAT solver.
//!
//! Parts share no byte, so parts at different places of the input meet different engines: each
//! stays as small as what is asked about its bytes, and a small question does not pay for the
//! clauses of all others. Engines that grow too large start over.

use rustc_hash::FxHashMap;
use stunt_models::ByteSet;
use stunt_terms::{InputByte, Pool};

use super::{Outcome, Part};
use crate::backend::cadical::{Assumption, Backend, TooLarge};
use crate::query::{Budget, Why};

/// The most gates of one engine.
const MOST_GATES: usize = 1 << 20;
/// An engine starts over when it is larger than this, and than four times its first question.
const LARGE: usize = 1 << 12;
/// The most engines.
const MOST_ENGINES: usize = 64;
/// The most gates of all engines together, if there are several.
const MOST_IN_ALL: usize = 1 << 21;

struct Engine {
    backend: Backend,
    first_size: usize,
    last_used: u64,
}

/// SAT solvers by the first byte of the parts that they are asked about.
#[derive(Default)]
pub(crate) struct Engines {
    engines: FxHashMap<InputByte, Engine>,
    uses: u64,
}

impl Engines {
    /// The engine for a part, with the assumptions that state the part.
    pub(crate) fn prepare(
        &mut self,
        pool: &Pool,
        part: &Part,
    ) -> Result<(&mut Backend, Vec<Assumption>), TooLarge> {
        let at = part.domains[0].0;
        self.uses += 1;
        let outgrown = |engine: &Engine| engine.backend.size() > LARGE.max(4 * engine.first_size);
        if self.engines.get(&at).is_some_and(outgrown) {
            self.engines.remove(&at);
        }
        let mut assumptions = match self.engines.get_mut(&at) {
            Some(engine) => state(&mut engine.backend, pool, part),
            None => Err(TooLarge),
        };
        if assumptions.is_err() {
            self.make_room();
            let mut backend = Backend::new(MOST_GATES);
            assumptions = Ok(state(&mut backend, pool, part)?);
            let first_size = backend.size();
            self.engines.insert(at, Engine { backend, first_size, last_used: 0 });
        }
        let engine = self.engines.get_mut(&at).expect("found or made");
        engine.last_used = self.uses;
        Ok((&mut engine.backend, assumptions?))
    }

    /// Drops the engines that were not used for the longest time.
    fn make_room(&mut self) {
        let size = |engines: &FxHashMap<InputByte, Engine>| {
            engines.values().map(|engine| engine.backend.size()).sum::<usize>()
        };
        while self.engines.len() >= MOST_ENGINES || size(&self.engines) > MOST_IN_ALL {
            let oldest = self.engines.iter().min_by_key(|(_, engine)| engine.last_used);
            let Some(at) = oldest.map(|(&at, _)| at) else { return };
            self.engines.remove(&at);
        }
    }
}

/// The part as assumptions.
fn state(backend: &mut Backend, pool: &Pool, part: &Part) -> Result<Vec<Assumption>, TooLarge> {
    let mut assumptions = Vec::new();
    for &(byte, domain) in part.domains.iter().filter(|(_, domain)| *domain != ByteSet::ALL) {
        assumptions.push(backend.member(byte, domain)?);
    }
    for &literal in &part.literals {
        assumptions.push(backend.holds(pool, literal)?);
    }
    assumptions.retain(|assumption| !assumption.is_trivial());
    Ok(assumptions)
}

/// The values of the part's bytes in the engine's model.
pub(crate) fn values(backend: &Backend, part: &Part) -> Vec<(InputByte, u8)> {
    part.domains.iter().map(|&(byte, _)| (byte, backend.value(byte))).collect()
}

/// Searches for a model of the part.
pub(crate) fn search(pool: &Pool, engines: &mut Engines, part: &Part, budget: &Budget) -> Outcome {
    let Ok((backend, assumptions)) = engines.prepare(pool, part) else {
        return Outcome::Unknown(Why::TooLarge);
    };
    match backend.solve(&assumptions, budget) {
        Ok(true) => Outcome::Sat(values(backend, part)),
        Ok(false) => Outcome::Unsat,
        Err(why) => Outcome::Unknown(why),
    }
}
