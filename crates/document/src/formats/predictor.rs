//! Predictors of PDF streams: rows are stored as differences to what is beside or above them.

use crate::content::Content;
use crate::node::{Codec, Kind};
use crate::out::{Out, Style};
use crate::parse::Budget;

/// How a row is predicted, in the numbers of PNG.
const SUB: u8 = 1;
const UP: u8 = 2;
const AVERAGE: u8 = 3;
const PAETH: u8 = 4;

/// The writer: the rows that it fills, and how each was predicted.
pub(crate) struct Predictor {
    /// Bytes in a row, and to the byte that belongs to the same part of the pixel on the left.
    row: usize,
    left: usize,
    /// PNG rows have a byte in front that says how they are predicted; TIFF has none.
    kinds: Option<Vec<u8>>,
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let (a, b, c) = (i32::from(left), i32::from(above), i32::from(corner));
    let estimate = a + b - c;
    let (to_a, to_b, to_c) = ((estimate - a).abs(), (estimate - b).abs(), (estimate - c).abs());
    if to_a <= to_b && to_a <= to_c {
        left
    } else if to_b <= to_c {
        above
    } else {
        corner
    }
}

/// What a byte is predicted to be, from the plain bytes around it.
fn predicted(kind: u8, at: usize, left: usize, row: &[u8], above: &[u8]) -> u8 {
    let beside = at.checked_sub(left).map_or(0, |before| row[before]);
    let up = above.get(at).copied().unwrap_or(0);
    let corner = at.checked_sub(left).and_then(|before| above.get(before)).copied().unwrap_or(0);
    match kind {
        SUB => beside,
        UP => up,
        AVERAGE => u16::midpoint(u16::from(beside), u16::from(up)) as u8,
        PAETH => paeth(beside, up, corner),
        _ => 0,
    }
}

impl Codec for Predictor {
    fn kind(&self) -> Kind {
        Kind::Predictor
    }

    /// Rows that nobody predicts are copies; where the format has them, they are used if nothing is to be
    /// compressed.
    fn encode(&self, content: &Out, style: Style, out: &mut Out) {
        let bytes = content.bytes();
        let mut above: &[u8] = &[];
        for (number, from) in (0..bytes.len()).step_by(self.row).enumerate() {
            let row = &bytes[from..bytes.len().min(from + self.row)];
            let kind = match &self.kinds {
                Some(_) if style != Style::Packed => 0,
                Some(kinds) => kinds.get(number).or(kinds.last()).copied().unwrap_or(0),
                None => SUB,
            };
            if self.kinds.is_some() {
                out.push(&[kind]);
            }
            if kind == 0 {
                out.append_range(content, from..from + row.len());
            } else {
                let above = if self.kinds.is_some() { above } else { &[] };
                let differences: Vec<u8> = (0..row.len())
                    .map(|at| row[at].wrapping_sub(predicted(kind, at, self.left, row, above)))
                    .collect();
                out.push(&differences);
            }
            above = row;
        }
    }
}

/// Parameters of the predictor of a stream.
pub(crate) struct Parameters {
    pub predictor: u64,
    pub columns: u64,
    pub colors: u64,
    pub bits: u64,
}

/// What rows of differences stand for.
pub(crate) fn unpack(
    bytes: &[u8],
    parameters: &Parameters,
    budget: &mut Budget,
) -> Option<(Predictor, Content)> {
    let bits = parameters.colors.checked_mul(parameters.bits)?;
    let row = usize::try_from(bits.checked_mul(parameters.columns)?.div_ceil(8)).ok()?;
    let left = usize::try_from(bits.div_ceil(8)).ok()?.max(1);
    let png = parameters.predictor >= 10;
    if row == 0 || row > 1 << 24 || (!png && (parameters.predictor != 2 || parameters.bits != 8)) {
        return None;
    }
    budget.pay(bytes.len())?;
    let (mut content, mut kinds): (Vec<u8>, _) = (Vec::with_capacity(bytes.len()), Vec::new());
    for stretch in bytes.chunks(row + usize::from(png)) {
        let (kind, differences) = if png { (stretch[0], &stretch[1..]) } else { (SUB, stretch) };
        if kind > PAETH {
            return None;
        }
        kinds.push(kind);
        let start = content.len();
        let from = start.checked_sub(row).filter(|_| png);
        for (at, &difference) in differences.iter().enumerate() {
            let (before, current) = content.split_at(start);
            let above = from.map_or(&[][..], |from| &before[from..]);
            let byte = difference.wrapping_add(predicted(kind, at, left, current, above));
            content.push(byte);
        }
    }
    Some((Predictor { row, left, kinds: png.then_some(kinds) }, content.into()))
}
