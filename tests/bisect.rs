//! `git bisect run` with a report: the version that is tried is the one that is checked out, and the first bad one is
//! found.

mod support;

use std::fs;
use std::process::{Command, Output};

use support::{Place, text};

/// Version by version: harmless, fails, cannot be built, fails. The one in the middle is tried first.
const VERSIONS: [&str; 5] = [
    "int check(const char *d) { return 0; }",
    "int check(const char *d) { if (d[0] == 'B' && d[1] == 'U') abort(); return 0; }",
    "int check(const char *d) { this is no C }",
    "int check(const char *d) { if (d[0] == 'B' && d[1] == 'U') abort(); return 2; }",
    "int check(const char *d) { if (d[0] == 'B' && d[1] == 'U') abort(); return 4; }",
];

const MAIN: &str = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((noinline)) CHECK\n\
    int main(int n, char **v) { char d[64] = \"\"; FILE *f = fopen(v[1], \"r\"); \
    if (f) fread(d, 1, 63, f); return check(d) & 1; }\n";

fn git(place: &Place, words: &[&str]) -> Output {
    let mut git = Command::new("git");
    git.current_dir(place.path(".")).env("GIT_CONFIG_GLOBAL", "/dev/null").args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = git.args(words).output().expect("git is there");
    assert!(output.status.success(), "{words:?}: {}{}", text(&output.stdout), text(&output.stderr));
    output
}

#[test]
fn the_first_bad_version_is_found_because_each_is_built() {
    let place = Place::new("bisect");
    git(&place, &["init", "-q"]);
    place.write("Makefile", b"prog: main.c\n\tgcc -g -O0 -w -o prog main.c\n");
    place.write(".gitignore", b"*\n!main.c\n!Makefile\n");
    for (number, version) in VERSIONS.iter().enumerate() {
        place.write("main.c", MAIN.replace("CHECK", version).as_bytes());
        git(&place, &["add", "main.c", "Makefile"]);
        git(&place, &["commit", "-q", "-m", &format!("version {number}")]);
    }
    let build = || Command::new("make").arg("-Bs").current_dir(place.path(".")).status();
    assert!(build().expect("make is there").success());
    fs::write(place.path("in"), "BUG and more").expect("a file");
    let words = ["anonymize", "--algorithm", "castro", "-i", "in", "-o", "r.zip"];
    let made = place.stunt(&[&words[..], &["--", "./prog", "@@"]].concat());
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let stunt = env!("CARGO_BIN_EXE_stunt");
    git(&place, &["bisect", "start", "HEAD", "HEAD~4"]);
    let run = ["bisect", "run", stunt, "replay", "--bisect-build", "make -Bs", "r.zip"];
    let found = git(&place, &[&run[..], &["--", "./prog", "@@"]].concat());
    let found = text(&found.stdout) + &text(&found.stderr);
    assert!(found.contains("is the first bad commit"), "{found}");
    let subject = git(&place, &["show", "-s", "--format=%s", "refs/bisect/bad"]);
    assert_eq!(text(&subject.stdout).trim(), "version 1", "{found}");
    assert!(found.contains("this version could not be built"), "{found}");
}
