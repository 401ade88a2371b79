//! A script for CTest, and the line that adds it; the script serves everybody else, too.

use stunt_report::quoted;

use super::Test;
use crate::Refusal;

pub(super) fn write(test: &Test<'_>) -> Result<Vec<(String, String)>, Refusal> {
    let Test { name, words, call, .. } = test;
    let program = word(&call.program)?;
    for text in test.words(str::to_owned, |_| String::new(), "") {
        word(&text)?;
    }
    let literal = |text: &str| quoted(text);
    let path = |file: &str| format!("\"$here\"/{file}");
    let arguments = test.words(literal, path, "").join(" ");
    let stdin = call.stdin.as_deref().map_or_else(|| "/dev/null".to_owned(), path);
    let signal = |number: Option<u8>| match number {
        None => "[ \"$status\" -gt 128 ]".to_owned(),
        Some(number) => format!("[ \"$status\" -eq {} ]", 128 + u32::from(number)),
    };
    let status = |code: u8| format!("[ \"$status\" -eq {code} ]");
    let holds =
        |stream: &str, text: &str| format!("grep -qF -e {} \"$out\"/{stream}", quoted(text));
    let fails = test.conditions(signal, status, holds).join(" || ");
    let script = format!(
        "#!/bin/bash\n# Made by stunt. The program failed: {words}\nhere=$(cd \"$(dirname \"$0\")\" && pwd)/stunt-{name}\n\
         out=$(mktemp -d)\ntrap 'rm -rf \"$out\"' EXIT\n\
         {program} {arguments} <{stdin} >\"$out\"/stdout 2>\"$out\"/stderr\nstatus=$?\nif {fails}; then\n  \
         cat \"$out\"/stderr >&2\n  echo \"the program failed, with status $status\" >&2\n  exit 1\nfi\n"
    );
    let line = format!(
        "# Made by stunt: include(stunt-{name}.cmake), after enable_testing().\n\
         add_test(NAME stunt-{name} COMMAND bash ${{CMAKE_CURRENT_LIST_DIR}}/stunt-{name}.sh)\n"
    );
    Ok(vec![(format!("stunt-{name}.sh"), script), (format!("stunt-{name}.cmake"), line)])
}

/// A word that every shell reads alike, quoted.
fn word(text: &str) -> Result<String, Refusal> {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if plain { Ok(quoted(text)) } else { Err(Refusal::Word) }
}
