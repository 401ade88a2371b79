//! A report as a page: the summary, the failure, the figures, and the leak graph as a table.
//!
//! The page is complete in itself and has no scripts; it forbids itself to load anything. Colours
//! follow the reader's light or dark setting and are never the only sign: the table has a column
//! with characters, and bytes that reveal something are listed with their figures.

use std::fmt::Write;

use stunt_graph::Graph;
use stunt_graph::html::{legend, source};
use stunt_graph::svg::{COLOURS, escaped};
use stunt_report::Report;

use crate::inspect::{figures, frame_place, title};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;\
color:#1a1a1a;background:#fff}\
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}\
table{border-collapse:collapse}caption{text-align:left;padding:.3rem 0}\
th,td{text-align:left;vertical-align:top;padding:.05rem .8rem .05rem 0;font-weight:normal}\
.graph,code,.where td{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\
.graph{font-size:.9rem;white-space:pre}.graph th,.fold{color:#595959}\
.scroll{overflow-x:auto}.l5{color:#fff}\
.bound{text-decoration:underline dotted}\
svg{display:block;width:100%;height:14px}.strip{fill:#ececec}\
.legend{list-style:none;padding:0}.legend span{padding:0 .5rem}\
@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}\
.graph th,.fold{color:#a6a6a6}.strip{fill:#2c2c2c}}";

/// The page.
pub fn html(report: &Report, graphs: &[Graph<'_>]) -> String {
    let mut page = String::new();
    let title = escaped(&title(report));
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}{COLOURS}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p>The double {}</p>\n",
        escaped(&report.summary())
    );
    frames(&mut page, report);
    page.push_str("<h2>Figures</h2>\n<table>\n<tbody>\n");
    for (name, value) in figures(report) {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
            escaped(name),
            escaped(&value)
        );
    }
    page.push_str("</tbody>\n</table>\n");
    if !report.notes.is_empty() {
        page.push_str("<h2>Notes</h2>\n<ul>\n");
        for note in &report.notes {
            let _ = writeln!(page, "<li>{}</li>", escaped(note));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("<h2>What each byte of the double reveals</h2>\n");
    legend(&mut page);
    for graph in graphs {
        source(&mut page, graph);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn frames(page: &mut String, report: &Report) {
    if report.failure.frames.is_empty() {
        return;
    }
    page.push_str(
        "<h2>Where it fails</h2>\n<table>\n<caption>The call stack, from the failing function \
         outward</caption>\n<thead><tr><th scope=\"col\">Function</th>\
         <th scope=\"col\">Source</th><th scope=\"col\">Place</th></tr></thead>\n<tbody>\n",
    );
    for frame in &report.failure.frames {
        let code = |text: &str| match text {
            "" => String::new(),
            text => format!("<code>{}</code>", escaped(text)),
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            code(frame.symbol.as_deref().unwrap_or("?")),
            code(frame.location.as_deref().unwrap_or("")),
            code(&frame_place(frame))
        );
    }
    page.push_str("</tbody>\n</table>\n");
}
