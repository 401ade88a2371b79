//! `stunt gui replay --film`: the steps of a double as a page of pictures, each with its step in words.
//!
//! The pictures are of the double's run. The page is complete in itself, has no scripts, and loads nothing; words of
//! a stranger's report are escaped.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use stunt_graph::svg::escaped;
use stunt_gui::chromium::{Error, Tab};
use stunt_report::visible;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem}\
ol{display:flex;flex-wrap:wrap;gap:1.5rem;padding:0;list-style-position:inside}\
li{width:24rem}img{display:block;width:100%;border:1px solid GrayText}";

/// The pictures, as the browser gives them: JPEG in base 64.
pub struct Film {
    file: PathBuf,
    pictures: Vec<String>,
}

impl Film {
    /// One that goes into this file.
    pub fn new(file: &Path) -> Self {
        Self { file: file.to_owned(), pictures: Vec::new() }
    }

    /// Takes the next picture.
    pub fn take(&mut self, tab: &mut Tab) -> Result<(), Error> {
        self.pictures.push(tab.picture()?);
        Ok(())
    }

    /// Writes it: before each step, and after the last one. Nothing is overwritten.
    pub fn write(&self, title: &str, steps: &[String]) -> Result<()> {
        let mut page = String::new();
        let title = escaped(&visible(title));
        let _ = write!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<ol>\n"
        );
        for (number, picture) in self.pictures.iter().enumerate() {
            let words = steps.get(number).map_or("How it ended", String::as_str);
            let words = escaped(&visible(words));
            let _ = writeln!(
                page,
                "<li>{words}<img alt=\"The page before: {words}\" src=\"data:image/jpeg;base64,{picture}\"></li>"
            );
        }
        page.push_str("</ol>\n</main>\n</body>\n</html>\n");
        super::write_private(&self.file, page.as_bytes())
            .with_context(|| "the film was not written")
    }
}
