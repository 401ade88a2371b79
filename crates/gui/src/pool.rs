//! The pool: some tabs at once in one browser, which is started anew when it dies.
//!
//! Always: each run has a context of its own; what comes out does not depend on which tab was faster. A run that
//! takes the browser with it is made once more in a new one, for another run may have done that.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::chromium::{Browser, Error, Look};
use crate::replay::{Plan, Ran, replay};

/// Browsers that died, after which there is no new one: it is the host then.
const MOST_DEATHS: usize = 20;

/// A browser and how many tabs it has at once.
pub struct Pool {
    look: Look,
    program: Option<PathBuf>,
    width: usize,
    browser: Mutex<Option<Arc<Browser>>>,
    deaths: AtomicUsize,
    runs: AtomicUsize,
}

impl Pool {
    /// One with so many tabs; the browser is started now, to see whether there is one.
    ///
    /// # Errors
    /// There is none, or it does not start.
    pub fn new(look: Look, program: Option<PathBuf>, width: usize) -> Result<Self, Error> {
        let pool = Self {
            look,
            program,
            width: width.max(1),
            browser: Mutex::new(None),
            deaths: AtomicUsize::new(0),
            runs: AtomicUsize::new(0),
        };
        pool.browser()?.version()?;
        Ok(pool)
    }

    /// How many tabs there are at once.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many runs there were.
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// The browser; a new one, if it is gone.
    ///
    /// # Errors
    /// It does not start, or has died too often.
    pub fn browser(&self) -> Result<Arc<Browser>, Error> {
        let mut browser = self.browser.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(browser) = browser.as_ref().filter(|it| !it.is_gone()) {
            return Ok(Arc::clone(browser));
        }
        if browser.is_some() && self.deaths.fetch_add(1, Ordering::Relaxed) >= MOST_DEATHS {
            return Err(Error::Gone);
        }
        let new = Arc::new(Browser::start(self.look, self.program.as_deref())?);
        *browser = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Replays one.
    ///
    /// # Errors
    /// There is no browser any more.
    pub fn run(&self, plan: &Plan) -> Result<Ran, Error> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        for _ in 0..2 {
            let browser = self.browser()?;
            match replay(&browser, plan) {
                Err(Error::Gone) if browser.is_gone() => {}
                // The tab alone died.
                Err(Error::Gone) => return Ok(Ran::crashed()),
                // A loop without end; or what holds the tab is in its way everywhere.
                Err(Error::Late) => return Ok(Ran::late()),
                Err(Error::Script(_) | Error::Refused { .. }) => return Ok(Ran::unplayable()),
                other => return other,
            }
        }
        Ok(Ran::crashed())
    }

    /// Replays some, side by side.
    ///
    /// # Errors
    /// There is no browser any more.
    pub fn run_all(&self, plans: &[Plan]) -> Result<Vec<Ran>, Error> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Result<Ran, Error>>>> =
            plans.iter().map(|_| Mutex::new(None)).collect();
        thread::scope(|scope| {
            for _ in 0..self.width.min(plans.len()) {
                scope.spawn(|| {
                    while let Some((at, plan)) = Some(next.fetch_add(1, Ordering::Relaxed))
                        .and_then(|at| Some((at, plans.get(at)?)))
                    {
                        let ran = self.run(plan);
                        *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(ran);
                    }
                });
            }
        });
        let results =
            results.into_iter().map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner));
        // Every number below the count was taken by somebody.
        results.map(|it| it.unwrap_or(Err(Error::Gone))).collect()
    }
}
