//! The stack traces of Node.js.
//!
//! ```text
//! /srv/mail.js:12
//!   return parts[3].trim();
//!                  ^
//!
//! TypeError: Cannot read properties of undefined (reading 'trim')
//!     at subject (/srv/mail.js:12:18)
//!     at Object.<anonymous> (/srv/mail.js:20:1)
//!     at Module._compile (node:internal/modules/cjs/loader:1521:14)
//!
//! Node.js v20.20.2
//! ```
//!
//! The source text above the type may be input (of `JSON.parse`, say): only its first line is looked
//! at, and only if something was thrown that is no error and has no calls.

use super::{Call, Exception, Found, clean, file_name, is_name, lines, said};

const LAST: &str = "Node.js v";
const CAUSE: &str = "[cause]: ";
/// What a thrown value that is no error is called.
const THROWN: &str = "thrown value";

/// The last uncaught error, if there is one.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    let last = lines.iter().rposition(|(_, line)| line.starts_with(LAST))?;
    // The line of carets under the source text, which follows the name of its file and a number.
    let is_mark = |line: &str| line.contains('^') && line.trim().chars().all(|c| c == '^');
    let is_place =
        |line: &str| line.rsplit_once(':').is_some_and(|(_, number)| number.parse::<u32>().is_ok());
    let mark = (2..last).rev().find(|&at| is_mark(lines[at].1) && is_place(lines[at - 2].1))?;
    let (place, source) = lines[mark - 2];
    let body: Vec<&str> = lines[mark + 1..last].iter().map(|(_, line)| *line).collect();
    // An empty line is before errors only; what else is thrown follows at once.
    let body = body.strip_prefix(&[""]).unwrap_or_default();
    let kind = body.first().and_then(|line| type_of(line));
    let first = body.first().map_or_else(String::new, |line| said(line));
    let mut exceptions = vec![exception(kind.as_deref().unwrap_or(THROWN), first)];
    for line in body.iter().skip(1) {
        let inner = line.trim_start();
        if let Some(rest) = inner.strip_prefix(CAUSE)
            && let Some(kind) = type_of(rest)
        {
            exceptions.push(exception(&kind, said(rest)));
        } else if let Some(call) = inner.strip_prefix("at ").and_then(call) {
            exceptions.last_mut()?.calls.push(call);
        }
    }
    let limit = "RangeError: Maximum call stack size exceeded";
    exceptions[0].endless = body.first().is_some_and(|line| line.starts_with(limit));
    if exceptions[0].calls.is_empty() {
        // What looks like a type may be a text that was thrown.
        exceptions = vec![exception(THROWN, String::new())];
        exceptions[0].calls.extend(thrown_at(source));
    }
    (!exceptions[0].calls.is_empty()).then_some((place, exceptions))
}

fn exception(kind: &str, said: String) -> Exception {
    Exception { kind: kind.into(), calls: Vec::new(), endless: false, said }
}

/// `TypeError: …`, or `TypeError [ERR_INVALID_ARG_TYPE]: …`
fn type_of(line: &str) -> Option<String> {
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let end = line.find([':', ' ', '{']).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    if !is_name(name) {
        return None;
    }
    let code = rest.strip_prefix(" [").and_then(|rest| rest.split_once(']'));
    let is_code =
        |code: &str| code.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    Some(match code {
        Some((code, _)) if is_code(code) => clean(&format!("{name} [{code}]")),
        _ if rest.is_empty() || rest.starts_with(':') || rest.starts_with(" {") => clean(name),
        _ => return None,
    })
}

/// `subject (/srv/mail.js:12:18)`, or only what is in the parentheses.
fn call(text: &str) -> Option<Call> {
    // An object that is printed after the last call begins here.
    let text = text.strip_suffix(" {").unwrap_or(text);
    let (function, place) = match text.strip_suffix(')').and_then(|text| text.split_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", text.strip_prefix("async ").unwrap_or(text)),
    };
    let function = function.strip_prefix("async ").unwrap_or(function);
    let call = |file: &str, line: u32, column: u32, library: bool| Call {
        file: file_name(file),
        path: if library { String::new() } else { file.to_owned() },
        line,
        column,
        function: clean(if function.is_empty() { "<anonymous>" } else { function }),
        library,
    };
    if matches!(place, "<anonymous>" | "native") && !function.is_empty() {
        return Some(call("", 0, 0, true));
    }
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    // Text that was evaluated, which may be input; its caller is a call of its own.
    let evaluated = file.starts_with("eval at ") || file.ends_with("<anonymous>");
    let library = file.starts_with("node:") || evaluated;
    Some(call(if evaluated { "" } else { file }, line.parse().ok()?, column.parse().ok()?, library))
}

/// The line above the source text, if it names a file.
fn thrown_at(source: &str) -> Option<Call> {
    let (file, line) = source.rsplit_once(':')?;
    if !file.contains('/') && !file.starts_with("node:") {
        return None;
    }
    Some(Call {
        file: file_name(file),
        path: file.to_owned(),
        line: line.parse().ok()?,
        column: 0,
        function: "<anonymous>".into(),
        library: file.starts_with("node:"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let (_, exceptions) = parse(text).expect("a trace");
        let one = |it: &Exception| {
            let calls = it.calls.iter().map(|call| {
                let mark = if call.library { "-" } else { "+" };
                format!("{mark}{} {}:{}:{}", call.function, call.file, call.line, call.column)
            });
            std::iter::once(it.kind.clone()).chain(calls).collect::<Vec<_>>()
        };
        exceptions.iter().flat_map(one).collect()
    }

    #[test]
    fn an_error_with_its_cause() {
        let text = "deprecated\n/srv/mail.js:12\n    throw new Error(\"bad \" + line, { cause });\n    ^\n\nError: bad private\nof two lines\n    at async subject (/srv/mail.js:12:18)\n    at JSON.parse (<anonymous>)\n    at Object.<anonymous> (file:///srv/mail.mjs:20:1)\n    at node:internal/main/run_main_module:28:49 {\n  [cause]: TypeError [ERR_X_1]: private\n      at new Mail (/srv/mail.js:3:5)\n}\n\nNode.js v20.20.2\n";
        assert_eq!(
            shown(text),
            [
                "Error",
                "+subject mail.js:12:18",
                "-JSON.parse :0:0",
                "+Object.<anonymous> mail.mjs:20:1",
                "-<anonymous> run_main_module:28:49",
                "TypeError [ERR_X_1]",
                "+new Mail mail.js:3:5",
            ]
        );
    }

    #[test]
    fn source_text_and_thrown_values() {
        let text = "undefined:1\n{\"private\": }\n            ^\n\nSyntaxError: Unexpected token }\n    at JSON.parse (<anonymous>)\n    at read (/srv/a.js:3:4)\n\nNode.js v20.20.2\n";
        assert_eq!(shown(text), ["SyntaxError", "-JSON.parse :0:0", "+read a.js:3:4"]);
        let text = "/srv/a.js:7\nthrow text;\n^\na private text: with a colon\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v20.20.2\n";
        assert_eq!(shown(text), ["thrown value", "+<anonymous> a.js:7:0"]);
        let text = "/srv/a.js:7\nthrow text;\n^\nprivate\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v20.20.2\n";
        assert_eq!(shown(text), ["thrown value", "+<anonymous> a.js:7:0"]);
        let text = "/srv/a.js:1\nf()\n^\n\nError: x\n    at eval (eval at run (/srv/a.js:9:1), <anonymous>:1:7)\n    at run (/srv/a.js:9:1)\n\nNode.js v20.20.2\n";
        assert_eq!(shown(text), ["Error", "-eval :1:7", "+run a.js:9:1"]);
    }

    #[test]
    fn a_stack_without_end() {
        let text = "/srv/a.js:1\nf()\n^\n\nRangeError: Maximum call stack size exceeded\n    at f (/srv/a.js:1:7)\n    at f (/srv/a.js:1:7)\n\nNode.js v20.20.2\n";
        assert!(parse(text).expect("a trace").1[0].endless);
    }

    #[test]
    fn what_is_none() {
        assert_eq!(parse("Error: x\n    at f (/srv/a.js:1:7)\n"), None);
        assert_eq!(parse("undefined:1\nprivate\n^\n\nnothing\n\nNode.js v20\n"), None);
    }
}
