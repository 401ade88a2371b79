//! Several inputs, folders, and failures that are limits: `-i` more than once, `-i FOLDER`,
//! `--fails-if hang=…` and `--fails-if oom=…`, on small programs compiled here.

mod support;

use std::fs;

use stunt_report::{Report, SourceName};
use support::{Place, text};

/// Fails if the first file has a rate of 0 for a letter that the second one asks for.
const RATES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int zero[256] = {0}, c, last = 0;
  FILE *rates = fopen(argv[1], "rb"), *bills = argc > 2 ? fopen(argv[2], "rb") : stdin;
  if (!rates || !bills) return 2;
  while ((c = fgetc(rates)) != EOF) {
    if (c == '0' && last >= 'A' && last <= 'Z') zero[last] = 1;
    last = c;
  }
  while ((c = fgetc(bills)) != EOF) if (zero[c]) abort();
  return 0;
}
"#;

fn anonymize(place: &Place, words: &[&str]) -> Report {
    let all = ["anonymize", "--seed", "4", "-o", "stunt-report.zip"];
    let output = place.stunt(&[&all[..], words].concat());
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
    Report::read(place.path("stunt-report.zip")).expect("a report").report
}

/// The double fails as the report says; then the report has done its work.
fn replays(place: &Place, program: &[&str]) {
    let output = place.stunt(&[&["replay", "stunt-report.zip", "--"][..], program].concat());
    let said = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said:?}");
    fs::remove_file(place.path("stunt-report.zip")).expect("it was there");
}

#[test]
fn several_inputs_are_private() {
    let place = Place::new("several-inputs");
    let program = place.compile("rates", RATES, &[]);
    place.write("rates.csv", b"A7 Qvistgaard\nK0 Wyczolkowska\n");
    place.write("bills.csv", b"for xylophones, K 12345\n");
    let names = |report: &Report| -> Vec<SourceName> {
        report.sources.iter().map(|source| source.name.clone()).collect()
    };
    let both = ["--effort", "600", "-i", "rates.csv", "-i", "bills.csv", "--"];
    let report = anonymize(&place, &[&both[..], &[program.as_str(), "@@1", "@@2"]].concat());
    let numbered = [SourceName::NumberedFile(1), SourceName::NumberedFile(2)];
    assert_eq!(names(&report), numbered);
    replays(&place, &[&program, "@@1", "@@2"]);
    // Places without numbers are meant in their order.
    let report = anonymize(&place, &[&both[..], &[program.as_str(), "@@", "@@"]].concat());
    assert_eq!(names(&report), numbered);
    // What has no place is standard input.
    let report = anonymize(&place, &[&both[..], &[program.as_str(), "@@1"]].concat());
    assert_eq!(names(&report), [SourceName::NumberedFile(1), SourceName::Stdin]);
    replays(&place, &[&program, "@@1"]);
    let words = [&["anonymize"][..], &both, &[program.as_str()]].concat();
    place.refused(&place.stunt(&words), 2, "write @@1 to @@2 where their paths belong");
    place.nothing_is_left();
}

/// Fails on a folder in which some file has a `#` before a digit, and says which by its order.
const FOLDER: &str = r#"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  struct dirent **names;
  int count = scandir(argv[1], &names, NULL, alphasort);
  if (count < 0) return 2;
  for (int i = 0; i < count; i++) {
    char path[4096];
    int c, last = 0, length = strlen(names[i]->d_name);
    if (length < 4 || strcmp(names[i]->d_name + length - 4, ".txt")) continue;
    snprintf(path, sizeof path, "%s/%s", argv[1], names[i]->d_name);
    FILE *f = fopen(path, "rb");
    if (!f) return 2;
    while ((c = fgetc(f)) != EOF) {
      if (last == '#' && c >= '0' && c <= '9') abort();
      last = c;
    }
    fclose(f);
  }
  return 0;
}
"#;

#[test]
fn all_files_of_a_folder_are_private() {
    let place = Place::new("folder-input");
    let program = place.compile("folder", FOLDER, &[]);
    fs::create_dir(place.path("notes")).expect("a folder");
    place.write("notes/qvistgaard.txt", b"Qvistgaard owes nothing");
    place.write("notes/wyczolkowska.txt", b"Wyczolkowska: invoice #7 of March");
    place.write("notes/readme.md", b"xylophones");
    let report = anonymize(&place, &["--effort", "600", "-i", "notes", "--", &program, "@@"]);
    let expected = [SourceName::Member(1), SourceName::Member(2), SourceName::Member(3)];
    assert_eq!(report.sources.iter().map(|it| it.name.clone()).collect::<Vec<_>>(), expected);
    let archive = fs::read(place.path("stunt-report.zip")).expect("a report");
    for name in ["qvistgaard", "wyczolkowska", "readme"] {
        let shown = format!("{report:?}");
        assert!(!shown.contains(name), "{shown}");
        assert!(!archive.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    replays(&place, &[&program, "@@"]);
    fs::create_dir(place.path("notes/more")).expect("a folder");
    let output = place.stunt(&["anonymize", "-i", "notes", "--", &program, "@@"]);
    place.refused(&output, 2, "has more than files in it");
    place.nothing_is_left();
}

/// Goes round on a `#`, and takes all memory on a `*`.
const ENDLESS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  int c;
  volatile int round = 1;
  while ((c = getchar()) != EOF) {
    while (c == '#' && round) ;
    while (c == '*') {
      char *more = malloc(1 << 20);
      if (!more) return 9;
      memset(more, c, 1 << 20);
    }
  }
  return 0;
}
"#;

#[test]
fn limits_are_failures() {
    let place = Place::new("limits-fail");
    let program = place.compile("endless", ENDLESS, &[]);
    for (condition, private) in
        [("hang=2s", &b"Qvistgaard # Wyczolkowska"[..]), ("oom=100M", b"Qvistgaard * Wyczolkowska")]
    {
        place.write("private.txt", private);
        let few = ["--effort", "60", "--runs", "1", "--fails-if", condition];
        let words = [&few[..], &["-i", "private.txt", "--", &program]].concat();
        let report = anonymize(&place, &words);
        assert_eq!(report.failure.words, condition);
        // One byte is needed; there may be others around it.
        assert!(report.leak.bits < 100.0, "{condition}: {:?}", report.leak);
        replays(&place, &[&program]);
    }
    let words = ["record", "--fails-if", "hang=1", "--", &program];
    place.refused(&place.stunt(&words), 2, "a recorded run has no limits");
    place.nothing_is_left();
}
