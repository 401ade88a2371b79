//! A report as a page: the summary, the failure, the figures, and the leak graph as a table.
//!
//! The page is complete in itself and has no scripts; it forbids itself to load anything. Colours
//! follow the reader's light or dark setting and are never the only sign: the table has a column
//! with characters, and bytes that reveal something are listed with their figures.

use std::fmt::Write;

use stunt_report::{ByteKind, Kind, Report, grouped};

use crate::graph::{Graph, Level, Part, Row, character, fold_words};
use crate::graph_svg::{COLOURS, class, escaped, strip};
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

fn legend(page: &mut String) {
    page.push_str("<ul class=\"legend\">\n");
    for (level, words) in Level::LEGEND {
        let symbol = match level {
            Level::Bits(1) => "1 2".to_owned(),
            Level::Bits(3) => "3 4 5".to_owned(),
            Level::Bits(_) => "6 7".to_owned(),
            level => level.symbol().to_string(),
        };
        let _ = match class(level) {
            Some(class) => {
                writeln!(page, "<li><span class=\"{class}\">{symbol}</span> {words}</li>")
            }
            None => writeln!(page, "<li><span>{symbol}</span> {words}</li>"),
        };
    }
    page.push_str(
        "<li><span class=\"bound\">a to h</span> at most 1 to 8 bits: a bound, the truth may be \
         less</li>\n</ul>\n",
    );
}

fn source(page: &mut String, graph: &Graph<'_>) {
    let heading = escaped(&graph.heading());
    let bytes = grouped(graph.source.bytes);
    let _ = write!(
        page,
        "<h3>{heading}</h3>\n<svg viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"Where in {bytes} bytes something is revealed; the table below \
         has the same.\">\n{}</svg>\n",
        strip(graph, 0.0, 0.0, 1000.0, 14.0)
    );
    let _ = write!(
        page,
        "<div class=\"scroll\">\n<table class=\"graph\">\n<caption>The double, 16 bytes a \
         row</caption>\n<thead><tr><th scope=\"col\">Offset</th><th scope=\"col\">Bytes</th>\
         <th scope=\"col\">Text</th><th scope=\"col\">Reveals</th></tr></thead>\n<tbody>\n"
    );
    for part in &graph.parts {
        match part {
            Part::Row(row) => push_row(page, row),
            Part::Fold { bytes, level } => {
                let words = fold_words(*bytes, *level);
                let _ = writeln!(
                    page,
                    "<tr><td></td><td class=\"fold\" colspan=\"3\">… {words} …</td></tr>"
                );
            }
        }
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
    runs(page, graph);
}

fn push_row(page: &mut String, row: &Row<'_>) {
    let (mut hex, mut shown) = (String::new(), String::new());
    for (start, length, level) in row.groups() {
        let bytes = &row.bytes[start..start + length];
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = bytes.iter().map(|&byte| character(byte)).collect();
        if start > 0 {
            hex.push(' ');
        }
        hex += &marked(&digits.join(" "), level);
        shown += &marked(&escaped(&text), level);
    }
    let symbols: String = row.levels.iter().map(|level| level.symbol()).collect();
    let _ = writeln!(
        page,
        "<tr><th scope=\"row\">{}</th><td>{hex}</td><td>{shown}</td><td>{symbols}</td></tr>",
        row.offset
    );
}

fn marked(text: &str, level: Level) -> String {
    match class(level) {
        Some(class) => format!("<span class=\"{class}\">{text}</span>"),
        None => text.to_owned(),
    }
}

/// The runs with their figures: the graph for those who do not see it.
fn runs(page: &mut String, graph: &Graph<'_>) {
    if graph.runs.runs.is_empty() {
        page.push_str("<p>No byte reveals anything by itself.</p>\n");
        return;
    }
    page.push_str(
        "<details>\n<summary>Bytes that reveal something, with their figures</summary>\n\
         <table class=\"where\">\n<thead><tr><th scope=\"col\">Bytes</th>\
         <th scope=\"col\">Each reveals</th></tr></thead>\n<tbody>\n",
    );
    for run in &graph.runs.runs {
        let place = match run.length {
            1 => run.offset.to_string(),
            _ => format!("{} to {}", run.offset, run.end() - 1),
        };
        let figure = match run.kind {
            ByteKind::Public => "public, not counted".to_owned(),
            ByteKind::Exact => format!("{:.2} bits", run.bits),
            ByteKind::AtMost => format!("{} {:.2} bits", Kind::AtMost, run.bits),
            ByteKind::Estimate => format!("{} {:.2} bits", Kind::Estimate, run.bits),
        };
        let _ = writeln!(page, "<tr><td>{place}</td><td>{figure}</td></tr>");
    }
    page.push_str("</tbody>\n</table>\n</details>\n");
}
