//! What of an exception's message is the program's own: the *fixed words*.
//!
//! A message is made of constants and of values, and the values may be private. So only those words are
//! kept that stand in a constant of the program (scripts and modules in the traceback, classes of the jars)
//! or of what runs it (binaries, the class library), as the beginning of a message or with values between:
//! of `bad month 23 of Ada`, that is `bad month … of …`. Two messages with other fixed words are two failures.
//!
//! Always holds: what is given back stands in those files, word by word, and never in an input's file.

mod class;
mod constants;
mod runtime;
mod source;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use constants::Constants;
use runtime::Runtime;

/// A program that a run has executed, be it by way of a wrapper.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Executed {
    /// Its file.
    pub program: PathBuf,
    /// Its words, the program's name first.
    pub words: Vec<OsString>,
    /// The folder that it ran in.
    pub folder: PathBuf,
}

/// The constants of a program and of what runs it.
#[derive(Default)]
pub struct Texts {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    executed: BTreeSet<Executed>,
    /// Files and folders of inputs, and names of files.
    inputs: BTreeSet<PathBuf>,
    runtime: Option<Arc<Runtime>>,
    /// Constants of scripts and classes, by file or by the name of the class.
    own: BTreeMap<PathBuf, Option<Arc<Constants>>>,
}

/// Where an exception passed, as far as it tells whose constants its message may have.
pub(crate) struct Passed<'a> {
    /// Paths of source files, as the traceback has them.
    pub sources: Vec<&'a str>,
    /// Names of Java classes.
    pub classes: Vec<&'a str>,
}

/// A message has so many parts that are looked at.
const PARTS: usize = 4;
/// No more of a message is looked at, in bytes.
const LONGEST: usize = 1000;

impl Texts {
    /// What is in this file, below this folder, or in any file of this name, is an input and no constant.
    pub fn exclude(&self, input: &Path) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.inputs.extend(input.canonicalize());
        known.inputs.insert(input.to_owned());
        known.own.clear();
    }

    /// From now on, constants of these programs count as well.
    pub fn learn(&self, executed: impl IntoIterator<Item = Executed>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.executed.len();
        known.executed.extend(executed);
        if known.executed.len() != before {
            known.runtime = None;
            known.own.clear();
        }
    }

    /// The programs that it knows.
    #[must_use]
    pub fn executed(&self) -> Vec<Executed> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.executed.iter().cloned().collect()
    }

    /// The words of a message that stand in constants, with `…` for what is between; nothing if there
    /// are none.
    pub(crate) fn fixed(&self, message: &str, passed: &Passed<'_>) -> Option<String> {
        let message = message.lines().next().unwrap_or_default().trim();
        let end = (0..=LONGEST.min(message.len())).rev().find(|&at| message.is_char_boundary(at));
        let message = &message[..end.unwrap_or(0)];
        if message.is_empty() {
            return None;
        }
        let (own, runtime) = self.of(passed);
        let mut parts: Vec<String> = Vec::new();
        let (mut rest, mut gap) = (message, false);
        for part in 0..PARTS {
            // What comes behind a value has to say more to be believed.
            let least = if part == 0 { (1, 2) } else { (2, 3) };
            let of_own = own.iter().filter_map(|it| it.beginning(rest, least.0));
            let of_runtime = runtime.beginning(rest, least.1);
            let found = of_own.chain(of_runtime).max_by_key(|it| it.literal);
            let found = match found {
                Some(found) => found,
                None => {
                    let inside = own.iter().filter_map(|it| it.inside(rest));
                    let Some((at, found)) = inside.max_by_key(|(_, it)| it.literal) else { break };
                    gap |= at > 0;
                    found
                }
            };
            let begins = found.text.starts_with('…');
            let before = if gap && !begins { "… " } else { "" };
            parts.push(format!("{before}{}", found.text));
            rest = rest[found.end..].trim_start();
            gap = !rest.is_empty() && !found.text.ends_with('…');
            if rest.is_empty() {
                break;
            }
        }
        if parts.is_empty() {
            return None;
        }
        let mut text = parts.join(" ");
        if gap {
            text.push_str(" …");
        }
        Some(text.replace("… …", "…"))
    }

    fn of(&self, passed: &Passed<'_>) -> (Vec<Arc<Constants>>, Arc<Runtime>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut *known;
        let runtime = Arc::clone(known.runtime.get_or_insert_with(|| {
            Arc::new(Runtime::of(known.executed.iter().map(|it| &*it.program)))
        }));
        let mut own = Vec::new();
        for name in &passed.sources {
            let Some(path) = known.source(name) else { continue };
            let read = || source::constants(&path).map(Arc::new);
            own.extend(known.own.entry(path.clone()).or_insert_with(read).clone());
        }
        for name in &passed.classes {
            let path = PathBuf::from(format!("{}.class", name.replace('.', "/")));
            let executed = &known.executed;
            let read = || {
                let bytes = executed.iter().find_map(|it| class::find(it, &path))?;
                Some(Arc::new(Constants::of(class::constants(&bytes))))
            };
            own.extend(known.own.entry(path.clone()).or_insert_with(read).clone());
        }
        (own, runtime)
    }
}

impl Known {
    /// The file of a source in a traceback: a script or a module, and no input.
    fn source(&self, name: &str) -> Option<PathBuf> {
        let name = Path::new(name.strip_prefix("file://").unwrap_or(name));
        let here = self.executed.iter().map(|it| it.folder.join(name));
        let path = here.filter_map(|path| path.canonicalize().ok()).find(|path| path.is_file())?;
        let named = |it: &PathBuf| path.starts_with(it) || path.file_name() == Some(it.as_os_str());
        let is_input = self.inputs.iter().any(named);
        (!is_input && source::is_source(&path)).then_some(path)
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script in a folder of its own, and constants of it and of the programs.
    fn texts(name: &str, script: &str, program: &str) -> (Texts, String) {
        let folder =
            std::env::temp_dir().join(format!("stunt-texts-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(name);
        std::fs::write(&path, script).expect("a script");
        let texts = Texts::default();
        texts.learn([Executed { program: program.into(), words: Vec::new(), folder }]);
        (texts, path.to_str().expect("text").to_owned())
    }

    fn fixed(texts: &Texts, source: &str, message: &str) -> Option<String> {
        texts.fixed(message, &Passed { sources: vec![source], classes: Vec::new() })
    }

    #[test]
    fn constants_of_a_script_stay_and_values_go() {
        let script = "// it's a note\nthrow new RangeError('bad month ' + m + ' of ' + name);\nthrow new E(`${a} is not a month of ${b}`);\nfail(\"no row\");\n";
        let (texts, path) = texts("a.js", script, "/nowhere");
        let of = |message: &str| fixed(&texts, &path, message);
        assert_eq!(of("bad month 23 of Ada Lovelace").as_deref(), Some("bad month …"));
        assert_eq!(of("bad month Ada of 7"), of("bad month 23 of Ada Lovelace"));
        assert_eq!(of("Ada is not a month of Lovelace").as_deref(), Some("… is not a month of …"));
        assert_eq!(of("no row").as_deref(), Some("no row"));
        assert_eq!(of("no rowing"), None);
        assert_eq!(of("Ada Lovelace, 23, has none left"), None);
        assert_eq!(of(""), None);
        std::fs::remove_dir_all(Path::new(&path).parent().expect("a folder")).expect("removed");
    }

    #[test]
    fn an_input_is_no_constant() {
        let (texts, path) = texts("b.py", "x = 'the private word'\n", "/nowhere");
        assert!(fixed(&texts, &path, "the private word").is_some());
        let hidden = Texts::default();
        hidden.exclude(Path::new(&path));
        let folder = Path::new(&path).parent().expect("a folder").to_owned();
        let executed =
            Executed { program: "/nowhere".into(), words: vec![], folder: folder.clone() };
        hidden.learn([executed]);
        assert_eq!(fixed(&hidden, &path, "the private word"), None);
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
