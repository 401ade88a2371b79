//! A real program and its failure as the target of a search.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::fs;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use stunt_belief::{Described, Drawn};
use stunt_document::{Contents, Remains};
use stunt_machine::symbolic::Relaxations;
use stunt_machine::{Following, Judge, Machine, Options as Watched};
use stunt_native::failure_of_run;
use stunt_path::{Failure, FailureKind, Original, Run, Test};
use stunt_report::SourceName;
use stunt_search::Double;
use stunt_subject::{FailsIf, Followed, follow_on, run_double, texts_without_zeros};
use stunt_terms::Pool;
use stunt_unwind::stack::Symbols;
use tracing::debug;

use crate::failure::Failing;
use crate::job::Job;
use crate::options::Method;
use crate::oracle::{MachineOracle, NativeOracle, Runner};
use crate::refusal::{Error, Refusal, unless_refused};
use crate::report::{hold, price, too_near};
use crate::search::{Found, USUAL_TIME};
use crate::target::Target;

/// The part of the time that following a program may take that a runtime interprets, and the least.
const FOLLOWING: f64 = 0.3;
const LEAST_FOLLOWING: Duration = Duration::from_secs(2);

/// A program that fails on a private input.
pub(crate) struct Crash<'a> {
    pub(crate) job: Job<'a>,
    pub(crate) failing: Failing,
    only_watched: Cell<u32>,
    /// What the original holds, once somebody looks for it in a double.
    pub(crate) contents: OnceCell<Contents>,
    /// The last double in which that was looked for, and what was found.
    pub(crate) remaining: RefCell<Option<(Vec<Vec<u8>>, Remains)>>,
    /// The sets that were described last, with what that came to.
    pub(crate) described: RefCell<VecDeque<(Drawn, Option<Rc<Described>>)>>,
}

impl<'a> Crash<'a> {
    pub(crate) fn new(job: Job<'a>, failing: Failing) -> Self {
        let (contents, remaining, described) =
            (OnceCell::new(), RefCell::default(), RefCell::default());
        Self { job, failing, only_watched: Cell::new(0), contents, remaining, described }
    }

    /// What counts as the failure, if the user said so.
    fn judge(&self) -> Option<Box<Judge>> {
        let Some(condition) = self.job.fails_if.clone() else {
            let texts = Arc::clone(&self.job.subject.texts);
            let judge = move |run: Run| failure_of_run(&run, &texts);
            return self.is_interpreted().then(|| Box::new(judge) as Box<Judge>);
        };
        Some(Box::new(move |run: Run| {
            condition.holds(&run).then(|| Failure::stated(condition.text()))
        }))
    }

    /// Whether the failure is that a run reaches a limit.
    fn is_limit(&self) -> bool {
        self.job.fails_if.as_ref().is_some_and(FailsIf::is_limit)
    }

    fn proved_natively(&self, double: &Double) -> Result<Option<Failure>, Error> {
        let Self { job, failing, .. } = self;
        let command = job.subject.on_double(&double.bytes)?;
        let mut seen = None;
        for _ in 0..job.options.runs {
            seen = None;
            for _ in 0..failing.tries() {
                let run = job.native.run(&command)?;
                debug!(ending = %run.ending, seconds = run.seconds(), "a native run");
                seen = job.failure_of(&run).filter(|seen| *seen == failing.failure);
                if seen.is_some() {
                    break;
                }
            }
            if seen.is_none() {
                return Ok(None);
            }
            // The last word is that of a run that nobody watches.
            if !failing.comes_plainly(job, &command)? {
                self.only_watched.set(self.only_watched.get() + 1);
                return Ok(None);
            }
        }
        Ok(seen)
    }
}

impl Target for Crash<'_> {
    type Walk = Following;

    fn original(&self) -> &Original {
        &self.job.subject.original
    }

    fn failure(&self) -> &Failure {
        &self.failing.failure
    }

    /// Sources that are hidden wholly, and that a program reads to their end.
    fn may_change(&self) -> Vec<bool> {
        let original = self.original();
        let wholly = |source: usize| {
            let own = original.hidden_of(source);
            own == original.len_of(source) && own > 0
        };
        let sources = self.job.subject.sources.iter().enumerate();
        let read = |name: &SourceName| name.is_file() || *name == SourceName::Stdin;
        sources.map(|(number, source)| read(&source.name) && wholly(number)).collect()
    }

    fn price(&self, set: &Drawn) -> Option<f64> {
        price(self, set)
    }

    fn refuses(&self, found: &Found) -> bool {
        too_near(self, found).is_some()
    }

    fn not_followed(&self) -> Option<&'static str> {
        if self.is_limit() {
            return Some("a run that reaches a limit has no end to be followed to");
        }
        let failure = &self.failing.failure;
        let of_sanitizer = failure.is_told() && failure.exception_type().is_none();
        of_sanitizer.then_some("what a sanitizer finds cannot be followed")
    }

    fn is_only_in_machine(&self) -> bool {
        self.failing.checked
    }

    fn is_interpreted(&self) -> bool {
        self.job.subject.is_managed()
    }

    fn natively(&self) -> Result<Option<Box<dyn Runner + '_>>, Error> {
        // What only checked memory shows is seen in the machine alone.
        if self.failing.checked {
            return Ok(None);
        }
        let mut native = NativeOracle::new(&self.job, &self.failing);
        let agrees = native.agrees()?;
        Ok(agrees.then(|| Box::new(native) as Box<dyn Runner>))
    }

    fn in_machine(&self, most: Duration) -> Result<Option<Box<dyn Runner + '_>>, Error> {
        // Its limits are others.
        if self.is_limit() {
            return Ok(None);
        }
        let machine = MachineOracle::new(&self.job, &self.failing, most)?;
        let Some(mut machine) = machine else { return Ok(None) };
        let agrees = machine.agrees()?;
        Ok(agrees.then(|| Box::new(machine) as Box<dyn Runner>))
    }

    fn follow(&self, input: Option<&Original>, relax: Relaxations) -> Result<Followed, Error> {
        let (failure, checked) = (&self.failing.failure, self.failing.checked);
        let subject = self.job.subject;
        let mut most = subject.machine_timeout();
        if self.is_interpreted() && self.job.options.method == Method::Weaken {
            // The program can be run alone: following it is worth a part of the time.
            let time = self.job.options.time.unwrap_or(USUAL_TIME);
            most = most.min(time.mul_f64(FOLLOWING)).max(LEAST_FOLLOWING);
        }
        let followed = follow_on(subject, input, relax, checked, most)?;
        let stated = matches!(failure.kind, FailureKind::Stated(_));
        if !stated && followed.failure.as_ref() != Some(failure) {
            let how = match &followed.failure {
                Some(other) => format!("fails with {other}"),
                None => followed.ending,
            };
            let (failure, missing) = (failure.clone(), followed.missing);
            return Err(Refusal::OtherInMachine { failure, how, missing }.into());
        }
        Ok(followed)
    }

    fn walk(&self, input: Option<&Original>, pool: &mut Pool) -> Result<Following, Error> {
        let subject = self.job.subject;
        let (setup, inputs) = match input {
            Some(input) => subject.in_machine_on(input)?,
            None => subject.in_machine()?,
        };
        let machine = Machine::new(setup).map_err(|errno| subject.not_started(errno))?;
        let symbols = Symbols::new(Box::new(|path| fs::read(path).ok().map(Arc::from)));
        let options = Watched {
            check_memory: self.failing.checked,
            judge: self.judge(),
            ..Watched::default()
        };
        let values = input.unwrap_or(&subject.original).assignment();
        let started = Following::start(machine, &inputs, &values, Arc::new(symbols), options, pool);
        Ok(started.map_err(stunt_subject::Error::Input)?)
    }

    fn given(&self, pool: &mut Pool) -> Vec<Test> {
        texts_without_zeros(pool, self.job.subject)
    }

    fn proved(&self, double: &Double) -> Result<Option<Failure>, Error> {
        if !self.failing.checked {
            return self.proved_natively(double);
        }
        // Only the machine sees it, and it does the same every time.
        let run = run_double(self.job.subject, &double.bytes, true).map_err(Error::from);
        let seen = unless_refused(run)?.and_then(|run| run.failure);
        Ok(seen.filter(|seen| *seen == self.failing.failure))
    }

    fn only_watched(&self) -> u32 {
        self.only_watched.get()
    }

    fn held(&self, found: &Found) {
        hold(self, found);
    }
}
