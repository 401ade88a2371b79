//! What Perl prints when it dies.
//!
//! ```text
//! Illegal division by zero at /srv/mean.pl line 7, <STDIN> line 3.
//!         main::mean("private") called at /srv/mean.pl line 12
//! ```
//!
//! The calls are there if the script asked for them (`confess`). There is no type. The number after
//! a file handle counts lines of input and is left out.

use std::path::Path;

use super::{Call, Exception, Found, clean, file_name, lines};

/// What the exception is called, since Perl has no name for it.
const KIND: &str = "die";

/// Endings of Perl's files.
const EXTENSIONS: [&str; 6] = ["pl", "pm", "t", "cgi", "plx", "al"];

/// The last words, if they name a place.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    let last = lines.iter().rposition(|(_, line)| !line.trim().is_empty())?;
    let called = |line: &str| line.starts_with('\t');
    let head = lines[..=last].iter().rposition(|(_, line)| !called(line))?;
    // Who is called where; each place belongs to the function that the next line says is called.
    let head_line = lines[head].1.strip_suffix('.')?;
    let mut places = vec![place(head_line)?];
    let said = head_line.rfind(" at ").map_or("", |at| &head_line[..at]).to_owned();
    let mut functions = Vec::new();
    for (_, line) in &lines[head + 1..=last] {
        let function = line.trim_start().split(['(', ' ']).next().unwrap_or_default();
        let from = line.rfind(" called at ").map(|at| &line[at + " called".len()..])?;
        // The name of a function; `eval {...}` and `require file` have others.
        let is_function = function.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
        functions.push(if is_function { clean(function) } else { "eval".into() });
        places.push(place(from)?);
    }
    functions.push("main".into());
    let calls = places.into_iter().zip(functions).map(|((path, file, line), function)| Call {
        library: file.starts_with("Carp"),
        file,
        path,
        line,
        column: 0,
        function,
    });
    let exception = Exception { kind: KIND.into(), calls: calls.collect(), endless: false, said };
    Some((lines[head].0, vec![exception]))
}

/// `… at /srv/mean.pl line 7, <STDIN> line 3`
fn place(text: &str) -> Option<(String, String, u32)> {
    // What was read last.
    let text = text.rfind(", <").map_or(text, |at| &text[..at]);
    let (text, line) = text.rsplit_once(" line ")?;
    let path = &text[text.rfind(" at ")? + " at ".len()..];
    // A message that ends a line of its own may read like a place, and quote input.
    let known = Path::new(path).extension().and_then(|it| it.to_str());
    let evaluated = path.starts_with("(eval ");
    if !(path == "-e"
        || evaluated
        || known.is_some_and(|it| EXTENSIONS.contains(&it))
        || Path::new(path).is_file())
    {
        return None;
    }
    let file = if evaluated { "(eval)".into() } else { file_name(path) };
    Some((path.to_owned(), file, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<Vec<String>> {
        let (_, exceptions) = parse(text)?;
        let calls = exceptions[0].calls.iter();
        Some(calls.map(|it| format!("{} {}:{}", it.function, it.file, it.line)).collect())
    }

    #[test]
    fn last_words() {
        let text = "Use of uninitialized value $x at /srv/mean.pl line 3.\nIllegal division by zero at /srv/mean.pl line 7, <STDIN> line 3.\n";
        assert_eq!(shown(text).expect("a place"), ["main mean.pl:7"]);
        assert_eq!(shown("no good at -e line 1.\n").expect("a place"), ["main -e:1"]);
        let text = "syntax error at (eval 17) line 2, near \"private\"\n";
        assert_eq!(shown(text), None);
        assert_eq!(shown("x at (eval 17) line 2.").expect("a place"), ["main (eval):2"]);
    }

    #[test]
    fn with_calls() {
        let text = "bad (private) at lib/Mean.pm line 7, <$in> chunk 2.\n\tMean::of(\"a private, called at word\", 3) called at mean.pl line 12\n\teval {...} called at mean.pl line 11\n\tmain::run called at mean.pl line 20\n";
        assert_eq!(
            shown(text).expect("places"),
            ["Mean::of Mean.pm:7", "eval mean.pl:12", "main::run mean.pl:11", "main mean.pl:20"]
        );
    }

    #[test]
    fn what_is_none() {
        for text in
            ["", "meet at noon line 3.", "no place", "at x.pl line seven.", "at x.pl line 7"]
        {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
