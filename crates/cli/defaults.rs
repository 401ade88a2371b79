//! Settings of the configuration as defaults of flags, so that a flag always has the last word.
//!
//! Always: a configuration with a problem changes nothing here; the commands that this is about
//! keep things on this machine, and must work all the same. What sends reads its settings itself,
//! and stops at a problem.

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use stunt_client::config::{self, Settings};
use stunt_record::Retention;

use crate::{hints, outcome};

/// How a setting is written as a flag.
#[derive(Clone, Copy)]
enum Form {
    /// A switch.
    Switch,
    /// A number of bytes.
    Bytes,
    /// Words, each by itself.
    Words,
    /// A number of days.
    Days,
    /// A number of minutes.
    Minutes,
    /// A number of seconds with its unit.
    Seconds,
}

/// A setting, the command and the flag that it is a default of, and how it is written there.
type Default = (&'static str, &'static [&'static str], &'static str, Form);

const DEFAULTS: [Default; 10] = [
    ("record.largest-file", &["record"], "largest_file", Form::Bytes),
    ("record.room", &["record"], "room", Form::Bytes),
    ("record.keep-env", &["record"], "keep_env", Form::Words),
    ("record.keep-last", &["record"], "keep_last", Form::Switch),
    ("record.forget", &["record"], "forget", Form::Switch),
    ("record.last-age", &["request"], "within", Form::Minutes),
    ("incidents.keep", &["incidents", "prune"], "days", Form::Days),
    ("incidents.max-size", &["incidents", "prune"], "size", Form::Bytes),
    ("watch.programs", &["watch"], "programs", Form::Words),
    ("work.time", &["work"], "time", Form::Seconds),
];

/// Parses the command line, with the settings for what it leaves open.
pub fn parse() -> crate::Arguments {
    let mut command = crate::Arguments::command();
    let word = std::env::args_os().nth(1);
    let concerned = DEFAULTS.iter().any(|(_, path, ..)| word.as_deref() == Some(path[0].as_ref()));
    if concerned && let Ok(settings) = config::settings() {
        command = with(command, &settings);
    }
    let matches: ArgMatches = command.try_get_matches().unwrap_or_else(|error| {
        use clap::error::ErrorKind::{ArgumentConflict, MissingRequiredArgument, UnknownArgument};
        let kinds = [ArgumentConflict, MissingRequiredArgument, UnknownArgument];
        if kinds.contains(&error.kind())
            && let Some(hint) = hints::forgotten_dashes(&hints::words())
        {
            eprintln!("stunt: {hint}");
            std::process::exit(outcome::USAGE.into());
        }
        error.exit()
    });
    crate::Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// How long incidents are kept, and how many.
pub fn retention() -> Retention {
    let usual = Retention::default();
    let Ok(settings) = config::settings() else { return usual };
    Retention {
        age: settings.age("incidents.keep").unwrap_or(usual.age),
        bytes: settings.number("incidents.max-size").unwrap_or(usual.bytes),
    }
}

fn with(command: Command, settings: &Settings) -> Command {
    DEFAULTS.iter().fold(command, |command, (key, path, flag, form)| {
        let values = values(settings, key, *form);
        if values.is_empty() { command } else { set(command, path, flag, values) }
    })
}

/// The setting as a flag takes it; nothing if it is not set.
fn values(settings: &Settings, key: &str, form: Form) -> Vec<String> {
    let age = settings.age(key).map(|age| age.as_secs());
    let one = match form {
        Form::Words => return settings.words(key).to_vec(),
        Form::Switch => settings.flag(key).then(|| "true".to_owned()),
        Form::Bytes => settings.number(key).map(|number| number.to_string()),
        // Less than a unit is one of it: never is not what was meant.
        Form::Days => age.map(|age| age.div_ceil(86_400).to_string()),
        Form::Minutes => age.map(|age| age.div_ceil(60).to_string()),
        Form::Seconds => age.map(|age| format!("{age}s")),
    };
    one.into_iter().collect()
}

fn set(command: Command, path: &[&'static str], flag: &str, values: Vec<String>) -> Command {
    match path.split_first() {
        Some((name, rest)) => command.mut_subcommand(name, |inner| set(inner, rest, flag, values)),
        None => {
            // The library keeps defaults for as long as the process lives.
            let values = values.into_iter().map(|value| &*value.leak());
            command.mut_arg(flag, |arg| arg.required(false).default_values(values))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use stunt_client::config::{Places, load};

    use super::*;

    /// The settings of a text.
    fn settings(text: &str) -> Settings {
        let file = std::env::temp_dir().join(format!("stunt-defaults-{}", std::process::id()));
        fs::write(&file, text).unwrap();
        let places = Places { system: "/nowhere".into(), user: Some(file.clone()), project: None };
        let loaded = load(&places);
        fs::remove_file(file).unwrap();
        assert!(loaded.troubles.is_empty(), "{:?}", loaded.troubles);
        loaded.settings
    }

    const TEXT: &str = "\
[record]\nlargest-file = \"3K\"\nroom = \"2M\"\nkeep-env = [\"A\", \"B\"]\nkeep-last = true\n\
last-age = \"90s\"\n[incidents]\nkeep = \"36h\"\nmax-size = \"1M\"\n\
[watch]\nprograms = [\"/bin/a\"]\n[work]\ntime = \"2d\"\n";

    #[test]
    fn settings_are_defaults_and_flags_have_the_last_word() {
        let command = with(crate::Arguments::command(), &settings(TEXT));
        command.clone().debug_assert();
        let of = |words: &[&str]| {
            let words = [&["stunt"], words].concat();
            command.clone().try_get_matches_from(words).unwrap().remove_subcommand().unwrap().1
        };
        let record = of(&["record", "--", "x"]);
        assert_eq!(record.get_one::<u64>("largest_file"), Some(&(3 << 10)));
        assert_eq!(record.get_one::<u64>("room"), Some(&(2 << 20)));
        assert_eq!(record.get_many::<String>("keep_env").unwrap().count(), 2);
        assert!(record.get_flag("keep_last") && !record.get_flag("forget"));
        let record = of(&["record", "--largest-file", "1K", "--forget", "--", "x"]);
        assert_eq!(record.get_one::<u64>("largest_file"), Some(&(1 << 10)));
        assert!(record.get_flag("forget"), "which is looked at first");
        let request = of(&["request", "words", "--fails-if", "exit=1"]);
        assert_eq!(request.get_one::<u64>("within"), Some(&2), "a minute and a half is two");
        let (_, prune) = of(&["incidents", "prune"]).remove_subcommand().unwrap();
        assert_eq!(prune.get_one::<u64>("days"), Some(&2));
        assert_eq!(of(&["watch"]).get_many::<std::path::PathBuf>("programs").unwrap().count(), 1);
        let time = of(&["work"]).get_one::<std::time::Duration>("time").copied();
        assert_eq!(time, Some(std::time::Duration::from_secs(2 * 86_400)));
    }

    #[test]
    fn the_defaults_of_both_sides_are_the_same() {
        let (plain, with) =
            (crate::Arguments::command(), with(crate::Arguments::command(), &settings("")));
        let of = |command: &Command| {
            let words = ["stunt", "record", "--", "x"];
            let record = command.clone().try_get_matches_from(words).unwrap();
            let record = record.subcommand().unwrap().1.clone();
            let number = |name| *record.get_one::<u64>(name).unwrap();
            (number("largest_file"), number("room"))
        };
        assert_eq!(of(&plain), of(&with));
        let usual = Retention::default();
        let settings = settings("");
        assert_eq!(settings.age("incidents.keep"), Some(usual.age));
        assert_eq!(settings.number("incidents.max-size"), Some(usual.bytes));
    }
}
