//! Constants in source files: what stands between quotes.
//!
//! One reader for all languages of scripts. A quote in a comment or a regular expression may lead it astray,
//! but no further than to the end of the line.

use std::fs;
use std::path::Path;

use super::constants::Constants;

/// Endings of the files of scripts.
const EXTENSIONS: [&str; 17] = [
    "py", "pyw", "js", "mjs", "cjs", "ts", "rb", "php", "phtml", "inc", "lua", "pl", "pm", "t",
    "sh", "bash", "cgi",
];

/// The largest file that is read, in bytes.
const LARGEST: u64 = 8 << 20;

/// Whether this is a script or a module, by its name or by its first line.
pub fn is_source(path: &Path) -> bool {
    let by_name = path.extension().and_then(|it| it.to_str());
    by_name.is_some_and(|it| EXTENSIONS.contains(&it))
        || (by_name.is_none() && fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"#!")))
}

/// The constants of a file.
pub fn constants(path: &Path) -> Option<Constants> {
    if fs::metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
    let quotes: &[char] = match path.extension().and_then(|it| it.to_str()) {
        Some("js" | "mjs" | "cjs" | "ts") => &['"', '\'', '`'],
        _ => &['"', '\''],
    };
    Some(Constants::of(quoted(&text, quotes)))
}

/// What stands between quotes.
fn quoted(text: &str, quotes: &[char]) -> Vec<String> {
    let mut all = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(quote) = chars.next() {
        if !quotes.contains(&quote) {
            continue;
        }
        // Three of them: the text may have several lines, each of which is one.
        let mut ahead = chars.clone();
        let long = ahead.next() == Some(quote) && ahead.next() == Some(quote);
        if long {
            chars = ahead;
        }
        let many_lines = long || quote == '`';
        let mut constant = String::new();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n' | 'r') => constant.push('\n'),
                    Some('t') => constant.push('\t'),
                    Some('\n') | None => {}
                    Some(other) => constant.push(other),
                },
                c if c == quote => {
                    let mut ahead = chars.clone();
                    if !long {
                        break;
                    }
                    if ahead.next() == Some(quote) && ahead.next() == Some(quote) {
                        chars = ahead;
                        break;
                    }
                    constant.push(c);
                }
                '\n' if !many_lines => {
                    // It was no quote.
                    constant.clear();
                    break;
                }
                c => constant.push(c),
            }
        }
        all.extend(constant.lines().filter(|line| !line.is_empty()).map(ToOwned::to_owned));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        let all = quoted("a('b c', \"d\\\"e\") # it's\n'''f\ng'''\nr'h' `i`", &['\'', '"', '`']);
        assert_eq!(all, ["b c", "d\"e", "f", "g", "h", "i"]);
        assert!(quoted("'open\n", &['\'']).is_empty());
    }
}
