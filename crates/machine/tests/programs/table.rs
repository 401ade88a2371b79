//! The table of runs, as text: which program, which input, how it must end.
//!
//! A block opens with `[name]`; then come lines `key: value`. A line that starts with a space
//! continues the value on a new line, and `#` at the start of a line opens a comment. Keys:
//!
//! | key | meaning |
//! |---|---|
//! | `package` | the Debian packages that the run needs |
//! | `own` | a source file in `own/`, and flags for its compiler |
//! | `subject` | a folder of `subjects/`, and its program if that is built; its inputs are the files |
//! | `run` | the command as words, with `'…'` and `"…"` around words with spaces; `@` is `own`'s or `subject`'s |
//! | `sh` | the command as a script for `/bin/sh` |
//! | `before` | a script that runs natively in the fresh folder, before either run |
//! | `stdin` | a file of the fixture; nothing if absent |
//! | `ends` | `exit N` or `signal N`; `exit 0` if absent |
//! | `says` | what standard error must contain |
//! | `except` | files and folders that are not compared afterwards |
//!
//! What always holds: names are unique, every run has one command, and comes from a package, is our
//! own, or is a subject. How anything is run is decided elsewhere.

use std::collections::BTreeSet;

/// How a program ended, as its parent sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It exited with this status.
    Exit(u8),
    /// This signal killed it.
    Signal(u8),
}

/// What is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// A program and its arguments.
    Words(Vec<String>),
    /// A script for `/bin/sh`.
    Script(String),
}

/// One run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Its name, unique.
    pub name: String,
    /// The Debian packages that it needs.
    pub packages: Vec<String>,
    /// A source file in `own/`, and its compiler's flags.
    pub own: Option<(String, Vec<String>)>,
    /// A folder of `subjects/`, and the program that was built from it.
    pub subject: Option<(String, Option<String>)>,
    /// What is started.
    pub command: Command,
    /// A script that prepares the folder.
    pub before: Option<String>,
    /// The file that is standard input.
    pub stdin: Option<String>,
    /// How it must end.
    pub ends: Ending,
    /// What standard error must contain.
    pub says: Option<String>,
    /// What is not compared.
    pub except: Vec<String>,
}

/// All tables, in the order in which they are read.
const TABLES: [(&str, &str); 6] = [
    ("coreutils.table", include_str!("coreutils.table")),
    ("text.table", include_str!("text.table")),
    ("data.table", include_str!("data.table")),
    ("languages.table", include_str!("languages.table")),
    ("own.table", include_str!("own.table")),
    ("subjects.table", include_str!("../../../../subjects/subjects.table")),
];

/// The runs of all tables; a mistake in a table is a sentence that says where.
pub fn runs() -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    let mut names = BTreeSet::new();
    for (file, text) in TABLES {
        for run in parse(text).map_err(|mistake| format!("{file}: {mistake}"))? {
            if !names.insert(run.name.clone()) {
                return Err(format!("{file}: there are two runs called {}", run.name));
            }
            runs.push(run);
        }
    }
    Ok(runs)
}

/// A block whose values are not looked at yet.
struct Block {
    name: String,
    values: Vec<(String, String)>,
}

fn parse(text: &str) -> Result<Vec<Run>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            blocks.push(Block { name: name.to_string(), values: Vec::new() });
            continue;
        }
        let block = blocks.last_mut().ok_or(format!("line {number}: no block is open"))?;
        if let Some(more) = line.strip_prefix(' ') {
            let (_, value) = block.values.last_mut().ok_or(format!("line {number}: no key"))?;
            value.push('\n');
            value.push_str(more);
        } else {
            let (key, value) =
                line.split_once(':').ok_or(format!("line {number}: neither key nor name"))?;
            block.values.push((key.to_string(), value.trim().to_string()));
        }
    }
    blocks
        .into_iter()
        .map(|block| {
            let name = block.name.clone();
            run(block).map_err(|mistake| format!("[{name}]: {mistake}"))
        })
        .collect()
}

fn run(block: Block) -> Result<Run, String> {
    let mut run = Run {
        name: block.name,
        packages: Vec::new(),
        own: None,
        subject: None,
        command: Command::Words(Vec::new()),
        before: None,
        stdin: None,
        ends: Ending::Exit(0),
        says: None,
        except: Vec::new(),
    };
    let mut commands = 0;
    for (key, value) in block.values {
        match key.as_str() {
            "package" => run.packages = value.split_whitespace().map(str::to_string).collect(),
            "own" => {
                let mut all = words(&value)?;
                let source = if all.is_empty() { String::new() } else { all.remove(0) };
                run.own = Some((source, all));
            }
            "subject" => {
                let mut all = value.split_whitespace().map(str::to_string);
                run.subject = all.next().map(|folder| (folder, all.next()));
            }
            "says" => run.says = Some(value),
            "run" => {
                run.command = Command::Words(words(&value)?);
                commands += 1;
            }
            "sh" => {
                run.command = Command::Script(value);
                commands += 1;
            }
            "before" => run.before = Some(value),
            "stdin" => run.stdin = Some(value),
            "ends" => run.ends = ending(&value)?,
            "except" => run.except = value.split_whitespace().map(str::to_string).collect(),
            _ => return Err(format!("unknown key `{key}`")),
        }
    }
    match (&run.command, commands) {
        (Command::Words(words), 1) if words.is_empty() => Err("the command is empty".to_string()),
        (_, 1) if run.packages.is_empty() && run.own.is_none() && run.subject.is_none() => {
            Err("none of `package`, `own`, `subject`".to_string())
        }
        (_, 1) => Ok(run),
        _ => Err(format!("{commands} commands")),
    }
}

fn ending(text: &str) -> Result<Ending, String> {
    let (kind, number) = text.split_once(' ').ok_or(format!("how does it end: `{text}`?"))?;
    let number = number.parse().map_err(|_| format!("`{number}` is no number"))?;
    match kind {
        "exit" => Ok(Ending::Exit(number)),
        "signal" => Ok(Ending::Signal(number)),
        _ => Err(format!("how does it end: `{text}`?")),
    }
}

/// Splits at white space; quotes keep it. Inside quotes every character stands for itself.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.chars().peekable();
    loop {
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        if rest.peek().is_none() {
            return Ok(words);
        }
        let mut word = String::new();
        while let Some(c) = rest.next_if(|c| !c.is_whitespace()) {
            if c == '\'' || c == '"' {
                loop {
                    match rest.next() {
                        Some(inner) if inner == c => break,
                        Some(inner) => word.push(inner),
                        None => return Err(format!("a quote {c} is not closed")),
                    }
                }
            } else {
                word.push(c);
            }
        }
        words.push(word);
    }
}

/// What must hold of the parser; the harness runs it as a test.
pub fn check() -> Result<(), String> {
    let text = "# c\n[a]\npackage: p q\nrun: x 'a  b'c \"\"\nends: signal 6\n\n[b]\nown: s.c -O2\nsh: one\n two\n";
    let runs = parse(text)?;
    let expected = ["x", "a  bc", ""].map(str::to_string).to_vec();
    assert_eq!(runs[0].command, Command::Words(expected));
    assert_eq!((runs[0].ends, runs[0].packages.len()), (Ending::Signal(6), 2));
    assert_eq!(runs[1].command, Command::Script("one\ntwo".to_string()));
    for wrong in [
        "run: x",
        "[a]\nrun: x",
        "[a]\npackage: p",
        "[a]\npackage: p\nrun: x\nsh: y",
        "[a]\npackage: p\nrun: 'x",
        "[a]\npackage: p\nrun: x\nends: badly",
        "[a]\npackage: p\nrun:",
        "[a]\npackage: p\nwalk: x",
    ] {
        assert!(parse(wrong).is_err(), "{wrong} should be refused");
    }
    Ok(())
}
