//! A test for pytest. Run by itself it says the same by its exit status.

use super::Test;
use crate::literal::python;

pub(super) fn write(test: &Test<'_>) -> (String, String) {
    let Test { name, words, call, .. } = test;
    let path = |file: &str| format!("double({})", python(file));
    let mut command = vec![python(&call.program)];
    command.extend(test.words(python, path, " + "));
    let stdin = match &call.stdin {
        Some(file) => format!("stdin=open(double({}), \"rb\")", python(file)),
        None => "stdin=subprocess.DEVNULL".to_owned(),
    };
    let signal = |number: Option<u8>| match number {
        None => "run.returncode < 0".to_owned(),
        Some(number) => format!("run.returncode == -{number}"),
    };
    let status = |code: u8| format!("run.returncode == {code}");
    let holds = |stream: &str, text: &str| format!("{}.encode() in run.{stream}", python(text));
    let fails = test.conditions(signal, status, holds).join("\n        or ");
    let text = format!(
        "# Made by stunt. The program failed: {words}\nimport os\nimport subprocess\n\n\n\
         def double(name):\n    return os.path.join(os.path.dirname(os.path.abspath(__file__)), \
         \"stunt-{name}\", name)\n\n\ndef test_stunt_{name}():\n    command = [{}]\n    \
         run = subprocess.run(command, {stdin}, capture_output=True, timeout=300)\n    fails = (\n        \
         {fails}\n    )\n    assert not fails, run\n\n\nif __name__ == \"__main__\":\n    test_stunt_{name}()\n",
        command.join(", ")
    );
    (format!("test_stunt_{name}.py"), text)
}
