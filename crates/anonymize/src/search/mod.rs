//! From the failure to a proved double: by the method that was asked for, or by the next best one.

mod blackbox;
mod canonical;
mod on_path;
mod other_path;
mod reduced;
mod starts;
mod weakened;
mod within;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_leakage::{Bits, Charge, Claim};
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Failure, Original, Test, TestKind};
use stunt_reduce::InVain;
use stunt_search::paths::Found as Paths;
use stunt_search::weaken::{DrawnFrom, Lengths};
use stunt_search::{Double, Measured, PathCondition, Share};
use stunt_subject::Followed;
use tracing::{info, info_span};

use crate::job::{Conditions, Way};
use crate::observer::Observer;
use crate::options::{Method, Options, Resize};
use crate::oracle::{Runner, pace};
use crate::refusal::{Error, Refusal, unless_refused};
use crate::report::Seconds;
use crate::stage::Stage;
use crate::target::Target;

/// How long the search for a better double may take, if nothing is said.
pub const USUAL_TIME: Duration = Duration::from_secs(20);

/// The part of the time that is left for what comes after a search: measuring, and proofs.
const FOR_PROOFS: f64 = 0.2;

/// A proved double with its figures.
pub struct Found {
    /// The double.
    pub drawn: Proved,
    /// What the original path reveals, if that was found out.
    pub path_leak: Option<Bits>,
    /// What its condition comes from.
    pub origin: Origin,
    pub(crate) relax: Relaxations,
    /// What the search took and found.
    pub searched: Searched,
    /// What the user should know about it.
    pub(crate) notes: Vec<String>,
    /// It is shorter than the original.
    pub is_shorter: bool,
    /// It was made from a shorter input, and filled up to the length of the original.
    pub(crate) is_filled: bool,
    /// The input that it was made from, which is the original or what is left of it.
    pub base: Original,
    /// What took how long.
    pub(crate) seconds: Seconds,
}

impl Found {
    /// One of which nothing else is known.
    pub(crate) fn new(drawn: Proved, origin: Origin, relax: Relaxations) -> Self {
        Self {
            drawn,
            path_leak: None,
            origin,
            relax,
            searched: Searched::Nothing,
            notes: Vec::new(),
            is_shorter: false,
            is_filled: false,
            base: Original::new(),
            seconds: Seconds::default(),
        }
    }
}

/// A double that fails as the original does.
pub struct Proved {
    /// The double.
    pub double: Double,
    /// How the program failed on it: all that a report says of a failure.
    pub(crate) failure: Failure,
    /// What it reveals, but for what is said of [`Proved::draws`].
    pub measured: Measured,
    /// All that it is charged, by what for.
    pub claim: Claim,
    /// What it was drawn from, if that can be described.
    pub set: Option<DrawnFrom>,
    /// How many bits the hidden part of the input has that it was made from.
    pub(crate) size: usize,
    /// How many doubles were drawn until one failed.
    pub draws: u32,
}

/// What the condition of a double comes from.
pub enum Origin {
    /// A run in the machine that was followed.
    Run(Box<Followed>),
    /// A path that a search found, test by test.
    Path(Vec<Test>),
    /// Native runs alone.
    Runs,
}

impl Origin {
    /// The run, if there is one.
    pub fn run(&self) -> Option<&Followed> {
        match self {
            Origin::Run(run) => Some(run),
            Origin::Path(_) | Origin::Runs => None,
        }
    }

    /// The tests of the path.
    pub fn tests(&self) -> &[Test] {
        match self {
            Origin::Run(run) => &run.tests,
            Origin::Path(tests) => tests,
            Origin::Runs => &[],
        }
    }

    /// How many values were fixed because they could not be followed, by reason.
    pub fn pins(&self) -> BTreeMap<String, u64> {
        let mut pins = BTreeMap::new();
        for test in self.tests() {
            if let TestKind::Pin(why) = test.kind {
                *pins.entry(why.to_string()).or_insert(0) += 1;
            }
        }
        pins
    }
}

/// What a search took and found.
pub enum Searched {
    /// There was none.
    Nothing,
    /// Weakening.
    Weakened {
        /// Runs of the program.
        runs: u64,
        /// How many conditions are kept.
        kept: usize,
        /// Of so many.
        all: usize,
        /// What they would reveal if all that satisfies them failed.
        condition: Bits,
        /// How often solutions failed.
        share: Share,
        /// How often what the double was drawn from did, in the last runs.
        draws: Share,
        /// How many gaps between what is kept may be longer or shorter.
        gaps: usize,
    },
    /// A search over paths.
    Paths {
        /// What it found.
        found: Box<Paths>,
        /// Whether it began with the original, and not with a plainer input: then nothing is known of the map
        /// from originals to paths.
        is_from_original: bool,
    },
}

/// What a search may take.
#[derive(Clone, Copy)]
struct Allowed {
    time: Duration,
    /// Runs of the program.
    runs: u64,
}

/// A search under way.
struct Search<'a, T> {
    options: &'a Options,
    target: &'a T,
    observer: &'a dyn Observer,
    conditions: Conditions,
    begun: Instant,
    seconds: Seconds,
    /// How long a run takes among many, once that was measured.
    pace: Option<Duration>,
    /// Whether a runtime's program is run natively, and not in the machine, once that is known.
    natively: Cell<Option<bool>>,
    /// What the search starts from, if not from the original.
    base: Option<Original>,
    /// What did not fail while it was reduced.
    in_vain: InVain,
    /// Whether reducing it took all of its time: then more may go.
    is_cut_short: bool,
    /// How long a double may be, and what it owes for that.
    lengths: Lengths,
    /// Of a canonical double: what the path reveals, of which all is a function.
    canonical: Option<Measured>,
    /// How many conditions were measured, to take the one with the lowest figure.
    measured: u32,
    /// What the search under way may take.
    allowed: Allowed,
}

/// Looks for a double of the target's input that fails in the same way, and is proved.
///
/// # Errors
/// There is none, or the program cannot be run.
pub fn search<T: Target>(
    options: &Options,
    target: &T,
    conditions: Conditions,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let allowed = Allowed { time: options.time.unwrap_or(USUAL_TIME), runs: options.effort };
    let search = Search {
        options,
        target,
        observer,
        conditions,
        begun: Instant::now(),
        seconds: Seconds::default(),
        pace: None,
        natively: Cell::new(None),
        base: None,
        in_vain: InVain::default(),
        is_cut_short: false,
        lengths: Lengths::default(),
        canonical: None,
        measured: 0,
        allowed,
    };
    search.found()
}

impl<'a, T: Target> Search<'a, T> {
    fn found(mut self) -> Result<Found, Error> {
        let seed = self.options.seed;
        let mut rng = seed.map_or_else(ChaCha20Rng::from_entropy, ChaCha20Rng::seed_from_u64);
        if self.options.canonical {
            rng = self.make_canonical()?;
        }
        let mut found = match self.options.resize() {
            Resize::Never => {
                let found = self.find_by(&mut rng)?;
                self.settled(found)
            }
            Resize::Always | Resize::Auto => self.reduced(&mut rng)?,
        };
        self.warn(&mut found);
        self.hold(&mut found);
        self.delay(&mut rng);
        Ok(found)
    }

    /// By the method that was asked for.
    fn find_by(&mut self, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        let alone = self.alone();
        if let Some(leaves) = self.leaves() {
            // Following a runtime through the formats that are left takes longer than running it.
            let interpreted = || self.target.is_interpreted().then(|| INTERPRETED.to_owned());
            let alone = alone.or_else(interpreted);
            return self.within_document(&leaves, alone.as_deref(), rng);
        }
        if let Some(why) = alone {
            return self.blackbox(&why, rng);
        }
        match self.options.method {
            Method::Weaken | Method::Blackbox => self.followed_or_alone(rng),
            Method::Relaxed | Method::Castro | Method::Camouflage => self.on_path(rng),
            Method::Mpp | Method::ReapBrw | Method::ReapBag | Method::ReapRm | Method::Respa => {
                self.other_path(rng)
            }
        }
    }

    /// Why the program is run and not followed, if so; nothing is said of what the user has asked for.
    fn alone(&self) -> Option<String> {
        if let Some(why) = self.target.not_followed() {
            return Some(why.to_owned());
        }
        if let Way::Alone(why) = &self.conditions.way {
            return Some(why.clone());
        }
        (self.options.method == Method::Blackbox).then(String::new)
    }

    /// A double of a program that is followed; and by running it alone, if following did not lead to a condition
    /// that runs could weaken, and to none that reveals little. The better one is taken.
    fn followed_or_alone(&mut self, rng: &mut ChaCha20Rng) -> Result<Found, Error> {
        let (begun, before) = (Instant::now(), self.allowed);
        let is_interpreted = self.target.is_interpreted();
        let followed = match self.weakened(rng) {
            Ok(found) if !matches!(found.searched, Searched::Nothing) => return Ok(found),
            Ok(found) if !is_interpreted && !reveals_much(&found) => return Ok(found),
            // Solutions of its path did not fail: that is no reason that a reader could use.
            Err(Error::Refused(why)) => Err(match *why {
                Refusal::Unproved { .. } => UNWEAKENED.to_owned(),
                why => why.to_string(),
            }),
            followed => Ok(followed?),
        };
        self.allowed.time = before.time.saturating_sub(begun.elapsed()).max(before.time / 2);
        let why = followed.as_ref().err().map_or(UNWEAKENED, |why| why);
        let alone = self.blackbox(why, rng);
        self.allowed = before;
        let leak = |found: &Found| found.drawn.measured.total.upper();
        match (followed, alone) {
            (Ok(followed), Ok(alone)) if leak(&followed) <= leak(&alone) => Ok(followed),
            (Ok(followed), Err(Error::Refused(_))) => Ok(followed),
            (_, alone) => alone,
        }
    }

    /// Something else is going on.
    fn stage(&self, stage: Stage) {
        stage.begin(self.observer);
    }

    /// Does something that ends with what it has when somebody has had enough.
    fn searching<R>(&self, work: impl FnOnce(&AtomicBool) -> R) -> R {
        self.observer.searching(true);
        let found = work(self.observer.enough());
        self.observer.searching(false);
        found
    }

    /// How long the next search may take: what is allowed, within what is left of the job's time.
    fn time(&self) -> Duration {
        let left = self.conditions.left.saturating_sub(self.begun.elapsed());
        if left > self.allowed.time * 2 {
            return self.allowed.time;
        }
        left.mul_f64(1.0 - FOR_PROOFS).min(self.allowed.time)
    }

    /// The input that the search starts from.
    fn base(&self) -> Original {
        self.base.as_ref().unwrap_or(self.target.original()).clone()
    }

    /// A double that was proved is the answer from now on, unless a better one comes. It owes what it
    /// would owe at the end.
    fn hold(&self, found: &mut Found) {
        found.base = self.base();
        found.seconds = self.seconds.clone();
        // A canonical double gets its figure in the end.
        if !self.options.canonical {
            self.target.held(found);
        }
    }

    /// The same for a double on the original's path.
    fn hold_on_path(&self, found: &mut Found) {
        // What is charged for its length has more to come.
        if self.base.is_none() && self.options.resize() == Resize::Never {
            self.hold(found);
        }
    }

    /// Says so if a double is nearly the original. Of a shorter one it is not said: the report would tell
    /// how long the original is at most.
    fn warn(&self, found: &mut Found) {
        let all = 8.0 * self.target.original().hidden_len() as f64;
        if !found.is_shorter && found.drawn.measured.total.upper() > NEARLY_ALL * all {
            found.notes.push(
                "This double reveals nearly all of the original: what the program computes from it \
                 could not be solved otherwise. Look at it before you send it."
                    .to_owned(),
            );
        }
    }

    /// Follows what the search starts from.
    fn follow(&mut self, relax: Relaxations) -> Result<Followed, Error> {
        self.stage(Stage::Trace);
        let _span = info_span!("trace", ?relax).entered();
        let followed = self.target.follow(self.base.as_ref(), relax)?;
        self.seconds.trace += followed.seconds;
        info!(
            instructions = followed.instructions,
            with_terms = followed.followed,
            tests = followed.tests.len(),
            "followed"
        );
        Ok(followed)
    }

    /// How the program fails on a double, if it is proved.
    fn proved(&mut self, double: &Double) -> Result<Option<Failure>, Error> {
        self.stage(Stage::Verify);
        let _span = info_span!("verify", runs = self.options.runs).entered();
        let begun = Instant::now();
        let seen = self.target.proved(double)?;
        self.seconds.verify += begun.elapsed().as_secs_f64();
        Ok(seen)
    }

    /// Whoever can run the program on candidates, the quicker one first. Nobody, if the original does
    /// not fail when it is run so.
    fn runner(&self) -> Result<Option<Box<dyn Runner + 'a>>, Error> {
        if let Some(native) = self.target.natively()? {
            return self.quicker(native).map(Some);
        }
        info!("the program does not fail in a contained run");
        if matches!(self.conditions.way, Way::Alone(_)) {
            return Ok(None);
        }
        let machine = self.target.in_machine(self.time())?;
        info!(agrees = machine.is_some(), "candidates are run in the machine");
        Ok(machine)
    }

    /// The program natively, or in the machine, if it is a runtime's and that is quicker there: a snapshot
    /// saves the start of the runtime. That is measured, once.
    fn quicker(&self, mut native: Box<dyn Runner + 'a>) -> Result<Box<dyn Runner + 'a>, Error> {
        let alone = matches!(self.conditions.way, Way::Alone(_));
        if !self.target.is_interpreted() || alone || self.natively.get() == Some(true) {
            return Ok(native);
        }
        let known = self.natively.get() == Some(false);
        let natively = match known {
            true => Duration::MAX,
            false => pace(self.target.original(), &mut *native)?,
        };
        self.natively.set(Some(true));
        if natively < QUICK {
            return Ok(native);
        }
        // What the machine cannot do is no reason to stop: the host can.
        let most = self.time().mul_f64(PREPARING);
        let Ok(Some(mut machine)) = self.target.in_machine(most) else { return Ok(native) };
        let in_machine = pace(self.target.original(), &mut *machine)?;
        info!(?natively, ?in_machine, "a run takes, natively and in the machine");
        self.natively.set(Some(in_machine >= natively));
        Ok(if in_machine < natively { machine } else { native })
    }

    /// How long a run takes among many. It is measured once for what the search starts from: whoever can run the program stays the same.
    fn pace(&mut self, runner: &mut dyn Runner) -> Result<Duration, Error> {
        let measured = match self.pace {
            Some(pace) => pace,
            None => pace(&self.base(), runner)?,
        };
        self.pace = Some(measured);
        Ok(measured)
    }

    /// What a double reveals that takes the path of the original, without any relaxation; and how many
    /// tests that path has.
    fn path_leak(&mut self) -> Result<Option<(Bits, usize)>, Error> {
        let plain = unless_refused(self.follow(Relaxations::NONE))?;
        let Some(mut plain) = plain else { return Ok(None) };
        self.stage(Stage::Compare);
        let _span = info_span!("count").entered();
        let begun = Instant::now();
        let leak = PathCondition::new(&mut plain.pool, &plain.tests, &self.base()).total();
        self.seconds.count += begun.elapsed().as_secs_f64();
        Ok(Some((leak, plain.tests.len())))
    }
}

/// Whether a double reveals most of the input that it was made from.
fn reveals_much(found: &Found) -> bool {
    found.drawn.measured.total.upper() > 0.5 * found.drawn.size as f64
}

/// Why a program is run alone that was followed.
const UNWEAKENED: &str = "what following it found could not be weakened";
/// Why a document of a program that a runtime interprets is not followed.
const INTERPRETED: &str = "a runtime interprets it, and what is left of the input is a document";

/// A program that takes less, among many runs, is run natively without another look: to prepare the machine
/// takes two runs of it from the start, each of which takes as long as many native ones.
const QUICK: Duration = Duration::from_millis(60);

/// The part of the time that may go into preparing the machine for a program that can be run natively as well.
const PREPARING: f64 = 0.15;

/// Doubles that were drawn and did not fail make the set smaller from which the last one comes; by how much is
/// estimated by their number.
fn drawn_again(claim: Claim, draws: u32) -> Claim {
    if draws <= 1 {
        return claim;
    }
    // With this probability a share that is smaller would have taken more draws.
    let confidence: f64 = 0.99;
    let draws = f64::from(draws);
    let least_share = 1.0 - confidence.powf(1.0 / draws);
    let of_share = Bits::Estimate { value: draws.log2(), at_most: -least_share.log2(), confidence };
    claim.charged(Charge::Draws, of_share)
}

/// A double that reveals more than this share of the original is hardly worth its name.
const NEARLY_ALL: f64 = 0.9;
