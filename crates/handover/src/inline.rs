//! A file as lines of a shell that write it: as text where a person can read it, else in base64.
//!
//! Always: `sh` and `bash` write exactly these bytes, whatever they are, and run nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The most bytes that are put into a text.
pub const LONGEST: usize = 4096;

/// How wide lines of base64 are, as of `base64` itself.
const WIDTH: usize = 76;
/// A longer line of text is not readable anyway.
const LONGEST_LINE: usize = 200;

/// Lines that write these bytes to a file of this name, which is a plain one; nothing if they are too many.
pub fn unpacking(bytes: &[u8], name: &str) -> Option<String> {
    if bytes.len() > LONGEST {
        return None;
    }
    if bytes.is_empty() {
        return Some(format!(": > {name}\n"));
    }
    Some(match readable(bytes) {
        Some(text) => {
            let end = unused(text);
            match text.strip_suffix('\n') {
                Some(_) => format!("cat > {name} <<'{end}'\n{text}{end}\n"),
                // What is substituted has no line end.
                None => {
                    format!("printf %s \"$(cat <<'{end}'\n{text}\n{end}\n)\" > {name}\n")
                }
            }
        }
        None => {
            let digits = STANDARD.encode(bytes);
            let lines: Vec<&str> = (0..digits.len())
                .step_by(WIDTH)
                .map(|at| &digits[at..digits.len().min(at + WIDTH)])
                .collect();
            format!("base64 -d > {name} <<'END'\n{}\nEND\n", lines.join("\n"))
        }
    })
}

/// The bytes as text of plain lines, if that is what they are. Brackets and quotes at the end of a substitution
/// are read in different ways by different shells, so text without a last line end has none of them.
fn readable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let plain = |c: char| c == '\n' || (' '..='~').contains(&c);
    let ends = text.ends_with('\n');
    let quotes = |c: char| "'\"`()\\$".contains(c);
    let is_text = text.chars().all(|c| plain(c) && (ends || !quotes(c)));
    (is_text && text.lines().all(|line| line.len() <= LONGEST_LINE)).then_some(text)
}

/// A word that is no line of the text.
fn unused(text: &str) -> String {
    let is_line = |word: &str| text.lines().any(|line| line == word);
    let numbered = (1u32..).map(|number| format!("END{number}"));
    let mut words = std::iter::once("END".to_owned()).chain(numbered);
    words.find(|word| !is_line(word)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn attack_a_shell_writes_these_bytes_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("stunt-inline-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let all: Vec<u8> = (0..=255).collect();
        let cases: [&[u8]; 16] = [
            b"",
            b"\n",
            b"shards=0\n",
            b"shards=0",
            b"a\nEND\nEND1\ntouch touched\n",
            b"a\nEND\nb",
            b"$(touch touched)\n`touch touched`\n",
            b"$(touch touched)",
            b"it's; \"\\\n",
            b")\" ; touch touched #",
            b"\n\n\n",
            b" leading\n\ttab\n",
            b"a\r\nb\r\n",
            b"%s%n\\n",
            "é\n".as_bytes(),
            &all,
        ];
        for shell in ["bash", "sh"] {
            for bytes in cases {
                let lines = unpacking(bytes, "double.bin").expect("it is short");
                let done = Command::new(shell)
                    .args(["-c", &lines])
                    .current_dir(&folder)
                    .stdin(Stdio::null())
                    .status()
                    .expect("a shell");
                assert!(done.success(), "{lines}");
                let written = fs::read(folder.join("double.bin")).expect("the file");
                assert_eq!(written, bytes, "{shell}: {lines}");
                assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1, "{lines}");
            }
        }
        fs::remove_dir_all(&folder).expect("the folder");
    }

    #[test]
    fn text_is_readable_and_the_rest_is_in_base64() {
        let text = unpacking(b"shards=0\n", "a.conf").expect("short");
        assert_eq!(text, "cat > a.conf <<'END'\nshards=0\nEND\n");
        let digits = unpacking(&[0; 100], "a.bin").expect("short");
        assert!(digits.starts_with("base64 -d > a.bin <<'END'\nAAAA"), "{digits}");
        assert!(digits.lines().all(|line| line.len() <= WIDTH));
        assert_eq!(unpacking(&[0; LONGEST + 1], "a"), None);
    }
}
