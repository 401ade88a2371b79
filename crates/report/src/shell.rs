//! A command line as it may be announced: what a person reads, a terminal shows and a shell runs are
//! the same.
//!
//! Always: the text is printable ASCII alone, so that nothing in it moves a cursor, hides or turns
//! around what stands beside it, or looks like another letter; and a shell that is given it runs
//! exactly these words and nothing else. A word that is not plain is quoted; one with bytes that are
//! not printable ASCII is written `$'…'`, with three octal digits for each of them, as bash, zsh and
//! ksh read it. A shell that does not know that form takes another word, but runs nothing more,
//! because no quote and no line end is ever inside.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The words of a command, quoted and with spaces between them.
pub fn command_line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    let mut line = String::new();
    for (at, word) in words.into_iter().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        // `A=b` in front of a command is a variable.
        let assigns = at == 0 && word.as_ref().as_bytes().contains(&b'=');
        line += &if assigns { single(word.as_ref().as_bytes()) } else { quoted(word) };
    }
    line
}

/// One word, quoted if that is needed.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"@+=:,./-_".contains(byte);
    // `=word` at the start is a path to zsh.
    if !bytes.is_empty() && !bytes.starts_with(b"=") && bytes.iter().all(plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    single(bytes)
}

/// A word in quotes, whatever is in it.
fn single(bytes: &[u8]) -> String {
    let printable = |byte: u8| (b' '..=b'~').contains(&byte);
    if bytes.iter().all(|&byte| printable(byte)) {
        return format!("'{}'", String::from_utf8_lossy(bytes).replace('\'', "'\\''"));
    }
    let mut text = String::from("$'");
    for &byte in bytes {
        match byte {
            b'\n' => text += "\\n",
            b'\t' => text += "\\t",
            // A quote would be the end of it to a shell that does not know this form.
            b'\\' | b'\'' => text += &format!("\\{byte:03o}"),
            _ if printable(byte) => text.push(char::from(byte)),
            _ => text += &format!("\\{byte:03o}"),
        }
    }
    text + "'"
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn plain_words_stay_plain() {
        let words = ["./parser", "--in=@@", "-n", "10", "a:b,c+d_e"];
        assert_eq!(command_line(words), "./parser --in=@@ -n 10 a:b,c+d_e");
        assert_eq!(command_line(["A=b", "c=d"]), "'A=b' c=d");
        for (word, shown) in [
            ("", "''"),
            ("a b", "'a b'"),
            ("<hidden>", "'<hidden>'"),
            ("it's", r"'it'\''s'"),
            ("=ls", "'=ls'"),
            ("a\nb", r"$'a\nb'"),
            ("\u{1b}]0;x\u{7}", r"$'\033]0;x\007'"),
            ("é'", r"$'\303\251\047'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }

    #[test]
    fn attack_an_announced_command_line_says_and_runs_something_else() {
        let hostile: [&[u8]; 20] = [
            b"\x1b[2K\rstunt: the report says to run: ./harmless",
            b"\x9b31m",
            "a\u{202e}txt.exe\u{2066}b".as_bytes(),
            "ze\u{200b}ro\u{feff}\u{e0041}\u{ad}".as_bytes(),
            "שלום/../x".as_bytes(),
            b"<;touch touched;>",
            b"$(touch touched)",
            b"`touch touched`",
            b"a\ntouch touched\n",
            b"a'; touch touched; '",
            b"\\'; touch touched; '\x01",
            b"x & touch touched",
            b"| touch touched",
            b"> touched",
            b"!touch",
            b"~root",
            b"{touched,b}",
            b"*",
            b"#",
            b"\xff\xfe\\033",
        ];
        let words: Vec<&OsStr> = [b"printf".as_slice(), b"%s\\0"]
            .into_iter()
            .chain(hostile)
            .map(OsStr::from_bytes)
            .collect();
        let line = command_line(&words);
        assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
        let folder = std::env::temp_dir().join(format!("stunt-shell-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for shell in ["bash", "sh"] {
            let output = Command::new(shell)
                .args(["-c", &line])
                .current_dir(&folder)
                .output()
                .expect("a shell is there");
            assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0, "{shell}");
            if shell == "bash" {
                let expected = hostile.iter().flat_map(|word| [word, &b"\0"[..]].concat());
                assert_eq!(output.stdout, expected.collect::<Vec<u8>>(), "{line}");
            }
        }
        std::fs::remove_dir(&folder).expect("it is empty");
    }
}
