//! A description for people: as one would dictate it to somebody who has the program.

use crate::code::Described;
use crate::cost::Cost;
use crate::drawn::{Gap, Length};
use crate::piece::{Case, Class, Order, Piece, Sort};
use crate::public::Public;
use crate::values::Values;

/// A piece in words, and its bits.
#[derive(Clone, PartialEq, Debug)]
pub struct Said {
    /// Of which source, by its number; nothing, if it is of all.
    pub source: Option<usize>,
    /// The words.
    pub words: String,
    /// What it costs.
    pub cost: Cost,
}

/// All that is said, in words, with what it costs: the sum is the cost of the description. Bytes that cannot be
/// printed are told by their numbers.
#[must_use]
pub fn dictate(described: &Described, public: &Public) -> Vec<Said> {
    let begun = match described.pieces.is_empty() {
        true => "a double that is known already",
        false => "how it is described",
    };
    let mut all = vec![Said { source: None, words: begun.to_owned(), cost: described.begin }];
    let mut begin = 0;
    for (at, (pieces, head)) in described.pieces.iter().zip(&described.heads).enumerate() {
        let (source, set) = (Some(at), described.set.sources.get(at));
        let filled = match set.map(|it| it.fill) {
            None | Some(Class::Any) => String::new(),
            Some(class) => format!(" that are filled with bytes{}", kind(class)),
        };
        let words_of_head = match set {
            Some(it) if it.has_gaps() && matches!(it.length, Length::Told(_)) => {
                format!("with gaps{filled}, {} bytes long", it.length.bytes())
            }
            Some(it) if it.has_gaps() => format!("with gaps{filled}"),
            _ => "without gaps".to_owned(),
        };
        all.push(Said { source, words: words_of_head, cost: *head });
        for (piece, cost) in pieces {
            all.push(Said { source, words: words(piece, begin, public), cost: *cost });
        }
        begin += set.map_or(0, |it| it.elements.len());
    }
    if described.more > Cost::ZERO {
        let words = "what may be there and was not drawn".to_owned();
        all.push(Said { source: None, words, cost: described.more });
    }
    all
}

/// A piece in words; places are counted from where its source begins.
fn words(piece: &Piece, begin: usize, public: &Public) -> String {
    match piece {
        Piece::Word { list, number, case } => {
            let list = public.lists.get(*list);
            let word = list.and_then(|it| it.word(*number)).map_or_else(String::new, quoted);
            let name = list.map_or("the program", |it| it.name());
            match case {
                Case::AsIs => format!("the word {word} of {name}"),
                Case::Either => format!("the word {word} of {name}, in small or large letters"),
            }
        }
        Piece::Byte(value) => one(*value),
        Piece::Text { sort: Sort::EitherCase, bytes } => {
            format!("{}, in small or large letters", quoted(bytes))
        }
        Piece::Text { bytes, .. } => match &bytes[..] {
            [value] => one(*value),
            _ => quoted(bytes),
        },
        Piece::Copy { from, length } => {
            let what = if *length == 1 { "byte".to_owned() } else { format!("{length} bytes") };
            match from.checked_sub(begin) {
                Some(place) => format!("the same {what} as from byte {place} on"),
                None => format!("the same {what} as in what came before"),
            }
        }
        Piece::Free { class, length } => match length {
            Some(1) => format!("1 free byte{}", kind(*class)),
            Some(length) => format!("{length} free bytes{}", kind(*class)),
            None => format!("free bytes{} to the end", kind(*class)),
        },
        Piece::Number { width, order, value } => {
            let order = match order {
                Order::Little => "lowest byte first",
                Order::Big => "highest byte first",
            };
            format!("the number {value} in {width} bytes, {order}")
        }
        Piece::Gap(gap) => gap_words(gap),
        Piece::Set(values) => format!("a byte that is {}", among(*values)),
        Piece::Stretch { document, from, length } => {
            let stretch =
                public.documents.get(*document).and_then(|it| it.get(*from..from + length));
            let text = stretch.map_or_else(String::new, |it| format!(", {}", quoted(it)));
            format!("{length} bytes of example {}, from byte {from} on{text}", document + 1)
        }
        Piece::End => "the end".to_owned(),
    }
}

fn gap_words(gap: &Gap) -> String {
    let length = match (gap.least, gap.most) {
        (0, None) => "free bytes, as many as there is room for".to_owned(),
        (least, None) => format!("at least {least} free bytes"),
        (least, Some(most)) => format!("{least} to {most} free bytes"),
    };
    let ends = gap.ends.map_or_else(String::new, |ends| match ends.single() {
        Some(value) => format!(", the last of them {}", one(value)),
        None => format!(", the last of them {}", among(ends)),
    });
    format!("{length}{ends}{}", if gap.stops { ", up to" } else { "" })
}

fn kind(class: Class) -> &'static str {
    match class {
        Class::Any => "",
        Class::Ascii => " of ASCII",
        Class::Graphic => " that are printed",
        Class::Printed => " that are printed, or blanks",
        Class::Text => " of text",
        Class::Alphanumeric => " of letters and digits",
        Class::Letters => " of letters",
        Class::Lower => " of small letters",
        Class::Upper => " of large letters",
        Class::Digits => " of digits",
        Class::Counting => " of digits from 1 on",
        Class::Hexadecimal => " of hexadecimal digits",
        Class::Blank => " of blanks",
        Class::Punctuation => " of punctuation",
        Class::NotZero => " that are not zero",
        Class::High => " that are not ASCII",
    }
}

/// `one of "ab"`, `none of ","`.
fn among(values: Values) -> String {
    const FEW: u32 = 24;
    let list = |values: Values| quoted(&values.iter().collect::<Vec<u8>>());
    match (values.len(), Class::of(values)) {
        (_, Some(class)) if class != Class::Any => format!("one{}", kind(class)),
        (0..=FEW, _) => format!("one of {}", list(values)),
        (many, _) if many >= 256 - FEW => format!("none of {}", list(values.complement())),
        (many, _) => format!("one of {many} values"),
    }
}

fn one(value: u8) -> String {
    match value {
        b'\n' => "a line end".to_owned(),
        b' ' => "a blank".to_owned(),
        b'\t' => "a tab".to_owned(),
        b'!'..=b'~' => format!("`{}`", char::from(value)),
        _ => format!("the byte {value:#04x}"),
    }
}

fn quoted(bytes: &[u8]) -> String {
    const MOST: usize = 80;
    let mut text: String = bytes
        .iter()
        .take(MOST)
        .flat_map(|&byte| std::ascii::escape_default(byte))
        .map(char::from)
        .collect();
    if bytes.len() > MOST {
        text.push('…');
    }
    format!("`{}`", text.replace("\\'", "'").replace("\\\"", "\""))
}
