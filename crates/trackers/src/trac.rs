//! Trac, by the forms of its pages: the plug-in that would offer more does not load in Trac 1.6.
//!
//! Each call logs in and has its own cookies, so nothing is kept between calls. A form takes a
//! token from the page that shows it. The ticket comes first and the double second; if the second
//! fails, the error has the ticket. The text stands in a block that Trac's wiki does not read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::Tracker;
use crate::draft::{Draft, Link, State, apart, one_line, plain_text};
use crate::error::Error;
use crate::http::{Answer, Body, Http, encoded, form, multipart};
use crate::settings::{Secret, given};

/// An environment of a Trac.
pub struct Trac {
    http: Http,
    user: String,
}

/// A visit: who is logged in, by the cookies.
struct Visit<'a> {
    http: &'a Http,
    cookies: Vec<String>,
}

impl Trac {
    /// The environment at `url`, for a user who may create tickets and attach files.
    pub fn new(url: &str, user: &str, key: &Secret) -> Result<Trac, Error> {
        let user = given("user", user)?.to_owned();
        let password = given("password", key.expose())?;
        let basic = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        Ok(Trac { http: Http::new(url, vec![("Authorization", Secret::new(basic))])?, user })
    }

    fn log_in(&self) -> Result<Visit<'_>, Error> {
        let mut visit = Visit { http: &self.http, cookies: Vec::new() };
        let answer = visit.send("GET", "/login", Body::Nothing)?;
        match answer.status {
            200 | 302 | 303 => Ok(visit),
            _ => Err(answer.error("a login")),
        }
    }

    fn attach(visit: &mut Visit<'_>, token: &str, id: &str, draft: &Draft) -> Result<(), Error> {
        let fields = [
            ("__FORM_TOKEN", token),
            ("action", "new"),
            ("realm", "ticket"),
            ("id", id),
            ("description", "the double"),
            ("submit", "Add attachment"),
        ];
        let double = &draft.double;
        let body = multipart(&fields, "attachment", &double.plain_name(), &double.bytes);
        let path = format!("/attachment/ticket/{}/", encoded(id));
        accepted(&visit.send("POST", &path, body)?, "the double").map(drop)
    }
}

impl Visit<'_> {
    fn send(&mut self, method: &str, path: &str, body: Body) -> Result<Answer, Error> {
        let cookies = self.cookies.join("; ");
        let headers = [("Cookie", cookies.as_str())];
        let headers: &[_] = if cookies.is_empty() { &[] } else { &headers };
        let answer = self.http.send(method, path, headers, body)?;
        for cookie in &answer.cookies {
            let name = cookie.split('=').next().unwrap_or_default();
            self.cookies.retain(|old| old.split('=').next() != Some(name));
            self.cookies.push(cookie.clone());
        }
        Ok(answer)
    }

    /// A page with a form.
    fn page(&mut self, path: &str, task: &'static str) -> Result<String, Error> {
        let answer = self.send("GET", path, Body::Nothing)?;
        if answer.status != 200 {
            return Err(Error::of_status(task, answer.status, answer.retry, b""));
        }
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }
}

/// Where an accepted form leads. Trac answers a form that it does not accept with a page.
fn accepted(answer: &Answer, task: &'static str) -> Result<String, Error> {
    match (answer.status, &answer.location) {
        (302 | 303, Some(location)) => Ok(location.clone()),
        (200, _) => {
            let reason = message(&String::from_utf8_lossy(&answer.body));
            Err(Error::Refused { task, status: 200, reason })
        }
        (status, _) => Err(Error::of_status(task, status, answer.retry, b"")),
    }
}

/// What a page complains about.
fn message(page: &str) -> String {
    let found = page.split_once("system-message").and_then(|(_, rest)| rest.split_once('>'));
    let Some((_, rest)) = found else { return "the form was shown again".to_owned() };
    let text = rest.split("</div>").next().unwrap_or_default();
    let mut inside = false;
    let words: String = text
        .chars()
        .map(|c| {
            let shown = !inside && c != '<';
            inside = (inside || c == '<') && c != '>';
            if shown { c } else { ' ' }
        })
        .collect();
    one_line(&words, 200)
}

/// The value of a hidden field of the page's form.
fn hidden(page: &str, name: &str, task: &'static str) -> Result<String, Error> {
    let mark = format!("name=\"{name}\"");
    let value = page.split("<input").filter_map(|rest| {
        let tag = rest.split('>').next()?;
        let value = tag.split_once("value=\"")?.1.split('"').next()?;
        tag.contains(&mark).then(|| value.to_owned())
    });
    let plain = |value: &String| value.chars().all(|c| c.is_ascii_alphanumeric());
    let mut value = value.filter(plain);
    value.next().ok_or(Error::Strange { task, missing: "token of its form" })
}

/// The text as a block that the wiki does not read.
fn block(text: &str) -> String {
    let text = apart(text, |c, rest| "{}".contains(c) && rest.starts_with(c));
    format!("{{{{{{\n{text}\n}}}}}}")
}

impl Tracker for Trac {
    fn create(&self, draft: &Draft) -> Result<Link, Error> {
        let task = "a new ticket";
        let mut visit = self.log_in()?;
        let page = visit.page("/newticket", task)?;
        let token = hidden(&page, "__FORM_TOKEN", task)?;
        let fields = [
            ("__FORM_TOKEN", token.as_str()),
            ("field_summary", &draft.title_line()),
            ("field_description", &format!("{}\n\n{}", block(&draft.text()), draft.link)),
            ("field_reporter", &self.user),
            ("submit", "Create ticket"),
        ];
        let location = accepted(&visit.send("POST", "/newticket", form(&fields))?, task)?;
        let id = location.rsplit_once("/ticket/").map_or("", |(_, id)| id);
        let id = id.split(['?', '#']).next().unwrap_or_default().to_owned();
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Error::Strange { task, missing: "number" });
        }
        let url = format!("{}/ticket/{id}", self.http.base());
        let link = Link { id, url };
        match Trac::attach(&mut visit, &token, &link.id, draft) {
            Ok(()) => Ok(link),
            Err(reason) => Err(Error::Incomplete { link, reason: Box::new(reason) }),
        }
    }

    fn state(&self, link: &Link) -> Result<State, Error> {
        let task = "the state of a ticket";
        let path = format!("/query?id={}&col=id&col=status&format=tab", encoded(&link.id));
        let page = self.log_in()?.page(&path, task)?;
        let mut lines = page.trim_start_matches('\u{feff}').lines();
        // Names of columns are the reader's language, the order is ours.
        if lines.next().is_none_or(|head| head.matches('\t').count() != 1) {
            return Err(Error::Strange { task, missing: "column for the status" });
        }
        match lines.next().and_then(|line| line.split_once('\t')) {
            Some((id, "closed")) if id == link.id => Ok(State::Closed),
            Some((id, _)) if id == link.id => Ok(State::Open),
            _ => Err(Error::Refused {
                task,
                status: 404,
                reason: "there is no such ticket".to_owned(),
            }),
        }
    }

    fn comment(&self, link: &Link, text: &str) -> Result<(), Error> {
        let task = "a comment";
        let path = format!("/ticket/{}", encoded(&link.id));
        let mut visit = self.log_in()?;
        let page = visit.page(&path, task)?;
        // The two times show Trac that nobody else has changed the ticket since.
        let fields = [
            ("__FORM_TOKEN", &*hidden(&page, "__FORM_TOKEN", task)?),
            ("start_time", &hidden(&page, "start_time", task)?),
            ("view_time", &hidden(&page, "view_time", task)?),
            ("comment", &block(&plain_text(text))),
            ("action", "leave"),
            ("submit", "Submit changes"),
        ];
        accepted(&visit.send("POST", &path, form(&fields))?, task).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_form_are_found() {
        let page = r#"<input type="hidden" name="x" value="<b>"/>
            <input type="hidden" name="t"
               value="54c2f7" /> <input value="9" name="u">"#;
        assert_eq!(hidden(page, "t", "").unwrap(), "54c2f7");
        assert_eq!(hidden(page, "u", "").unwrap(), "9");
        assert!(hidden(page, "x", "").is_err(), "not a token");
        assert!(hidden(page, "y", "").is_err());
    }

    #[test]
    fn a_complaint_is_read_from_the_page() {
        let page = r#"<div class="system-message warning"><strong>Warning:</strong> Tickets must
            contain a summary.</div>"#;
        assert_eq!(message(page), "Warning: Tickets must contain a summary.");
        assert_eq!(message("<p>"), "the form was shown again");
    }

    #[test]
    fn nothing_ends_the_block() {
        assert_eq!(block("a\n}}}\nb"), "{{{\na\n} } }\nb\n}}}");
        // No end is put together by taking another one apart.
        assert_eq!(block("}}}}}"), "{{{\n} } } } }\n}}}");
    }
}
