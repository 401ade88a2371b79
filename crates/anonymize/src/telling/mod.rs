//! What a report tells of a program's arguments.
//!
//! Arguments are not measured as inputs are, so what is told of them is told in full. Always: told are
//! the names of options, short flags, small numbers and words of a fixed vocabulary; a path becomes
//! `<path>`, and everything else `<hidden>`, unless the user wants to keep it. What looks like a secret
//! or names the user is hidden even then, unless the user names that very argument. Refuses to know
//! whether the failure needs an argument: that is found out by running the program without it.

mod needed;
mod owner;
mod plain;
mod secrets;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use stunt_report::{HIDDEN, PATH, SourceName};
use stunt_subject::Subject;

pub(crate) use needed::Telling;
use owner::Owner;

/// Letters of options that often take a password, a key, a token or a name.
const ASKING: &str = "aAkKpPtTuUwW";

/// What the user wants to be told.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// All that does not look like a secret.
    pub keep: bool,
    /// These arguments, by their numbers from 1, whatever they look like.
    pub public: Vec<usize>,
}

/// Why something of an argument is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It looks like this.
    Secret(&'static str),
    /// It names the user, the machine or a folder of theirs.
    Owner,
    /// It is a path.
    Path,
    /// Nobody knows what it is.
    Unknown,
}

impl Why {
    /// `it looks like a password`.
    pub fn words(self) -> String {
        match self {
            Why::Secret(what) => format!("it looks like {what}"),
            Why::Owner => "it names you, this machine or your folders".to_owned(),
            Why::Path => "it is a path".to_owned(),
            Why::Unknown => "it may be private".to_owned(),
        }
    }
}

/// An argument as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    /// The text.
    text: String,
    /// Why it is not all of it.
    hidden: Option<Why>,
}

impl Told {
    fn whole(text: &str) -> Told {
        Told { text: text.to_owned(), hidden: None }
    }

    fn hidden(why: Why) -> Told {
        let text = if why == Why::Path { PATH } else { HIDDEN };
        Told { text: text.to_owned(), hidden: Some(why) }
    }

    /// The same behind something that is told.
    fn after(self, before: &str) -> Told {
        Told { text: format!("{before}{}", self.text), ..self }
    }
}

/// What a report tells of a subject's arguments: `@@` for an input file, the name of the source for an
/// argument that is itself an input, and of the others what says nothing about anybody.
fn of_subject(subject: &Subject, wishes: &Wishes) -> Vec<Told> {
    let words = &subject.words()[1..];
    let name = subject.program().file_name().unwrap_or(subject.program().as_os_str());
    let script = script(name, words, subject.folder());
    let owner = Owner::of_this_process(subject.folder());
    let mut all = told(words, script, wishes, &owner);
    for source in &subject.sources {
        if let SourceName::Argument(number) = source.name {
            all[number as usize - 1] = Told { text: source.name.placeholder(), hidden: None };
        }
    }
    all
}

/// The arguments that are hidden because they look like secrets, by their numbers from 1, and what they
/// look like.
#[must_use]
pub fn secrets_of(subject: &Subject, wishes: &Wishes) -> Vec<(usize, &'static str)> {
    let secret = |(number, told): (usize, Told)| match told.hidden {
        Some(Why::Secret(what)) => Some((number, what)),
        _ => None,
    };
    (1..).zip(of_subject(subject, wishes)).filter_map(secret).collect()
}

/// What is told of all arguments of a program. `script` is the index of one that names what an
/// interpreter runs: like the program's, its name is told without the folder.
fn told(words: &[OsString], script: Option<usize>, wishes: &Wishes, owner: &Owner) -> Vec<Told> {
    let mut before: Option<&str> = None;
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let text = word.to_str();
        let told = match text {
            Some(text) if wishes.public.contains(&(at + 1)) => Told::whole(text),
            None => Told::hidden(Why::Unknown),
            Some(text) if script == Some(at) => script_name(text, owner),
            Some(text) if wishes.keep => kept(text, before, owner),
            Some(text) => judged(text, before, owner),
        };
        all.push(told);
        before = text;
    }
    all
}

/// Which argument names the script that an interpreter runs: the first that is no option, if it is a
/// file.
fn script(program: &OsStr, words: &[OsString], folder: Option<&Path>) -> Option<usize> {
    let name = program.to_str()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !plain::INTERPRETERS.contains(&name) {
        return None;
    }
    let option = |word: &OsString| word.to_str().is_some_and(|text| text.starts_with('-'));
    let at = words.iter().position(|word| !option(word))?;
    // What follows these is no file, whatever it is called.
    let code = |word: &OsString| matches!(word.to_str(), Some("-c" | "-e" | "-E" | "-r" | "-m"));
    if words[..at].iter().any(code) {
        return None;
    }
    let path = Path::new(&words[at]);
    folder.map_or_else(|| path.to_owned(), |folder| folder.join(path)).is_file().then_some(at)
}

fn script_name(text: &str, owner: &Owner) -> Told {
    match Path::new(text).file_name().and_then(OsStr::to_str) {
        Some(name) if !owner.is_named_by(name) => Told::whole(name),
        Some(_) => Told::hidden(Why::Owner),
        None => Told::hidden(Why::Path),
    }
}

/// What the user wants to keep is told, unless it looks like a secret.
fn kept(text: &str, before: Option<&str>, owner: &Owner) -> Told {
    if is_place(text) {
        return Told::whole(text);
    }
    let judged = judged(text, before, owner);
    match judged.hidden {
        Some(Why::Secret(_) | Why::Owner) => judged,
        Some(Why::Path | Why::Unknown) | None => Told::whole(text),
    }
}

/// Whether a word is made of places of inputs, with nothing but signs between them: `@@`, `@@1:@@2`.
fn is_place(text: &str) -> bool {
    let sign = |byte: u8| byte.is_ascii_digit() || b",:;.+".contains(&byte);
    text.starts_with("@@") && text.split("@@").all(|rest| rest.len() <= 4 && rest.bytes().all(sign))
}

fn judged(text: &str, before: Option<&str>, owner: &Owner) -> Told {
    if is_place(text) || matches!(text, "" | "-" | "--") {
        return Told::whole(text);
    }
    if let Some(rest) = text.strip_prefix("--") {
        return long_option(text, rest, owner);
    }
    if let Some(rest) = text.strip_prefix('-')
        && !plain::is_number(text)
    {
        return short_option(text, rest, owner);
    }
    let asked = before.filter(|it| it.starts_with('-') && !it.contains('='));
    if let Some(what) = asked.and_then(secrets::in_name) {
        return Told::hidden(Why::Secret(what));
    }
    // `-p 1234`, where only small numbers are no passwords.
    let asked = before.and_then(|it| it.strip_prefix('-')).filter(|it| it.len() == 1);
    if asked.is_some_and(|letter| ASKING.contains(letter)) && !plain::is_small(text) {
        return Told::hidden(looks(text, owner).unwrap_or_else(|| unknown(text)));
    }
    // As `dd` has it: `bs=512`.
    if let Some((name, value)) = text.split_once('=')
        && plain::is_word(name)
    {
        return named(&format!("{name}="), name, value, owner);
    }
    value(text, owner)
}

/// `--name` or `--name=value`.
fn long_option(text: &str, rest: &str, owner: &Owner) -> Told {
    let (name, of) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
    if !plain::is_option_name(name) || owner.is_named_by(name) {
        return Told::hidden(looks(text, owner).unwrap_or(Why::Unknown));
    }
    match of {
        None => Told::whole(text),
        Some(of) => named(&format!("--{name}="), name, of, owner),
    }
}

/// `-x`, `-xvf`, `-j8`, `-Ipath`: what follows the first letter may be its value.
fn short_option(text: &str, rest: &str, owner: &Owner) -> Told {
    let mut characters = rest.chars();
    let Some(letter) = characters.next().filter(char::is_ascii_alphanumeric) else {
        return Told::hidden(looks(text, owner).unwrap_or(Why::Unknown));
    };
    let of = characters.as_str();
    let asks = ASKING.contains(letter);
    let cluster = rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_alphabetic());
    let number = plain::is_small(of) && !asks;
    if of.is_empty() || cluster || number || is_place(of) {
        return Told::whole(text);
    }
    Told::hidden(looks(of, owner).unwrap_or_else(|| unknown(of))).after(&format!("-{letter}"))
}

/// A value with its name.
fn named(before: &str, name: &str, of: &str, owner: &Owner) -> Told {
    if of.is_empty() || is_place(of) {
        return Told::whole(&format!("{before}{of}"));
    }
    match secrets::in_name(name) {
        Some(what) => Told::hidden(Why::Secret(what)),
        None => value(of, owner),
    }
    .after(before)
}

fn value(text: &str, owner: &Owner) -> Told {
    if let Some(why) = looks(text, owner) {
        return Told::hidden(why);
    }
    if plain::is_number(text) || plain::is_word(text) || plain::is_device(text) {
        return Told::whole(text);
    }
    Told::hidden(unknown(text))
}

/// Why something is hidden that looks like nothing in particular.
fn unknown(text: &str) -> Why {
    if is_path(text) { Why::Path } else { Why::Unknown }
}

fn looks(text: &str, owner: &Owner) -> Option<Why> {
    let secret = secrets::in_value(text).map(Why::Secret);
    secret.or_else(|| owner.is_named_by(text).then_some(Why::Owner))
}

fn is_path(text: &str) -> bool {
    text.contains('/') || text.starts_with('~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner {
        Owner::named(&["qvistgaard", "/home/qvistgaard", "zwolle-7"])
    }

    fn line(wishes: &Wishes, words: &[&str]) -> Vec<String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        told(&words, None, wishes, &owner()).into_iter().map(|told| told.text).collect()
    }

    #[test]
    fn plain_words_are_told() {
        let words = [
            "-v",
            "-xvf",
            "-j8",
            "-O2",
            "--verbose",
            "--level=3",
            "--size",
            "10M",
            "0x1f",
            "-5",
            "0.25",
            "--format=json",
            "parse",
            "--",
            "-",
            "",
            "@@",
            "--in=@@2",
            "@@1:@@2",
            "-i@@",
            "bs=512",
            "/dev/null",
            "640x480",
            "--color=always",
        ];
        assert_eq!(line(&Wishes::default(), &words), words);
    }

    #[test]
    fn everything_else_is_not() {
        for (word, shown) in [
            ("--password=hunter2", "--password=<hidden>"),
            ("--pin=1234", "--pin=<hidden>"),
            ("-phunter2", "-p<hidden>"),
            ("-p1234", "-p<hidden>"),
            ("/home/qvistgaard/tax.pdf", "<path>"),
            ("--out=/home/alice/x", "--out=<path>"),
            ("-I/srv/acme/include", "-I<path>"),
            ("notes.txt", "<hidden>"),
            ("alice", "<hidden>"),
            ("a@@b", "<hidden>"),
            ("--Qvistgaard Wyczolkowska", "<hidden>"),
            ("--0a1b2c3d4e5f", "<hidden>"),
            ("--qvistgaard", "<hidden>"),
            ("4111111111111111", "<hidden>"),
            ("1234567", "<hidden>"),
            ("customer=7", "<hidden>"),
            ("~/x", "<path>"),
        ] {
            let told = line(&Wishes::default(), &[word]);
            // What names the user is hidden before it is seen to be a path.
            let shown = if word.contains("/home/qvistgaard") { "<hidden>" } else { shown };
            assert_eq!(told, [shown], "{word}");
        }
        assert_eq!(line(&Wishes::default(), &["--pin", "1234"]), ["--pin", "<hidden>"]);
        assert_eq!(line(&Wishes::default(), &["--count", "1234"]), ["--count", "1234"]);
        assert_eq!(line(&Wishes::default(), &["-p", "1234"]), ["-p", "<hidden>"]);
        assert_eq!(line(&Wishes::default(), &["-p", "test"]), ["-p", "<hidden>"]);
        assert_eq!(line(&Wishes::default(), &["-p", "80"]), ["-p", "80"]);
        assert_eq!(line(&Wishes::default(), &["-p", "@@"]), ["-p", "@@"]);
    }

    #[test]
    fn what_is_kept_is_no_secret_unless_it_is_named() {
        let words = [
            "notes.txt",
            "/srv/x",
            "--token=abc",
            "a@b.example",
            "/home/qvistgaard/x",
            "--who",
            "alice",
        ];
        let keep = Wishes { keep: true, public: Vec::new() };
        assert_eq!(
            line(&keep, &words),
            ["notes.txt", "/srv/x", "--token=<hidden>", "<hidden>", "<hidden>", "--who", "alice"]
        );
        let named = Wishes { keep: false, public: vec![3, 5] };
        assert_eq!(
            line(&named, &words),
            [
                "<hidden>",
                "<path>",
                "--token=abc",
                "<hidden>",
                "/home/qvistgaard/x",
                "--who",
                "<hidden>"
            ]
        );
    }

    #[test]
    fn a_script_is_told_by_its_name() {
        let folder = std::env::temp_dir().join(format!("stunt-script-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("parse.py");
        std::fs::write(&file, "").expect("a file");
        let words: Vec<OsString> = vec!["-B".into(), file.clone().into(), "@@".into()];
        let at = script(OsStr::new("python3.11"), &words, None);
        assert_eq!(at, Some(1));
        let told = told(&words, at, &Wishes::default(), &owner());
        assert_eq!(told[1].text, "parse.py");
        assert_eq!(script(OsStr::new("parser"), &words, None), None);
        let code: Vec<OsString> = vec!["-c".into(), file.into()];
        assert_eq!(script(OsStr::new("python3"), &code, None), None);
        std::fs::remove_dir_all(&folder).expect("it goes");
    }
}
