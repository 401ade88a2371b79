//! What an admin decides: names, rules for reporters, how long things are kept, and the tracker.
//!
//! Always: the tracker's key is never shown. An empty field for it means "as before", as long as
//! the key would go to the same tracker: for another address it must be typed again.

use askama::Template;
use axum::extract::State;
use serde::Deserialize;
use stunt_trackers::{Secret, Settings as Tracker};

use super::{Answer, Failure, Layout, go, show};
use crate::auth::{Admin, Form};
use crate::store::{Retention, Settings};
use crate::{App, Error};

/// Kinds of trackers, as the menu has them.
const KINDS: [(&str, &str); 6] = [
    ("none", "None"),
    ("redmine", "Redmine"),
    ("trac", "Trac"),
    ("github", "GitHub"),
    ("gitlab", "GitLab"),
    ("jira", "Jira"),
];

/// The tracker's settings as fields of a form; the key is not among them.
#[derive(Default)]
struct Fields {
    kind: &'static str,
    url: String,
    project: String,
    user: String,
    issue_type: String,
    has_key: bool,
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    layout: Layout,
    settings: Settings,
    kinds: [(&'static str, &'static str); 6],
    tracker: Fields,
    recipient: String,
    url: String,
}

fn fields(tracker: Option<&Tracker>) -> Fields {
    let none = String::new();
    let (kind, url, project, user, issue_type) = match tracker {
        None => return Fields { kind: "none", issue_type: "Bug".to_owned(), ..Fields::default() },
        Some(Tracker::Redmine { url, project, .. }) => ("redmine", url, project, &none, "Bug"),
        Some(Tracker::Trac { url, user, .. }) => ("trac", url, &none, user, "Bug"),
        Some(Tracker::GitHub { url, project, .. }) => ("github", url, project, &none, "Bug"),
        Some(Tracker::GitLab { url, project, .. }) => ("gitlab", url, project, &none, "Bug"),
        Some(Tracker::Jira { url, project, user, issue_type, .. }) => {
            ("jira", url, project, user.as_ref().unwrap_or(&none), issue_type.as_str())
        }
    };
    Fields {
        kind,
        url: url.clone(),
        project: project.clone(),
        user: user.clone(),
        issue_type: issue_type.to_owned(),
        has_key: true,
    }
}

/// The page.
pub async fn page(State(app): State<App>, Admin { session }: Admin) -> Answer {
    let settings = app.store().settings().await?;
    show(&SettingsPage {
        layout: Layout::of(&app, &session, "settings").await?,
        kinds: KINDS,
        tracker: fields(settings.tracker.as_ref()),
        settings,
        recipient: app.identity().recipient().to_string(),
        url: app.url().to_owned(),
    })
}

/// The form. A box that is not ticked is not sent.
#[derive(Deserialize)]
pub struct NewSettings {
    title: String,
    reporters_need_token: Option<String>,
    share_doubles: Option<String>,
    doubles_kept: u32,
    fixed_days: u32,
    silent_days: u32,
    audit_days: u32,
    tracker: String,
    #[serde(default)]
    tracker_url: String,
    #[serde(default)]
    tracker_project: String,
    #[serde(default)]
    tracker_user: String,
    #[serde(default)]
    tracker_type: String,
    #[serde(default)]
    tracker_key: String,
}

impl NewSettings {
    /// The tracker that the form asks for; `before` has the key that need not be typed again.
    fn tracker(&self, before: Option<&Tracker>) -> Result<Option<Tracker>, Error> {
        let url = self.tracker_url.trim().trim_end_matches('/').to_owned();
        let (project, user) = (self.tracker_project.trim(), self.tracker_user.trim());
        let kept = before.filter(|before| {
            fields(Some(before)).kind == self.tracker && before.url().trim_end_matches('/') == url
        });
        let key = match (self.tracker_key.trim(), kept) {
            ("", Some(before)) => before.key().clone(),
            (typed, _) => Secret::new(typed),
        };
        let project = project.to_owned();
        let tracker = match self.tracker.as_str() {
            "none" => return Ok(None),
            "redmine" => Tracker::Redmine { url, project, key },
            "trac" => Tracker::Trac { url, user: user.to_owned(), key },
            "github" => Tracker::GitHub { url, project, key },
            "gitlab" => Tracker::GitLab { url, project, key },
            "jira" => {
                let user = Some(user.to_owned()).filter(|user| !user.is_empty());
                let issue_type = self.tracker_type.trim().to_owned();
                Tracker::Jira { url, project, user, key, issue_type }
            }
            _ => return Err(Error::Invalid("there is no such kind of tracker".to_owned())),
        };
        tracker.tracker().map_err(|error| Error::Invalid(error.to_string()))?;
        Ok(Some(tracker))
    }
}

/// Changes the settings.
pub async fn change(
    State(app): State<App>,
    Admin { session }: Admin,
    Form(new): Form<NewSettings>,
) -> Result<axum::response::Response, Failure> {
    let before = app.store().settings().await?;
    let settings = Settings {
        title: new.title.trim().to_owned(),
        reporters_need_token: new.reporters_need_token.is_some(),
        share_doubles: new.share_doubles.is_some(),
        doubles_kept: new.doubles_kept,
        retention: Retention {
            fixed_days: new.fixed_days,
            silent_days: new.silent_days,
            audit_days: new.audit_days,
        },
        tracker: new.tracker(before.tracker.as_ref())?,
    };
    app.store().change_settings(&session.user.name, &settings).await?;
    go("/settings")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(kind: &str, url: &str, key: &str) -> NewSettings {
        NewSettings {
            title: String::new(),
            reporters_need_token: None,
            share_doubles: None,
            doubles_kept: 1,
            fixed_days: 0,
            silent_days: 0,
            audit_days: 0,
            tracker: kind.to_owned(),
            tracker_url: url.to_owned(),
            tracker_project: "o/r".to_owned(),
            tracker_user: "u".to_owned(),
            tracker_type: "Bug".to_owned(),
            tracker_key: key.to_owned(),
        }
    }

    #[test]
    fn a_key_stays_with_its_tracker() {
        let url = "https://t.example";
        let first = form("redmine", url, "k1").tracker(None).unwrap().unwrap();
        let again = form("redmine", &format!("{url}/"), "").tracker(Some(&first)).unwrap().unwrap();
        assert_eq!(again.key().expose(), "k1");
        let other = form("redmine", "https://evil.example", "").tracker(Some(&first));
        assert!(other.is_err(), "the key does not go to another address");
        assert!(form("gitlab", url, "").tracker(Some(&first)).is_err(), "nor to another tracker");
        let new = form("redmine", url, "k2").tracker(Some(&first)).unwrap().unwrap();
        assert_eq!(new.key().expose(), "k2");
    }

    #[test]
    fn every_kind_of_the_menu_can_be_set_and_shown() {
        for (kind, _) in KINDS {
            let tracker = form(kind, "https://t.example", "k").tracker(None).unwrap();
            assert_eq!(fields(tracker.as_ref()).kind, kind);
        }
        assert!(form("bugzilla", "https://t.example", "k").tracker(None).is_err());
    }
}
