//! Tickets become issues, and the state of an issue comes back.
//!
//! Always: what goes to a tracker is what a maintainer sees on the ticket's page, and the double.
//! Calls to a tracker block, so they run aside; one at a time for each server.

use std::time::Duration;

use stunt_report::{Limits, Report, visible};
use stunt_trackers::{Attachment, Draft, Tracker};
use tokio::sync::watch;

use crate::App;
use crate::error::Error;
use crate::store::{Link, LinkState, Ticket, TrackerSettings};

/// How often new requests are looked for.
const LOOK: Duration = Duration::from_millis(1000);

/// Makes issues and asks for their states, until it is told to stop.
pub async fn issues(app: App, poll: Duration, mut stopped: watch::Receiver<bool>) {
    loop {
        if let Err(error) = once(&app, poll).await {
            tracing::error!(%error, "issues");
        }
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

async fn once(app: &App, poll: Duration) -> Result<(), Error> {
    let store = app.store();
    let Some(tracker) = store.settings().await?.tracker else { return Ok(()) };
    store.give_up_links().await?;
    while let Some(link) = store.take_link().await? {
        let made = create(app, &tracker, &link).await?;
        match made {
            Ok(made) => store.finish_link(link.ticket, Some(&made), None).await?,
            Err((made, why)) => store.finish_link(link.ticket, made.as_ref(), Some(&why)).await?,
        }
    }
    if let Some((link, news)) = store.take_news().await?
        && let Err(why) = tell(&tracker, &link, format!("{news}\n{}", address(app, &link))).await
    {
        store.news_failed(link.ticket, &why).await?;
    }
    // One at a time: a tracker is somebody else's server.
    if let Some(link) = store.stale_link(store.now().minus(poll)).await? {
        let answer = ask(&tracker, &link).await;
        store.link_checked(&link, answer).await?;
    }
    Ok(())
}

type Made = Result<stunt_trackers::Link, (Option<stunt_trackers::Link>, String)>;

async fn create(app: &App, settings: &TrackerSettings, link: &Link) -> Result<Made, Error> {
    let ticket = app.store().ticket(link.ticket).await?;
    let Some(best) = ticket.doubles.iter().find(|double| double.kept) else {
        return Ok(Err((None, "the ticket has no double any more".to_owned())));
    };
    let Some(bytes) = app.store().report_file(&best.digest).await? else {
        return Ok(Err((None, "the ticket has no double any more".to_owned())));
    };
    let draft = draft(&ticket, bytes, app.url());
    let settings = settings.clone();
    let made = tokio::task::spawn_blocking(move || {
        let tracker = settings.tracker().map_err(|error| (None, error.to_string()))?;
        tracker.create(&draft).map_err(|error| match &error {
            stunt_trackers::Error::Incomplete { link, .. } => {
                (Some(link.clone()), error.to_string())
            }
            _ => (None, error.to_string()),
        })
    });
    Ok(made.await.unwrap_or_else(|_| Err((None, "the tracker's client failed".to_owned()))))
}

/// What an issue says.
fn draft(ticket: &Ticket, bytes: Vec<u8>, url: &str) -> Draft {
    use std::fmt::Write;
    let row = &ticket.row;
    let mut body = format!(
        "{}\n\nProgram: {}\nSeen: {} times, first {}, last {}\n",
        ticket.words,
        row.program,
        row.count,
        row.first_seen.words(),
        row.last_seen.words()
    );
    if let Some(best) = ticket.doubles.first() {
        let _ = writeln!(body, "The double reveals {} of the original.", best.leak_words);
    }
    body.push_str("\nCall stack:\n");
    for (number, frame) in ticket.frames.iter().enumerate() {
        let name = frame.symbol.as_deref().unwrap_or("?");
        let place = frame
            .location
            .clone()
            .unwrap_or_else(|| format!("{}+{:#x}", frame.module, frame.offset));
        let _ = writeln!(body, "  #{number} {} ({})", visible(name), visible(&place));
    }
    let (double, how) = attachment(&row.id.to_string(), bytes);
    let _ = write!(body, "\n{how}\n");
    Draft {
        title: format!("{}: {}", row.program, row.title),
        body,
        double,
        link: format!("{url}/tickets/{}", row.id),
    }
}

fn address(app: &App, link: &Link) -> String {
    format!("{}/tickets/{}", app.url(), link.ticket)
}

/// What is attached, and how to use it: the double itself if it is one file, otherwise the report that
/// holds it.
fn attachment(ticket: &str, report: Vec<u8>) -> (Attachment, String) {
    if let Ok(mut opened) = Report::from_bytes(&report, Limits::default())
        && let [source] = &opened.report.sources[..]
        && let Some(bytes) = opened.doubles.pop()
    {
        let mut how = format!(
            "The attached file is an input that fails in the same way ({}): {}",
            source.name.words(),
            opened.report.command_line()
        );
        if let Some(comment) = &opened.report.comment {
            how += &format!("\n\nIts reporter says: {}", visible(comment));
        }
        let name = format!("{ticket}-{}", source.file_name());
        return (Attachment { name, bytes }, how);
    }
    let how = "The attached report holds inputs that fail in the same way: stunt replay FILE";
    (Attachment { name: format!("{ticket}.stunt"), bytes: report }, how.to_owned())
}

/// Does something with an issue, in its own tracker.
async fn with<T: Send + 'static>(
    settings: &TrackerSettings,
    link: &Link,
    work: impl FnOnce(&dyn Tracker, &stunt_trackers::Link) -> Result<T, stunt_trackers::Error>
    + Send
    + 'static,
) -> Result<T, String> {
    let (Some(id), Some(url)) = (link.issue.clone(), link.url.clone()) else {
        return Err("the issue has no name".to_owned());
    };
    if settings.name() != link.tracker {
        return Err(format!("the issue is in {}, which is not set up any more", link.tracker));
    }
    let settings = settings.clone();
    let done = tokio::task::spawn_blocking(move || {
        let tracker = settings.tracker().map_err(|error| error.to_string())?;
        work(&*tracker, &stunt_trackers::Link { id, url }).map_err(|error| error.to_string())
    });
    done.await.map_err(|_| "the tracker's client failed".to_owned())?
}

async fn tell(settings: &TrackerSettings, link: &Link, text: String) -> Result<(), String> {
    with(settings, link, move |tracker, issue| tracker.comment(issue, &text)).await
}

async fn ask(settings: &TrackerSettings, link: &Link) -> Result<LinkState, String> {
    let answer = with(settings, link, |tracker, issue| tracker.state(issue)).await?;
    Ok(match answer {
        stunt_trackers::State::Open => LinkState::Open,
        stunt_trackers::State::Closed => LinkState::Closed,
    })
}
