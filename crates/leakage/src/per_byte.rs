//! What a condition reveals about each byte by itself, and the leak graph that shows it.
//!
//! The figure of a byte is `8 - H`, where `H` is the entropy of its value over all inputs that
//! satisfy the condition: what one learns of that byte alone. Figures of bytes do not add up to
//! the total: two bytes that must be equal reveal eight bits together and nothing each. Where the
//! byte's component cannot be counted, the figure is a bound: no byte reveals more than its
//! component, nor more than eight bits.

use num_bigint::BigUint;
use stunt_models::Space;
use stunt_terms::{InputByte, Pool};

use crate::bits::Bits;
use crate::ledger::{Accounts, Ledger, byte_loss};
use crate::rounding::{log2, up};

/// What is revealed about one byte.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ByteLeak {
    /// The byte.
    pub byte: InputByte,
    /// The bits that are revealed about it alone, at most 8.
    pub bits: Bits,
}

/// What is revealed about each byte of an input.
#[derive(Clone, PartialEq, Debug)]
pub struct LeakGraph {
    bytes: Vec<ByteLeak>,
}

/// Below this, in bits, a byte counts as not revealed at all: it is less than what is printed.
const NOTHING: f64 = 1e-9;

impl LeakGraph {
    /// The graph of a condition over the given bytes, in the given order. Of a contradiction every
    /// figure is infinite.
    pub fn of(
        ledger: &Ledger,
        pool: &Pool,
        accounts: &mut Accounts,
        bytes: impl IntoIterator<Item = InputByte>,
    ) -> LeakGraph {
        let mut known: rustc_hash::FxHashMap<InputByte, Bits> = rustc_hash::FxHashMap::default();
        let condition = ledger.condition();
        let mut figure = |byte: InputByte| {
            if condition.is_contradiction() {
                return Bits::Exact(f64::INFINITY);
            }
            let Some(component) = condition.component_of(byte) else { return Bits::ZERO };
            if let Some((_, domain)) = component.single() {
                return Bits::Exact(byte_loss(domain));
            }
            if !known.contains_key(&byte) {
                // All bytes of the component at once.
                match accounts.space(pool, component) {
                    Some(space) => {
                        let whole = accounts.figure(pool, component).bits.capped(8.0);
                        for (position, byte) in component.bytes().enumerate() {
                            let bits = if space.has_marginal(position) {
                                Bits::Exact(revealed(&*space, position))
                            } else {
                                Bits::AtMost(whole.upper())
                            };
                            known.insert(byte, bits);
                        }
                    }
                    None => {
                        let bits = accounts.figure(pool, component).bits.capped(8.0);
                        known.extend(component.bytes().map(|byte| (byte, bits)));
                    }
                }
            }
            known[&byte]
        };
        let bytes = bytes.into_iter().map(|byte| ByteLeak { byte, bits: figure(byte) }).collect();
        LeakGraph { bytes }
    }

    /// The figures, for programs.
    pub fn bytes(&self) -> &[ByteLeak] {
        &self.bytes
    }

    /// What the symbols of [`LeakGraph::to_text`] mean, in one line.
    pub const LEGEND: &'static str = "\
. nothing   - less than a bit   1 to 7 that many bits or more   # all eight bits   \
a to h at most 1 to 8 bits (a bound)";

    /// The graph as text: a row for every `width` bytes of a source, headed by the first offset
    /// (and the source, if there are several), one symbol for each byte; see
    /// [`LeakGraph::LEGEND`].
    pub fn to_text(&self, width: usize) -> String {
        let width = width.max(1);
        let several = self.bytes.windows(2).any(|pair| pair[0].byte.source != pair[1].byte.source);
        let largest = self.bytes.iter().map(|leak| leak.byte.offset).max().unwrap_or(0);
        let digits = largest.to_string().len();
        let mut text = String::new();
        // A row ends where it is full, and where the bytes do not follow on each other.
        let follows = |a: &ByteLeak, b: &ByteLeak| {
            a.byte.source == b.byte.source && a.byte.offset.checked_add(1) == Some(b.byte.offset)
        };
        for row in self.bytes.chunk_by(follows).flat_map(|run| run.chunks(width)) {
            let start = row[0].byte;
            if several {
                text.push_str(&format!("{}:", start.source));
            }
            text.push_str(&format!("{:>digits$}  ", start.offset));
            text.extend(row.iter().map(|leak| symbol(leak.bits)));
            text.push('\n');
        }
        text
    }
}

/// One character for a figure.
fn symbol(bits: Bits) -> char {
    let upper = bits.upper();
    match bits {
        _ if upper <= NOTHING => '.',
        Bits::Exact(value) if value >= 8.0 - NOTHING => '#',
        Bits::Exact(value) if value < 1.0 - NOTHING => '-',
        Bits::Exact(value) => char::from(b'0' + (value + NOTHING) as u8),
        // Rounded up: a bound stays one.
        Bits::AtMost(_) | Bits::Estimate { .. } => {
            char::from(b'a' + ((upper - NOTHING).ceil() as u8).clamp(1, 8) - 1)
        }
    }
}

/// `8 - H` of the byte at `position`: the sum of `p * log2(256 p)` over its values.
fn revealed(space: &dyn Space, position: usize) -> f64 {
    let marginal = space.marginal(position);
    let total = space.count();
    if *total == BigUint::ZERO {
        return f64::INFINITY;
    }
    if marginal.iter().all(|count| *count == marginal[0]) {
        return 0.0;
    }
    let all = log2(total);
    let sum: f64 = marginal
        .iter()
        .filter(|count| count.bits() > 0)
        .map(|count| {
            let log = log2(count) - all;
            log.exp2() * (8.0 + log)
        })
        .sum();
    // A sum that is not exact may leave the bounds by a hair.
    if up(sum) >= 8.0 { 8.0 } else { sum.max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(bits: &[(u16, u32, Bits)]) -> LeakGraph {
        let leak =
            |&(source, offset, bits)| ByteLeak { byte: InputByte::new(source, offset), bits };
        LeakGraph { bytes: bits.iter().map(leak).collect() }
    }

    #[test]
    fn symbols_show_levels_and_kinds() {
        let exact = [0.0, 1e-12, 0.01, 0.999, 1.0, 1.5, 7.99, 8.0];
        let shown: String = exact.iter().map(|&bits| symbol(Bits::Exact(bits))).collect();
        assert_eq!(shown, "..--117#");
        let bounds = [0.0, 0.2, 1.0, 1.1, 7.5, 8.0];
        let shown: String = bounds.iter().map(|&bits| symbol(Bits::AtMost(bits))).collect();
        assert_eq!(shown, ".aabhh");
    }

    #[test]
    fn rows_have_offsets_and_break_where_bytes_do() {
        let all = Bits::Exact(8.0);
        let one = graph(&[(0, 0, all), (0, 1, all), (0, 2, Bits::ZERO), (0, 10, all)]);
        assert_eq!(one.to_text(2), " 0  ##\n 2  .\n10  #\n");
        let two = graph(&[(0, 0, all), (1, 0, Bits::ZERO)]);
        assert_eq!(two.to_text(64), "0:0  #\n1:0  .\n");
        assert_eq!(graph(&[]).to_text(64), "");
    }
}
