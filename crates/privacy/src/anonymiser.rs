//! Every algorithm behind one function: an original in, a double and a claim out.
//!
//! A [`Report`] also says what only a bench may know: which set the double was drawn from, as far as
//! the algorithm tells. What always holds: a report depends on the program, the original and the seed
//! alone, with a pool of its own. Two mutants are among the algorithms, which break the rules on
//! purpose: a bench that does not catch them is worth nothing.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::{ChaCha8Rng, ChaCha20Rng};
use sha2::{Digest, Sha256};
use stunt_leakage::Bits;
use stunt_path::{Original, Pin, Test, TestKind};
use stunt_reduce::Broken;
use stunt_search::paths::{
    Astray, Found, Limits, Manner, ReapOptions, ReapRmOptions, RespaOptions, Task, mpp, reap,
    reap_rm, respa,
};
use stunt_search::weaken::{Lengths, Limits as WeakenLimits};
use stunt_search::{Error, PathCondition, camouflage, castro, weaken};
use stunt_terms::Pool;
use stunt_terms::smtlib::print_term;

use crate::programs::Program;
use crate::run::Route;
use crate::walk::{Walk, failure};

/// How a double is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// A random solution of the path condition.
    Castro,
    /// The same, with randomness that is derived from the failure and the condition.
    CastroCanonical,
    /// The solution that differs most.
    Camouflage,
    /// All failing paths.
    Mpp,
    /// The same, with randomness that is derived from the failure and the conditions.
    MppCanonical,
    /// Detours by a random walk.
    ReapBrw,
    /// Detours by an adaptive greedy walk.
    ReapBag,
    /// Detours that keep little of the original.
    ReapRm,
    /// The least leaking path.
    Respa,
    /// Tests that the failure does not need are dropped.
    Weaken,
    /// The same from the canonical input of the path, with the randomness of the path.
    WeakenCanonical,
    /// The same, with no other condition than that each byte is as it is.
    BlackBox,
    /// A mutant: differs most, and claims what castro does.
    MustDiffer,
    /// A mutant: keeps the first free byte of the original, and claims what castro does.
    Keeps,
}

impl Algorithm {
    /// Those of the tool, in the order of the table.
    pub const ALL: [Algorithm; 12] = [
        Algorithm::Castro,
        Algorithm::CastroCanonical,
        Algorithm::Camouflage,
        Algorithm::Mpp,
        Algorithm::MppCanonical,
        Algorithm::ReapBrw,
        Algorithm::ReapBag,
        Algorithm::ReapRm,
        Algorithm::Respa,
        Algorithm::Weaken,
        Algorithm::WeakenCanonical,
        Algorithm::BlackBox,
    ];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Castro => "castro",
            Algorithm::CastroCanonical => "castro, canonical",
            Algorithm::Camouflage => "camouflage",
            Algorithm::Mpp => "mpp",
            Algorithm::MppCanonical => "mpp, canonical",
            Algorithm::ReapBrw => "reap-brw",
            Algorithm::ReapBag => "reap-bag",
            Algorithm::ReapRm => "reap-rm",
            Algorithm::Respa => "respa",
            Algorithm::Weaken => "weaken",
            Algorithm::WeakenCanonical => "weaken, canonical",
            Algorithm::BlackBox => "black box",
            Algorithm::MustDiffer => "mutant: must differ",
            Algorithm::Keeps => "mutant: keeps a byte",
        }
    }

    /// How often it is run on each of so many originals to know what it gives: once where a run tells
    /// the set, else an even number, less often the more there are.
    pub fn seeds(self, originals: usize) -> u64 {
        let even =
            |runs: usize, least, most| ((runs / originals.max(1)) as u64).clamp(least, most) & !1;
        match self {
            Algorithm::Castro
            | Algorithm::CastroCanonical
            | Algorithm::Mpp
            | Algorithm::MppCanonical
            | Algorithm::WeakenCanonical
            | Algorithm::Respa => 1,
            Algorithm::ReapBrw | Algorithm::ReapBag | Algorithm::ReapRm => even(600, 4, 32),
            Algorithm::Weaken | Algorithm::BlackBox => even(400, 2, 4),
            Algorithm::Camouflage | Algorithm::MustDiffer | Algorithm::Keeps => {
                even(65_536, 128, 256)
            }
        }
    }
}

/// What the double was drawn from.
pub enum Drawn {
    /// Uniformly from the inputs that take one of these paths; each is given by one of its inputs.
    Paths(Vec<Vec<u8>>),
    /// Uniformly from a set that is known through these draws only.
    Draws(Vec<Vec<u8>>),
    /// It is the only one that this original could give.
    Nothing,
    /// Not known.
    Unknown,
}

/// A double with its claim.
pub struct Report {
    /// The double.
    pub double: Vec<u8>,
    /// What it reveals, as the algorithm says.
    pub claim: Bits,
    /// What it was drawn from.
    pub drawn: Drawn,
    /// A name of the set: equal for equal sets. Of a set that is only known through draws, its
    /// size and the number of tests that describe it.
    pub set: String,
}

/// Why there is no double.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// No solution.
    #[error(transparent)]
    Unsolved(#[from] Error),
    /// No path.
    #[error(transparent)]
    Astray(#[from] Astray),
    /// No run.
    #[error("the program cannot be run: {0}")]
    Broken(Broken),
    /// The double was not drawn uniformly, or bytes had to be fixed: not so with these programs.
    #[error("the double is not uniform in its set")]
    NotUniform,
}

/// Makes a double of an original on which the program fails.
///
/// # Errors
/// There is none.
pub fn report(
    algorithm: Algorithm,
    program: &'static Program,
    own: &[u8],
    seed: u64,
) -> Result<Report, Problem> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    match algorithm {
        Algorithm::Castro => on_path(program, own, &mut rng),
        Algorithm::CastroCanonical => {
            let (base, mut rng) = of_path(program, own)?;
            Ok(Report { drawn: Drawn::Nothing, ..on_path(program, &base, &mut rng)? })
        }
        Algorithm::Camouflage => most_different(program, own, &mut rng, Claim::Own),
        Algorithm::MustDiffer => most_different(program, own, &mut rng, Claim::Plain),
        Algorithm::Keeps => {
            let mut report = on_path(program, own, &mut rng)?;
            let at = crate::programs::FREE.start.min(own.len() - 1);
            report.double[at] = own[at];
            Ok(Report { drawn: Drawn::Unknown, ..report })
        }
        Algorithm::Mpp
        | Algorithm::MppCanonical
        | Algorithm::ReapBrw
        | Algorithm::ReapBag
        | Algorithm::ReapRm
        | Algorithm::Respa => other_path(algorithm, program, own, &mut rng),
        Algorithm::Weaken => weakened(program, own, &mut rng, Start::Path),
        Algorithm::WeakenCanonical => {
            let (base, mut rng) = of_path(program, own)?;
            let plain = on_path(program, &base, &mut rng.clone())?;
            let report = weakened(program, &base, &mut rng, Start::Path)?;
            // All is a function of the path, so the double may tell it.
            Ok(Report { drawn: Drawn::Nothing, claim: plain.claim, set: plain.set, ..report })
        }
        Algorithm::BlackBox => weakened(program, own, &mut rng, Start::Bytes),
    }
}

fn original(own: &[u8]) -> Original {
    let mut original = Original::new();
    original.push(own.to_vec(), Vec::new());
    original
}

/// A name of a set of paths.
fn name(program: &Program, inputs: &[Vec<u8>]) -> String {
    let mut routes: Vec<Route> = inputs.iter().map(|input| program.run(input).1).collect();
    routes.sort();
    format!("{routes:?}")
}

/// The text of a path's condition, sorted, built in a pool of its own: the same for all inputs of
/// the path, however it was found.
fn text(program: &'static Program, own: &[u8]) -> String {
    let mut pool = Pool::new();
    let tests = Walk::new(program, &mut pool, own).tests(&mut pool);
    let mut lines: Vec<String> =
        tests.iter().map(|test| print_term(&pool, test.condition)).collect();
    lines.sort();
    lines.join("\n")
}

/// The canonical input of the path that an input takes, and the path's randomness, as the tool has
/// them.
fn of_path(program: &'static Program, own: &[u8]) -> Result<(Vec<u8>, ChaCha20Rng), Problem> {
    let mut pool = Pool::new();
    let tests = Walk::new(program, &mut pool, own).tests(&mut pool);
    let signature = failure().signature();
    let mut made = stunt_search::canonical(&signature, &[own.len()], &pool, &tests)
        .map_err(|error| Problem::Broken(Box::new(error)))?;
    let original = original(own);
    let mut condition = PathCondition::new(&mut made.pool, &made.tests, &original);
    let base = castro(&mut condition, &original, &mut made.rng)?;
    Ok((only(base.bytes), made.rng))
}

/// Randomness that is derived from the failure and from conditions, in any order.
fn canonical(conditions: &[String]) -> ChaCha8Rng {
    let mut conditions: Vec<&String> = conditions.iter().collect();
    conditions.sort();
    let mut hash = Sha256::new();
    hash.update(failure().signature());
    for condition in conditions {
        hash.update((condition.len() as u64).to_le_bytes());
        hash.update(condition);
    }
    ChaCha8Rng::from_seed(hash.finalize().into())
}

/// A uniform solution of the condition of the path that an input takes.
fn on_path(
    program: &'static Program,
    own: &[u8],
    rng: &mut dyn RngCore,
) -> Result<Report, Problem> {
    let mut pool = Pool::new();
    let tests = Walk::new(program, &mut pool, own).tests(&mut pool);
    let original = original(own);
    let mut condition = PathCondition::new(&mut pool, &tests, &original);
    let double = castro(&mut condition, &original, rng)?;
    if double.fixed > 0 || double.not_uniform.is_some() {
        return Err(Problem::NotUniform);
    }
    let claim = condition.total();
    let set = name(program, &[own.to_vec()]);
    Ok(Report { double: only(double.bytes), claim, drawn: Drawn::Paths(vec![own.to_vec()]), set })
}

fn only(mut sources: Vec<Vec<u8>>) -> Vec<u8> {
    sources.pop().unwrap_or_default()
}

/// Which figure is claimed for a double that differs most.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// Camouflage's own.
    Own,
    /// That of the path condition.
    Plain,
}

fn most_different(
    program: &'static Program,
    own: &[u8],
    rng: &mut dyn RngCore,
    claim: Claim,
) -> Result<Report, Problem> {
    let mut pool = Pool::new();
    let tests = Walk::new(program, &mut pool, own).tests(&mut pool);
    let original = original(own);
    let mut condition = PathCondition::new(&mut pool, &tests, &original);
    let plain = condition.total();
    let (double, measured) = camouflage(&mut condition, &original, rng)?;
    let claim = match claim {
        Claim::Own => measured.total,
        Claim::Plain => plain,
    };
    let set = name(program, &[own.to_vec()]);
    Ok(Report { double: only(double.bytes), claim, drawn: Drawn::Unknown, set })
}

fn other_path(
    algorithm: Algorithm,
    program: &'static Program,
    own: &[u8],
    rng: &mut ChaCha8Rng,
) -> Result<Report, Problem> {
    let found = search(algorithm, program, own, rng)?;
    let witness = |path: &stunt_search::paths::Path| -> Vec<u8> {
        let bytes = path.witness().source(0);
        (0..own.len()).map(|at| bytes.get(at).copied().unwrap_or(0)).collect()
    };
    if algorithm == Algorithm::MppCanonical {
        let mut paths: Vec<(String, Vec<u8>, f64)> = found
            .paths
            .iter()
            .map(|path| {
                let input = witness(path);
                (text(program, &input), input, (-path.leak().upper()).exp2())
            })
            .collect();
        paths.sort_by(|a, b| a.0.cmp(&b.0));
        let texts: Vec<String> = paths.iter().map(|path| path.0.clone()).collect();
        let mut rng = canonical(&texts);
        let mut rest = rng.gen_range(0.0..paths.iter().map(|path| path.2).sum());
        let mut chosen = &paths[paths.len() - 1].1;
        for (_, input, share) in &paths {
            if rest < *share {
                chosen = input;
                break;
            }
            rest -= share;
        }
        let report = on_path(program, chosen, &mut rng)?;
        let inputs: Vec<Vec<u8>> = paths.iter().map(|path| path.1.clone()).collect();
        let set = name(program, &inputs);
        // Which paths were found tells something, unless they are all; so the figure is that of the path
        // that the original takes, as the tool has it.
        let claim = if found.complete { found.leak } else { found.paths[0].leak() };
        return Ok(Report { claim, drawn: Drawn::Nothing, set, ..report });
    }
    let report = on_path(program, &witness(found.chosen()), rng)?;
    if algorithm == Algorithm::Mpp {
        let inputs: Vec<Vec<u8>> = found.paths.iter().map(witness).collect();
        let set = name(program, &inputs);
        return Ok(Report { claim: found.leak, drawn: Drawn::Paths(inputs), set, ..report });
    }
    Ok(Report { claim: found.leak, ..report })
}

fn search(
    algorithm: Algorithm,
    program: &'static Program,
    own: &[u8],
    rng: &mut ChaCha8Rng,
) -> Result<Found, Astray> {
    let (cancel, mut pool, original, target) =
        (AtomicBool::new(false), Pool::new(), original(own), failure());
    let start = Walk::new(program, &mut pool, own);
    let task = Task {
        pool: &mut pool,
        original: &original,
        target: &target,
        given: &[],
        limits: Limits {
            nodes: 1 << 32,
            time: Duration::from_secs(600),
            clock: &Instant::now,
            cancel: &cancel,
        },
        rng,
        progress: &mut |_| {},
        pause: &mut |_| {},
    };
    match algorithm {
        Algorithm::ReapBrw => reap(start, task, &ReapOptions::new(Manner::RandomWalk)),
        Algorithm::ReapBag => reap(start, task, &ReapOptions::new(Manner::AdaptiveGreedy)),
        Algorithm::ReapRm => reap_rm(start, task, &ReapRmOptions::default()),
        Algorithm::Respa => respa(start, task, &RespaOptions::default()),
        _ => mpp(start, task),
    }
}

/// Where weakening starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// From the tests of the path.
    Path,
    /// From the bytes as they are.
    Bytes,
}

fn weakened(
    program: &'static Program,
    own: &[u8],
    rng: &mut dyn RngCore,
    start: Start,
) -> Result<Report, Problem> {
    let mut pool = Pool::new();
    let tests = match start {
        Start::Path => Walk::new(program, &mut pool, own).tests(&mut pool),
        Start::Bytes => pins(&mut pool, own),
    };
    let (cancel, original) = (AtomicBool::new(false), original(own));
    let mut runs: Vec<(Vec<u8>, bool)> = Vec::new();
    let mut oracle = |input: &[Vec<u8>]| {
        let fails = program.fails(&input[0]);
        runs.push((input[0].clone(), fails));
        fails
    };
    let limits = WeakenLimits {
        time: Duration::from_secs(600),
        runs: 100_000,
        cancel: &cancel,
        worth: f64::INFINITY,
        lengths: Lengths::default(),
        without: &[],
    };
    let done = weaken(&mut pool, &tests, &original, &mut oracle, limits, &mut *rng, &mut |_| {})
        .map_err(Problem::Broken)?;
    // Whoever asks for weakening falls back on the path.
    let Some(done) = done else { return on_path(program, own, rng) };
    if done.double.fixed > 0 || done.double.not_uniform.is_some() {
        return Err(Problem::NotUniform);
    }
    // The runs that measured the share come last: all of them are uniform in the condition, and those
    // that failed are uniform in the set that the double is drawn from.
    let last = runs.split_off(runs.len() - done.share.runs as usize);
    let draws = last.into_iter().filter(|(_, fails)| *fails).map(|(input, _)| input).collect();
    let set =
        format!("{:.6} bits, {} tests, {} gaps", done.condition.value(), done.kept.0, done.gaps);
    let claim = done.measured.total;
    Ok(Report { double: only(done.double.bytes), claim, drawn: Drawn::Draws(draws), set })
}

/// That each byte is as it is.
fn pins(pool: &mut Pool, own: &[u8]) -> Vec<Test> {
    let pin = |(offset, &value): (usize, &u8)| {
        let (byte, value) = (pool.input(0, offset as u32), pool.constant(8, u128::from(value)));
        let condition = pool.eq(byte, value);
        Test { condition, address: offset as u64, kind: TestKind::Pin(Pin::Operation) }
    };
    own.iter().enumerate().map(pin).collect()
}
