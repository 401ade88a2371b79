//! Figures and times as people read them.
//!
//! Always: something is never shown as nothing, and a bound is not rounded below itself.

use crate::clock::Moment;

/// A share in percent: `0.92 %`.
pub fn percent(value: f64) -> String {
    upward(value, "%")
}

/// What is revealed: `32.24 bits`.
pub fn bits(value: f64) -> String {
    upward(value, "bits")
}

fn upward(value: f64, unit: &str) -> String {
    match value {
        value if value <= 0.0 => format!("0 {unit}"),
        value if value < 0.01 => format!("< 0.01 {unit}"),
        // Upwards, because the figure may be a bound; the last digit is for rounding of the
        // arithmetic.
        value => format!("{:.2} {unit}", (value * 100.0 - 1e-6).ceil() / 100.0),
    }
}

/// A number of bytes: `4.2 KB`.
pub fn size(bytes: i64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// How long ago: `5 minutes ago`.
pub fn ago(now: Moment, then: Moment) -> String {
    let minutes = (now.0 - then.0) / 60_000;
    let (number, unit) = match minutes {
        ..1 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        1440..86_400 => (minutes / 1440, "day"),
        86_400..1_051_200 => (minutes / 43_200, "month"),
        _ => (minutes / 525_600, "year"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

/// The beginning of a build-id or a digest.
pub fn short(id: &str) -> String {
    id.chars().take(12).collect()
}

/// A text as a value in a query.
pub fn in_query(text: &str) -> String {
    use std::fmt::Write;
    let mut result = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            result.push(char::from(byte));
        } else {
            let _ = write!(result, "%{byte:02X}");
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_not_nothing() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_1), "< 0.01 %");
        assert_eq!(percent(0.91), "0.91 %");
        assert_eq!(percent(0.911), "0.92 %");
        assert_eq!(percent(100.0), "100.00 %");
        assert_eq!(bits(0.0), "0 bits");
        assert_eq!(bits(32.237_6), "32.24 bits");
    }

    #[test]
    fn times_and_sizes_have_units() {
        let now = Moment(1_000_000_000_000);
        let before = |minutes: i64| ago(now, Moment(now.0 - minutes * 60_000));
        assert_eq!(before(-5), "just now");
        assert_eq!(before(1), "1 minute ago");
        assert_eq!(before(125), "2 hours ago");
        assert_eq!(before(1440 * 3), "3 days ago");
        assert_eq!(before(1440 * 65), "2 months ago");
        assert_eq!(before(1440 * 800), "2 years ago");
        assert_eq!(size(1), "1 byte");
        assert_eq!(size(440), "440 bytes");
        assert_eq!(size(4200), "4.2 KB");
        assert_eq!(in_query("a b&c=é/"), "a%20b%26c%3D%C3%A9%2F");
    }
}
