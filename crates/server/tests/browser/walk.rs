//! The whole way: a program fails, its double comes as a ticket, is looked at in a browser, replayed
//! in a closed worker, and becomes an issue in a real Redmine, whose attachment fails the program.
//!
//! Everything is real here: a C program, `stunt anonymize`, the server, Chromium, the worker, and
//! Redmine. Needs the command `stunt` beside the tests, which `cargo build` puts there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use stunt_report::Report;
use stunt_server::Worker;

use crate::chromium::Page;
use crate::logged_in;
use crate::real::{REDMINE_KEY, Real, fetch, redmine};
use crate::site::Site;

/// Fails on a name that is longer than eight bytes.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int initial(const char *name) {
    if (strlen(name) > 8) { volatile char *nowhere = 0; *nowhere = 1; }
    return name[0];
}

int main(int argc, char **argv) {
    char line[64] = {0};
    FILE *file = fopen(argv[1], "r");
    if (!file || !fgets(line, sizeof line, file)) return 1;
    if (strncmp(line, "name=", 5) != 0) return 2;
    line[strcspn(line, "\n")] = 0;
    return initial(line + 5) == 0;
}
"#;

/// The command, where cargo puts it.
fn stunt() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let stunt = test.parent().and_then(Path::parent).unwrap().join("stunt");
    assert!(stunt.exists(), "{} is absent: run `cargo build`", stunt.display());
    stunt
}

/// The program, as a build with debugging information and a build-id.
fn compile(folder: &Path, name: &str, source: &str) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let (file, program) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&file, source).unwrap();
    let mut command = Command::new("gcc");
    command.args(["-g", "-O1", "-Wl,--build-id=sha1", "-o"]).arg(&program).arg(&file);
    assert!(command.status().unwrap().success());
    program
}

/// A report about the program's failure on a private file, and its double.
fn anonymized(folder: &Path, program: &Path) -> (Report, Vec<u8>) {
    let (input, file) = (folder.join("private.txt"), folder.join("report.stunt"));
    fs::write(&input, "name=Wilhelmina Featherstonehaugh\n").unwrap();
    let output = Command::new(stunt())
        .args(["anonymize", "--seed", "5", "-i"])
        .arg(&input)
        .arg("-o")
        .arg(&file)
        .arg("--")
        .arg(program)
        .arg("@@")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut opened = Report::read(&file).unwrap();
    let double = opened.doubles.swap_remove(0);
    (opened.report, double)
}

/// Whether the program ends by a signal on this input.
fn fails(program: &Path, folder: &Path, input: &[u8]) -> bool {
    let file = folder.join("try.txt");
    fs::write(&file, input).unwrap();
    let status = Command::new(program).arg(&file).stdout(Stdio::null()).status().unwrap();
    status.code().is_none()
}

#[test]
fn from_a_failure_to_an_issue() {
    let tracker = redmine();
    let worker = Worker { program: stunt(), seconds: 60, memory: 1 << 30 };
    let site = Site::start(Some(worker));
    let folder = site.folder().join("walk");
    let program = compile(&folder, "names", PROGRAM);
    let (report, double) = anonymized(&folder, &program);
    assert!(!String::from_utf8_lossy(&double).contains("Feather"), "a double is another input");
    let stored = site.submit(&report, &double);

    // The list shows it, and leads to it.
    let mut page = logged_in(&site, "ada");
    assert!(page.text("a.ticket").contains("initial"), "{}", page.text("a.ticket"));
    page.go(|page| page.click("a.ticket"));
    assert_eq!(format!("{}{}", site.url, page.path()), stored.url);
    assert!(page.text(".stack").contains("initial") && page.text(".stack").contains("names.c:"));
    assert!(page.text("[aria-labelledby=double-h]").contains("reveals"));
    assert!(page.text("[aria-labelledby=replay-h]").contains("No build of this program"));

    // Builds: the one that fails, and one in which it is fixed.
    let fixed_source = PROGRAM.replace("> 8", "> 8000");
    let fixed = compile(&folder.join("fixed"), "names", &fixed_source);
    for (file, version) in [(&program, "1.0"), (&fixed, "1.1")] {
        page.open(&format!("{}/builds", site.url));
        page.fill("#version", version);
        page.choose_file("#file", file);
        page.go(|page| page.click("main button.main"));
        assert!(page.text("table").contains(version));
        site.pass(60_000);
    }

    // Replays: one fails as reported, one does not fail and proposes that it is fixed.
    for (version, verdict) in [("1.0", "fails as reported"), ("1.1", "does not fail")] {
        replay(&mut page, &stored.url, version, verdict);
    }
    page.open(&stored.url);
    assert!(page.text("form.notice").contains("no longer fails"));

    // An issue in the real Redmine, by the settings of an admin.
    page.open(&format!("{}/settings", site.url));
    page.eval("document.querySelector('#tracker').value = 'redmine'; 1");
    page.fill("#tracker_url", &tracker.url);
    page.fill("#tracker_project", "program");
    page.fill("#tracker_key", REDMINE_KEY);
    page.go(|page| page.click("main button.main"));
    assert_eq!(page.eval("document.querySelector('#tracker').value"), "redmine");
    assert_eq!(page.eval("document.querySelector('#tracker_key').value"), "", "never shown");
    page.open(&stored.url);
    page.go(|page| page.click("form[action$='/issue'] button"));
    page.wait_for("document.querySelector('[aria-labelledby=issue-h] a[rel]')");
    let link = page.eval("document.querySelector('[aria-labelledby=issue-h] a[rel]').href");
    assert_eq!(link, format!("{}/issues/1", tracker.url));

    // Whoever downloads the attachment has a file that fails the program.
    let attached = attachment(&tracker);
    assert!(fails(&program, &folder, &attached), "the attachment fails the program");
    assert!(!fails(&fixed, &folder, &attached), "and not the one that is fixed");

    // Somebody closes the issue there: the ticket shows it, and is fixed. Opened again, it is open.
    for (status, issue, state) in [(5, "closed", "fixed"), (1, "open", "open")] {
        ureq::put(format!("{}/issues/1.json", tracker.url))
            .header("X-Redmine-API-Key", REDMINE_KEY)
            .send_json(json!({"issue": {"status_id": status}}))
            .unwrap();
        site.pass(3_600_000);
        let there = format!(
            "document.querySelector('[aria-labelledby=issue-h] .state')?.innerText === '{issue}'"
        );
        for _ in 0..600 {
            page.open(&stored.url);
            if page.eval(&there) == true {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        assert_eq!(page.eval(&there), true, "{}", page.text("#work"));
        assert_eq!(page.text(".facts .state"), state);
    }

    // The maintainer asks the build with the fix once more, and takes its proposal.
    replay(&mut page, &stored.url, "1.1", "does not fail");
    page.open(&stored.url);
    page.go(|page| page.click("form.notice button"));
    assert_eq!(page.text(".facts .state"), "fixed");

    // A newer build fails again: the ticket has regressed, and the issue is told.
    site.pass(60_000);
    let mut again = report.clone();
    again.program.build_id = Some("abcdef0123".to_owned());
    site.count(&again, "1.2");
    page.open(&stored.url);
    assert_eq!(page.text(".facts .state"), "regressed");
    let told = || {
        let url = format!("{}/issues/1.json?include=journals", tracker.url);
        let issue = fetch(&url, &[("X-Redmine-API-Key", REDMINE_KEY)]).unwrap();
        let issue: Value = serde_json::from_slice(&issue).unwrap();
        let journals = issue["issue"]["journals"].as_array().unwrap();
        journals.iter().any(|it| it["notes"].as_str().is_some_and(|it| it.contains("abcdef0123")))
    };
    for _ in 0..600 {
        if told() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert!(told(), "the issue says in which build it failed again");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Replays a ticket with the build of a version.
fn replay(page: &mut Page, url: &str, version: &str, verdict: &str) {
    page.open(url);
    let chosen = page.eval(&format!(
        "[...document.querySelectorAll('#build option')].findIndex((it) => \
         it.textContent.includes(' {version} '))"
    ));
    page.eval(&format!("document.querySelector('#build').selectedIndex = {chosen}; 1"));
    page.go(|page| page.click("#work form button"));
    page.wait_for("document.querySelector('.replay') && !document.querySelector('.pending')");
    let found = page.text(".replay .verdict");
    assert_eq!(found, verdict, "{}", page.text("#work"));
}

/// The file that the first issue of the tracker has.
fn attachment(tracker: &Real) -> Vec<u8> {
    let look = |url: &str| fetch(url, &[("X-Redmine-API-Key", REDMINE_KEY)]).unwrap();
    let issue = look(&format!("{}/issues/1.json?include=attachments", tracker.url));
    let issue: Value = serde_json::from_slice(&issue).unwrap();
    let files = issue["issue"]["attachments"].as_array().unwrap();
    assert_eq!(files.len(), 1);
    look(files[0]["content_url"].as_str().unwrap())
}
