//! Real scripts with real mistakes: each uncaught exception is told by its type and its place, the
//! same way for another text that fails so, and nothing of the text is in what is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use stunt_native::{Command, Containment, InputFile, Native, Texts, failure_of_script, find};
use stunt_path::{Ending, Failure, FailureKind, Frame, InputNames, Role};

const PATH: &str = "/usr/bin:/bin";

/// A language, if the host has it.
struct Language {
    program: PathBuf,
    /// The words before the input's path.
    words: Vec<String>,
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(name)
}

fn interpreter(name: &str, file: &str) -> Option<Language> {
    let Ok(program) = find(name.as_ref(), PATH.as_ref()) else {
        eprintln!("{name} is not installed: not tested");
        return None;
    };
    Some(Language { program, words: vec![script(file).to_str().expect("text").into()] })
}

/// Java, with the program compiled.
fn java() -> Option<Language> {
    let mut java = interpreter("java", "Ledger.java")?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-java");
    let compiled = Process::new("javac").arg("-d").arg(&folder).arg(&java.words[0]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("javac is not installed: not tested");
        return None;
    }
    let folder = folder.to_str().expect("text").to_owned();
    java.words = ["-Xmx64m", "-XX:+UseSerialGC", "-cp", &folder, "Ledger"].map(Into::into).into();
    Some(java)
}

fn command(language: &Language, text: &str) -> Command {
    let mut command = Command::new(&language.program);
    command.arguments = language.words.iter().map(Into::into).collect();
    command.arguments.push(Command::place(0));
    command.environment = vec![("PATH".into(), PATH.into()), ("LC_ALL".into(), "C.UTF-8".into())];
    command.inputs = InputNames::new(["private.txt".to_owned()]);
    command.files = vec![InputFile { name: "private.txt".into(), bytes: text.as_bytes().into() }];
    command.containment = Containment::Contained;
    // Virtual machines reserve far more addresses than they use.
    command.memory = 1 << 40;
    command.time = std::time::Duration::from_secs(120);
    command
}

fn failure(language: &Language, text: &str) -> Option<Failure> {
    let (native, texts) = (Native::new(), Texts::default());
    let run = native.run(&command(language, text)).expect("it runs");
    texts.learn(native.executed());
    assert_eq!(run.failure, None, "the interpreter is sound: {}", run.ending);
    failure_of_script(&run, &texts)
}

/// Texts that fail in one way, another than those before, and what is told of it.
fn compare(language: &Language, ways: &[(&[&str], &str)]) {
    let mut seen: Vec<Failure> = Vec::new();
    for (texts, told) in ways {
        let all: Vec<Failure> = texts
            .iter()
            .map(|text| failure(language, text).unwrap_or_else(|| panic!("{told} is not told")))
            .collect();
        for (failure, text) in all.iter().zip(*texts) {
            assert_eq!(failure.to_string(), *told, "{failure:#?}");
            assert_eq!(failure, &all[0], "{failure:#?}");
            assert_eq!(failure.signature(), all[0].signature());
            // Every word of the texts that is long enough to be one.
            let shown = format!("{failure:?}");
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3) {
                assert!(!shown.contains(word), "{word} is shown");
            }
            assert!(!shown.contains("/scripts"), "{shown}");
        }
        assert!(!seen.contains(&all[0]), "{told} is like another");
        seen.push(all[0].clone());
    }
}

/// Texts on which a script does not fail, although it may say so.
fn sound(language: &Language, texts: &[&str]) {
    for text in texts {
        assert_eq!(failure(language, text), None);
    }
}

/// A script that is itself the input has another name in each run; it fails in the same way.
#[test]
fn a_script_that_is_the_input_fails_alike_under_any_name() {
    let text = "def total(row):\n    return sum(row)\nprint(total([1, 'two']))\n";
    let other = format!("{text}# more\n");
    let runs = [
        ("python3", "py", text, &*other),
        ("perl", "pl", "sub f {\n die }\nf();\n", "f();\nsub f {\n die }\n"),
    ];
    for (name, extension, text, other) in runs {
        let Ok(program) = find(name.as_ref(), PATH.as_ref()) else { continue };
        let told = |name: &str, text: &str, known: bool| {
            let mut run = command(&Language { program: program.clone(), words: Vec::new() }, text);
            let name = format!("{name}.{extension}");
            run.inputs = InputNames::new(known.then(|| name.clone()));
            run.files[0].name = name.into();
            failure_of_script(&Native::new().run(&run).expect("it runs"), &Texts::default())
                .expect("it fails")
        };
        let secret = told("secret", text, true);
        assert_eq!(secret.signature(), told("double", text, true).signature());
        assert!(!format!("{secret:?}").contains("secret"), "its name is told");
        assert_ne!(secret.signature(), told("double", text, false).signature());
        // Other text fails in other places.
        assert_eq!(secret == told("double", other, true), name == "python3", "{name}");
    }
}

#[test]
fn python() {
    let Some(python) = interpreter("python3", "invoice.py") else { return };
    compare(
        &python,
        &[
            (
                &["pens;3;1.20\nlamp;1;1,200\n", "[trade]\nMuster chair;44;9_x\n"],
                "uncaught decimal.InvalidOperation in price_of (invoice.py:20)",
            ),
            (
                &["[Hofmann & Co]\n", "pens;3;1.20\n[Wholesale Nord]\nx;1;1\n"],
                "uncaught InvoiceError in discount (invoice.py:32)",
            ),
            (
                &["pens;three;1.20\n", "lamp;drei;1\n"],
                "uncaught ValueError in line_total (invoice.py:25)",
            ),
            (&["pens;3\n"], "uncaught ValueError in line_total (invoice.py:24)"),
            (&["{aside\n", "pens;1;2\n{{remark\n"], "stack overflow in note (invoice.py:37)"),
        ],
    );
    // A traceback that is logged, and the script goes on, or ends with a status of its own.
    sound(&python, &["pens;3;1.20\n", "!{secret: }\n"]);
    assert_eq!(failure(&python, "?\n"), None);
    // One is logged, another ends it.
    let both = failure(&python, "!{secret: }\npens;3;4,5\n").expect("it fails");
    assert_eq!(both, failure(&python, "lamp;1;1,200\n").expect("it fails"));
}

#[test]
fn java_traces() {
    let Some(java) = java() else { return };
    compare(
        &java,
        &[
            (
                &["2024-01-01,Hofmann,12.50-\n", "2024-01-01,Hofmann,1.5\n2025-03-04,Berger,x.1\n"],
                "uncaught Ledger$ImportException in Ledger.row (Ledger.java:23)",
            ),
            (
                &["2024-01-01,Hofmann,12\n"],
                "uncaught java.lang.ArrayIndexOutOfBoundsException in Ledger.cents (Ledger.java:15)",
            ),
            (
                &["2024-01-01\n", "Berger,1\n"],
                "uncaught java.lang.ArrayIndexOutOfBoundsException in Ledger.row (Ledger.java:21)",
            ),
            (&["(nested\n", "((deeper\n"], "stack overflow in Ledger.depth (Ledger.java:28)"),
        ],
    );
    sound(&java, &["2024-01-01,Hofmann,12.50\n", "quit\n"]);
}

#[test]
fn node() {
    let Some(node) = interpreter("node", "mail.js") else { return };
    let undefined = "uncaught TypeError in header (mail.js:15)";
    compare(
        &node,
        &[
            (&["Subject Offer for Berger\n\n{}", "from: a\nGreetings\n\n{}"], undefined),
            (
                &["subject: Offer\n\n{\"amount\": }", "subject: other\n\n[1, Berger]"],
                "uncaught MailError in body (mail.js:22)",
            ),
            (&["> quoted\n\n", ">> twice\n\n"], "stack overflow in thread (mail.js:27)"),
            (
                &["raise Hofmann: owes\n\n", "raise Berger\n\n"],
                "uncaught thrown value in <anonymous> (mail.js:37)",
            ),
        ],
    );
    sound(&node, &["subject: Offer\n\n{\"amount\": 3}", "quit\n\n"]);
}

#[test]
fn perl() {
    let Some(perl) = interpreter("perl", "mean.pl") else { return };
    compare(
        &perl,
        &[
            (&["1 2 3\n\n4\n", "\n", "7\n8\n9\n\n"], "uncaught die in main (mean.pl:13)"),
            (&["4 Hofmann 5\n", "1\n2\nberger\n"], "uncaught die in main::mean (mean.pl:11)"),
        ],
    );
    sound(&perl, &["1 2 3\n", "quit over this\n"]);
}

/// What is told of a failure: the type and the fixed words of each exception.
fn words(language: &Language, text: &str) -> Vec<String> {
    let failure = failure(language, text).expect("it fails");
    let shown = format!("{failure:?}");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3) {
        assert!(!shown.contains(word), "{word} is shown");
    }
    let sites = failure.frames.iter().filter(|it| it.role == Role::Site);
    let site = |it: &Frame| match &it.symbol {
        Some(words) => format!("{}: {words}", it.module),
        None => it.module.clone(),
    };
    sites.map(site).collect()
}

/// One line, one type, and two reasons: the fixed words tell them apart, and of the rest of a message nothing
/// is kept.
#[test]
fn attack_messages_quote_what_is_private() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-messages");
    fs::create_dir_all(&folder).expect("a folder");
    let written = |name: &str, file: &str, source: &str| {
        let path = folder.join(file);
        fs::write(&path, source).expect("a script");
        let program = find(name.as_ref(), PATH.as_ref()).ok()?;
        Some(Language { program, words: vec![path.to_str().expect("text").into()] })
    };
    if let Some(python) = written("python3", "day.py", PYTHON) {
        let date = |text: &str| words(&python, text);
        assert_eq!(date("1990-23-01"), ["ValueError: month must be in 1..12"]);
        assert_ne!(date("1990-23-01"), date("Lovelace"));
        assert_eq!(date("Lovelace"), date("Babbage,Charles"));
        let caused = date("=Lovelace");
        assert_eq!(caused.len(), 2, "{caused:?}");
        assert_eq!(caused[0], "RowError: cannot import the row of …");
        let literal = "ValueError: invalid literal for int() with base …";
        assert!(caused[1].starts_with(literal), "{caused:?}");
        // A private text that is all of the message, and one that has the words of another.
        assert_eq!(date("!Lovelace sent this to Babbage"), ["RowError"]);
    }
    if let Some(ruby) = written("ruby", "row.rb", RUBY) {
        let caused = words(&ruby, "Lovelace");
        assert_eq!(caused[0], "RuntimeError: cannot read the row of …");
        assert!(caused[1].starts_with("ArgumentError: invalid value for …"), "{caused:?}");
    }
    if let Some(lua) = written("lua", "row.lua", LUA) {
        assert_eq!(words(&lua, "Lovelace"), ["error: no month in …"]);
    }
}

const PYTHON: &str = r#"
import sys, datetime
class RowError(Exception): pass
def read(text):
    if text[0] == "=":
        try: return int(text[1:])
        except ValueError as error: raise RowError(f"cannot import the row of {text}") from error
    if text[0] == "!": raise RowError(text[1:])
    return datetime.date.fromisoformat(text)
read(open(sys.argv[1]).read())
"#;
const RUBY: &str = r#"
def inner(text) = Integer(text)
def outer(text)
  inner(text)
rescue ArgumentError
  raise "cannot read the row of #{text}"
end
outer(File.read(ARGV[0]))
"#;
const LUA: &str = r#"
local text = io.open(arg[1]):read("a")
error("no month in " .. text)
"#;

/// A shell tells how its child died by a status of its own. That is the signal in that child.
#[test]
fn a_child_of_a_shell_dies() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-children");
    fs::create_dir_all(&folder).expect("a folder");
    let script = folder.join("wrap.sh");
    let run = |source: &str| {
        fs::write(&script, source).expect("a script");
        let mut command = Command::new("/bin/sh");
        command.arguments = vec![script.clone().into()];
        Native::new().run(&command).expect("it runs")
    };
    let died = run("sh -c 'kill -ABRT $$'\nexit $?\n");
    assert_eq!(died.ending, Ending::Exit(134));
    assert_eq!(died.failure.expect("its child's").kind, FailureKind::Abort);
    // Another status, and a status that only looks like it.
    assert_eq!(run("sh -c 'kill -ABRT $$'\nexit 3\n").failure, None);
    assert_eq!(run("exit 134\n").failure, None);
    assert_eq!(run("sh -c 'kill -ABRT $$'\nexit 139\n").failure, None);
}

/// The first line of a script names its interpreter, if whoever asks for the run allows it.
#[test]
fn a_script_runs_by_itself_where_that_is_allowed() {
    let Some(perl) = interpreter("perl", "mean.pl") else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-scripts");
    fs::create_dir_all(&folder).expect("a folder");
    let copy = folder.join("mean.pl");
    fs::copy(script("mean.pl"), &copy).expect("a copy");
    let own = Language { program: copy, words: Vec::new() };
    let mut command = command(&own, "1 2\n\n");
    let native = Native::new();
    assert!(native.run(&command).is_err());
    command.scripts = true;
    let run = native.run(&command).expect("it runs");
    assert!(matches!(run.ending, Ending::Exit(2..)), "{}", run.ending);
    let texts = Texts::default();
    texts.learn(native.executed());
    let told = failure_of_script(&run, &texts).expect("it dies");
    assert_eq!(told.kind, FailureKind::Exception);
    assert_eq!(Some(told), failure(&perl, "1 2\n\n"));
}
