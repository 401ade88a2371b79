//! What Lua prints about an error that nobody caught.
//!
//! ```text
//! lua: import.lua:1: bad month 23
//! stack traceback:
//!         [C]: in function 'error'
//!         import.lua:1: in local 'month'
//!         import.lua:2: in main chunk
//!         [C]: in ?
//! ```

use super::{Call, Exception, Found, clean, file_name, lines};

/// What the exception is called, since Lua has no name for it.
const KIND: &str = "error";
const STACK: &str = "stack traceback:";

/// The last error, if it has a stack.
pub fn parse(text: &str) -> Option<Found> {
    let lines = lines(text);
    let stack = lines.iter().rposition(|(_, line)| *line == STACK)?;
    let head = (0..stack).rev().find(|&at| !lines[at].1.starts_with('\t'))?;
    let (place, line) = lines[head];
    let (program, said) = line.split_once(": ")?;
    if !program.contains("lua") {
        return None;
    }
    // `import.lua:1: ` stands before what was said.
    let said = match said.split_once(": ") {
        Some((place, rest)) if call_place(place).is_some() => rest,
        _ => said,
    };
    let calls: Vec<Call> =
        lines[stack + 1..].iter().map_while(|(_, line)| call(line.strip_prefix('\t')?)).collect();
    let endless = said == "stack overflow";
    let exception = Exception { kind: KIND.into(), calls, endless, said: said.to_owned() };
    (!exception.calls.is_empty()).then_some((place, vec![exception]))
}

fn call_place(place: &str) -> Option<(&str, u32)> {
    let (path, line) = place.rsplit_once(':')?;
    Some((path, line.parse().ok()?))
}

/// `import.lua:1: in local 'month'`
fn call(text: &str) -> Option<Call> {
    let (place, function) = text.split_once(": in ").unwrap_or((text, "?"));
    let library = place == "[C]" || place.starts_with("(...");
    let (path, line) = call_place(place).unwrap_or(("", 0));
    // A text that was compiled is named by its beginning.
    let path = if path.starts_with('[') { "" } else { path };
    let name = function.split_once('\'').and_then(|(_, rest)| rest.split_once('\''));
    let function = name.map_or(function, |(name, _)| name);
    let function = if function.starts_with("function <") { "function" } else { function };
    Some(Call {
        file: file_name(path),
        path: path.to_owned(),
        line,
        column: 0,
        function: clean(function),
        library: library || line == 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error() {
        let text = "x\nlua: /srv/e.lua:1: bad month private\nstack traceback:\n\t[C]: in function 'error'\n\t/srv/e.lua:1: in local 'month'\n\t[string \"private\"]:1: in main chunk\n\t/srv/e.lua:2: in function </srv/e.lua:2>\n\t[C]: in ?\n";
        let (place, all) = parse(text).expect("an error");
        assert_eq!((place, &*all[0].said), (2, "bad month private"));
        let calls: Vec<_> = all[0]
            .calls
            .iter()
            .map(|it| format!("{} {}:{}", it.function, it.file, it.line))
            .collect();
        assert_eq!(
            calls,
            ["error :0", "month e.lua:1", "main chunk :1", "function e.lua:2", "? :0"]
        );
        assert_eq!(parse("a: b\nstack traceback:\n\t[C]: in ?\n"), None);
        assert_eq!(parse("lua: x.lua:1: private\n"), None);
    }
}
