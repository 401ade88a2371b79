//! A test for JUnit 5. The JVM tells a signal as 128 more than its number.

use super::Test;
use crate::literal::java;

pub(super) fn write(test: &Test<'_>) -> (String, String) {
    let Test { name, words, call, .. } = test;
    let path = |file: &str| format!("path({})", java(file));
    let mut command = vec![java(&call.program)];
    command.extend(test.words(java, path, " + "));
    let stdin = match &call.stdin {
        Some(file) => format!("new java.io.File(path({}))", java(file)),
        None => "new java.io.File(\"/dev/null\")".to_owned(),
    };
    let signal = |number: Option<u8>| match number {
        None => "status > 128".to_owned(),
        Some(number) => format!("status == 128 + {number}"),
    };
    let status = |code: u8| format!("status == {code}");
    let holds = |stream: &str, text: &str| {
        format!(
            "new String(Files.readAllBytes({stream}), StandardCharsets.UTF_8).contains({})",
            java(text)
        )
    };
    let fails = test.conditions(signal, status, holds).join("\n                || ");
    let text = format!(
        "// Made by stunt. The program failed: {words}\nimport static org.junit.jupiter.api.Assertions.assertFalse;\n\n\
         import java.nio.charset.StandardCharsets;\nimport java.nio.file.Files;\nimport java.nio.file.Path;\n\
         import org.junit.jupiter.api.Test;\n\nclass Stunt{name}Test {{\n    @Test\n    \
         void stunt{name}() throws Exception {{\n        Path stdout = Files.createTempFile(\"stunt\", \".out\");\n        \
         Path stderr = Files.createTempFile(\"stunt\", \".err\");\n        int status = new ProcessBuilder(\n                \
         {})\n                .redirectInput({stdin})\n                .redirectOutput(stdout.toFile())\n                \
         .redirectError(stderr.toFile())\n                .start()\n                .waitFor();\n        \
         boolean fails = {fails};\n        assertFalse(fails, \"the program failed, with status \" + status);\n    }}\n\n    \
         private static String path(String name) throws Exception {{\n        \
         return Path.of(Stunt{name}Test.class.getResource(\"/stunt-{name}/\" + name).toURI()).toString();\n    \
         }}\n}}\n",
        command.join(",\n                ")
    );
    (format!("src/test/java/Stunt{name}Test.java"), text)
}
