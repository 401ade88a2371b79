//! Python's tracebacks.
//!
//! ```text
//! Traceback (most recent call last):
//!   File "/srv/invoice.py", line 42, in <module>
//!     main()
//! ValueError: could not convert string to float: 'private'
//! ```
//!
//! Causes come first, with a sentence between. A frame without a function is about source text that
//! was parsed at run time, which may be input: it is left out.
//!
//! A built-in function has one line for all that it may not be content with (`date.fromisoformat`: no date at
//! all, or no such month); the fixed words of what it says tell which it was.

use super::{Call, Exception, Found, clean, file_name, lines, said, type_of};

const HEAD: &str = "Traceback (most recent call last):";
const GROUP: &str = "  + Exception Group Traceback (most recent call last):";
const LINKS: [&str; 2] = [
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
];

/// The last traceback, if there is one.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    // A chain of causes goes on as long as nothing but such a sentence is between.
    let mut chain: Option<Found> = None;
    for (index, &(place, line)) in lines.iter().enumerate() {
        let prefix = match line {
            HEAD => "",
            GROUP => "  | ",
            _ => continue,
        };
        let rest = lines[index + 1..].iter().map_while(|(_, line)| {
            // An empty line of a group has lost its last space.
            line.strip_prefix(prefix).or(line.strip_prefix(prefix.trim_end()))
        });
        let Some(exception) = block(rest) else { continue };
        let before =
            |back: usize| index.checked_sub(back).map(|at| lines[at].1.trim_start_matches("  | "));
        let linked = before(2).is_some_and(|line| LINKS.contains(&line)) && before(1) == Some("");
        let causes = chain.take().filter(|_| linked).map(|(_, all)| all).unwrap_or_default();
        chain = Some((place, std::iter::once(exception).chain(causes).collect()));
    }
    chain
}

/// What follows the head of a traceback.
fn block<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Exception> {
    let mut calls: Vec<Call> = Vec::new();
    for line in lines {
        if let Some(call) = call(line) {
            calls.push(call);
        } else if let Some(column) = marked(line) {
            // One line may have several reasons to fail.
            if let Some(call) = calls.last_mut() {
                call.column = column;
            }
        } else if line.starts_with("  [Previous line repeated ") {
            // It is there some times already; one more is as good as a thousand.
            calls.extend(calls.last().cloned());
        } else if !line.starts_with(' ') {
            let kind = type_of(line)?;
            let endless = kind == "RecursionError";
            calls.reverse();
            return Some(Exception { kind, calls, endless, said: said(line) });
        }
    }
    None
}

/// The column of `    ~~~~^^^^`, which marks a part of the line above it, from 1.
fn marked(line: &str) -> Option<u32> {
    let marks = line.strip_prefix("    ")?;
    let only = marks.chars().all(|c| matches!(c, ' ' | '~' | '^'));
    let column = marks.find('^').filter(|_| only)?;
    u32::try_from(column + 1).ok()
}

/// `  File "/srv/x.py", line 42, in main`
fn call(line: &str) -> Option<Call> {
    let (path, rest) = line.strip_prefix("  File \"")?.rsplit_once("\", line ")?;
    let (line, function) = rest.split_once(", in ")?;
    let library = path.starts_with("<frozen ")
        || (path.contains("/lib/python3") && !path.contains("-packages/"));
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

    fn kinds(found: &Found) -> Vec<&str> {
        found.1.iter().map(|exception| &*exception.kind).collect()
    }

    #[test]
    fn a_traceback() {
        let text = "a warning\nTraceback (most recent call last):\n  File \"/home/ada/work/inv.py\", line 40, in <module>\n    main(sys.argv[1])\n  File \"/home/ada/work/inv.py\", line 31, in main\n    rows = [Row(x) for x in lines]\n           ^^^^^^^^^^^^^^^^^^^^^^^\n  File \"/usr/lib/python3.11/decimal.py\", line 7, in __new__\n    check(x)\ndecimal.InvalidOperation: [<class 'decimal.ConversionSyntax'>]\nmore of the message\n";
        let found = parse(text).expect("a traceback");
        assert_eq!(found.0, 10);
        assert_eq!(kinds(&found), ["decimal.InvalidOperation"]);
        let calls: Vec<_> = found.1[0]
            .calls
            .iter()
            .map(|it| (&*it.file, it.line, &*it.function, it.library))
            .collect();
        assert_eq!(
            calls,
            [
                ("decimal.py", 7, "__new__", true),
                ("inv.py", 31, "main", false),
                ("inv.py", 40, "<module>", false),
            ]
        );
    }

    #[test]
    fn chains_and_their_ends() {
        let one = |kind: &str| {
            format!(
                "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g()\n{kind}: text\n"
            )
        };
        let (during, cause) = (LINKS[0], LINKS[1]);
        let text = format!("{}\n{during}\n\n{}\n{cause}\n\n{}", one("A"), one("B"), one("C"));
        assert_eq!(kinds(&parse(&text).expect("a chain")), ["C", "B", "A"]);
        // The first was printed by the script and has nothing to do with the second.
        let text = format!("{}{}", one("A"), one("B"));
        assert_eq!(kinds(&parse(&text).expect("the last")), ["B"]);
    }

    #[test]
    fn source_text_that_was_parsed_is_left_out() {
        let text = "Traceback (most recent call last):\n  File \"/a/x.py\", line 2, in <module>\n    ast.literal_eval(text)\n  File \"<unknown>\", line 14\n    private line\n            ^^^^\nSyntaxError: invalid syntax\n";
        let found = parse(text).expect("a traceback");
        assert_eq!(found.1[0].calls.len(), 1);
        assert_eq!(kinds(&found), ["SyntaxError"]);
    }

    #[test]
    fn groups_and_recursion() {
        let text = "  + Exception Group Traceback (most recent call last):\n  |   File \"/a/x.py\", line 2, in <module>\n  |     raise g\n  | ExceptionGroup: private (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: private\n    +------------------------------------\n";
        assert_eq!(kinds(&parse(text).expect("a group")), ["ExceptionGroup"]);
        let text = "Traceback (most recent call last):\n  File \"x.py\", line 9, in <module>\n    f(1)\n  File \"x.py\", line 3, in f\n    f(x)\n  [Previous line repeated 996 more times]\nRecursionError: maximum recursion depth exceeded\n";
        let found = parse(text).expect("a traceback");
        assert!(found.1[0].endless);
        assert_eq!(found.1[0].calls.len(), 3);
    }

    #[test]
    fn what_is_none() {
        assert_eq!(parse("Traceback (most recent call last):\n"), None);
        assert_eq!(parse("ValueError: x\n"), None);
        assert_eq!(parse("Traceback (most recent call last):\nno type here\n"), None);
    }

    #[test]
    fn reasons_on_one_line_are_told_apart() {
        let of = |source: &str, marks: &str, said: &str| {
            let text = format!(
                "{HEAD}\n  File \"/srv/x.py\", line 3, in f\n    {source}\n{marks}ValueError: {said}\n"
            );
            parse(&text).expect("a traceback").1
        };
        let (call, one, two) =
            ("date(int(y), int(m))", "         ^^^^^^\n", "                 ^^^^^^\n");
        let bad = "invalid literal for int() with base 10: 'a'";
        assert_ne!(of(call, one, bad), of(call, two, bad));
        assert_eq!(of(call, one, bad)[0].said, bad);
    }
}
