//! Who the user is, so that no report tells it: names that must not be in an argument.

use std::fs;
use std::path::Path;

/// The shortest name that is looked for: shorter ones are in every other word.
const SHORTEST: usize = 3;

/// Names that many have, and that tell nobody apart.
const COMMON: &[&str] = &[
    "admin",
    "build",
    "builder",
    "debian",
    "guest",
    "home",
    "localhost",
    "nobody",
    "root",
    "runner",
    "test",
    "tmp",
    "ubuntu",
    "user",
    "work",
];

/// Names of the user, of the machine and of folders.
pub struct Owner {
    names: Vec<String>,
}

impl Owner {
    /// Of this process: the account and its full name, the home, this folder and another, and the host.
    pub fn of_this_process(folder: Option<&Path>) -> Owner {
        let mut names = Vec::new();
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let account = account(&fs::read_to_string("/etc/passwd").unwrap_or_default());
        names.extend(account.iter().flat_map(|name| name.split([' ', ','])).map(str::to_owned));
        names.extend([variable("USER"), variable("LOGNAME")]);
        let home = variable("HOME");
        names.extend(Path::new(&home).file_name().map(|name| name.to_string_lossy().into_owned()));
        names.push(home);
        let here = std::env::current_dir().ok();
        let folders = here.as_deref().into_iter().chain(folder);
        // Everything is below the first of all folders.
        let folders = folders.filter(|folder| folder.components().count() > 1);
        names.extend(folders.map(|folder| folder.to_string_lossy().into_owned()));
        names.push(fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Owner::named(&names)
    }

    /// Somebody with these names.
    pub fn named(names: &[&str]) -> Owner {
        let names = names.iter().map(|name| name.trim().to_lowercase());
        let telling = |name: &String| name.len() >= SHORTEST && !COMMON.contains(&name.as_str());
        Owner { names: names.filter(telling).collect() }
    }

    /// Whether one of the names is in a text.
    pub fn is_named_by(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.names.iter().any(|name| text.contains(name))
    }
}

/// The name of the account and the full name of the user, from the list of accounts.
fn account(list: &str) -> Vec<String> {
    let user = stunt_subject::uid().to_string();
    let fields = list.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut own = fields.filter(|fields| fields.get(2) == Some(&user.as_str()));
    let own = own.next().unwrap_or_default();
    [own.first(), own.get(4)].into_iter().flatten().map(|text| (*text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        let owner = Owner::named(&["Alice", "", "/home/alice", "al"]);
        assert!(owner.is_named_by("ALICE.txt") && owner.is_named_by("x/home/alice/y"));
        assert!(!owner.is_named_by("all") && !owner.is_named_by(""));
    }

    #[test]
    fn the_account_is_found_by_its_number() {
        let user = stunt_subject::uid();
        let list = format!("root:x:99999:0:other:/:\nqv:x:{user}:1:Q. Vist,,,:/home/qv:/bin/sh\n");
        assert_eq!(account(&list), ["qv", "Q. Vist,,,"]);
        assert!(account("broken").is_empty());
    }
}
