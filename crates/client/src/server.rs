//! A conversation with a server: ask, fetch, count, store, each with as much patience as is given.
//!
//! Always: whatever is sent more than once has a name that makes the second time count for nothing:
//! a parcel its digest, a count its event. What comes back is a stranger's.

use std::thread;
use std::time::Duration;

use rand::{Rng, RngCore};
use serde::de::DeserializeOwned;
use stunt_parcel::Digest;
use stunt_parcel::messages::{Answer, Ask, Count, Counted, KnownDouble, Stored};

use crate::agent::{Agent, Network, Reply};
use crate::config::{Destination, Settings};
use crate::failure::Failure;
use crate::request::Request;

/// The largest report that is fetched.
const MOST_REPORT: u64 = 64 << 20;
/// How long to wait before the second attempt, at most; each time twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// How often a request is tried, and how long to wait in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// How often.
    pub attempts: u64,
    /// The longest wait.
    pub max_wait: Duration,
}

impl Patience {
    /// What the settings say.
    pub fn of(settings: &Settings) -> Patience {
        Patience {
            attempts: settings.number("network.attempts").unwrap_or(4),
            max_wait: settings.age("network.max-wait").unwrap_or(Duration::from_secs(60)),
        }
    }

    /// How long to wait after the given failed attempt, from 1. `None`: give up.
    fn wait(&self, attempt: u64, failure: &Failure, rng: &mut dyn RngCore) -> Option<Duration> {
        if attempt >= self.attempts || !failure.is_temporary() {
            return None;
        }
        if let Failure::Busy { wait: Some(wait), .. } = failure {
            return (*wait <= self.max_wait).then_some(*wait);
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << (attempt - 1).min(16)).min(self.max_wait);
        // Clients that failed together do not come back together.
        Some(doubled.mul_f64(rng.gen_range(0.5..=1.0)))
    }
}

/// A server to talk with.
pub struct Server {
    agent: Agent,
    destination: Destination,
    patience: Patience,
}

impl Server {
    /// The server of a destination.
    pub fn new(settings: &Settings, destination: &Destination) -> Result<Server, Failure> {
        Ok(Server {
            agent: Agent::new(&Network::of(settings, destination))?,
            destination: destination.clone(),
            patience: Patience::of(settings),
        })
    }

    /// Is this failure known?
    pub fn ask(&self, ask: &Ask, rng: &mut dyn RngCore) -> Result<Answer, Failure> {
        let answer: Answer = self.talk(&Request::ask(&self.destination, ask), rng)?;
        if answer.known && answer.ticket.is_none() {
            return Err(self.no_answer("it knows the failure, but names no ticket"));
        }
        Ok(answer)
    }

    /// The report that the server promised.
    pub fn double(
        &self,
        signature: &str,
        promised: &KnownDouble,
        rng: &mut dyn RngCore,
    ) -> Result<Vec<u8>, Failure> {
        if promised.bytes > MOST_REPORT {
            return Err(self.no_answer("its double is too large"));
        }
        let request = Request::double(&self.destination, signature);
        let report = self.tried(&request, promised.bytes, rng)?.body;
        if report.len() as u64 != promised.bytes || Digest::of(&report) != promised.sha256 {
            return Err(self.no_answer("its double is not the one that it promised"));
        }
        Ok(report)
    }

    /// The best report of a ticket; the destination has a maintainer's token.
    pub fn ticket_double(&self, ticket: &str, rng: &mut dyn RngCore) -> Result<Vec<u8>, Failure> {
        let request = Request::ticket_double(&self.destination, ticket);
        Ok(self.tried(&request, MOST_REPORT, rng)?.body)
    }

    /// This failure was met once more.
    pub fn count(&self, count: &Count, rng: &mut dyn RngCore) -> Result<Counted, Failure> {
        self.talk(&Request::count(&self.destination, count), rng)
    }

    /// The same with a message that was written earlier.
    pub fn count_again(&self, message: Vec<u8>, rng: &mut dyn RngCore) -> Result<Counted, Failure> {
        self.talk(&Request::count_again(&self.destination, message), rng)
    }

    /// Stores a sealed parcel.
    pub fn store(&self, sealed: Vec<u8>, rng: &mut dyn RngCore) -> Result<Stored, Failure> {
        self.talk(&Request::parcel(&self.destination, sealed), rng)
    }

    fn talk<T: DeserializeOwned>(
        &self,
        request: &Request,
        rng: &mut dyn RngCore,
    ) -> Result<T, Failure> {
        let reply = self.tried(request, 1 << 20, rng)?;
        serde_json::from_slice(&reply.body)
            .map_err(|_| self.no_answer("it is not the JSON that was expected"))
    }

    fn tried(&self, request: &Request, most: u64, rng: &mut dyn RngCore) -> Result<Reply, Failure> {
        let mut attempt = 1;
        loop {
            let failure = match self.agent.send_for(request, most) {
                Ok(reply) => {
                    tracing::info!(status = reply.status, attempt, "answered");
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            let Some(wait) = self.patience.wait(attempt, &failure, rng) else {
                return Err(failure);
            };
            tracing::info!(attempt, wait = wait.as_secs_f64(), "failed, trying again");
            thread::sleep(wait);
            attempt += 1;
        }
    }

    fn no_answer(&self, why: &str) -> Failure {
        Failure::NoAnswer { server: self.destination.server.to_string(), why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn waits_grow_up_to_a_limit_and_end() {
        let patience = Patience { attempts: 5, max_wait: Duration::from_secs(2) };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let failure = Failure::NoSuchHost("x".to_owned());
        let mut before = Duration::ZERO;
        for (attempt, most) in [(1, 500), (2, 1000), (3, 2000), (4, 2000)] {
            let wait = patience.wait(attempt, &failure, &mut rng).unwrap();
            let most = Duration::from_millis(most);
            assert!(most.mul_f64(0.5) <= wait && wait <= most, "{attempt} {wait:?}");
            assert!(wait.mul_f64(2.0) >= before, "{attempt}");
            before = wait;
        }
        assert_eq!(patience.wait(5, &failure, &mut rng), None);
    }

    #[test]
    fn a_server_is_given_the_time_that_it_asks_for_or_none() {
        let patience = Patience { attempts: 3, max_wait: Duration::from_secs(60) };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut wait = |seconds| {
            let wait = Some(Duration::from_secs(seconds));
            patience.wait(1, &Failure::Busy { status: 429, wait }, &mut rng)
        };
        assert_eq!(wait(7), Some(Duration::from_secs(7)));
        assert_eq!(wait(61), None);
        let refused = Failure::Refused { status: 422, words: String::new() };
        assert_eq!(patience.wait(1, &refused, &mut rng), None);
    }
}
