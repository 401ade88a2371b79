//! The command as the host of a job that is guarded: what is printed, signals, and a line about progress.

use std::path::Path;

use anyhow::{Context, Result};
use stunt_anonymize::{Account, Error, Guarded, Host, Made, Observer, Options, Way, guarded};
use stunt_subject::Subject;

use super::{Print, refused, words};
use crate::outcome::{self, Outcome};
use crate::owner::Owner;
use crate::progress::Progress;
use crate::{interrupt, mistake};

/// What is handed out: the report, what is printed about it, and what is kept for its owner.
pub(super) struct Answer {
    pub(super) archive: Vec<u8>,
    pub(super) text: String,
    pub(super) owner: Vec<u8>,
}

impl Answer {
    /// Of a double that was proved.
    fn of(print: &Print, account: &Account<'_>, output: &Path) -> Result<Self> {
        let path = output.display().to_string();
        let archive = account.report.to_bytes(&account.found.drawn.double.bytes);
        let archive = archive.context("the report was not written")?;
        let text = if print.json {
            format!("{:#}\n", words::to_json(account, Some(&path)))
        } else {
            words::to_text(account, &path)
        };
        let owner = serde_json::to_vec(&Owner::of(account)).context("the owner's note")?;
        Ok(Self { archive, text, owner })
    }

    /// As it is told.
    fn content(&self) -> Vec<u8> {
        let size = |part: &[u8]| (part.len() as u64).to_le_bytes();
        let (archive, owner) = (&self.archive[..], &self.owner[..]);
        [&size(archive), archive, &size(owner), owner, self.text.as_bytes()].concat()
    }

    fn read(content: &[u8]) -> Option<Self> {
        let part = |content: &'_ [u8]| -> Option<(Vec<u8>, Vec<u8>)> {
            let (size, rest) = content.split_first_chunk()?;
            let (part, rest) = rest.split_at_checked(u64::from_le_bytes(*size) as usize)?;
            Some((part.to_vec(), rest.to_vec()))
        };
        let (archive, rest) = part(content)?;
        let (owner, text) = part(&rest)?;
        Some(Self { archive, text: String::from_utf8(text).ok()?, owner })
    }
}

/// The command, whose report goes there.
struct Command<'a> {
    print: &'a Print,
    output: &'a Path,
}

impl Host for Command<'_> {
    fn in_worker(&self) {
        interrupt::watch_again();
    }

    fn at_work(&self, worker: Option<i32>) {
        interrupt::pass_on_to(worker.unwrap_or(0));
    }

    fn observer(&self) -> Box<dyn Observer + '_> {
        Box::new(Progress::new(self.print.json))
    }

    fn answer(&self, account: &Account<'_>) -> Option<Vec<u8>> {
        Some(Answer::of(self.print, account, self.output).ok()?.content())
    }

    fn done(&self, made: Result<Made, Error>) -> (Option<Vec<u8>>, u8) {
        let answer = match made {
            Err(Error::Refused(refusal)) => return (None, refused(&refusal).number()),
            Err(error) => Err(error.into()),
            Ok(made) => Answer::of(self.print, &made.told(), self.output).inspect(|_| {
                if let Some(seconds) = interrupt::cut_short() {
                    outcome::erase_line();
                    eprintln!(
                        "stunt: the search was cut short after {seconds} s: {:.1} % of the original so far",
                        made.owner.leak.percent
                    );
                }
                if self.print.stats {
                    words::statistics(&made.found);
                }
            }),
        };
        match answer {
            Ok(answer) => (Some(answer.content()), 0),
            Err(error) => {
                eprintln!("stunt: {}", outcome::sentence(&error));
                (None, outcome::USAGE)
            }
        }
    }

    fn has_panicked(&self) -> bool {
        mistake::was_made()
    }

    fn goes_on(&self, why: &str, way: &Way) {
        outcome::erase_line();
        match way {
            Way::Uncompared => {
                eprintln!("stunt: {why}; the double is not compared with the original's path.");
            }
            Way::Unreduced => eprintln!("stunt: {why}; the input is not reduced."),
            _ => eprintln!("stunt: {why}; the double is looked for by running the program alone."),
        }
    }
}

/// Does the job. Gives what is to be handed out, or how it ended without that.
pub(super) fn answer(
    options: &Options,
    print: &Print,
    subject: &Subject,
    output: &Path,
) -> Result<std::result::Result<Answer, Outcome>> {
    let verdict = guarded(options, subject, &Command { print, output });
    let content = match verdict.context("stunt cannot start a worker")? {
        Guarded::Code(code) => return Ok(Err(Outcome::Program(code))),
        Guarded::Limit(why) => {
            outcome::erase_line();
            eprintln!("stunt: {why}; no double was proved until then, and nothing is handed out.");
            return Ok(Err(Outcome::Limit));
        }
        Guarded::Answer(content, why) => {
            if let Some(why) = why {
                outcome::erase_line();
                eprintln!("stunt: {why}; this is the best double that was proved until then.");
            }
            content
        }
    };
    Ok(Ok(Answer::read(&content).context("the worker has told nothing")?))
}
