//! Which tracker, where it is, and with which key: what an administrator writes down once.
//!
//! Always: a secret has no `Debug`, no `Display` and no place in an error.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::{GitHub, GitLab, Jira, Redmine, Trac, Tracker};

/// A key or a password. It is written only into settings and requests.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key.
    pub fn new(key: impl Into<String>) -> Secret {
        Secret(key.into())
    }

    /// The key itself, for a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// The settings of a tracker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Settings {
    /// Redmine, by its REST interface.
    Redmine {
        /// Where it is.
        url: String,
        /// The identifier of the project.
        project: String,
        /// The key of a user who may add issues.
        key: Secret,
    },
    /// Trac, by the forms of its pages.
    Trac {
        /// Where the environment is.
        url: String,
        /// Who we are there.
        user: String,
        /// With which password.
        key: Secret,
    },
    /// GitHub, by its REST interface.
    GitHub {
        /// Where the interface is.
        #[serde(default = "github_address")]
        url: String,
        /// The repository: `owner/name`.
        project: String,
        /// A token that may write issues.
        key: Secret,
    },
    /// GitLab, by its REST interface.
    GitLab {
        /// Where it is.
        #[serde(default = "gitlab_address")]
        url: String,
        /// The path of the project: `group/name`.
        project: String,
        /// A token with the scope `api`.
        key: Secret,
    },
    /// Jira, by its REST interface.
    Jira {
        /// Where it is.
        url: String,
        /// The key of the project.
        project: String,
        /// Whose token it is, in the cloud; without it, the token is a personal access token of a
        /// Jira of one's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<String>,
        /// The token.
        key: Secret,
        /// What kind of issue is made.
        #[serde(default = "bug")]
        issue_type: String,
    },
}

fn github_address() -> String {
    "https://api.github.com".to_owned()
}

fn gitlab_address() -> String {
    "https://gitlab.com".to_owned()
}

fn bug() -> String {
    "Bug".to_owned()
}

impl Settings {
    /// The tracker with these settings. Nothing is sent yet.
    pub fn tracker(&self) -> Result<Box<dyn Tracker>, Error> {
        Ok(match self {
            Settings::Redmine { url, project, key } => Box::new(Redmine::new(url, project, key)?),
            Settings::Trac { url, user, key } => Box::new(Trac::new(url, user, key)?),
            Settings::GitHub { url, project, key } => Box::new(GitHub::new(url, project, key)?),
            Settings::GitLab { url, project, key } => Box::new(GitLab::new(url, project, key)?),
            Settings::Jira { url, project, user, key, issue_type } => {
                Box::new(Jira::new(url, project, user.as_deref(), key, issue_type)?)
            }
        })
    }

    /// The name of the tracker's kind, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Settings::Redmine { .. } => "Redmine",
            Settings::Trac { .. } => "Trac",
            Settings::GitHub { .. } => "GitHub",
            Settings::GitLab { .. } => "GitLab",
            Settings::Jira { .. } => "Jira",
        }
    }

    /// The key, for whoever writes settings down anew.
    pub fn key(&self) -> &Secret {
        match self {
            Settings::Redmine { key, .. }
            | Settings::Trac { key, .. }
            | Settings::GitHub { key, .. }
            | Settings::GitLab { key, .. }
            | Settings::Jira { key, .. } => key,
        }
    }

    /// Whether a key of the one would go to the same place by the other: the same kind of tracker at
    /// the same address.
    pub fn is_where(&self, other: &Settings) -> bool {
        let address = |settings: &Settings| settings.url().trim().trim_end_matches('/').to_owned();
        self.name() == other.name() && address(self) == address(other)
    }

    /// Where the tracker is.
    pub fn url(&self) -> &str {
        match self {
            Settings::Redmine { url, .. }
            | Settings::Trac { url, .. }
            | Settings::GitHub { url, .. }
            | Settings::GitLab { url, .. }
            | Settings::Jira { url, .. } => url,
        }
    }
}

/// Something that must not be empty.
pub(crate) fn given<'a>(what: &str, value: &'a str) -> Result<&'a str, Error> {
    match value.trim() {
        "" => Err(Error::Settings(format!("there is no {what}"))),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_down_and_read_again() {
        let text = r#"{"kind":"jira","url":"https://j.example","project":"AB","key":"k"}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!(settings.name(), "Jira");
        let written = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&written).unwrap(), settings);
        assert!(settings.tracker().is_ok());
        let text = r#"{"kind":"github","project":"o/r","key":"k"}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!(settings.url(), "https://api.github.com");
        assert!(serde_json::from_str::<Settings>(r#"{"kind":"bugzilla"}"#).is_err());
    }

    #[test]
    fn a_place_is_a_kind_and_an_address() {
        let of = |text: &str| serde_json::from_str::<Settings>(text).unwrap();
        let one = of(r#"{"kind":"redmine","url":"https://t.example","project":"a","key":"k"}"#);
        let same = of(r#"{"kind":"redmine","url":"https://t.example/","project":"b","key":""}"#);
        assert!(one.is_where(&same));
        let kind = of(r#"{"kind":"gitlab","url":"https://t.example","project":"a/b","key":"k"}"#);
        let place = of(r#"{"kind":"redmine","url":"https://u.example","project":"a","key":"k"}"#);
        assert!(!one.is_where(&kind) && !one.is_where(&place));
        assert_eq!(one.key().expose(), "k");
    }

    #[test]
    fn a_key_is_not_printed() {
        let text = r#"{"kind":"github","project":"o/r","key":"hunter2"}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert!(!format!("{settings:?}").contains("hunter2"));
    }

    #[test]
    fn settings_that_cannot_be_right_are_refused() {
        let key = Secret::new("k");
        let refused = |settings: Settings| matches!(settings.tracker(), Err(Error::Settings(_)));
        let url = || "https://t.example".to_owned();
        assert!(refused(Settings::Redmine { url: url(), project: " ".into(), key: key.clone() }));
        assert!(refused(Settings::GitHub { url: url(), project: "o".into(), key: key.clone() }));
        assert!(refused(Settings::GitHub {
            url: url(),
            project: "o/r/x".into(),
            key: key.clone()
        }));
        assert!(refused(Settings::Trac { url: "t".into(), user: "u".into(), key }));
        let newline = Secret::new("a\nb");
        let settings = Settings::GitLab { url: url(), project: "a/b".into(), key: newline };
        assert!(refused(settings));
    }
}
