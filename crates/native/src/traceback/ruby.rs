//! What Ruby prints about an exception that nobody rescued.
//!
//! ```text
//! import.rb:5:in `rescue in row': cannot read the row of Ada (RuntimeError)
//!         from import.rb:7:in `<main>'
//! import.rb:1:in `Integer': invalid value for Integer(): "Ada" (ArgumentError)
//!         from import.rb:1:in `inner'
//! ```
//!
//! The cause comes last.

use super::{Call, Exception, Found, clean, file_name, is_name, lines};

const FROM: &str = "\tfrom ";

/// The last exception that is told, with its causes.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    let mut found: Option<Found> = None;
    let mut at = 0;
    while at < lines.len() {
        let (place, line) = lines[at];
        at += 1;
        let Some((call, said, mut end)) = head(line) else { continue };
        let mut said = said.to_owned();
        // A message may have several lines; the type follows the last.
        let mut kind = end.take();
        let mut ahead = at;
        while kind.is_none() && ahead < lines.len() && !lines[ahead].1.starts_with(FROM) {
            kind = type_at_end(lines[ahead].1).map(|(_, kind)| kind);
            ahead += 1;
        }
        let Some(kind) = kind else { continue };
        at = ahead;
        let from: Vec<Call> = (lines[at..].iter())
            .map_while(|(_, line)| line.strip_prefix(FROM).and_then(self::call))
            .collect();
        at += from.len();
        if said.is_empty() {
            said = kind.clone();
        }
        let calls = std::iter::once(call).chain(from).collect();
        let endless = kind == "SystemStackError";
        let exception = Exception { kind, calls, endless, said };
        match &mut found {
            // One follows the other at once: it is the cause.
            Some((_, all)) if all.len() < 16 => all.push(exception),
            _ => found = Some((place, vec![exception])),
        }
    }
    // A type alone may be any text.
    found.filter(|(_, all)| !all[0].calls.is_empty())
}

/// The place, the message, and the type if the line ends with it.
fn head(line: &str) -> Option<(Call, &str, Option<String>)> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let (place, rest) = match line.find("': ") {
        Some(at) => (&line[..=at], &line[at + 3..]),
        None => return None,
    };
    let call = call(place)?;
    Some(match type_at_end(rest) {
        Some((said, kind)) => (call, said, Some(kind)),
        None => (call, rest, None),
    })
}

/// `… (Date::Error)`
fn type_at_end(line: &str) -> Option<(&str, String)> {
    let (said, kind) = line.strip_suffix(')')?.rsplit_once('(')?;
    let upper = kind.starts_with(|c: char| c.is_uppercase());
    (upper && is_name(&kind.replace("::", "."))).then(|| (said.trim_end(), clean(kind)))
}

/// ``/srv/import.rb:5:in `row'``
fn call(text: &str) -> Option<Call> {
    let (place, function) = text.split_once(":in ")?;
    let function = function.trim_start_matches(['`', '\'']).strip_suffix('\'')?;
    let (path, line) = place.rsplit_once(':')?;
    let library = ["/lib/ruby/", "/rubygems/", "<internal:"].iter().any(|it| path.contains(it))
        && !path.contains("/gems/");
    Some(Call {
        file: file_name(path),
        path: path.to_owned(),
        line: line.parse().ok()?,
        column: 0,
        function: clean(function),
        library,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_with_its_cause() {
        let text = "a warning\nerr.rb:5:in `rescue in outer': cannot read the row of private (RuntimeError)\n\tfrom err.rb:2:in `outer'\n\tfrom /usr/lib/ruby/3.1.0/csv.rb:1217:in `foreach'\nerr.rb:1:in `Integer': invalid value for Integer(): \"private\\\\n\" (ArgumentError)\n\tfrom err.rb:1:in `inner'\n\tfrom err.rb:7:in `<main>'\n";
        let (place, all) = parse(text).expect("an exception");
        assert_eq!(place, 10);
        let kinds: Vec<&str> = all.iter().map(|it| &*it.kind).collect();
        assert_eq!(kinds, ["RuntimeError", "ArgumentError"]);
        assert_eq!(all[0].said, "cannot read the row of private");
        let calls: Vec<_> =
            all[0].calls.iter().map(|it| (&*it.function, it.line, it.library)).collect();
        let expected =
            [("rescue in outer", 5, false), ("outer", 2, false), ("foreach", 1217, true)];
        assert_eq!(calls, expected);
        assert_eq!(all[1].calls.len(), 3);
    }

    #[test]
    fn what_is_none() {
        for text in ["", "x.rb:1: warning: (Private)", "a.c:1:in `f': text", "\tfrom a.rb:1:in `f'"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
