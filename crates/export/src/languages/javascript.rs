//! A test for Jest; without Jest, for Node's own runner.

use super::Test;
use crate::literal::javascript;

pub(super) fn write(test: &Test<'_>) -> (String, String) {
    let Test { name, words, call, .. } = test;
    let path = |file: &str| format!("double({})", javascript(file));
    let arguments = test.words(javascript, path, " + ").join(", ");
    // A file, since what Node makes of `input` is a socket, which a program cannot open by its name.
    let stdin = match &call.stdin {
        Some(file) => format!("fs.openSync(double({}))", javascript(file)),
        None => "'ignore'".to_owned(),
    };
    let signal = |number: Option<u8>| match number {
        None => "run.signal !== null".to_owned(),
        Some(number) => format!("os.constants.signals[run.signal] === {number}"),
    };
    let status = |code: u8| format!("run.status === {code}");
    let holds = |stream: &str, text: &str| format!("run.{stream}.includes({})", javascript(text));
    let fails = test.conditions(signal, status, holds).join("\n    || ");
    let text = format!(
        "// Made by stunt. The program failed: {words}\nconst assert = require('node:assert');\n\
         const fs = require('node:fs');\nconst os = require('node:os');\nconst path = require('node:path');\n\
         const {{ spawnSync }} = require('node:child_process');\n\n\
         const it = globalThis.test ?? require('node:test').test;\n\
         const double = (name) => path.join(__dirname, 'stunt-{name}', name);\n\n\
         it('stunt-{name}', () => {{\n  const run = spawnSync({}, [{arguments}], {{ stdio: [{stdin}, 'pipe', 'pipe'], timeout: 300000 }});\n  \
         assert.ok(!run.error, String(run.error));\n  const fails = {fails};\n  \
         assert.ok(!fails, `${{run.signal ?? run.status}}: ${{run.stderr}}`);\n}});\n",
        javascript(&call.program)
    );
    (format!("stunt-{name}.test.js"), text)
}
