//! Programs that run others: how each is recognised, and what makes it interpret, and do the same every time.
//!
//! A runtime that compiles while it runs is a program like any other, but what it compiles is not what a
//! path should be about; and one that draws hash seeds takes another path each time. So the machine runs
//! them with options of their own, given by the environment, which reaches them through any wrapper.
//!
//! One file a runtime. It must not know the machine: what is said here is true of any run.

mod code;
mod java;
mod node;
mod perl;
mod python;
mod ruby;

use std::ffi::{OsStr, OsString};

use crate::texts::Executed;

pub use code::code_words;

/// A program that runs others.
pub struct Runtime {
    /// Its name, for people.
    pub name: &'static str,
    /// Beginnings of the names of its program.
    programs: &'static [&'static str],
    /// Variables by which it interprets and draws nothing.
    variables: &'static [Variable],
}

/// A variable of the environment.
struct Variable {
    name: &'static str,
    value: &'static str,
    /// What is between this and what the user has there already; without it, the user's stays.
    between: Option<&'static str>,
}

/// All that are known. Lua, PHP and shells need no options.
const ALL: [&Runtime; 5] =
    [&java::RUNTIME, &node::RUNTIME, &python::RUNTIME, &perl::RUNTIME, &ruby::RUNTIME];

/// The runtimes among programs that a run has executed.
#[must_use]
pub fn runtimes(executed: &[Executed]) -> Vec<&'static Runtime> {
    let runs = |runtime: &Runtime| {
        executed.iter().any(|it| {
            let name = it.program.file_name().unwrap_or_default().to_string_lossy();
            runtime.programs.iter().any(|program| name.starts_with(program))
        })
    };
    ALL.into_iter().filter(|runtime| runs(runtime)).collect()
}

/// An environment in which these runtimes interpret, and do the same every time.
pub fn interpreting(runtimes: &[&Runtime], environment: &mut Vec<(OsString, OsString)>) {
    for variable in runtimes.iter().flat_map(|it| it.variables) {
        let own = environment.iter_mut().find(|(name, _)| name == OsStr::new(variable.name));
        match (own, variable.between) {
            (None, _) => environment.push((variable.name.into(), variable.value.into())),
            (Some((_, value)), Some(between)) => {
                value.push(between);
                value.push(variable.value);
            }
            (Some(_), None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executed(program: &str) -> Executed {
        Executed { program: program.into(), words: Vec::new(), folder: "/".into() }
    }

    #[test]
    fn runtimes_are_known_by_their_programs() {
        let names = |programs: &[&str]| -> Vec<&str> {
            let all: Vec<Executed> = programs.iter().map(|it| executed(it)).collect();
            runtimes(&all).iter().map(|it| it.name).collect()
        };
        assert_eq!(names(&["/bin/bash", "/opt/python/bin/python3.11"]), ["CPython"]);
        assert_eq!(names(&["/usr/lib/jvm/x/bin/java", "/usr/bin/node"]), ["the JVM", "Node.js"]);
        assert!(names(&["/bin/true", "/usr/bin/javac-not"]).len() <= 1);
    }

    #[test]
    fn what_the_user_has_set_stays() {
        let all = runtimes(&[executed("/usr/bin/java"), executed("/usr/bin/python3")]);
        let mut environment = vec![
            ("JAVA_TOOL_OPTIONS".into(), "-Dx=1".into()),
            ("PYTHONHASHSEED".into(), "7".into()),
        ];
        interpreting(&all, &mut environment);
        let value = |name: &str| {
            let own = environment.iter().filter(|(it, _)| it == name).collect::<Vec<_>>();
            assert_eq!(own.len(), 1, "{name}");
            own[0].1.to_str().expect("text").to_owned()
        };
        assert!(value("JAVA_TOOL_OPTIONS").starts_with("-Dx=1 -Xint"));
        assert_eq!(value("PYTHONHASHSEED"), "7");
        assert_eq!(value("PYTHONDONTWRITEBYTECODE"), "1");
    }
}
