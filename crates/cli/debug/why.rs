//! What a byte of the double is needed for, and where it was looked at: asked while a debugger stands
//! somewhere in the run.
//!
//! The run is followed once more from its start, test by test. A test is a place of the run: the number that
//! is told is that of an instruction at most 64 behind it, and the debugger's as long as one thread runs.
//! Bytes that are shown are those of the double.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use anyhow::Result;
use stunt_debugger::{Helper, TimeTravel};
use stunt_path::{Execution, Stop};
use stunt_subject::Subject;
use stunt_terms::{InputByte, Pool};

use crate::walk;

/// The most lines of an answer.
const MOST_LINES: usize = 60;

/// A test that the run makes.
struct Seen {
    /// The instruction.
    at: u64,
    place: String,
    kind: &'static str,
    bytes: Vec<InputByte>,
}

/// Answers what a debugger's user asks about the input.
pub struct Why<'a> {
    subject: &'a Subject,
    doubles: &'a [Vec<u8>],
    check_memory: bool,
    /// All tests, when somebody has asked.
    tests: Option<Vec<Seen>>,
}

impl<'a> Why<'a> {
    /// About a run on a double.
    pub fn new(subject: &'a Subject, doubles: &'a [Vec<u8>], check_memory: bool) -> Self {
        Self { subject, doubles, check_memory, tests: None }
    }

    fn tests(&mut self) -> Result<&[Seen]> {
        if self.tests.is_none() {
            self.tests = Some(self.follow()?);
        }
        Ok(self.tests.as_deref().unwrap_or_default())
    }

    fn follow(&self) -> Result<Vec<Seen>> {
        let mut pool = Pool::new();
        let mut at = walk::start(self.subject, self.doubles, self.check_memory, None, &mut pool)?;
        let mut tests = Vec::new();
        // A loop makes the same test again and again, from the same place.
        let mut places: BTreeMap<u64, String> = BTreeMap::new();
        while let Stop::Test(junction) = at.stop() {
            let test = junction.test;
            let bytes: Vec<InputByte> = pool.support(test.condition).iter().collect();
            let place = match places.get(&junction_key(junction)) {
                Some(place) => place.clone(),
                None => {
                    let key = junction_key(junction);
                    let place = walk::place(test.address, at.call_stack().as_ref());
                    places.insert(key, place.clone());
                    place
                }
            };
            let kind = walk::kind_of(&test);
            tests.push(Seen { at: at.executed(), place, kind, bytes });
            at.advance(&mut pool);
        }
        Ok(tests)
    }

    /// The source and the bytes that the user means: `7`, `7-9`, `arg 1:7`.
    fn meant(&self, words: &[&str]) -> Option<(usize, RangeInclusive<u32>)> {
        let text = words.join(" ");
        let (name, range) = match text.rsplit_once(':') {
            Some((name, range)) => (Some(name.trim()), range.trim()),
            None => (None, text.as_str()),
        };
        let mut names = self.subject.sources.iter().map(|source| source.name.to_string());
        let source = match name {
            Some(name) => names.position(|it| it == name)?,
            None => 0,
        };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let range = first.parse().ok()?..=last.parse().ok()?;
        (!range.is_empty() && (*range.end() as usize) < self.doubles.get(source)?.len())
            .then_some((source, range))
    }

    fn shown(&self, source: usize, range: &RangeInclusive<u32>) -> String {
        let (first, last) = (*range.start(), *range.end());
        let bytes = &self.doubles[source][first as usize..=last as usize];
        walk::looked_at(&self.subject.sources[source], first, last, bytes)
    }

    fn why(&mut self, words: &[&str]) -> Result<String> {
        let Some((source, range)) = self.meant(words) else {
            let first = self.subject.sources.first().map(|source| source.name.to_string());
            let first = first.unwrap_or_default();
            return Ok(format!(
                "A byte of the double belongs here: why 7, why 7-9, why {first}:7.\n"
            ));
        };
        let shown = self.shown(source, &range);
        let holds =
            |byte: &InputByte| usize::from(byte.source) == source && range.contains(&byte.offset);
        // Together where they are made: how often, and the first and the last time.
        let mut groups: Vec<(&str, &str, usize, u64, u64)> = Vec::new();
        let tests = self.tests()?;
        for test in tests.iter().filter(|test| test.bytes.iter().any(holds)) {
            let same = |group: &&mut (&str, &str, usize, u64, u64)| {
                (group.0, group.1) == (test.place.as_str(), test.kind)
            };
            match groups.iter_mut().find(same) {
                Some(group) => {
                    group.2 += 1;
                    group.4 = test.at;
                }
                None => groups.push((&test.place, test.kind, 1, test.at, test.at)),
            }
        }
        if groups.is_empty() {
            return Ok(format!("{shown}: no test holds it; it can be anything.\n"));
        }
        let count: usize = groups.iter().map(|group| group.2).sum();
        let tests = if count == 1 { "1 test holds it" } else { &format!("{count} tests hold it") };
        let mut text = format!("{shown}: {tests}.\n");
        for (place, kind, count, first, last) in groups.iter().take(MOST_LINES) {
            let _ = match count {
                1 => writeln!(text, "  {place}  {kind}  before instruction {first}"),
                count => writeln!(text, "  {place}  {kind}  {count} times, {first} to {last}"),
            };
        }
        let _ = writeln!(text, "`goto {}` takes you right behind the first.", groups[0].3);
        Ok(text)
    }

    fn input(&mut self, here: u64) -> Result<String> {
        let mut last: BTreeMap<InputByte, usize> = BTreeMap::new();
        let tests = self.tests()?;
        let before = tests.partition_point(|test| test.at < here);
        for (number, test) in tests[..before].iter().enumerate() {
            for &byte in &test.bytes {
                last.insert(byte, number);
            }
        }
        if last.is_empty() {
            return Ok("No byte of the double was looked at before this place.\n".to_owned());
        }
        let last: Vec<(InputByte, usize)> = last.into_iter().collect();
        let runs = last.chunk_by(|(a, of), (b, then)| {
            of == then && a.source == b.source && a.offset + 1 == b.offset
        });
        let mut lines: Vec<(usize, usize, RangeInclusive<u32>)> = runs
            .filter_map(|run| {
                let (first, number) = run.first()?;
                let (end, _) = run.last()?;
                Some((*number, usize::from(first.source), first.offset..=end.offset))
            })
            .collect();
        // What was looked at last comes first.
        lines.sort_by_key(|(number, source, range)| {
            (std::cmp::Reverse(*number), *source, *range.start())
        });
        let mut text = String::new();
        for (number, source, range) in lines.iter().take(MOST_LINES) {
            let shown = self.shown(*source, range);
            let test = &self.tests()?[*number];
            let _ = writeln!(
                text,
                "{shown}  {}  {}  before instruction {}",
                test.place, test.kind, test.at
            );
        }
        if lines.len() > MOST_LINES {
            let _ = writeln!(text, "… and {} more", lines.len() - MOST_LINES);
        }
        Ok(text)
    }
}

/// Which test it is, wherever in the run.
fn junction_key(junction: &stunt_path::Junction) -> u64 {
    junction.test.address
}

impl Helper for Why<'_> {
    fn command(&mut self, words: &[&str], travel: &mut TimeTravel) -> Option<String> {
        let answer = match words {
            ["why", words @ ..] => self.why(words),
            ["input"] => self.input(travel.position()),
            _ => return None,
        };
        Some(answer.unwrap_or_else(|error| format!("{error:#}\n")))
    }

    fn commands(&self) -> &'static str {
        "why OFFSET|FROM-TO  the tests that hold a byte of the double: why it is needed\n\
         input               where bytes of the double were looked at last before this place\n"
    }
}
