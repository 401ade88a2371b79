//! Values of the configuration: what they look like in a file, and what they are.
//!
//! Always: a secret cannot be printed by accident; showing one shows that it is there. Sizes and
//! times have units, so that nobody has to know what a number counts.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use stunt_parcel::Recipient;

use crate::address::Address;

/// Stands for a direct connection, whatever the environment says.
pub const NO_PROXY: &str = "none";

/// What a value looks like in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `true` or `false`.
    Flag,
    /// A number in these limits.
    Count {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A percentage: `"1%"`.
    Percent,
    /// A number of bytes: `"64M"`.
    Size,
    /// A length of time: `"30d"`.
    Age,
    /// Where a server is.
    Url,
    /// Where a proxy is.
    Proxy,
    /// A public key for sealing.
    Recipient,
    /// Text that nobody is shown.
    Secret,
    /// A path; relative ones start at the file's folder.
    Path,
    /// A list of words.
    Names,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A number.
    Count(u64),
    /// A percentage.
    Percent(f64),
    /// A number of bytes.
    Size(u64),
    /// A length of time.
    Age(Duration),
    /// Where a server is.
    Url(Address),
    /// Where a proxy is.
    Proxy(Secret),
    /// A public key for sealing.
    Recipient(Recipient),
    /// Text that nobody is shown.
    Secret(Secret),
    /// A path.
    Path(PathBuf),
    /// Words.
    Names(Vec<String>),
}

/// Text that `Debug` and `Display` do not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides the text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text, for whoever it is meant for.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Shape {
    /// Parses text, as it stands between quotes in a file; also what flags of a command take.
    pub fn parse_text(self, text: &str) -> Result<Value, String> {
        match self {
            Shape::Flag => match text {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err(self.expected()),
            },
            Shape::Count { least, most } => match text.parse() {
                Ok(number) if (least..=most).contains(&number) => Ok(Value::Count(number)),
                _ => Err(self.expected()),
            },
            Shape::Percent => percent(text).map(Value::Percent),
            Shape::Size => size(text).map(Value::Size).ok_or_else(|| self.expected()),
            Shape::Age => age(text).map(Value::Age).ok_or_else(|| self.expected()),
            Shape::Url => text.parse().map(Value::Url).map_err(|error| format!("{error}")),
            Shape::Proxy => proxy(text).map(Value::Proxy),
            Shape::Recipient => text.parse().map(Value::Recipient).map_err(|_| self.expected()),
            Shape::Secret if is_token(text) => Ok(Value::Secret(Secret::new(text))),
            Shape::Secret => Err(self.expected()),
            Shape::Path if text.is_empty() => Err(self.expected()),
            Shape::Path => Ok(Value::Path(PathBuf::from(text))),
            Shape::Names => Err(self.expected()),
        }
    }

    /// What a value of this shape is, for people.
    pub fn expected(self) -> String {
        match self {
            Shape::Flag => "true or false is expected".to_owned(),
            Shape::Count { least, most } => format!("a number from {least} to {most} is expected"),
            Shape::Percent => "a percentage such as \"1%\" is expected".to_owned(),
            Shape::Size => "a size such as \"64M\" or \"1G\" is expected".to_owned(),
            Shape::Age => {
                "a length of time such as \"30s\", \"1h\" or \"30d\" is expected".to_owned()
            }
            Shape::Url => {
                "an address such as \"https://crashes.example.org\" is expected".to_owned()
            }
            Shape::Proxy => {
                "a proxy such as \"http://proxy.example.org:3128\", or \"none\", is expected"
                    .to_owned()
            }
            Shape::Recipient => "a public key of age, \"age1…\", is expected".to_owned(),
            Shape::Secret => {
                "a token of letters, digits and signs, without spaces, is expected".to_owned()
            }
            Shape::Path => "the path of a file is expected".to_owned(),
            Shape::Names => "a list of words such as [\"one\", \"two\"] is expected".to_owned(),
        }
    }
}

/// As `config show` prints it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Count(number) => write!(f, "{number}"),
            Value::Percent(percent) => write!(f, "\"{percent}%\""),
            Value::Size(bytes) => write!(f, "\"{}\"", with_unit(*bytes, &SIZES)),
            Value::Age(age) => write!(f, "\"{}\"", with_unit(age.as_secs(), &AGES)),
            Value::Url(url) => write!(f, "\"{url}\""),
            Value::Proxy(proxy) => write!(f, "\"{}\"", without_password(proxy.expose())),
            Value::Recipient(recipient) => write!(f, "\"{recipient}\""),
            Value::Secret(_) => f.write_str("(hidden)"),
            Value::Path(path) => write!(f, "{:?}", path.display().to_string()),
            Value::Names(names) => write!(f, "{names:?}"),
        }
    }
}

const SIZES: [(&str, u64); 4] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10), ("", 1)];
const AGES: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// The largest unit that leaves no rest.
fn with_unit(number: u64, units: &[(&str, u64)]) -> String {
    let fits = |&&(_, unit): &&(&str, u64)| number > 0 && number.is_multiple_of(unit);
    let &(name, unit) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
    format!("{}{name}", number / unit)
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

fn size(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(*factor)
}

fn age(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let (_, factor) = AGES.iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(*factor).map(Duration::from_secs)
}

/// Parses `1%`, `0.5 %` or `1`: a percentage from 0 to 100.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    match number.parse::<f64>() {
        Ok(value) if number.chars().all(plain) && (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(Shape::Percent.expected()),
    }
}

/// The most that a report may reveal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ceiling {
    /// In percent of the original's bits, however long the double is.
    Percent(f64),
    /// In bits, whatever the length.
    Bits(u64),
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ceiling::Percent(percent) => write!(f, "{percent} %"),
            Ceiling::Bits(bits) => write!(f, "{bits} bits"),
        }
    }
}

/// Parses `1%`, `0.5 %`, `1`, or `20 bits`.
pub fn ceiling(text: &str) -> Result<Ceiling, String> {
    match text.strip_suffix("bits") {
        Some(number) => number.trim().parse().map(Ceiling::Bits).map_err(|_| {
            "a percentage such as 1%, or a number of bits such as 20bits, is expected".to_owned()
        }),
        None => percent(text).map(Ceiling::Percent),
    }
}

/// What may stand behind `Bearer` (RFC 6750), so that it cannot be more than one header.
fn is_token(text: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_alphanumeric() || b"-._~+/=".contains(&c);
    !text.is_empty() && text.bytes().all(allowed)
}

fn proxy(text: &str) -> Result<Secret, String> {
    if text == NO_PROXY {
        return Ok(Secret::new(text));
    }
    let known = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if known && plain && ureq::Proxy::new(text).is_ok() {
        Ok(Secret::new(text))
    } else {
        Err(Shape::Proxy.expected())
    }
}

/// The address of a proxy as it may be shown.
pub fn without_password(proxy: &str) -> String {
    match (proxy.split_once("://"), proxy.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://(hidden)@{host}"),
        _ => proxy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_is_in_percent_or_in_bits() {
        assert_eq!(ceiling("0.5 %"), Ok(Ceiling::Percent(0.5)));
        assert_eq!(ceiling("1"), Ok(Ceiling::Percent(1.0)));
        assert_eq!(ceiling("20bits"), Ok(Ceiling::Bits(20)));
        assert_eq!(ceiling("20 bits"), Ok(Ceiling::Bits(20)));
        for wrong in ["bits", "-1bits", "1.5bits", "20 bytes", "101%", ""] {
            assert!(ceiling(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Ceiling::Percent(0.5).to_string(), "0.5 %");
        assert_eq!(Ceiling::Bits(20).to_string(), "20 bits");
    }

    #[test]
    fn values_are_shown_as_they_are_written() {
        let texts = [
            (Shape::Percent, "1%"),
            (Shape::Percent, "0.25%"),
            (Shape::Size, "64M"),
            (Shape::Size, "1500"),
            (Shape::Size, "0"),
            (Shape::Age, "30d"),
            (Shape::Age, "90s"),
            (Shape::Age, "36h"),
            (Shape::Url, "https://crashes.example.org/base"),
            (Shape::Proxy, "http://proxy.example.org:3128"),
            (Shape::Proxy, "none"),
        ];
        for (shape, text) in texts {
            let value = shape.parse_text(text).unwrap();
            assert_eq!(value.to_string(), format!("\"{text}\""));
        }
        assert_eq!(Shape::Percent.parse_text("1").unwrap(), Value::Percent(1.0));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let wrong = [
            (Shape::Percent, "101%"),
            (Shape::Percent, "-1%"),
            (Shape::Percent, "nan"),
            (Shape::Percent, "inf"),
            (Shape::Percent, "1e1"),
            (Shape::Size, "64 MB"),
            (Shape::Size, "99999999999G"),
            (Shape::Size, ""),
            (Shape::Age, "30"),
            (Shape::Age, "1w"),
            (Shape::Flag, "yes"),
            (Shape::Count { least: 1, most: 5 }, "6"),
            (Shape::Recipient, "age1nonsense"),
            (Shape::Secret, "a b"),
            (Shape::Secret, "a\r\nx-y: z"),
            (Shape::Proxy, "socks5://x:1"),
            (Shape::Proxy, "proxy"),
        ];
        for (shape, text) in wrong {
            assert!(shape.parse_text(text).is_err(), "{shape:?} {text:?}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let token = Shape::Secret.parse_text("s3cret").unwrap();
        assert!(!format!("{token} {token:?}").contains("s3cret"));
        let proxy = Shape::Proxy.parse_text("http://me:pa55@proxy.example.org:1").unwrap();
        let shown = format!("{proxy} {proxy:?}");
        assert!(!shown.contains("pa55") && !shown.contains("me:"), "{shown}");
        assert!(shown.contains("proxy.example.org:1"));
    }
}
