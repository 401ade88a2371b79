//! Text from a report as it may be shown on a terminal.

/// Text with everything replaced that would not show as itself: control characters, which can
/// rewrite a terminal, and invisible ones, which can reverse what is read. They become escapes such
/// as `\u{1b}`.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A number with commas between groups of three digits: `1,024`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_is_escaped() {
        assert_eq!(visible("naïve(a, b)::{{λ}}"), "naïve(a, b)::{{λ}}");
        assert_eq!(visible("a\x1b[31m\r\n\u{9b}x"), "a\\u{1b}[31m\\r\\n\\u{9b}x");
        assert_eq!(visible("x\u{202e}y\u{feff}"), "x\\u{202e}y\\u{feff}");
    }

    #[test]
    fn digits_come_in_threes() {
        let numbers = [0, 999, 1000, 1024, 123_456, 1_234_567];
        let shown = numbers.map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,024", "123,456", "1,234,567"]);
    }
}
