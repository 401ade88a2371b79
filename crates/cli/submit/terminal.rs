//! A person at a terminal: what is shown, what is asked, and what counts as a yes.
//!
//! Always: only `y` and `yes` are a yes. The end of the input, an empty line and everything else
//! are a no; Ctrl-C ends the command before anything is sent.

use std::io::{self, BufRead, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::graph_text::Style;
use crate::interrupt;

/// What a person says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Do it.
    Yes,
    /// Do not.
    No,
    /// Show all that there is to know first.
    Details,
}

/// Whether somebody can be shown something, and asked.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Colours, unless the user does not want any (<https://no-color.org>).
pub fn style() -> Style {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let plain = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if unwanted || plain { Style::Characters } else { Style::Colours }
}

/// Shows a text.
pub fn say(text: &str) -> Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).context("cannot show anything")
}

/// Asks; the answer is no unless it is yes. `more`: whether there is more to be shown.
pub fn question(words: &str, more: bool) -> Result<Answer> {
    let choice = if more { "[y/N, d for all details]" } else { "[y/N]" };
    say(&format!("{words} {choice} "))?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).context("cannot read the answer")?;
    if read == 0 {
        // The cursor still stands behind the question.
        say("\n")?;
    }
    Ok(answer(&line, more))
}

/// Shows a long text page by page, by the user's own pager or `less`; where there is none, at once.
pub fn page(text: &str) -> Result<()> {
    let own = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let screen = io::stderr().as_fd().try_clone_to_owned().context("cannot show anything")?;
    let started = Command::new("/bin/sh")
        .args(["-c", own.as_deref().unwrap_or("less -R 2>/dev/null || cat")])
        .stdin(Stdio::piped())
        .stdout(screen)
        .spawn();
    let Ok(mut pager) = started else { return say(text) };
    // Ctrl-C is the pager's as long as it is there.
    interrupt::pass_on_to(pager.id() as libc::pid_t);
    if let Some(mut pipe) = pager.stdin.take() {
        // Whoever has seen enough reads no more.
        let _ = pipe.write_all(text.as_bytes());
    }
    let ended = pager.wait();
    interrupt::pass_on_to(0);
    if ended.is_ok_and(|status| status.success()) { Ok(()) } else { say(text) }
}

fn answer(line: &str, more: bool) -> Answer {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Answer::Yes,
        "d" if more => Answer::Details,
        _ => Answer::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        for yes in ["y\n", "Y\n", " yes \r\n", "YES"] {
            assert_eq!(answer(yes, true), Answer::Yes, "{yes:?}");
        }
        for no in ["", "\n", "n\n", "no\n", "yy\n", "ye\n", "yes please\n", "j\n", "\u{4}", "1\n"] {
            assert_eq!(answer(no, true), Answer::No, "{no:?}");
        }
        assert_eq!(answer("d\n", true), Answer::Details);
        assert_eq!(answer("d\n", false), Answer::No);
    }
}
