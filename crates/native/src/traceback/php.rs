//! What PHP prints about an exception that nobody caught, on standard error or output.
//!
//! ```text
//! PHP Fatal error:  Uncaught InvalidArgumentException: no number in private in /srv/n.php:2
//! Stack trace:
//! #0 /srv/n.php(3): inner('private')
//! #1 {main}
//!
//! Next RuntimeException: the row is bad in /srv/n.php:3
//! Stack trace:
//! #0 {main}
//!   thrown in /srv/n.php on line 3
//! ```
//!
//! The cause comes first. Errors that are no exceptions (`Allowed memory size …`) have a place alone.

use super::{Call, Exception, Found, clean, file_name, is_name, lines};

const UNCAUGHT: &str = "Fatal error:  Uncaught ";
const UNCAUGHT_SHOWN: &str = "Fatal error: Uncaught ";
const NEXT: &str = "Next ";

/// The last exception that is told, with its causes.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    let after = |line: &'_ str| -> Option<usize> {
        [UNCAUGHT, UNCAUGHT_SHOWN].iter().find_map(|it| line.find(it).map(|at| at + it.len()))
    };
    let (index, from) =
        (0..lines.len()).rev().find_map(|index| Some((index, after(lines[index].1)?)))?;
    let mut exceptions: Vec<Exception> = Vec::new();
    let mut first = vec![&lines[index].1[from..]];
    let mut heads_end = false;
    for (_, line) in &lines[index + 1..] {
        if *line == "Stack trace:" {
            exceptions.insert(0, exception(&first)?);
            heads_end = true;
        } else if let Some(rest) = line.strip_prefix(NEXT).filter(|_| heads_end) {
            (first, heads_end) = (vec![rest], false);
        } else if line.starts_with("  thrown in ") {
            break;
        } else if !heads_end {
            first.push(line);
        } else if let Some(call) = line.strip_prefix('#').and_then(call) {
            let calls = &mut exceptions.first_mut()?.calls;
            // A function's name stands with the place that called it.
            if let Some(inner) = calls.last_mut() {
                inner.function = clean(call.1);
            }
            calls.push(call.0);
        }
    }
    (!exceptions.is_empty()).then_some((lines[index].0, exceptions))
}

/// `RangeException: bad month in /srv/c.php:4`, whose message may have several lines.
fn exception(head: &[&str]) -> Option<Exception> {
    let (kind, said) = head.first()?.split_once(": ").unwrap_or((head[0], ""));
    let kind = kind.split(" in ").next().unwrap_or(kind);
    if !is_name(&kind.replace('\\', ".")) {
        return None;
    }
    let (_, place) = head.last()?.rsplit_once(" in ")?;
    let (path, line) = place.rsplit_once(':')?;
    let said = said.rsplit_once(" in ").filter(|_| head.len() == 1).map_or(said, |(said, _)| said);
    let call = place_of(path, line.parse().ok()?);
    Some(Exception { kind: clean(kind), calls: vec![call], endless: false, said: said.to_owned() })
}

fn place_of(path: &str, line: u32) -> Call {
    Call {
        file: file_name(path),
        path: path.to_owned(),
        line,
        column: 0,
        function: "{main}".into(),
        library: false,
    }
}

/// `0 /srv/n.php(3): Shop\Row->inner('private')`: where, and which function was called there.
fn call(text: &str) -> Option<(Call, &str)> {
    let (_, rest) = text.split_once(' ')?;
    let (place, called) = rest.split_once("): ")?;
    let (path, line) = place.rsplit_once('(')?;
    let function = called.split('(').next().unwrap_or(called);
    Some((place_of(path, line.parse().ok()?), function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_with_its_cause() {
        let text = "PHP Warning:  x in /srv/n.php on line 1\nPHP Fatal error:  Uncaught InvalidArgumentException: no number in private in /srv/n.php:2\nStack trace:\n#0 /srv/n.php(3): inner('private')\n#1 /srv/n.php(4): outer()\n#2 {main}\n\nNext RuntimeException: row of private\nis bad in /srv/n.php:3\nStack trace:\n#0 /srv/n.php(4): outer()\n#1 {main}\n  thrown in /srv/n.php on line 3\n";
        let (_, all) = parse(text).expect("an exception");
        let shown: Vec<String> = (all.iter())
            .flat_map(|it| {
                let calls = it.calls.iter().map(|call| format!("{} {}", call.function, call.line));
                [it.kind.clone(), it.said.clone()].into_iter().chain(calls)
            })
            .collect();
        let expected = [
            "RuntimeException",
            "row of private",
            "outer 3",
            "{main} 4",
            "InvalidArgumentException",
            "no number in private",
            "inner 2",
            "outer 3",
            "{main} 4",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn one_without_calls() {
        let text = "\nFatal error: Uncaught RangeException: bad month in Ada in /srv/c.php:4\nStack trace:\n#0 {main}\n  thrown in /srv/c.php on line 4\n";
        let (_, all) = parse(text).expect("an exception");
        assert_eq!((&*all[0].said, all[0].calls[0].line), ("bad month in Ada", 4));
        assert_eq!(parse("PHP Fatal error:  Allowed memory size in /srv/c.php on line 4\n"), None);
    }
}
