//! `stunt queue`: what waits to be sent; sealed, and agreed to already.
//!
//! Always: something that waits goes to the server that it was agreed for, whatever the
//! configuration says today; the token and the pinned certificate are used only if they belong to
//! that server.

use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::json;
use stunt_client::config::{self, Destination, Settings};
use stunt_client::queue::{self, Contents, Kind, Limits, Queue, Waiting};
use stunt_client::{Failure, Server, keep};
use stunt_parcel::Digest;
use stunt_report::{grouped, visible};

use crate::outcome::{self, Outcome};

/// Flags of `stunt queue`.
#[derive(clap::Args)]
#[command(after_help = "Exit codes of `stunt queue send`: 0 all was sent, 2 the server refuses \
something, 7 something still waits.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// What waits, the oldest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Try to send what waits
    Send {
        /// Only these, by the beginning of their name
        id: Vec<String>,
    },
    /// Throw away what waits
    Drop {
        /// Which, by the beginning of their name
        #[arg(required_unless_present = "all")]
        id: Vec<String>,
        /// Everything
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
}

/// The time, in seconds since 1970: for how long something waits.
#[allow(clippy::disallowed_methods)] // How long something waits is about the date, and only shown.
pub fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let settings = config::settings()?;
    let queue = Queue::usual()?;
    for gone in queue.expire(now(), Limits::of(&settings).keep)? {
        eprintln!("stunt: {} has waited too long and is gone", name(&gone));
    }
    match &arguments.action {
        Action::List { json } => {
            list(&all(&queue)?, *json)?;
            Ok(Outcome::Done)
        }
        Action::Send { id } => {
            let Some(_turn) = queue.turn()? else {
                eprintln!("stunt: another process is sending what waits");
                return Ok(Outcome::Queued);
            };
            let all = all(&queue)?;
            let chosen: Vec<Waiting> = if id.is_empty() {
                all
            } else {
                let ids = chosen(all.iter().map(|waiting| waiting.id), id)?;
                all.into_iter().filter(|waiting| ids.contains(&waiting.id)).collect()
            };
            send(&settings, &queue, chosen)
        }
        Action::Drop { id, all } => {
            let Contents { waiting, damaged } = queue.list()?;
            let ids = waiting.into_iter().map(|waiting| waiting.id).chain(damaged);
            let ids = if *all { ids.collect() } else { chosen(ids, id)? };
            for id in ids {
                queue.remove(id)?;
                println!("dropped: {}", short(id));
            }
            Ok(Outcome::Done)
        }
    }
}

/// What waits. Whatever is damaged is told, and does not keep the rest from going.
fn all(queue: &Queue) -> Result<Vec<Waiting>> {
    let Contents { waiting, damaged } = queue.list()?;
    for id in damaged {
        let name = short(id);
        eprintln!(
            "stunt: what waits as {name} is damaged; `stunt queue drop {name}` throws it away"
        );
    }
    Ok(waiting)
}

/// The short name of something that waits.
fn name(waiting: &Waiting) -> String {
    short(waiting.id)
}

fn short(id: Digest) -> String {
    id.to_string()[..12].to_owned()
}

/// The names that the user means.
fn chosen(all: impl Iterator<Item = Digest>, words: &[String]) -> Result<Vec<Digest>> {
    let all: Vec<Digest> = all.collect();
    let mut chosen = Vec::new();
    for word in words {
        let mut found = all.iter().filter(|id| id.to_string().starts_with(word.as_str()));
        let Some(&id) = found.next().filter(|_| !word.is_empty()) else {
            bail!("nothing waits as {}; see `stunt queue list`", visible(word));
        };
        if found.next().is_some() {
            bail!("more than one waits as {}; give more of the name", visible(word));
        }
        if !chosen.contains(&id) {
            chosen.push(id);
        }
    }
    Ok(chosen)
}

fn list(all: &[Waiting], as_json: bool) -> Result<()> {
    let now = now();
    if as_json {
        let one = |waiting: &Waiting| {
            json!({
                "id": waiting.id,
                "kind": waiting.kind,
                "server": waiting.server,
                "what": waiting.what,
                "since": waiting.since,
                "bytes": waiting.bytes,
                "why": waiting.why,
            })
        };
        let all: Vec<_> = all.iter().map(one).collect();
        return outcome::print(format!("{:#}\n", json!(all)).as_bytes());
    }
    let mut text = String::new();
    for waiting in all {
        let kind = match waiting.kind {
            Kind::Parcel => "sealed report",
            Kind::Count => "count",
        };
        text += &format!(
            "{}  {kind}, {} bytes, to {}, for {} now\n    {}\n    {}\n",
            name(waiting),
            grouped(waiting.bytes),
            visible(&waiting.server),
            ago(now.saturating_sub(waiting.since)),
            visible(&waiting.what),
            visible(&waiting.why),
        );
    }
    if all.is_empty() {
        text += "Nothing waits.\n";
    }
    outcome::print(text.as_bytes())
}

/// `3 hours`.
fn ago(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (unit, word) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or(units[3]);
    let number = seconds / unit;
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

fn send(settings: &Settings, queue: &Queue, chosen: Vec<Waiting>) -> Result<Outcome> {
    if chosen.is_empty() {
        println!("Nothing waits.");
        return Ok(Outcome::Done);
    }
    let mut rng = ChaCha20Rng::from_entropy();
    let mut worst = Outcome::Done;
    for mut waiting in chosen {
        let payload = match queue.payload(&waiting) {
            Err(error @ queue::Error::Damaged(_)) => {
                eprintln!("stunt: {error}");
                worst = Outcome::Wrong;
                continue;
            }
            payload => payload?,
        };
        match send_one(settings, &waiting, payload, &mut rng)? {
            Ok(words) => {
                queue.remove(waiting.id)?;
                if let Some(state) = stunt_client::state() {
                    keep::forget(&state, waiting.id);
                }
                println!("{words}");
            }
            Err(failure) => {
                eprintln!("stunt: {} still waits: {failure}", name(&waiting));
                worst = match (worst, failure.is_final()) {
                    (Outcome::Wrong, _) | (_, true) => Outcome::Wrong,
                    _ => Outcome::Queued,
                };
                waiting.why = failure.to_string();
                queue.note(&waiting, &mut rng)?;
            }
        }
    }
    Ok(worst)
}

fn send_one(
    settings: &Settings,
    waiting: &Waiting,
    payload: Vec<u8>,
    rng: &mut ChaCha20Rng,
) -> Result<Result<String, Failure>> {
    let address = waiting.server.parse().context("the note of the queue is damaged")?;
    let destination = Destination::named(address, settings.destination());
    let server = match Server::new(settings, &destination) {
        Ok(server) => server,
        Err(failure) => return Ok(Err(failure)),
    };
    Ok(match waiting.kind {
        Kind::Parcel => server.store(payload, rng).map(|stored| {
            format!("sent: ticket {}, {}", visible(&stored.ticket), visible(&stored.url))
        }),
        Kind::Count => server.count_again(payload, rng).map(|counted| {
            format!("counted: ticket {}, {} times", visible(&counted.ticket), counted.count)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let cases = [(0, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute")];
        for (seconds, words) in cases {
            assert_eq!(ago(seconds), words);
        }
        assert_eq!(ago(2 * 86_400 + 5), "2 days");
    }
}
