//! Choosing between bits: multiplexers that fold constants, and reads from constant tables.
//!
//! Always: a table read is a reduced decision diagram over the index bits, one for all columns of
//! the table together, so that equal sub-tables cost nothing. Entries past the end are zero.

use rustc_hash::FxHashMap;
use stunt_terms::Table;

use crate::algebra::Algebra;

/// `then` if `condition`, else `other`, with constants folded before the algebra is asked.
pub(crate) fn select<A: Algebra>(
    algebra: &mut A,
    condition: &A::Bit,
    then: &A::Bit,
    other: &A::Bit,
) -> Result<A::Bit, A::Stop> {
    if let Some(value) = algebra.known(condition) {
        return Ok(if value { then.clone() } else { other.clone() });
    }
    match (algebra.known(then), algebra.known(other)) {
        (Some(a), Some(b)) if a == b => Ok(then.clone()),
        (Some(true), Some(_)) => Ok(condition.clone()),
        (Some(false), Some(_)) => Ok(algebra.not(condition)),
        (Some(true), None) => algebra.or(condition, other),
        (Some(false), None) => {
            let not = algebra.not(condition);
            algebra.and(&not, other)
        }
        (None, Some(true)) => {
            let not = algebra.not(condition);
            algebra.or(&not, then)
        }
        (None, Some(false)) => algebra.and(condition, then),
        (None, None) => algebra.mux(condition, then, other),
    }
}

/// [`select`] on each bit.
pub(crate) fn select_all<A: Algebra>(
    algebra: &mut A,
    condition: &A::Bit,
    then: &[A::Bit],
    other: &[A::Bit],
) -> Result<Vec<A::Bit>, A::Stop> {
    then.iter().zip(other).map(|(then, other)| select(algebra, condition, then, other)).collect()
}

/// The table's entry at the index, both lowest bit first; zero past the end.
pub fn table<A: Algebra>(
    algebra: &mut A,
    table: &Table,
    index: &[A::Bit],
) -> Result<Vec<A::Bit>, A::Stop> {
    if let Some(answer) = algebra.table(table, index) {
        return answer;
    }
    let readable = if index.len() < 64 { 1usize << index.len() } else { usize::MAX };
    let entries = &table.entries[..table.entries.len().min(readable)];
    // The functions made so far; a sub-table's column is a number in this list.
    let mut functions = vec![algebra.constant(false), algebra.constant(true)];
    const ZERO: u32 = 0;
    let mut columns: Vec<Vec<u32>> = (0..table.width)
        .map(|bit| entries.iter().map(|entry| (entry >> bit & 1) as u32).collect())
        .collect();
    let mut made: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for bit in index {
        made.clear();
        let known = algebra.known(bit);
        for column in &mut columns {
            let mut halved = Vec::with_capacity(column.len().div_ceil(2));
            for pair in column.chunks(2) {
                let (low, high) = (pair[0], *pair.get(1).unwrap_or(&ZERO));
                halved.push(match known {
                    Some(false) => low,
                    Some(true) => high,
                    None if low == high => low,
                    None => match made.get(&(low, high)) {
                        Some(&id) => id,
                        None => {
                            let (then, other) =
                                (functions[high as usize].clone(), functions[low as usize].clone());
                            functions.push(select(algebra, bit, &then, &other)?);
                            let id = functions.len() as u32 - 1;
                            made.insert((low, high), id);
                            id
                        }
                    },
                });
            }
            *column = halved;
        }
    }
    let whole = |column: &Vec<u32>| column.first().copied().unwrap_or(ZERO) as usize;
    Ok(columns.iter().map(|column| functions[whole(column)].clone()).collect())
}
