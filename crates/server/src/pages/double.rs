//! The double of a ticket: its leak graph, its bytes as digits and as text, and its files.
//!
//! Always: what is downloaded is a file for a disk, never something that a browser shows; what is
//! shown is escaped, and cut where it is long.

use std::fmt::Write;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use stunt_graph::{Graph, Level, html, svg};
use stunt_report::{Limits, Opened, Report, command_line, grouped, steps, visible};

use super::figures::size;
use super::{Answer, Failure};
use crate::auth::Maintainer;
use crate::store::{Double, Ticket, TicketId};
use crate::{App, Error};

/// How many rows of a graph a page shows.
const ROWS: usize = 1024;
/// How many bytes of a double a page shows as text.
const TEXT: usize = 16 << 10;

/// What a page shows of the best double.
pub struct View {
    /// The sentence of the report.
    pub summary: String,
    /// What it reveals, in words.
    pub words: String,
    /// What it tells, if the report says so.
    pub tells: Option<String>,
    /// How often it was seen to fail, in words.
    pub verified: String,
    /// The arguments of the program.
    pub arguments: String,
    /// The legend of the graphs, as markup.
    pub legend: String,
    /// What its reader does to see the failure, if it is a recording of a user interface.
    pub steps: Vec<String>,
    /// The graphs, one for each source.
    pub sources: Vec<SourceView>,
    /// What its reporter says about it.
    pub comment: Option<String>,
    /// What else the report says.
    pub notes: Vec<String>,
    /// The size of the report's file.
    pub bytes: String,
    /// Whether a replay failed as the report says.
    pub confirmed: Option<bool>,
}

/// One source of the double.
pub struct SourceView {
    /// Its place in the report.
    pub number: usize,
    /// What the link to its file says.
    pub name: String,
    /// The graph, as markup.
    pub graph: String,
    /// The bytes as text, as markup.
    pub text: String,
    /// What is not shown, in words.
    pub cut: Option<String>,
}

/// The best double that is still here.
fn best(ticket: &Ticket) -> Option<&Double> {
    ticket.doubles.iter().find(|double| double.kept)
}

/// The best double, opened.
async fn opened(app: &App, ticket: &Ticket) -> Result<Option<(Double, Opened)>, Error> {
    let Some(double) = best(ticket) else { return Ok(None) };
    let Some(bytes) = app.store().report_file(&double.digest).await? else { return Ok(None) };
    let opened = tokio::task::spawn_blocking(move || Report::from_bytes(&bytes, Limits::default()));
    // It was opened when it came, with the same rules.
    let opened = opened.await.ok().and_then(Result::ok);
    Ok(opened.map(|opened| (double.clone(), opened)))
}

/// What a page shows of a ticket's double.
pub async fn view(app: &App, ticket: &Ticket) -> Result<Option<View>, Error> {
    let Some((double, opened)) = opened(app, ticket).await? else { return Ok(None) };
    // Drawing a long double takes a while.
    let view = tokio::task::spawn_blocking(move || draw(&double, &opened));
    Ok(view.await.ok())
}

fn draw(double: &Double, opened: &Opened) -> View {
    let report = &opened.report;
    let mut legend = String::new();
    html::legend(&mut legend);
    let graphs = Graph::of(opened, false);
    let sources = graphs.into_iter().zip(&opened.doubles).enumerate();
    let verified = match (report.verified.runs, report.verified.native) {
        (0, _) => "not seen to fail".to_owned(),
        (runs, native) => {
            let times = if runs == 1 { "once".to_owned() } else { format!("{runs} times") };
            let place = if native { "on a real processor" } else { "in the machine" };
            format!("seen to fail {times}, {place}")
        }
    };
    let recorded = opened.doubles.iter().zip(&report.per_byte);
    let steps = recorded.filter_map(|(bytes, runs)| steps(bytes, Some(runs))).flatten();
    View {
        steps: steps.collect(),
        summary: report.summary(),
        words: report.leak.words.clone(),
        tells: report.tells.as_ref().map(|it| it.words.clone()),
        verified,
        arguments: command_line(&report.arguments),
        legend,
        sources: sources.map(|(number, (graph, bytes))| source(number, graph, bytes)).collect(),
        comment: report.comment.as_deref().map(visible),
        notes: report.notes.clone(),
        bytes: size(double.bytes),
        confirmed: double.confirmed,
    }
}

fn source(number: usize, mut graph: Graph<'_>, bytes: &[u8]) -> SourceView {
    let cut = (graph.parts.len() > ROWS || bytes.len() > TEXT).then(|| {
        let bytes = grouped(bytes.len() as u64);
        format!("Only the beginning is shown here; the file has all {bytes} bytes.")
    });
    graph.parts.truncate(ROWS);
    let mut table = String::new();
    html::source(&mut table, &graph);
    let (name, length) = (graph.source.name.words(), size(i64::try_from(bytes.len()).unwrap_or(0)));
    SourceView {
        number,
        name: format!("{name} ({length})"),
        graph: table,
        text: text(&graph, bytes),
        cut,
    }
}

/// The bytes as text, with those that reveal something marked.
fn text(graph: &Graph<'_>, bytes: &[u8]) -> String {
    let mut shown = String::new();
    let bytes = &bytes[..bytes.len().min(TEXT)];
    let level = |at: usize| {
        let figure = graph.runs.at(at as u64);
        figure.map_or(Level::Nothing, |(bits, kind)| Level::of(bits, kind))
    };
    let mut at = 0;
    while at < bytes.len() {
        let here = level(at);
        let end = (at..bytes.len()).find(|&next| level(next) != here).unwrap_or(bytes.len());
        let piece = as_text(&bytes[at..end]);
        let _ = match svg::class(here) {
            Some(class) => write!(shown, "<mark class=\"{class}\">{piece}</mark>"),
            None => write!(shown, "{piece}"),
        };
        at = end;
    }
    shown
}

/// Bytes as text: lines stay lines, what is not a character of ASCII is a dot.
fn as_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'\n' => text.push('\n'),
            b'&' => text.push_str("&amp;"),
            b'<' => text.push_str("&lt;"),
            b'>' => text.push_str("&gt;"),
            byte => text.push(stunt_graph::character(byte)),
        }
    }
    text
}

/// The report as a file.
pub async fn report(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
) -> Answer {
    let id: TicketId = id.parse()?;
    let ticket = app.store().ticket(id).await?;
    let double = best(&ticket).ok_or(Error::NotFound("double"))?;
    let bytes = app.store().report_file(&double.digest).await?.ok_or(Error::NotFound("double"))?;
    app.store().log_action(&session.user.name, "double.download", &id.to_string()).await?;
    Ok(download(&format!("{id}.zip"), bytes).into_response())
}

/// The double of one source as a file.
pub async fn file(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path((id, number)): Path<(String, usize)>,
) -> Answer {
    let id: TicketId = id.parse()?;
    let ticket = app.store().ticket(id).await?;
    let (_, mut opened) = opened(&app, &ticket).await?.ok_or(Error::NotFound("double"))?;
    if number >= opened.doubles.len() {
        return Err(Failure::from(Error::NotFound("double")));
    }
    let name = plain_name(&opened.report.sources[number].entry);
    app.store().log_action(&session.user.name, "double.download", &id.to_string()).await?;
    Ok(download(&format!("{id}-{name}"), opened.doubles.swap_remove(number)).into_response())
}

/// The last part of an entry's name, with nothing that a header or a disk would take amiss.
fn plain_name(entry: &str) -> String {
    let name = entry.rsplit('/').next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().map(plain).take(80).collect()
}

fn download(name: &str, bytes: Vec<u8>) -> impl IntoResponse {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_stranger_are_no_markup() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = as_text(&bytes);
        assert!(!text.contains('<') && !text.contains('>') && !text.contains('\u{1b}'));
        assert!(text.contains("&lt;=&gt;") && text.contains("&amp;'"), "{text}");
        assert_eq!(text.matches('\n').count(), 1);
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(plain_name("input/file.json"), "file.json");
        assert_eq!(plain_name("input/a\"\r\nb"), "a___b");
    }
}
