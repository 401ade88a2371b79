//! Every algorithm behind one function: an original in, a double and a claim out.
//!
//! It is the tool's own pipeline that makes the doubles: a program here is one more target of it. A
//! [`Report`] also says what only a bench may know: which set the double was drawn from, as far as
//! the algorithm tells. What always holds: a report depends on the program, the original and the seed
//! alone. Two mutants are among the algorithms, which break the rules on purpose: a bench that does not
//! catch them is worth nothing.

use std::cell::RefCell;
use std::time::Duration;

use stunt_anonymize::{
    Conditions, Error, Followed, Found, Method, Options, PathSearch, Refusal, Relaxations, Resize,
    Runner, Searched, Silent, Target, of_description, search,
};
use stunt_belief::{List, Public, describe};
use stunt_leakage::{Bits, Claim};
use stunt_path::{Failure, Original};
use stunt_reduce::{Broken, Oracle};
use stunt_search::Double;
use stunt_search::weaken::DrawnFrom;
use stunt_terms::Pool;

use crate::programs::{Program, words};
use crate::run::Route;
use crate::walk::{Walk, failure};

/// How a double is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// A random solution of the path condition.
    Castro,
    /// The same from the canonical input of the path, with the randomness of the path.
    CastroCanonical,
    /// The solution that differs most.
    Camouflage,
    /// All failing paths.
    Mpp,
    /// The same from the canonical input of the path, with the randomness of the path.
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
    /// The original itself, described in the program's words: no mutant, if not what anyone wants.
    Itself,
    /// A mutant: the same, and its belief has looked at the original.
    Peeks,
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
            Algorithm::Itself => "the original",
            Algorithm::Peeks => "mutant: a belief that looks",
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
            | Algorithm::Itself
            | Algorithm::Peeks
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
    /// What it tells, whatever was believed before.
    pub tells: Bits,
    /// What it was drawn from.
    pub drawn: Drawn,
    /// A name of the set: equal for equal sets. Of a set that is only known through draws, its
    /// size and the number of tests that describe it.
    pub set: String,
}

/// Why there is no double.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The pipeline has none.
    #[error(transparent)]
    None(#[from] Error),
    /// The double was not drawn uniformly, or bytes had to be fixed: not so with these programs.
    #[error("the double is not uniform in its set")]
    NotUniform,
}

impl Algorithm {
    /// What the tool is asked. Searches start from the original's own path, as in the papers.
    fn options(self, seed: u64) -> Options {
        let (method, canonical) = match self {
            Algorithm::Castro | Algorithm::Keeps | Algorithm::Itself | Algorithm::Peeks => {
                (Method::Castro, false)
            }
            Algorithm::CastroCanonical => (Method::Castro, true),
            Algorithm::Camouflage | Algorithm::MustDiffer => (Method::Camouflage, false),
            Algorithm::Mpp => (Method::Mpp, false),
            Algorithm::MppCanonical => (Method::Mpp, true),
            Algorithm::ReapBrw => (Method::ReapBrw, false),
            Algorithm::ReapBag => (Method::ReapBag, false),
            Algorithm::ReapRm => (Method::ReapRm, false),
            Algorithm::Respa => (Method::Respa, false),
            Algorithm::Weaken => (Method::Weaken, false),
            Algorithm::WeakenCanonical => (Method::Weaken, true),
            Algorithm::BlackBox => (Method::Blackbox, false),
        };
        Options {
            canonical,
            seed: Some(seed),
            // Work ends searches here, and time does not.
            time: Some(TIME),
            effort: 100_000,
            resize: Resize::Never,
            paths: PathSearch { nodes: 1 << 32, as_is: true, ..PathSearch::default() },
            ..Options::new(method)
        }
    }
}

/// More than any search here takes.
pub(crate) const TIME: Duration = Duration::from_secs(600);

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
    match algorithm {
        Algorithm::Itself => return Ok(itself(program, own, &[])),
        Algorithm::Peeks => return Ok(itself(program, own, &[own])),
        _ => {}
    }
    let small = Small::new(own, Followable(program));
    let found = small.search(&algorithm.options(seed))?;
    let mut said = found.drawn.claim.clone();
    if let Some(from) = &found.drawn.set
        && let Some(told) = describe(&from.set, &public(program, &[]))
    {
        said = of_description(said, from, &told);
    }
    let tells = said.tells();
    let own = own.to_vec();
    let mut double = found.drawn.double.bytes.concat();
    let mut claim = said.leak();
    let draws = small.draws(&found);
    let path = |input: &[u8]| name(program, &[input.to_vec()]);
    let (drawn, set) = match (algorithm, &found.searched) {
        (Algorithm::Keeps, _) => {
            let at = crate::programs::FREE.start.min(own.len() - 1);
            double[at] = own[at];
            (Drawn::Unknown, path(&own))
        }
        (Algorithm::MustDiffer, _) => {
            let plain = Small::new(&own, Followable(program));
            claim = plain.search(&Algorithm::Castro.options(seed))?.drawn.measured.total;
            (Drawn::Unknown, path(&own))
        }
        (Algorithm::Camouflage, _) => {
            return Ok(Report { double, claim, tells, drawn: Drawn::Unknown, set: path(&own) });
        }
        // All is a function of the path, so the double may tell it.
        (Algorithm::CastroCanonical | Algorithm::MppCanonical | Algorithm::WeakenCanonical, _) => {
            (Drawn::Nothing, path(&own))
        }
        (_, Searched::Weakened { condition, kept, gaps, .. }) => {
            let set = format!("{:.6} bits, {kept} tests, {gaps} gaps", condition.value());
            (Drawn::Draws(draws.unwrap_or_default()), set)
        }
        (Algorithm::Mpp, Searched::Paths { found, .. }) => {
            let witness = |path: &stunt_search::paths::Path| {
                let values = path.witness().source(0);
                (0..own.len()).map(|at| values.get(at).copied().unwrap_or(0)).collect()
            };
            let inputs: Vec<Vec<u8>> = found.paths.iter().map(witness).collect();
            let set = name(program, &inputs);
            (Drawn::Paths(inputs), set)
        }
        // A solution of the condition of one path, which is the double's.
        _ => {
            let set = path(&double);
            (Drawn::Paths(vec![double.clone()]), set)
        }
    };
    if found.drawn.double.fixed > 0 || found.drawn.double.not_uniform.is_some() {
        return Err(Problem::NotUniform);
    }
    Ok(Report { double, claim, tells, drawn, set })
}

/// The words of a program, and others that should not be there.
fn public(program: &Program, others: &[&[u8]]) -> Public {
    let own = words(program).iter().map(|word| word.as_bytes().to_vec());
    let others = others.iter().map(|word| word.to_vec());
    Public { lists: vec![List::new("the program", own.chain(others))], ..Public::default() }
}

/// The original, with what it tells by its description.
fn itself(program: &Program, own: &[u8], others: &[&[u8]]) -> Report {
    let mut original = Original::new();
    original.push(own.to_vec(), Vec::new());
    let set = DrawnFrom::only(&original).set;
    let bits = 8.0 * own.len() as f64;
    let claim = Claim::of_set(Bits::Exact(bits));
    let described = describe(&set, &public(program, others)).map(|it| it.cost.bits());
    Report {
        double: own.to_vec(),
        claim: claim.leak(),
        tells: claim.described(described.unwrap_or(bits)).tells(),
        drawn: Drawn::Nothing,
        set: String::new(),
    }
}

/// A name of a set of paths.
fn name(program: &Program, inputs: &[Vec<u8>]) -> String {
    let mut routes: Vec<Route> = inputs.iter().map(|input| program.run(input).1).collect();
    routes.sort();
    format!("{routes:?}")
}

/// What a small program is asked.
pub(crate) trait Function {
    /// Whether it fails on an input.
    fn fails(&self, input: &[u8]) -> bool;

    /// Where it stands at its first test, if it can be followed.
    fn walk(&self, input: &[u8], pool: &mut Pool) -> Option<Walk>;

    /// What anybody has who has it.
    fn public(&self) -> Public {
        Public::default()
    }
}

/// A program that runs on values and on terms.
struct Followable(&'static Program);

impl Function for Followable {
    fn fails(&self, input: &[u8]) -> bool {
        self.0.fails(input)
    }

    fn walk(&self, input: &[u8], pool: &mut Pool) -> Option<Walk> {
        Some(Walk::new(self.0, pool, input))
    }

    fn public(&self) -> Public {
        public(self.0, &[])
    }
}

/// A small program and an original as a target of the pipeline.
pub(crate) struct Small<F> {
    function: F,
    original: Original,
    failure: Failure,
    /// All runs on candidates, and whether they failed.
    runs: RefCell<Vec<(Vec<u8>, bool)>>,
}

impl<F: Function> Small<F> {
    pub(crate) fn new(own: &[u8], function: F) -> Self {
        let mut original = Original::new();
        original.push(own.to_vec(), Vec::new());
        Self { function, original, failure: failure(), runs: RefCell::default() }
    }

    /// What the pipeline finds.
    pub(crate) fn search(&self, options: &Options) -> Result<Found, Error> {
        search(options, self, Conditions::default(), &Silent)
    }

    /// Draws from the set of a double that was weakened. The runs that measured the share come last: all of
    /// them are uniform in the condition, and those that failed are uniform in the set.
    pub(crate) fn draws(&self, found: &Found) -> Option<Vec<Vec<u8>>> {
        let Searched::Weakened { draws, .. } = &found.searched else { return None };
        let runs = self.runs.borrow();
        let last = &runs[runs.len() - draws.runs as usize..];
        Some(last.iter().filter(|(_, fails)| *fails).map(|(input, _)| input.clone()).collect())
    }

    fn bytes(&self, input: Option<&Original>) -> Vec<u8> {
        input.unwrap_or(&self.original).reveal().concat()
    }
}

impl<F: Function> Target for Small<F> {
    type Walk = Walk;

    fn original(&self) -> &Original {
        &self.original
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }

    fn price(&self, set: &stunt_belief::Drawn) -> Option<f64> {
        let public = self.function.public();
        describe(set, &public).map(|it| it.cost.bits())
    }

    fn natively(&self) -> Result<Option<Box<dyn Runner + '_>>, Error> {
        Ok(Some(Box::new(Direct(self))))
    }

    fn follow(&self, input: Option<&Original>, _: Relaxations) -> Result<Followed, Error> {
        let mut pool = Pool::new();
        let walk = self.walk(input, &mut pool)?;
        let tests = walk.tests(&mut pool);
        let failure = self.function.fails(&self.bytes(input)).then(failure);
        Ok(Followed { pool, tests, failure, ..Followed::default() })
    }

    fn walk(&self, input: Option<&Original>, pool: &mut Pool) -> Result<Walk, Error> {
        let walk = self.function.walk(&self.bytes(input), pool);
        walk.ok_or_else(|| Refusal::Uncontained { why: String::new() }.into())
    }

    fn proved(&self, double: &Double) -> Result<Option<Failure>, Error> {
        Ok(self.function.fails(&double.bytes.concat()).then(failure))
    }
}

/// Runs a small program.
struct Direct<'a, F>(&'a Small<F>);

impl<F: Function> Oracle for Direct<'_, F> {
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let run = |input: &Vec<Vec<u8>>| {
            let (input, mut runs) = (input.concat(), self.0.runs.borrow_mut());
            let fails = self.0.function.fails(&input);
            runs.push((input, fails));
            fails
        };
        Ok(inputs.iter().map(run).collect())
    }
}

impl<F: Function> Runner for Direct<'_, F> {
    fn runs(&self) -> u64 {
        self.0.runs.borrow().len() as u64
    }

    fn agrees(&mut self) -> Result<bool, Broken> {
        Ok(true)
    }
}
