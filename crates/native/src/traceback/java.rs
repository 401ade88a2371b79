//! The stack traces of the Java virtual machine, whatever language was compiled for it.
//!
//! ```text
//! Exception in thread "main" java.lang.IllegalStateException: line 7: private
//!         at shop.Import.row(Import.java:31)
//!         at java.base/java.util.ArrayList.forEach(ArrayList.java:1511)
//! Caused by: java.lang.NumberFormatException: For input string: "private"
//!         at java.base/java.lang.Integer.parseInt(Integer.java:668)
//!         ... 3 more
//! ```
//!
//! Suppressed exceptions are left out: they came after the failure.

use super::{Call, Exception, Found, clean, file_name, lines, said, type_of};

const HEAD: &str = "Exception in thread \"";
const CAUSE: &str = "Caused by: ";
const CALL: &str = "\tat ";

/// Packages of the language's own library, where the module is not printed.
const LIBRARIES: [&str; 9] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "groovy.lang.",
];

/// The last stack trace of an uncaught exception, if there is one.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    let begins = |line: &str| -> Option<(String, String)> {
        // The name of the thread may have quotes in it, and so may the message.
        let rest = line.strip_prefix(HEAD)?;
        rest.match_indices("\" ").find_map(|(at, _)| {
            let rest = &rest[at + 2..];
            Some((type_of(rest)?, said(rest)))
        })
    };
    let (index, kind) =
        (0..lines.len()).rev().find_map(|index| Some((index, begins(lines[index].1)?)))?;
    let mut exceptions = vec![exception(kind.0, kind.1)];
    for (_, line) in &lines[index + 1..] {
        if let Some(call) = line.strip_prefix(CALL).and_then(call) {
            exceptions.last_mut()?.calls.push(call);
        } else if let Some(rest) = line.strip_prefix(CAUSE)
            && let Some(kind) = type_of(rest)
        {
            exceptions.push(exception(kind, said(rest)));
        }
    }
    // Without a single call it is a sentence of the program.
    let any = exceptions.iter().any(|exception| !exception.calls.is_empty());
    any.then_some((lines[index].0, exceptions))
}

fn exception(kind: String, said: String) -> Exception {
    let endless = kind == "java.lang.StackOverflowError";
    Exception { kind, calls: Vec::new(), endless, said }
}

/// `java.base/java.util.ArrayList.forEach(ArrayList.java:1511)`
fn call(text: &str) -> Option<Call> {
    let (function, place) = text.strip_suffix(')')?.rsplit_once('(')?;
    // What loaded the class, and its module.
    let (module, function) = function.rsplit_once('/').unwrap_or(("", function));
    let (file, line) = place.rsplit_once(':').unwrap_or((place, "0"));
    let by_module = module.rsplit('/').next().unwrap_or(module);
    let nowhere = matches!(place, "Native Method" | "Unknown Source");
    let library = nowhere
        || by_module.starts_with("java.")
        || by_module.starts_with("jdk.")
        || LIBRARIES.iter().any(|package| function.starts_with(package));
    Some(Call {
        file: file_name(file),
        path: String::new(),
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
    fn a_trace_with_its_cause() {
        let text = "WARN slow\nException in thread \"main\" java.lang.IllegalStateException: private\n of two lines\n\tat shop.Import.row(Import.java:31)\n\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)\n\tat app//shop.Import.main(Import.java:12)\n\tSuppressed: java.io.IOException: private\n\t\tat shop.Import.close(Import.java:50)\nCaused by: java.lang.NumberFormatException: For input string: \"private\"\n\tat java.base/java.lang.Integer.parseInt(Integer.java:668)\n\tat shop.Import.row(Import.java:29)\n\t... 2 more\n";
        let (place, exceptions) = parse(text).expect("a trace");
        assert_eq!(place, 10);
        let shown: Vec<String> = exceptions
            .iter()
            .flat_map(|it| {
                let calls = it.calls.iter().map(|call| {
                    let mark = if call.library { "-" } else { "+" };
                    format!("{mark}{} {}:{}", call.function, call.file, call.line)
                });
                std::iter::once(it.kind.clone()).chain(calls).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(
            shown,
            [
                "java.lang.IllegalStateException",
                "+shop.Import.row Import.java:31",
                "-java.util.ArrayList.forEach ArrayList.java:1511",
                "+shop.Import.main Import.java:12",
                "java.lang.NumberFormatException",
                "-java.lang.Integer.parseInt Integer.java:668",
                "+shop.Import.row Import.java:29",
            ]
        );
    }

    #[test]
    fn hidden_frames_and_quotes() {
        let text = "Exception in thread \"a \"b\" c\" Boom\n\tat Main$$Lambda$14/0x0000000800c03200.run(Unknown Source)\n\tat Main.lambda$main$0(Main.java:5)\n\tat jdk.internal.misc.Unsafe.park(Native Method)\n";
        let (_, exceptions) = parse(text).expect("a trace");
        assert_eq!(exceptions[0].kind, "Boom");
        let libraries: Vec<bool> = exceptions[0].calls.iter().map(|call| call.library).collect();
        assert_eq!(libraries, [true, false, true]);
        // A message that ends in a quote and a word is not the type.
        let text =
            "Exception in thread \"main\" java.lang.Error: no \"good\" word\n\tat A.b(A.java:1)\n";
        assert_eq!(parse(text).expect("a trace").1[0].kind, "java.lang.Error");
    }

    #[test]
    fn what_is_none() {
        assert_eq!(parse("Exception in thread \"main\" two words\n\tat A.b(A.java:1)\n"), None);
        assert_eq!(parse("Exception in thread \"main\" a.B: c\n"), None);
        assert_eq!(parse("a.B: c\n\tat A.b(A.java:1)\n"), None);
    }
}
