//! What can be said about a stretch of a source.

use crate::drawn::Gap;
use crate::values::Values;

/// A piece of a description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// A word of the program or its libraries.
    Word {
        /// Which list.
        list: usize,
        /// Its number in the list.
        number: usize,
        /// Whether its letters may be of either case.
        case: Case,
    },
    /// One byte.
    Byte(u8),
    /// Bytes of an alphabet, spelled one by one.
    Text {
        /// The alphabet.
        sort: Sort,
        /// The bytes; of [`Sort::EitherCase`] in lower case.
        bytes: Vec<u8>,
    },
    /// The same as before: elements from a place on, counted from the first of the first source. It may reach into
    /// itself, so that one byte may be said a hundred times.
    Copy {
        /// The first element.
        from: usize,
        /// How many.
        length: usize,
    },
    /// Bytes that may be any of a class.
    Free {
        /// The class.
        class: Class,
        /// How many; to the end, if nothing is said.
        length: Option<usize>,
    },
    /// A whole number in binary, mostly a small one.
    Number {
        /// Of so many bytes: 2, 4 or 8.
        width: usize,
        /// Which byte comes first.
        order: Order,
        /// The number.
        value: u64,
    },
    /// A gap.
    Gap(Gap),
    /// A byte that may be one of these.
    Set(Values),
    /// A stretch of a public document.
    Stretch {
        /// Which document.
        document: usize,
        /// From where.
        from: usize,
        /// How many bytes.
        length: usize,
    },
    /// The source ends.
    End,
}

/// How a word is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Case {
    /// As it is in the list.
    AsIs,
    /// Each letter in either case.
    Either,
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Order {
    /// The lowest.
    Little,
    /// The highest.
    Big,
}

/// An alphabet for bytes that are spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Sort {
    /// `0` to `9`.
    Digits,
    /// `a` to `z`.
    Lower,
    /// `A` to `Z`.
    Upper,
    /// Letters, each in either case.
    EitherCase,
    /// Letters and digits.
    Alphanumeric,
    /// What is printed, and ends of lines.
    Printed,
    /// All bytes.
    Bytes,
}

impl Sort {
    /// All of them, as they are numbered.
    pub const ALL: [Sort; 7] = [
        Sort::Digits,
        Sort::Lower,
        Sort::Upper,
        Sort::EitherCase,
        Sort::Alphanumeric,
        Sort::Printed,
        Sort::Bytes,
    ];

    /// How often each byte is expected, as a part of all.
    #[must_use]
    pub fn weight(self, byte: u8) -> u32 {
        u32::from(match self {
            Sort::Digits => byte.is_ascii_digit(),
            Sort::Lower | Sort::EitherCase => byte.is_ascii_lowercase(),
            Sort::Upper => byte.is_ascii_uppercase(),
            Sort::Alphanumeric => byte.is_ascii_alphanumeric(),
            Sort::Printed => matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'),
            Sort::Bytes => true,
        })
    }

    /// The values of a byte that is spelled so.
    #[must_use]
    pub fn values(self, byte: u8) -> Values {
        match self {
            Sort::EitherCase => Values::one(byte).with(byte.to_ascii_uppercase()),
            _ => Values::one(byte),
        }
    }
}

/// What free bytes may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Class {
    /// Anything.
    Any,
    /// ASCII.
    Ascii,
    /// What is printed, without the blank.
    Graphic,
    /// What is printed.
    Printed,
    /// What is printed, and ends of lines.
    Text,
    /// Letters and digits.
    Alphanumeric,
    /// Letters.
    Letters,
    /// `a` to `z`.
    Lower,
    /// `A` to `Z`.
    Upper,
    /// `0` to `9`.
    Digits,
    /// `1` to `9`.
    Counting,
    /// Hexadecimal digits.
    Hexadecimal,
    /// Blanks, tabs and ends of lines.
    Blank,
    /// Punctuation.
    Punctuation,
    /// Anything but zero.
    NotZero,
    /// Anything that is not ASCII.
    High,
}

impl Class {
    /// All of them, as they are numbered.
    pub const ALL: [Class; 16] = [
        Class::Any,
        Class::Ascii,
        Class::Graphic,
        Class::Printed,
        Class::Text,
        Class::Alphanumeric,
        Class::Letters,
        Class::Lower,
        Class::Upper,
        Class::Digits,
        Class::Counting,
        Class::Hexadecimal,
        Class::Blank,
        Class::Punctuation,
        Class::NotZero,
        Class::High,
    ];

    /// Its values.
    #[must_use]
    pub fn values(self) -> Values {
        match self {
            Class::Any => Values::ALL,
            Class::Ascii => Values::range(0, 0x7f),
            Class::Graphic => Values::range(b'!', b'~'),
            Class::Printed => Values::range(b' ', b'~'),
            Class::Text => Values::range(b' ', b'~').with(b'\t').with(b'\n').with(b'\r'),
            Class::Alphanumeric => Values::filter(|value| value.is_ascii_alphanumeric()),
            Class::Letters => Values::filter(|value| value.is_ascii_alphabetic()),
            Class::Lower => Values::range(b'a', b'z'),
            Class::Upper => Values::range(b'A', b'Z'),
            Class::Digits => Values::range(b'0', b'9'),
            Class::Counting => Values::range(b'1', b'9'),
            Class::Hexadecimal => Values::filter(|value| value.is_ascii_hexdigit()),
            Class::Blank => Values::range(b'\t', b'\r').with(b' '),
            Class::Punctuation => Values::filter(|value| value.is_ascii_punctuation()),
            Class::NotZero => Values::range(1, 255),
            Class::High => Values::range(0x80, 0xff),
        }
    }

    /// The class that has just these values.
    #[must_use]
    pub fn of(values: Values) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.values() == values)
    }
}
