//! Arguments that say nothing about anybody: names of options, small numbers, and a vocabulary.
//!
//! Always: whether a word is plain depends on fixed lists and on its shape, never on the machine.

/// Programs that run the file that their first argument names; versions are cut off.
pub const INTERPRETERS: &[&str] = &[
    "bash", "dash", "guile", "ksh", "lua", "luajit", "node", "nodejs", "octave", "perl", "php",
    "pypy", "python", "ruby", "sh", "tclsh", "wish", "zsh",
];

/// Words that programs take as commands, formats and settings. In order.
const VOCABULARY: &[&str] = &[
    "add",
    "all",
    "always",
    "analyze",
    "any",
    "append",
    "apply",
    "archive",
    "ascii",
    "asc",
    "audio",
    "auto",
    "base64",
    "basic",
    "batch",
    "best",
    "big",
    "bin",
    "binary",
    "black",
    "block",
    "blue",
    "bold",
    "both",
    "bottom",
    "bs",
    "build",
    "bytes",
    "c",
    "cat",
    "center",
    "chars",
    "check",
    "clean",
    "clone",
    "color",
    "colour",
    "columns",
    "compare",
    "compile",
    "compress",
    "config",
    "connect",
    "console",
    "content",
    "convert",
    "copy",
    "count",
    "create",
    "css",
    "csv",
    "daemon",
    "date",
    "debug",
    "decode",
    "decompress",
    "decrypt",
    "default",
    "delete",
    "demo",
    "deny",
    "desc",
    "diff",
    "disable",
    "double",
    "down",
    "draw",
    "dump",
    "echo",
    "elf",
    "empty",
    "enable",
    "encode",
    "encrypt",
    "end",
    "error",
    "eval",
    "every",
    "exec",
    "export",
    "extract",
    "false",
    "fast",
    "fatal",
    "file",
    "fill",
    "filter",
    "find",
    "first",
    "fix",
    "flat",
    "float",
    "fmt",
    "force",
    "fork",
    "format",
    "full",
    "gif",
    "global",
    "gray",
    "green",
    "grep",
    "group",
    "gzip",
    "head",
    "header",
    "help",
    "hex",
    "high",
    "html",
    "http",
    "https",
    "if",
    "image",
    "import",
    "in",
    "index",
    "info",
    "init",
    "input",
    "insert",
    "inspect",
    "install",
    "int",
    "integer",
    "item",
    "join",
    "jpeg",
    "jpg",
    "json",
    "keep",
    "landscape",
    "last",
    "latin1",
    "layout",
    "left",
    "level",
    "line",
    "lines",
    "lint",
    "list",
    "little",
    "load",
    "local",
    "log",
    "long",
    "low",
    "lz4",
    "main",
    "manual",
    "markdown",
    "match",
    "max",
    "md5",
    "mean",
    "medium",
    "merge",
    "min",
    "mode",
    "move",
    "mp3",
    "mp4",
    "name",
    "never",
    "new",
    "next",
    "no",
    "none",
    "normal",
    "null",
    "number",
    "of",
    "off",
    "old",
    "on",
    "open",
    "output",
    "page",
    "parse",
    "pdf",
    "pipe",
    "plain",
    "png",
    "portrait",
    "pretty",
    "print",
    "process",
    "pull",
    "push",
    "query",
    "quick",
    "quiet",
    "random",
    "raw",
    "read",
    "recv",
    "record",
    "recursive",
    "red",
    "remove",
    "render",
    "repair",
    "replace",
    "replay",
    "reset",
    "resize",
    "restore",
    "reverse",
    "right",
    "rotate",
    "row",
    "rows",
    "run",
    "save",
    "scan",
    "search",
    "select",
    "send",
    "serve",
    "server",
    "set",
    "sha1",
    "sha256",
    "short",
    "show",
    "silent",
    "simple",
    "single",
    "size",
    "slow",
    "small",
    "sort",
    "split",
    "sql",
    "start",
    "stat",
    "status",
    "stdin",
    "stdout",
    "stderr",
    "stop",
    "stream",
    "strict",
    "string",
    "sum",
    "summary",
    "svg",
    "sync",
    "table",
    "tail",
    "tar",
    "tcp",
    "test",
    "text",
    "time",
    "tls",
    "top",
    "trace",
    "transform",
    "true",
    "tsv",
    "txt",
    "type",
    "udp",
    "uncompress",
    "unpack",
    "up",
    "update",
    "upper",
    "utf-8",
    "utf8",
    "validate",
    "value",
    "verbose",
    "verify",
    "version",
    "video",
    "view",
    "wait",
    "warn",
    "warning",
    "watch",
    "white",
    "word",
    "words",
    "write",
    "xml",
    "xz",
    "yaml",
    "yes",
    "zip",
    "zstd",
];

/// The longest number, in digits: longer ones are accounts, telephones and dates.
const DIGITS: usize = 6;

/// Whether it is a word of the vocabulary.
pub fn is_word(text: &str) -> bool {
    VOCABULARY.contains(&text)
}

/// Whether it is a device that every machine has.
pub fn is_device(text: &str) -> bool {
    matches!(text, "/dev/null" | "/dev/zero" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr")
}

/// Whether it is a number of at most three digits.
pub fn is_small(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is a small number, with a unit or without, or two of them with an `x` between.
pub fn is_number(text: &str) -> bool {
    let digits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let decimal = |text: &str| match text.split_once('.') {
        Some((whole, part)) => digits(whole, DIGITS) && digits(part, DIGITS),
        None => digits(text, DIGITS),
    };
    if let Some(hex) = text.strip_prefix("0x") {
        return (1..=DIGITS).contains(&hex.len()) && hex.bytes().all(|it| it.is_ascii_hexdigit());
    }
    if let Some((width, height)) = text.split_once('x') {
        return digits(width, 5) && digits(height, 5);
    }
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let unit =
        ["", "%", "k", "K", "M", "G", "T", "s", "m", "h", "ms", "KiB", "MiB", "GiB", "kB", "MB"];
    unit.iter().filter_map(|unit| text.strip_suffix(unit)).any(decimal)
}

/// Whether it can be the name of a long option: words of small letters, with hyphens between. Digits
/// are few, because many are no name.
pub fn is_option_name(name: &str) -> bool {
    let part = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        (1..=16).contains(&part.len())
            && digits <= 3
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 40
        && name.split(['-', '_', '.']).all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_small() {
        for number in
            ["0", "10", "-5", "+1", "0.5", "10M", "50%", "0xff", "640x480", "2GiB", "15ms"]
        {
            assert!(is_number(number), "{number}");
        }
        for other in
            ["", "-", "1234567", "0x", "0xdeadbeef", "1.2.3", "12a", "x", "1x", "M", "2024-01-05"]
        {
            assert!(!is_number(other), "{other}");
        }
    }

    #[test]
    fn names_of_options_look_like_names() {
        for name in ["verbose", "max-leak", "utf8", "no_color", "x", "sha256"] {
            assert!(is_option_name(name), "{name}");
        }
        for other in ["", "a b", "3f", "0a1b2c3d4e5f", "a1b2c3d4", "é", "a--b", "-a"] {
            assert!(!is_option_name(other), "{other}");
        }
        assert!(!is_option_name(&"long-".repeat(20)));
    }

    #[test]
    fn the_vocabulary_is_of_plain_words() {
        for word in VOCABULARY {
            let plain =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            assert!(word.bytes().all(plain) && word.len() <= 12, "{word}");
        }
    }
}
