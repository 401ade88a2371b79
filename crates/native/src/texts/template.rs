//! A constant as a template: literal pieces, with values between them.
//!
//! Placeholders of many languages are known: `%s`, `%5.2f` and V8's bare `%`, `{}` and `{name}`, `${…}`, and
//! the character 1, which Java's compiler leaves for a value.

/// A text that a template fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The literal pieces, with `…` for values.
    pub text: String,
    /// How many bytes of the message are literal.
    pub literal: usize,
    /// Where in the message what is known ends: at its last value, if the template ends with one.
    pub end: usize,
}

/// The literal pieces of a constant; between any two of them there is a value, and at the ends there may be
/// an empty one.
pub fn pieces(constant: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    let bytes = constant.as_bytes();
    while at < bytes.len() {
        let value = match bytes[at] {
            1 => Some(1),
            b'%' => Some(percent(&bytes[at..])),
            b'$' if bytes.get(at + 1) == Some(&b'{') => braces(&bytes[at + 1..]).map(|it| it + 1),
            b'#' if bytes.get(at + 1) == Some(&b'{') => braces(&bytes[at + 1..]).map(|it| it + 1),
            b'{' => braces(&bytes[at..]),
            _ => None,
        };
        match value {
            Some(length) => {
                pieces.push(&constant[start..at]);
                at += length;
                start = at;
            }
            None => at += 1,
        }
    }
    pieces.push(&constant[start..]);
    pieces
}

/// How long a conversion is that begins here.
fn percent(bytes: &[u8]) -> usize {
    let flag = |byte: &&u8| byte.is_ascii_digit() || b"-+ #0.*lhzjtq".contains(byte);
    let flags = bytes[1..].iter().take_while(flag).count();
    match bytes.get(1 + flags) {
        // Without a letter it is V8's, and what looks like flags is text.
        Some(letter) if letter.is_ascii_alphabetic() => 2 + flags,
        _ => 1,
    }
}

/// How long `{…}` is that begins here, if it ends.
fn braces(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// How many words there are in literal pieces.
pub fn words<'a>(pieces: impl IntoIterator<Item = &'a str>) -> usize {
    let in_piece = |piece: &str| {
        let words = piece.split(|c: char| !c.is_alphabetic());
        words.filter(|word| word.chars().nth(1).is_some()).count()
    };
    pieces.into_iter().map(in_piece).sum()
}

/// Fits a message that begins as the constant does. `least` words have to be literal.
pub fn fit(constant: &str, message: &str, least: usize) -> Option<Fit> {
    let pieces = pieces(constant);
    let (mut at, mut literal) = (0, 0);
    for (number, piece) in pieces.iter().enumerate() {
        let found = match number {
            0 if !message.starts_with(piece) => return None,
            0 => 0,
            // The last value goes as far as the message does, unless more is said behind it.
            _ => message[at..].find(piece)?,
        };
        at += found + piece.len();
        literal += piece.len();
    }
    let last = pieces.last().copied().unwrap_or_default();
    let within = |text: &str, rest: &str| {
        text.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric)
    };
    if within(last, &message[at..]) || words(pieces.iter().copied()) < least {
        return None;
    }
    let shown: Vec<&str> = pieces.iter().map(|piece| piece.trim()).collect();
    let text = shown.join(" … ").trim().to_owned();
    Some(Fit { text, literal, end: at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(constant: &str, message: &str) -> Option<(String, usize)> {
        fit(constant, message, 2).map(|it| (it.text, it.end))
    }

    #[test]
    fn placeholders() {
        assert_eq!(pieces("a %s b %5.2f"), ["a ", " b ", ""]);
        assert_eq!(pieces("of % (reading '%')"), ["of ", " (reading '", "')"]);
        assert_eq!(
            pieces("{} and {x:>4} and ${a[{}]} and #{y}"),
            ["", " and ", " and ", " and ", ""]
        );
        assert_eq!(pieces("\u{1} of \u{1}"), ["", " of ", ""]);
        assert_eq!(pieces("open { and 100%"), ["open { and 100", ""]);
        assert_eq!(pieces(""), [""]);
    }

    #[test]
    fn a_message_fits() {
        let index = "Index %d out of bounds for length %d";
        let all = ("Index … out of bounds for length …".to_owned(), 37);
        assert_eq!(text(index, "Index 22 out of bounds for length 12"), Some((all.0, 34)));
        assert_eq!(text(index, "Index of all"), None);
        assert_eq!(text("no month", "no months"), None);
        assert_eq!(text("no month", "no month: x"), Some(("no month".into(), 8)));
        assert_eq!(text("month", "month"), None);
    }
}
