//! What a Go program prints when it panics: the panic, and the goroutine that did.
//!
//! ```text
//! panic: row of private: no month [recovered]
//!         panic: again: row of private: no month
//!
//! goroutine 6 [running]:
//! main.(*Row).check(...)
//!         /srv/main.go:4
//! main.inner({0xc000018092?, 0x0?})
//!         /srv/main.go:5 +0xe6
//! created by main.main
//!         /srv/main.go:9 +0x198
//! ```
//!
//! Of a panic in a panic the last counts first, and the first as its cause. Arguments are left out.

use super::{Call, Exception, Found, clean, file_name, lines};

/// The panic that ended the program.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    let goroutine = |line: &str| line.starts_with("goroutine ") && line.ends_with("]:");
    let heads = ["panic: ", "fatal error: "];
    let is_head = |line: &str| heads.iter().any(|it| line.starts_with(it));
    // What the program printed before may look like one; the last that has a goroutine counts.
    let first = (0..lines.len()).rev().find(|&at| {
        is_head(lines[at].1) && lines[at + 1..].iter().any(|(_, line)| goroutine(line))
    })?;
    let stack = first + lines[first..].iter().position(|(_, line)| goroutine(line))?;
    let mut exceptions: Vec<Exception> = Vec::new();
    for (at, (_, line)) in lines[first..stack].iter().enumerate() {
        let line = if at == 0 { *line } else { line.strip_prefix('\t').unwrap_or_default() };
        let Some(head) = heads.iter().find(|it| line.starts_with(**it)) else { continue };
        let said = line[head.len()..].trim_end_matches(" [recovered]");
        // What the runtime says itself has a name; the value of another panic may be any text.
        let kind = match (said.strip_prefix("runtime error: "), *head) {
            (Some(_), _) => "runtime error",
            (None, head) => head.trim_end_matches(": "),
        };
        let said = said.strip_prefix("runtime error: ").unwrap_or(said).to_owned();
        exceptions
            .insert(0, Exception { kind: kind.into(), calls: Vec::new(), endless: false, said });
    }
    let mut calls = Vec::new();
    let mut rest = lines[stack + 1..].iter().map(|(_, line)| *line).peekable();
    while let Some(function) = rest.next().filter(|line| !line.is_empty()) {
        let Some(place) = rest.next_if(|line| line.starts_with('\t')) else { continue };
        if !function.starts_with("created by ") {
            calls.extend(call(function, place));
        }
    }
    let endless = exceptions.first()?.said.starts_with("stack overflow")
        || text[..lines[first].0].ends_with("goroutine stack exceeds 1000000000-byte limit\n");
    let last = exceptions.first_mut()?;
    (last.calls, last.endless) = (calls, endless);
    (!last.calls.is_empty()).then_some((lines[first].0, exceptions))
}

/// `main.(*Row).check(...)`, and below it `/srv/main.go:4 +0x74`.
fn call(function: &str, place: &str) -> Option<Call> {
    let name = function.strip_suffix(')').map_or(function, |text| {
        // Arguments may have parentheses; those of a method's receiver come before a dot.
        let opens = text.match_indices('(').find(|(at, _)| !text[at + 1..].starts_with('*'));
        opens.map_or(text, |(at, _)| &text[..at])
    });
    let place = place.trim_start().split(" +0x").next()?;
    let (path, line) = place.rsplit_once(':')?;
    let own_runtime = name == "panic" || name.starts_with("runtime.");
    let library = own_runtime
        || ["/usr/lib/go", "/usr/share/go", "/usr/local/go/"].iter().any(|it| path.starts_with(it));
    Some(Call {
        file: file_name(path),
        path: String::new(),
        line: line.parse().ok()?,
        column: 0,
        function: clean(name),
        library,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_a_panic() {
        let text = "x\npanic: row of private: no month [recovered]\n\tpanic: again: row of private\n\ngoroutine 6 [running]:\nmain.inner.func1()\n\t/home/ada/main.go:5 +0x74\npanic({0x49b800, 0xc000014080})\n\t/usr/lib/go-1.19/src/runtime/panic.go:884 +0x212\nmain.(*Row).check(...)\n\t/home/ada/main.go:4\nmain.inner({0xc000018092?, 0x0?})\n\t/home/ada/main.go:5 +0xe6\ncreated by main.main\n\t/home/ada/main.go:9 +0x198\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/home/ada/main.go:9 +0x1\n";
        let (place, all) = parse(text).expect("a panic");
        assert_eq!((place, all.len()), (2, 2));
        assert_eq!(
            (&*all[0].said, &*all[1].said),
            ("again: row of private", "row of private: no month")
        );
        let calls: Vec<String> = (all[0].calls.iter())
            .map(|it| format!("{}{}:{}", if it.library { "-" } else { "+" }, it.function, it.line))
            .collect();
        assert_eq!(
            calls,
            ["+main.inner.func1:5", "-panic:884", "+main.(*Row).check:4", "+main.inner:5"]
        );
    }

    #[test]
    fn what_the_runtime_finds() {
        let text = "panic: runtime error: index out of range [22] with length 12\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/gp.go:6 +0x155\nexit status 2\n";
        let (_, all) = parse(text).expect("a panic");
        assert_eq!(
            (&*all[0].kind, &*all[0].said),
            ("runtime error", "index out of range [22] with length 12")
        );
        let text = "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/srv/main.go:10 +0x1d2\n";
        assert_eq!(parse(text).expect("an error").1[0].kind, "fatal error");
        assert_eq!(parse("panic: private\n"), None);
    }
}
