//! A test of a Rust package. A program without a folder is a binary of that package.

use super::Test;
use crate::literal::rust;

pub(super) fn write(test: &Test<'_>) -> (String, String) {
    let Test { name, words, call, .. } = test;
    let program = match call.program.contains('/') {
        true => rust(&call.program),
        false => format!("env!({})", rust(&format!("CARGO_BIN_EXE_{}", call.program))),
    };
    let path = |file: &str| format!("double({})", rust(file));
    let joined = test.words(rust, path, ", ");
    let arguments: Vec<String> =
        joined.iter().map(|it| format!("        .arg([{it}].concat())\n")).collect();
    let stdin = match &call.stdin {
        Some(file) => format!("std::fs::File::open(double({})).unwrap()", rust(file)),
        None => "std::process::Stdio::null()".to_owned(),
    };
    let signal = |number: Option<u8>| match number {
        None => "output.status.signal().is_some()".to_owned(),
        Some(number) => format!("output.status.signal() == Some({number})"),
    };
    let status = |code: u8| format!("output.status.code() == Some({code})");
    let holds = |stream: &str, text: &str| {
        format!("String::from_utf8_lossy(&output.{stream}).contains({})", rust(text))
    };
    let fails = test.conditions(signal, status, holds).join("\n        || ");
    let double = match arguments.iter().any(|it| it.contains("double(")) || call.stdin.is_some() {
        true => format!(
            "/// The path of an input that makes the program fail.\nfn double(name: &str) -> String {{\n    \
             format!(\"{{}}/tests/stunt-{name}/{{name}}\", env!(\"CARGO_MANIFEST_DIR\"))\n}}\n\n"
        ),
        false => String::new(),
    };
    let uses = match fails.contains(".signal()") {
        true => "use std::os::unix::process::ExitStatusExt;\n",
        false => "",
    };
    let text = format!(
        "//! Made by stunt. The program failed: {words}\n\n{uses}use std::process::Command;\n\n{double}#[test]\n\
         fn stunt_{name}() {{\n    let output = Command::new({program})\n{}        .stdin({stdin})\n        \
         .output()\n        .expect(\"the program can be run\");\n    let fails = {fails};\n    \
         assert!(!fails, \"{{output:?}}\");\n}}\n",
        arguments.concat()
    );
    (format!("tests/stunt_{name}.rs"), text)
}
