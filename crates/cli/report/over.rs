//! Ends without a server: a file, an issue that can be pasted, a mail. Nothing is sent, and nothing is overwritten.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use stunt_client::config::Settings;
use stunt_handover::{Address, Issue, Project, Tracker, Way, issue, link, mail};
use stunt_report::{Opened, grouped, quoted};

use super::{Arguments, Ready};
use crate::inspect::title;
use crate::outcome::{Outcome, free_name, print};
use crate::owner::Owner;
use crate::submit::{limit, screen, terminal};

/// Adds the user's words. The report becomes another file, of which its owner is told the same.
pub(super) fn comment(opened: &mut Opened, words: &str) -> Result<()> {
    let before = opened.report.to_bytes(&opened.doubles)?;
    opened.report.comment = (!words.is_empty()).then(|| words.to_owned());
    if let Some(owner) = Owner::recall(&before) {
        Owner::keep(&serde_json::to_vec(&owner)?, &opened.report.to_bytes(&opened.doubles)?);
    }
    Ok(())
}

/// Prepares what can be handed on.
pub(super) fn prepare(
    arguments: &Arguments,
    settings: &Settings,
    way: &Way,
    ready: &Ready,
) -> Result<Outcome> {
    let opened = &ready.opened;
    let archive = opened.report.to_bytes(&opened.doubles)?;
    let owner = Owner::recall(&archive);
    let most = arguments.send.max_leak;
    if let Some(refusal) = limit::above(&opened.report, owner.as_ref(), most, settings) {
        eprintln!("stunt: nothing was written: {refusal}");
        return Ok(Outcome::NotSent);
    }
    if terminal::is_there() {
        let shown = screen::Shown { opened, owner: owner.as_ref(), destination: None };
        terminal::say(&screen::text(&shown))?;
    }
    match way {
        Way::File(path) => to_file(path, opened, &archive),
        Way::Issue(tracker, project) => to_issue(*tracker, project.as_ref(), opened, &archive),
        Way::Mail(address) => to_mail(address.as_ref(), opened, &archive),
    }
}

fn to_file(path: &Path, opened: &Opened, archive: &[u8]) -> Result<Outcome> {
    write(path, archive)?;
    let name = quoted(path);
    print(format!("Report: {name}\n").as_bytes())?;
    eprintln!(
        "Nothing was sent. Attach the file where the project takes reports: whoever has the program sees the failure \
         by\n    stunt replay {name} -- {}\nStunt writes the issue or the mail as well: stunt report {name} --to \
         github:OWNER/NAME, gitlab or mail",
        opened.report.command_line()
    );
    Ok(Outcome::Done)
}

fn to_issue(
    tracker: Tracker,
    project: Option<&Project>,
    opened: &Opened,
    archive: &[u8],
) -> Result<Outcome> {
    let attachment = free_name("stunt-report", "zip");
    let issue = issue(opened, archive, &name_of(&attachment));
    let text = free_name("stunt-issue", "md");
    write(&text, issue.body.as_bytes())?;
    let mut files = format!("Issue: {}\n", quoted(&text));
    if !issue.is_whole {
        write(&attachment, archive)?;
        files += &format!("Report: {}\n", quoted(&attachment));
    }
    print(files.as_bytes())?;
    eprint!("{}", next(tracker, project, &issue, &text, &attachment));
    Ok(Outcome::Done)
}

/// What is left to be done by hand.
fn next(
    tracker: Tracker,
    project: Option<&Project>,
    issue: &Issue,
    text: &Path,
    attachment: &Path,
) -> String {
    let drop = if issue.is_whole {
        "The double is in the text.".to_owned()
    } else {
        format!("The double is too long for a text: drop {} into the issue.", quoted(attachment))
    };
    let text = quoted(text);
    let Some(project) = project else {
        return format!(
            "Nothing was sent. Open a new issue of the project, and paste what is in {text}. {drop}\nWith the \
             project's name there is a link that fills it in: --to {}:OWNER/NAME\n",
            tracker.word()
        );
    };
    if let Some(link) = link(tracker, project, issue, false) {
        return format!(
            "Nothing was sent. {drop} This link opens a new issue with the text in it; look at it, and submit \
             it:\n\n{link}\n"
        );
    }
    let bare = link(tracker, project, issue, true).unwrap_or_else(|| project.to_string());
    format!(
        "Nothing was sent. {drop} This link opens a new issue; paste what is in {text}, and submit it:\n\n{bare}\n"
    )
}

fn to_mail(to: Option<&Address>, opened: &Opened, archive: &[u8]) -> Result<Outcome> {
    let issue = issue(opened, archive, "stunt-report.zip");
    let path = free_name("stunt-report", "eml");
    write(&path, &mail(&issue, archive, "stunt-report.zip", to))?;
    let name = quoted(&path);
    print(format!("Mail: {name}\n").as_bytes())?;
    let whom = match to {
        Some(address) => format!("It goes to {address}"),
        None => "Say whom it goes to".to_owned(),
    };
    eprintln!(
        "Nothing was sent. Open it with your mail program, look at it, and send it: xdg-open {name}\n{whom}; the \
         report ({} bytes) is attached: {}",
        grouped(archive.len() as u64),
        title(&opened.report)
    );
    Ok(Outcome::Done)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes a file that is not there yet. It is the user's alone until it is handed on.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let fails = || format!("cannot write {}", path.display());
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} is there already; give another name, or remove it", path.display())
        }
        file => file.and_then(|mut file| file.write_all(bytes)).with_context(fails),
    }
}
