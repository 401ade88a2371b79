//! Numbers as SMT-LIB spells them: decimal, binary, hexadecimal, and the names of input bytes.
//!
//! Only digits count: no signs, no points, no underscores. Nothing here makes terms.

use super::error::Problem;
use super::operators::checked_width;
use crate::term::InputByte;

/// The number that the digits spell, if there are only digits and it fits.
pub(super) fn decimal(digits: &str) -> Option<u128> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Nineteen digits fit a word of the machine.
    if digits.len() <= 19 {
        let number = digits.bytes().fold(0, |number, b| number * 10 + u64::from(b - b'0'));
        return Some(number.into());
    }
    digits.parse().ok()
}

/// The value and the width that `#b…` or `#x…` spells.
pub(super) fn bits(text: &str) -> Result<(u128, u8), Problem> {
    const EXPECTED: Problem = Problem::Expected("a number #b… or #x…");
    let (digits, each) = match text.as_bytes() {
        [b'#', b'b', digits @ ..] => (digits, 1),
        [b'#', b'x', digits @ ..] => (digits, 4),
        _ => return Err(EXPECTED),
    };
    let width = checked_width(digits.len() as u128 * each)?;
    let mut value = 0u128;
    for &byte in digits {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return Err(EXPECTED),
        };
        if digit >> each != 0 {
            return Err(EXPECTED);
        }
        value = value << each | u128::from(digit);
    }
    Ok((value, width))
}

/// The byte that a constant of this name is, if it is the name of one: `in0@12`, with the
/// numbers as they are printed.
pub(super) fn byte_named(name: &str) -> Option<InputByte> {
    let (source, offset) = name.strip_prefix("in")?.split_once('@')?;
    let printed = |digits: &str| digits == "0" || !digits.starts_with('0');
    if !printed(source) || !printed(offset) {
        return None;
    }
    let source = u16::try_from(decimal(source)?).ok()?;
    Some(InputByte::new(source, u32::try_from(decimal(offset)?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_as_the_library_reads_them() {
        let ends = [9, 10, u128::from(u64::MAX), u128::from(u64::MAX) + 1, u128::MAX];
        for number in (0..2000).chain(ends) {
            assert_eq!(decimal(&number.to_string()), Some(number));
            assert_eq!(decimal(&format!("00{number}")), Some(number));
        }
        for text in ["", "+1", "-1", "1.5", "a", "340282366920938463463374607431768211456"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn bits_are_as_the_library_reads_them() {
        for value in [0, 1, 0xabc, 0xdead_beef, u128::MAX, u128::MAX / 3] {
            for text in [format!("#x{value:032x}"), format!("#X{value:032X}").replace('X', "x")] {
                assert_eq!(bits(&text), Ok((value, 128)));
            }
            assert_eq!(bits(&format!("#b{value:0128b}")), Ok((value, 128)));
        }
        assert_eq!(bits("#b"), Err(Problem::Width(0)));
        assert_eq!(bits(&format!("#x{}", "0".repeat(33))), Err(Problem::Width(132)));
        for text in ["#", "#o7", "#b2", "#xg", "#x+f", "#b-1", "#X1"] {
            assert!(matches!(bits(text), Err(Problem::Expected(_))), "{text}");
        }
    }

    #[test]
    fn only_printed_names_are_bytes() {
        for byte in [(0, 0), (0, 12), (65535, u32::MAX), (10, 100)] {
            let byte = InputByte::new(byte.0, byte.1);
            assert_eq!(byte_named(&byte.to_string()), Some(byte));
        }
        for name in ["in", "in@", "in0@", "in@0", "in00@1", "in0@01", "in65536@0", "in0@4294967296"]
            .into_iter()
            .chain(["in+1@0", "in0@+1", "in0@1@2", "i0@0", "in0", "in0@1x", "In0@0"])
        {
            assert_eq!(byte_named(name), None, "{name}");
        }
    }
}
