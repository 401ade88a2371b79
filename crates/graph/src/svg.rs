//! The leak graph as an SVG picture of its own: no scripts, no fonts or styles from elsewhere.
//!
//! On top of each source's rows is a strip that shows the whole source at once. Text is given its
//! width, so that shades and digits stay together in any font.

use std::fmt::Write;

use stunt_report::ByteKind;

use crate::{Graph, Level, Part, ROW, Row, character, fold_words};

/// Colours of the shades, for light and dark surroundings; the same classes serve HTML.
pub const COLOURS: &str = "\
.l1{fill:#fff0b3;background:#fff0b3}.l2{fill:#ffd966;background:#ffd966}\
.l3{fill:#ffb038;background:#ffb038}.l4{fill:#f5803e;background:#f5803e}\
.l5{fill:#b71c1c;background:#b71c1c}.public{fill:#cfe3ff;background:#cfe3ff}\
@media(prefers-color-scheme:dark){\
.l1{fill:#4d4312;background:#4d4312}.l2{fill:#6e5510;background:#6e5510}\
.l3{fill:#8a5412;background:#8a5412}.l4{fill:#a1431a;background:#a1431a}\
.l5{fill:#d32f2f;background:#d32f2f}.public{fill:#1e3a66;background:#1e3a66}}";

const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1a1a1a}\
.paper{fill:#fff}.quiet{fill:#595959}.strip{fill:#ececec}.on5{fill:#fff}\
.bound{stroke:#1a1a1a;stroke-dasharray:2 2}\
@media(prefers-color-scheme:dark){text{fill:#e8e8e8}.paper{fill:#161616}.quiet{fill:#a6a6a6}\
.strip{fill:#2c2c2c}.bound{stroke:#e8e8e8}}";

/// The width of a character and the height of a line.
const WIDE: f64 = 8.4;
const HIGH: f64 = 19.0;
const MARGIN: f64 = 16.0;
/// The height of a strip.
const STRIP: f64 = 14.0;
/// Characters of the digits of a row, with the gap between its halves.
const HEX: usize = 3 * ROW;

/// The class of a level's colour; none if nothing is revealed.
pub fn class(level: Level) -> Option<String> {
    match level {
        Level::Nothing => None,
        Level::Public => Some("public".to_owned()),
        level if level.is_bound() => Some(format!("l{} bound", level.shade())),
        level => Some(format!("l{}", level.shade())),
    }
}

/// Text as XML and HTML take it, with everything visible that would not show.
pub fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in stunt_report::visible(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no such character, not even as a reference.
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// The picture; `summary` is what it shows, in a sentence.
pub fn svg(graphs: &[Graph<'_>], title: &str, summary: &str) -> String {
    let bytes = graphs.iter().map(|graph| graph.source.bytes).max().unwrap_or(0);
    let digits = bytes.saturating_sub(1).to_string().len();
    let width = 2.0 * MARGIN + WIDE * (digits + 2 + HEX + 2 + ROW) as f64;
    let mut drawing = Drawing { digits, width, y: MARGIN, body: String::new() };
    for graph in graphs {
        drawing.graph(graph);
    }
    drawing.legend();
    let height = drawing.y + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" \
         width=\"{width:.1}\" height=\"{height:.1}\" role=\"img\" aria-labelledby=\"title desc\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
         <style>{STYLE}{COLOURS}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
        escaped(title),
        escaped(summary),
        drawing.body
    )
}

/// A strip that shows where in a source something is revealed, as shapes `width` by `height`.
pub fn strip(graph: &Graph<'_>, x: f64, y: f64, width: f64, height: f64) -> String {
    let mut shapes = rect("strip", x, y, width, height);
    let bytes = graph.source.bytes.max(1) as f64;
    for run in &graph.runs.runs {
        let level = Level::of(run.bits, run.kind);
        // No outlines here: they would be wider than a byte.
        let class = match run.kind {
            ByteKind::Public => "public".to_owned(),
            _ => format!("l{}", level.shade()),
        };
        // A single byte of a long source is still to be seen.
        let wide = (run.length as f64 / bytes * width).max(1.0);
        let left = (run.offset as f64 / bytes * width).min(width - wide);
        shapes += &rect(&class, x + left, y, wide, height);
    }
    shapes
}

fn rect(class: &str, x: f64, y: f64, width: f64, height: f64) -> String {
    format!(
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>\n"
    )
}

struct Drawing {
    /// Digits of an offset.
    digits: usize,
    width: f64,
    /// The top of what comes next.
    y: f64,
    body: String,
}

impl Drawing {
    fn graph(&mut self, graph: &Graph<'_>) {
        self.text(0, "", &graph.heading());
        self.y += HIGH + 4.0;
        let inner = self.width - 2.0 * MARGIN;
        self.body += &strip(graph, MARGIN, self.y, inner, STRIP);
        self.y += STRIP + 10.0;
        for part in &graph.parts {
            match part {
                Part::Row(row) => self.row(row),
                Part::Fold { bytes, level } => {
                    let words = format!("… {} …", fold_words(*bytes, *level));
                    self.text(self.digits + 2, "quiet", &words);
                }
            }
            self.y += HIGH;
        }
        self.y += HIGH;
    }

    fn row(&mut self, row: &Row<'_>) {
        let offset = format!("{:>digits$}", row.offset, digits = self.digits);
        self.text(0, "quiet", &offset);
        // The second half of the digits is one character further to the right.
        let hex = self.digits + 2;
        let column = |at: usize| hex + 3 * at + usize::from(at >= ROW / 2);
        let shown = hex + HEX + 2;
        for (start, length, level) in row.groups() {
            let end = start + length;
            if let Some(class) = class(level) {
                let digits = column(end - 1) + 2 - column(start);
                self.shade(&class, column(start), digits);
                self.shade(&class, shown + start, length);
            }
            let on = if level.shade() == 5 { "on5" } else { "" };
            // Halves are texts of their own, because of the gap.
            for half in [start..end.min(ROW / 2), start.max(ROW / 2)..end] {
                if !half.is_empty() {
                    let bytes = &row.bytes[half.clone()];
                    let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
                    self.text(column(half.start), on, &digits.join(" "));
                }
            }
            let text: String = row.bytes[start..end].iter().map(|&b| character(b)).collect();
            self.text(shown + start, on, &text);
        }
    }

    fn legend(&mut self) {
        for (level, words) in Level::LEGEND {
            if let Some(class) = class(level) {
                self.shade(&class, 0, 3);
            }
            self.text(4, "", words);
            self.y += HIGH;
        }
        self.shade("bound strip", 0, 3);
        self.text(4, "", "a dashed border: a bound, the truth may be less");
        self.y += HIGH;
    }

    fn shade(&mut self, class: &str, column: usize, characters: usize) {
        let (x, width) = (MARGIN + WIDE * column as f64, WIDE * characters as f64);
        self.body += &rect(class, x, self.y, width, HIGH - 3.0);
    }

    /// Text at a column, exactly as wide as its characters.
    fn text(&mut self, column: usize, class: &str, text: &str) {
        // Spaces at the ends would be lost.
        let safe = escaped(text).replace(' ', "\u{a0}");
        let (x, y) = (MARGIN + WIDE * column as f64, self.y + 12.0);
        let width = WIDE * text.chars().count() as f64;
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(
            self.body,
            "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{width:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\">{safe}</text>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(
            escaped("<a b=\"c\">&\u{1b}\u{ffff}"),
            "&lt;a b=&quot;c&quot;&gt;&amp;\\u{1b}\u{fffd}"
        );
    }

    #[test]
    fn classes_tell_shade_and_bound() {
        assert_eq!(class(Level::Nothing), None);
        assert_eq!(class(Level::Fully).as_deref(), Some("l5"));
        assert_eq!(class(Level::AtMost(8)).as_deref(), Some("l5 bound"));
        assert_eq!(class(Level::Public).as_deref(), Some("public"));
    }
}
