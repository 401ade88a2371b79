//! What a condition reveals, as text for people and as JSON for programs.
//!
//! Every figure is printed with its kind. Nothing here has ever seen an input: figures come from
//! conditions alone.

use std::fmt::Write;

use serde_json::{Value, json};
use stunt_leakage::{Accounts, Bits, LeakGraph, Ledger};
use stunt_terms::{InputByte, Pool, Support};

use crate::view::ROW;

/// The most components that are listed as text; JSON has them all.
const MOST_ROWS: usize = 40;

/// A component, or a run of single bytes with equally many allowed values.
struct Part {
    bytes: Vec<InputByte>,
    /// How it was counted.
    stage: &'static str,
    bits: Bits,
    /// How many values each byte may have, if it is made of single bytes.
    values: Option<u32>,
}

/// What a condition reveals.
pub struct Figures {
    /// All together.
    pub total: Bits,
    /// How many bits the input has.
    of: usize,
    parts: Vec<Part>,
    graph: LeakGraph,
}

impl Figures {
    /// The figures of a condition that some input satisfies, over the given bytes in order. The
    /// input has `of` bits.
    pub fn of(
        pool: &Pool,
        accounts: &mut Accounts,
        ledger: &mut Ledger,
        bytes: &[InputByte],
        of: usize,
    ) -> Figures {
        let total = ledger.total(pool, accounts);
        let mut parts: Vec<Part> = Vec::new();
        let mut components: Vec<_> = ledger.condition().components().collect();
        components.sort_by_cached_key(|component| component.bytes().next());
        for component in components {
            let stage = accounts.space(pool, component).map_or("bound", |space| space.stage());
            let part = Part {
                bytes: component.bytes().collect(),
                stage,
                bits: accounts.figure(pool, component).bits,
                values: component.single().map(|(_, domain)| domain.len()),
            };
            match parts.last_mut() {
                Some(last) if last.continues_with(&part) => {
                    last.bytes.extend(part.bytes);
                    last.bits = last.bits + part.bits;
                }
                _ => parts.push(part),
            }
        }
        let graph = LeakGraph::of(ledger, pool, accounts, bytes.iter().copied());
        Figures { total, of, parts, graph }
    }

    fn percent(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.total.value() * 100.0 / self.of as f64 }
    }

    /// The total in words: `exactly 32.24 bits of 200 (16.12 %)`.
    pub fn sentence(&self) -> String {
        format!("{} of {} ({:.2} %)", self.total, self.of, self.percent())
    }

    /// The components, a line each, under a heading.
    pub fn components(&self, name: impl Fn(&[InputByte]) -> String) -> String {
        let rows: Vec<[String; 3]> =
            std::iter::once(["bytes", "counted by", "reveals"].map(str::to_string))
                .chain(
                    self.parts.iter().take(MOST_ROWS).map(|part| {
                        [name(&part.bytes), part.stage.to_string(), part.bits.to_string()]
                    }),
                )
                .collect();
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let (first, second) = (width(0), width(1));
        let mut text = String::new();
        for [bytes, stage, bits] in &rows {
            let _ = writeln!(text, "{bytes:<first$}  {stage:<second$}  {bits}");
        }
        if self.parts.len() > MOST_ROWS {
            let _ = writeln!(text, "and {} more; --json lists all", self.parts.len() - MOST_ROWS);
        }
        text
    }

    /// The leak graph with its legend.
    pub fn graph(&self) -> String {
        format!("{}{}\n", self.graph.to_text(ROW), LeakGraph::LEGEND)
    }

    /// The total for programs.
    pub fn leak_json(&self) -> Value {
        let mut leak = bits_json(self.total);
        leak["of"] = json!(self.of);
        leak["percent"] = json!(self.percent());
        leak["words"] = json!(self.total.to_string());
        leak
    }

    /// The components for programs.
    pub fn components_json(&self) -> Value {
        let part = |part: &Part| {
            let bytes: Vec<String> = part.bytes.iter().map(ToString::to_string).collect();
            json!({ "bytes": bytes, "counted_by": part.stage, "leak": bits_json(part.bits) })
        };
        self.parts.iter().map(part).collect()
    }

    /// The figures of single bytes for programs.
    pub fn per_byte_json(&self) -> Value {
        let byte = |leak: &stunt_leakage::ByteLeak| {
            let mut value = bits_json(leak.bits);
            value["byte"] = json!(leak.byte.to_string());
            value
        };
        self.graph.bytes().iter().map(byte).collect()
    }
}

impl Part {
    /// Whether `next` is one more byte of the same kind.
    fn continues_with(&self, next: &Part) -> bool {
        let (last, first) = (self.bytes[self.bytes.len() - 1], next.bytes[0]);
        self.values.is_some()
            && self.values == next.values
            && last.source == first.source
            && last.offset + 1 == first.offset
    }
}

fn bits_json(bits: Bits) -> Value {
    json!({ "kind": bits.kind(), "bits": bits.value() })
}

/// Bytes as runs: `in0@0, in0@4-24`.
pub fn runs(bytes: &[InputByte]) -> String {
    let support: Support = bytes.iter().copied().collect();
    let run = |run: &stunt_terms::Run| {
        let first = InputByte::new(run.source, run.start);
        if run.end - run.start == 1 {
            first.to_string()
        } else {
            format!("{first}-{}", run.end - 1)
        }
    };
    support.runs().iter().map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_named_in_runs() {
        let bytes = [4, 0, 5, 6].map(|offset| InputByte::new(0, offset));
        assert_eq!(runs(&bytes), "in0@0, in0@4-6");
    }

    #[test]
    fn neighbours_with_equally_many_values_share_a_line() {
        let mut pool = Pool::new();
        let (mut accounts, mut ledger) = (Accounts::default(), Ledger::new());
        for (offset, below) in [(0, 1), (1, 1), (2, 2), (4, 1)] {
            let (byte, limit) = (pool.input(0, offset), pool.constant(8, below));
            let literal = pool.ult(byte, limit);
            ledger.push(&pool, &mut accounts, literal);
        }
        let bytes: Vec<InputByte> = (0..5).map(|offset| InputByte::new(0, offset)).collect();
        let figures = Figures::of(&pool, &mut accounts, &mut ledger, &bytes, 40);
        assert_eq!(figures.sentence(), "exactly 31.00 bits of 40 (77.50 %)");
        let text = figures.components(runs);
        let names: Vec<&str> = text.lines().skip(1).map(|l| l.split(' ').next().unwrap()).collect();
        assert_eq!(names, ["in0@0-1", "in0@2", "in0@4"]);
    }
}
