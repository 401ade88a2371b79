//! Where a report can go without a server, as the user writes it: `github:OWNER/NAME`, `mail`, a file.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a report goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// Into this file.
    File(PathBuf),
    /// Into an issue of a project, if one is named.
    Issue(Tracker, Option<Project>),
    /// Into a mail, to somebody if that is said.
    Mail(Option<Address>),
}

/// What kind of tracker it is: each fills in a form in its own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tracker {
    /// GitHub.
    GitHub,
    /// GitLab.
    GitLab,
}

/// The address of a project's page: of plain characters, beginning with `https://` or `http://`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Project(String);

/// Where a mail goes: one address of plain characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address(String);

/// What is wrong with a way.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// Not a project.
    #[error("a project is written {tracker}:OWNER/NAME, or {tracker}:https://HOST/OWNER/NAME")]
    Project {
        /// Its tracker.
        tracker: &'static str,
    },
    /// An address of which nobody knows what is there.
    #[error("say which kind of tracker that is: github:{0} or gitlab:{0}")]
    Unknown(String),
    /// Not the address of a mail.
    #[error("an address is written mail:NAME@HOST")]
    Address,
    /// Nothing.
    #[error("a file, github, gitlab or mail belongs here")]
    Nothing,
}

impl Tracker {
    /// The word by which a user means it.
    pub fn word(self) -> &'static str {
        match self {
            Tracker::GitHub => "github",
            Tracker::GitLab => "gitlab",
        }
    }

    /// Where it is, if nothing is said.
    fn usual(self) -> &'static str {
        match self {
            Tracker::GitHub => "https://github.com",
            Tracker::GitLab => "https://gitlab.com",
        }
    }
}

impl fmt::Display for Tracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tracker::GitHub => "GitHub",
            Tracker::GitLab => "GitLab",
        })
    }
}

impl fmt::Display for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Way {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word, Some(rest)),
            None => (text, None),
        };
        match word {
            "" if rest.is_none() => Err(Error::Nothing),
            "github" => project(Tracker::GitHub, rest),
            "gitlab" => project(Tracker::GitLab, rest),
            "mail" => Ok(Way::Mail(rest.map(address).transpose()?)),
            "mailto" if rest.is_some() => Ok(Way::Mail(rest.map(address).transpose()?)),
            "https" | "http" => {
                let host = rest.unwrap_or_default().trim_start_matches('/');
                let host = host.split('/').next().unwrap_or_default();
                let named = |name: &str| host.split('.').any(|part| part == name);
                match (named("github"), named("gitlab")) {
                    (true, false) => project(Tracker::GitHub, Some(text)),
                    (false, true) => project(Tracker::GitLab, Some(text)),
                    _ => Err(Error::Unknown(text.to_owned())),
                }
            }
            _ => Ok(Way::File(PathBuf::from(text))),
        }
    }
}

/// A project as `OWNER/NAME`, or by its address, which may be that of a page below it or of its repository.
fn project(tracker: Tracker, text: Option<&str>) -> Result<Way, Error> {
    let Some(text) = text else { return Ok(Way::Issue(tracker, None)) };
    let wrong = || Error::Project { tracker: tracker.word() };
    let has_host = text.starts_with("https://") || text.starts_with("http://");
    let address = if has_host { text.to_owned() } else { format!("{}/{text}", tracker.usual()) };
    let (scheme, place) = address.split_once("://").ok_or_else(wrong)?;
    let place = place.trim_end_matches('/');
    let place = place.strip_suffix(".git").unwrap_or(place);
    let (place, _) = place.split_once("/-/").unwrap_or((place, ""));
    let mut parts: Vec<&str> = place.split('/').collect();
    if tracker == Tracker::GitHub {
        parts.truncate(3);
    }
    let plain = |part: &&str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let (host, port) = part.split_once(':').unwrap_or((part, "0"));
        let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
        !matches!(host, "" | "." | "..") && host.chars().all(allowed) && is_number
    };
    if parts.len() < 3 || !parts.iter().all(plain) || parts[1..].iter().any(|it| it.contains(':')) {
        return Err(wrong());
    }
    Ok(Way::Issue(tracker, Some(Project(format!("{scheme}://{}", parts.join("/"))))))
}

fn address(text: &str) -> Result<Address, Error> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
    let (name, host) = text.split_once('@').ok_or(Error::Address)?;
    let is_plain = |part: &str| !part.is_empty() && part.chars().all(allowed);
    if is_plain(name) && is_plain(host) && text.len() <= 254 {
        Ok(Address(text.to_owned()))
    } else {
        Err(Error::Address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_of(text: &str) -> Result<String, Error> {
        match text.parse()? {
            Way::Issue(tracker, Some(project)) => Ok(format!("{tracker} {project}")),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn ways_are_words_addresses_and_files() {
        assert_eq!("github".parse(), Ok(Way::Issue(Tracker::GitHub, None)));
        assert_eq!("gitlab".parse(), Ok(Way::Issue(Tracker::GitLab, None)));
        assert_eq!("mail".parse(), Ok(Way::Mail(None)));
        let mail = Way::Mail(Some(Address("bugs@example.org".to_owned())));
        assert_eq!("mail:bugs@example.org".parse(), Ok(mail.clone()));
        assert_eq!("mailto:bugs@example.org".parse(), Ok(mail));
        for file in ["r.zip", "./github", "a/b", "C:x"] {
            assert_eq!(file.parse(), Ok(Way::File(file.into())));
        }
        assert_eq!("".parse::<Way>(), Err(Error::Nothing));
    }

    #[test]
    fn projects_are_found_by_name_and_by_any_address() {
        for text in [
            "github:o/r",
            "github:https://github.com/o/r",
            "https://github.com/o/r.git",
            "https://github.com/o/r/issues/17",
            "https://github.com/o/r/",
        ] {
            assert_eq!(project_of(text), Ok("GitHub https://github.com/o/r".into()), "{text}");
        }
        for text in ["gitlab:g/s/p", "https://gitlab.com/g/s/p/-/issues", "gitlab:g/s/p.git"] {
            assert_eq!(project_of(text), Ok("GitLab https://gitlab.com/g/s/p".into()), "{text}");
        }
        let own = "gitlab:https://git.example.org:8443/g/p";
        assert_eq!(project_of(own), Ok("GitLab https://git.example.org:8443/g/p".into()));
        assert_eq!(
            project_of("https://gitlab.example.org/g/p"),
            Ok("GitLab https://gitlab.example.org/g/p".into())
        );
    }

    #[test]
    fn what_is_no_project_and_no_address_is_refused() {
        for text in ["github:", "github:o", "github:o/r?x=1", "github:o/../r", "gitlab:a b/c"] {
            assert!(matches!(text.parse::<Way>(), Err(Error::Project { .. })), "{text}");
        }
        let unknown = "https://git.example.org/o/r".parse::<Way>();
        assert!(matches!(unknown, Err(Error::Unknown(_))));
        for text in ["mail:", "mail:a", "mail:a@b\r\nBcc: c@d", "mail:a b@c", "mail:a@b@c"] {
            assert_eq!(text.parse::<Way>(), Err(Error::Address), "{text:?}");
        }
    }
}
