//! What becomes an issue: a title, a text, a file, and a link; and what an issue is afterwards.
//!
//! Always: what goes out has no control characters and no characters that turn the direction of
//! text, a title is one line, and a text has a length that every tracker takes.

use serde::{Deserialize, Serialize};

/// The longest title, in characters: 255 is what most trackers take.
pub(crate) const TITLE: usize = 250;
/// The longest text, in characters: Jira takes 32,767, and there is something around it.
const TEXT: usize = 30_000;

/// An issue that is to be made.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The title, in plain words.
    pub title: String,
    /// The text. It is shown as it is, in a fixed font; nothing in it is markup.
    pub body: String,
    /// The double.
    pub double: Attachment,
    /// Where the ticket is.
    pub link: String,
}

/// A file that goes with an issue.
#[derive(Clone)]
pub struct Attachment {
    /// The name of the file, without a folder.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Attachment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Attachment({} bytes)", self.bytes.len())
    }
}

impl Attachment {
    /// The name with nothing but letters, digits, dots, dashes and underscores: it goes into paths,
    /// headers and markup.
    pub(crate) fn plain_name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = self.name.chars().map(plain).take(100).collect();
        match name.trim_start_matches('.') {
            "" => "double".to_owned(),
            name => name.to_owned(),
        }
    }
}

impl Draft {
    /// The title as one line that every tracker takes.
    pub(crate) fn title_line(&self) -> String {
        match one_line(&self.title, TITLE) {
            line if line.is_empty() => "A failure without a name".to_owned(),
            line => line,
        }
    }

    /// The body without what a tracker could stumble over.
    pub(crate) fn text(&self) -> String {
        plain_text(&self.body)
    }
}

/// An issue that is there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The issue's name within its tracker: `17`, `ABC-17`.
    pub id: String,
    /// Where people see it.
    pub url: String,
}

/// What is left to be done about an issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Something.
    Open,
    /// Nothing.
    Closed,
}

/// The text in one line of at most `most` characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words: String = text.chars().map(|c| if is_unwanted(c) { ' ' } else { c }).collect();
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line, most)
}

/// The text with its lines, without other control characters, and not too long.
pub(crate) fn plain_text(text: &str) -> String {
    let visible = |c: char| if c != '\n' && is_unwanted(c) { ' ' } else { c };
    let text: String = text.replace("\r\n", "\n").chars().map(visible).collect();
    cut(text.trim_end(), TEXT)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most - 1).collect();
    short.push('…');
    short
}

/// Control characters, and those that reorder or hide what follows them.
fn is_unwanted(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The text with a space behind every character that could begin or end markup, as `breaks` says of
/// it and of what follows it. Nothing is left that could be put together by what was taken apart:
/// each place is looked at by itself.
pub(crate) fn apart(text: &str, breaks: impl Fn(char, &str) -> bool) -> String {
    let mut apart = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        apart.push(c);
        if breaks(c, &text[at + c.len_utf8()..]) {
            apart.push(' ');
        }
    }
    apart
}

/// Text as a fenced block of Markdown: the fence is longer than any in the text.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_line_of_plain_text() {
        assert_eq!(one_line(" a\nb\t\u{202e}c\u{7}  d ", 100), "a b c d");
        assert_eq!(one_line(&"é".repeat(300), 10), format!("{}…", "é".repeat(9)));
        let draft = Draft {
            title: "\n\u{feff}".to_owned(),
            body: "one\r\ntwo\u{0}\n".to_owned(),
            double: Attachment { name: "../a b\".json".to_owned(), bytes: vec![0] },
            link: String::new(),
        };
        assert_eq!(draft.title_line(), "A failure without a name");
        assert_eq!(draft.text(), "one\ntwo");
        assert_eq!(draft.double.plain_name(), "_a_b_.json");
        assert_eq!(Attachment { name: "..".to_owned(), bytes: vec![] }.plain_name(), "double");
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fenced("a"), "```text\na\n```");
        assert_eq!(fenced("a\n````\nb"), "`````text\na\n````\nb\n`````");
    }

    #[test]
    fn a_file_does_not_print_itself() {
        let file = Attachment { name: "x".to_owned(), bytes: b"private".to_vec() };
        assert_eq!(format!("{file:?}"), "Attachment(7 bytes)");
    }
}
