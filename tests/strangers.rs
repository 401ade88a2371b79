//! Strangers' files, as attacks on whoever runs `stunt` on them: reports that choose what runs and what
//! it is given, folders and crashes of others, command lines that lie to a terminal.
//!
//! Each test is an attack; where it can, it first shows that the attack works without stunt.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use stunt_report::{ByteRuns, Report, Source, SourceName};
use support::{CANARY, PARSER, Place, text};

/// Opens the file whose path its input says behind `BUG`, for writing, and fails.
const WRITER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char data[4096] = "";
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 2;
  fread(data, 1, sizeof data - 1, f);
  if (data[0] == 'B' && data[1] == 'U' && data[2] == 'G') {
    FILE *out = fopen(data + 3, "w");
    if (out) fputs("changed", out), fclose(out);
    abort();
  }
  return 0;
}
"#;

/// A report of a program's failure on an input, in `r.zip`, and what is in it.
fn report(place: &Place, program: &str, input: &[u8]) -> stunt_report::Opened {
    place.write("in", input);
    let made = place.stunt(&[
        "anonymize",
        "--algorithm",
        "relaxed",
        "-i",
        "in",
        "-o",
        "r.zip",
        "--",
        program,
        "@@",
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    Report::read(place.path("r.zip")).expect("a report")
}

/// Writes a report with these sources in place of its own.
fn write_with(place: &Place, name: &str, mut report: Report, sources: Vec<(SourceName, Vec<u8>)>) {
    let nothing = |name: &SourceName| ByteRuns::new(name.clone(), std::iter::empty());
    report.per_byte = sources.iter().map(|(name, _)| nothing(name)).collect();
    report.leak.of = 0;
    let doubles: Vec<Vec<u8>> = sources.iter().map(|(_, bytes)| bytes.clone()).collect();
    let source = |(name, bytes): (SourceName, Vec<u8>)| Source::new(name, bytes.len() as u64, None);
    report.sources = sources.into_iter().map(source).collect();
    report.write(&doubles, place.path(name)).expect("a report");
}

#[track_caller]
fn says(output: &Output, code: i32, words: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(words), "{words:?} in {said:?}");
    assert_eq!(output.status.code(), Some(code), "{said}");
}

#[test]
fn attack_a_link_in_the_way_sends_a_report_over_a_file() {
    let place = Place::new("link-in-the-way");
    let program = place.compile("parser", PARSER, &[]);
    place.write("in", CANARY);
    place.write("precious", b"precious");
    let link = place.path("stunt-report.zip");
    std::os::unix::fs::symlink("precious", &link).expect("a link");
    // Where only an administrator can give links away, there is no attack to try.
    if std::os::unix::fs::lchown(&link, Some(65534), Some(65534)).is_err() {
        eprintln!("not run as root: not tested");
        return;
    }
    let arguments = ["--algorithm", "relaxed", "-i", "in", "--", &program, "@@"];
    let there = [&["anonymize", "-o", "stunt-report.zip"][..], &arguments].concat();
    says(&place.stunt(&there), 2, "is a link that another user has made");
    // A user who asks for no name gets one that is free.
    let output = place.stunt(&[&["anonymize"][..], &arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(place.path("stunt-report-2.zip").exists());
    assert_eq!(fs::read(place.path("precious")).expect("it is there"), b"precious");
}

#[test]
fn attack_a_report_makes_a_replay_load_its_library() {
    let place = Place::new("preload");
    let program = place.compile("parser", PARSER, &[]);
    let opened = report(&place, &program, CANARY);
    let owned = place.path("owned");
    let library = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void own(void) \
         {{ FILE *f = fopen(\"{}\", \"w\"); if (f) fclose(f); }}\n",
        owned.display()
    );
    let library = place.compile("evil.so", &library, &["-shared", "-fPIC"]);
    let library = fs::read(library).expect("the library");
    // The attack: the library is standard input, and the loader is told to take it from there.
    let shown = place.in_bash("LD_PRELOAD=/proc/self/fd/0 ./parser < evil.so");
    assert!(owned.exists(), "the attack works without stunt: {}", text(&shown.stderr));
    fs::remove_file(&owned).expect("it is there");
    for name in ["LD_PRELOAD", "LD_AUDIT", "PYTHONSTARTUP", "BASH_ENV", "GCONV_PATH", "X_PRELOAD"] {
        let mut evil = opened.report.clone();
        evil.arguments = Vec::new();
        let variable = SourceName::Environment(name.to_owned());
        let sources =
            vec![(SourceName::Stdin, library.clone()), (variable, b"/proc/self/fd/0".to_vec())];
        write_with(&place, "evil.zip", evil, sources);
        for flags in [
            &["--yes"][..],
            &["--", &program],
            &["--env", name, "--", &program],
            &["--env", name, "--uncontained", "--yes", "--", &program],
        ] {
            let output = place.stunt(&[&["replay", "evil.zip"], flags].concat());
            says(&output, 2, &format!("sets the variable {name}, which can make a program load"));
            assert!(output.stdout.is_empty() && !owned.exists(), "{flags:?}");
        }
    }
    // Others are set if the user names them, and not before; and they are shown.
    let mut other = opened.report;
    other.arguments = vec!["@@".to_owned()];
    let variable = SourceName::Environment("GREETING".to_owned());
    let sources = vec![(SourceName::File, b"BUG".to_vec()), (variable, b"\x1b[2Jhello".to_vec())];
    write_with(&place, "other.zip", other, sources);
    let replay = |flags: &[&str]| place.stunt(&[&["replay", "other.zip"], flags].concat());
    says(&replay(&["--", &program, "@@"]), 2, "If the program may have it, say --env GREETING");
    says(&replay(&["--env", "HELLO", "--", &program, "@@"]), 2, "brings no variable HELLO");
    let named = replay(&["--env", "GREETING", "--", &program, "@@"]);
    says(&named, 0, "brings the environment variable GREETING: $'\\033[2Jhello'");
    place.nothing_is_left();
}

#[test]
fn attack_a_double_changes_the_files_of_who_replays_it() {
    let place = Place::new("victim");
    let program = place.compile("writer", WRITER, &[]);
    let opened = report(&place, &program, b"BUG\0no path at all");
    let victim = place.path("victim.txt");
    place.write("victim.txt", b"dear to somebody");
    let evil = [b"BUG", victim.as_os_str().as_encoded_bytes()].concat();
    write_with(&place, "evil.zip", opened.report, vec![(SourceName::File, evil)]);
    for flags in [&["--", &program, "@@"][..], &["--yes"], &["--machine", "--", &program, "@@"]] {
        let output = place.stunt(&[&["replay", "evil.zip"], flags].concat());
        says(&output, 0, "");
        assert_eq!(fs::read(&victim).expect("it is there"), b"dear to somebody", "{flags:?}");
    }
    // Only who says so twice, or is asked and agrees, gives it all rights.
    let all = ["replay", "evil.zip", "--uncontained", "--", &program, "@@"];
    says(&place.stunt(&all), 2, "gives the program all your rights on a stranger's bytes");
    let stunt = env!("CARGO_BIN_EXE_stunt");
    let asked = |answer: &str| {
        let line = format!("'{stunt}' replay evil.zip --uncontained -- ./writer @@");
        place.in_bash(&format!("echo {answer} | script -qec \"{line}\" /dev/null"))
    };
    let refused = asked("n");
    let said = text(&refused.stdout);
    assert!(said.contains("change, delete and send whatever you may"), "{said}");
    assert!(said.contains("nothing was run") && refused.status.code() == Some(2), "{said}");
    assert_eq!(fs::read(&victim).expect("it is there"), b"dear to somebody");
    assert_eq!(asked("y").status.code(), Some(0));
    assert_eq!(fs::read(&victim).expect("it is there"), b"changed");
}

#[test]
fn attack_a_report_runs_its_own_command_where_nobody_is_asked() {
    let place = Place::new("unasked");
    let program = place.compile("parser", PARSER, &[]);
    let opened = report(&place, &program, CANARY);
    let mut evil = opened.report.clone();
    evil.program.name = "touch".to_owned();
    evil.arguments = vec![place.path("touched").display().to_string(), "@@".to_owned()];
    evil.write(&opened.doubles, place.path("evil.zip")).expect("a report");
    for report in ["r.zip", "evil.zip"] {
        let output = place.stunt(&["replay", report]);
        says(&output, 2, "nothing was run: the report chose the program and its arguments");
        assert!(output.stdout.is_empty());
        let output = place.stunt(&["replay", "--bisect", report]);
        assert_eq!(output.status.code(), Some(125), "a bisection skips it");
        // A yes in a pipe is nobody's.
        let stunt = env!("CARGO_BIN_EXE_stunt");
        let piped = place.in_bash(&format!("yes | '{stunt}' replay {report}"));
        assert_eq!(piped.status.code(), Some(2), "{}", text(&piped.stderr));
        assert!(!place.path("touched").exists());
    }
    // A program that the user names needs no answer: bisections go on.
    let output = place.stunt(&["replay", "--bisect", "r.zip", "--", &program, "@@"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    place.nothing_is_left();
}

#[test]
fn attack_a_report_takes_the_place_of_arguments_that_its_reader_wrote() {
    let place = Place::new("argued");
    let program = place.compile("parser", PARSER, &[]);
    let mut evil = report(&place, &program, CANARY).report;
    // Whoever replays it with a script gets a command of the report's in its place.
    evil.arguments = vec!["<arg 1>".to_owned(), "<arg 2>".to_owned()];
    let sources = vec![
        (SourceName::Argument(1), b"-c".to_vec()),
        (SourceName::Argument(2), b"touch touched; kill -6 $$".to_vec()),
    ];
    write_with(&place, "evil.zip", evil, sources);
    place.executable("run.sh", b"#!/bin/sh\nexit 0\n");
    for flags in [&[][..], &["--uncontained", "--yes"], &["--machine"]] {
        let words = [&["replay", "evil.zip"], flags, &["--", "/bin/sh", "run.sh", "x"]].concat();
        says(
            &place.stunt(&words),
            2,
            "the double is argument 1 of the program; write '<arg 1>' there",
        );
        assert!(!place.path("touched").exists());
    }
    // Who writes the places down sees what comes there.
    let output = place.stunt(&["replay", "evil.zip", "--", "/bin/sh", "<arg 1>", "<arg 2>"]);
    let said = text(&output.stderr);
    assert!(said.contains("about to run, contained: /bin/sh '<arg 1>' '<arg 2>'\n"), "{said}");
    assert!(said.contains("brings argument 2: 'touch touched; kill -6 $$'\n"), "{said}");
    assert!(!place.path("touched").exists());
}

#[test]
fn attack_a_report_writes_on_the_terminal_of_its_reader() {
    let place = Place::new("terminal");
    let program = place.compile("parser", PARSER, &[]);
    let opened = report(&place, &program, CANARY);
    // A name that is not there is in the error.
    let mut evil = opened.report.clone();
    evil.program.name = "\u{1b}[2Jno\nstunt: such\u{202e}".to_owned();
    evil.write(&opened.doubles, place.path("evil.zip")).expect("a report");
    let output = place.stunt(&["replay", "evil.zip", "--yes"]);
    let said = text(&output.stderr);
    assert!(!said.contains(['\u{1b}', '\u{202e}']) && said.lines().count() == 1, "{said:?}");
    says(&output, 2, "is not in this folder either");
    let mut evil = opened.report.clone();
    evil.arguments = vec![
        "@@".to_owned(),
        "\u{1b}[2K\rstunt: about to run, contained: ./harmless".to_owned(),
        "a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{e0041}".to_owned(),
        "<;touch touched;>".to_owned(),
        "$(touch touched)".to_owned(),
        "x\ntouch touched\n".to_owned(),
    ];
    evil.notes.clear();
    evil.write(&opened.doubles, place.path("evil.zip")).expect("a report");
    for arguments in
        [&["replay", "evil.zip"][..], &["inspect", "evil.zip"], &["replay", "evil.zip", "--yes"]]
    {
        let output = place.stunt(arguments);
        let said = text(&output.stdout) + &text(&output.stderr);
        let reads = |c: char| (c.is_control() && c != '\n') || !(c.is_ascii() || c == '…');
        assert!(!said.contains(reads), "{arguments:?}: {said:?}");
        // The whole command is on one line, and a shell that is given it runs that alone.
        let mut lines = said
            .lines()
            .filter(|line| line.contains("about to run, ") || line.contains("command "));
        let line = lines.next_back().expect("the command is shown");
        let (_, command) = line.split_once("arser ").expect("the program");
        let ran = place.in_bash(&format!("printf '%s|' {command}"));
        assert!(!place.path("touched").exists(), "{command}");
        assert_eq!(
            text(&ran.stdout),
            evil.arguments.iter().map(|it| format!("{it}|")).collect::<String>()
        );
    }
}

/// The command of a user whose home is in the place.
fn at_home(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command
        .env("HOME", place.path("home"))
        .env("XDG_STATE_HOME", place.path("home/state"))
        .env("XDG_RUNTIME_DIR", place.path("home/run"));
    fs::create_dir_all(place.path("home/run")).expect("a folder");
    command
}

/// All incidents of that user.
fn incidents(place: &Place) -> Vec<serde_json::Value> {
    let output = at_home(place, &["incidents", "--json"]).output().expect("it starts");
    serde_json::from_slice(&output.stdout).expect("a list")
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

/// Records a crash on a file, in a program of its own.
fn recorded(place: &Place) -> PathBuf {
    let program = PathBuf::from(place.compile("parser", PARSER, &[]));
    place.write("private.txt", CANARY);
    let mut command = at_home(place, &["record", "--", "./parser", "private.txt"]);
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(128 + 6), "{}", text(&output.stderr));
    program
}

#[test]
fn attack_a_folder_in_the_way_is_taken_for_an_incident() {
    let place = Place::new("in-the-way");
    recorded(&place);
    let own = incidents(&place)[0]["folder"].as_str().expect("its folder").to_owned();
    // Somebody's folder `last` lies where the user works; its incident runs another program.
    let owned = place.path("owned");
    place.executable(
        "evil",
        format!("#!/bin/sh\ntouch '{}'\nkill -6 $$\n", owned.display()).as_bytes(),
    );
    let copy = Command::new("cp").args(["-a", &own]).arg(place.path("last")).status();
    assert!(copy.expect("cp is there").success());
    let json = place.path("last/incident.json");
    let told = fs::read_to_string(&json).expect("the incident");
    let path = place.path("parser").canonicalize().expect("the program");
    let evil =
        told.replace(path.to_str().expect("a path"), place.path("evil").to_str().expect("a path"));
    assert_ne!(told, evil);
    fs::write(&json, evil).expect("the incident");
    let anonymize = |name: &str| {
        let mut command = at_home(&place, &["anonymize", "--algorithm", "castro", name]);
        command.output().expect("it starts")
    };
    let output = anonymize("last");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!owned.exists() && !place.path("last/report.stunt").exists());
    assert!(Path::new(&own).join("report.stunt").is_file(), "it was that of the store");
    // With a slash a folder is meant: not one that others can read, change or replace.
    for (bits, words) in
        [(0o755, "not closed to other users"), (0o770, "not closed to other users")]
    {
        mode(&place.path("last"), bits);
        says(&anonymize("./last"), 2, words);
    }
    mode(&place.path("last"), 0o700);
    mode(&place.path(""), 0o777);
    says(&anonymize("./last"), 2, "other users may replace it");
    mode(&place.path(""), 0o755);
    if stunt_record::user() == 0 {
        chown(place.path("last"), Some(4242), None).expect("an administrator may");
        says(&anonymize("./last/"), 2, "belongs to another user");
    }
    assert!(!owned.exists());
    // A file is as good as a folder: `last` is never a report that lies here.
    fs::remove_dir_all(place.path("last")).expect("it goes");
    let opened = Report::read(Path::new(&own).join("report.stunt")).expect("a report");
    let mut evil = opened.report;
    evil.program.name = "somebody-elses".to_owned();
    evil.write(&opened.doubles, place.path("last")).expect("a report");
    let output = at_home(&place, &["inspect", "last"]).output().expect("it starts");
    assert!(text(&output.stdout).starts_with("parser fails"), "{}", text(&output.stdout));
}

/// A `coredumpctl` that lists one crash.
fn coredumpctl(place: &Place, user: u32, exe: &str) {
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = info ]; then\necho '  Command Line: {exe} {file}'\nelse\n\
         echo '[{{\"time\":1700000000000000,\"pid\":4242,\"uid\":{user},\"gid\":0,\"sig\":6,\
         \"corefile\":\"present\",\"exe\":\"{exe}\",\"size\":1}}]'\nfi\n",
        file = place.path("private.txt").display()
    );
    fs::create_dir_all(place.path("bin")).expect("a folder");
    place.executable("bin/coredumpctl", script.as_bytes());
}

#[test]
fn attack_a_crash_of_another_user_becomes_an_incident() {
    let place = Place::new("watched");
    place.write("private.txt", CANARY);
    let program = place.compile("parser", PARSER, &[]);
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    let watch = || {
        let _ = fs::remove_file(place.path("home/state/stunt/watched"));
        let mut command = at_home(&place, &["watch", "--once", "--all", "parser"]);
        let output = command.env("PATH", &path).output().expect("it starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let own = stunt_record::user();
    coredumpctl(&place, own + 4242, &program);
    assert_eq!(watch(), "");
    assert!(incidents(&place).is_empty(), "it was another user's");
    coredumpctl(&place, own, "./parser");
    assert!(watch().contains("its path does not begin with /"));
    coredumpctl(&place, own, &program);
    mode(Path::new(&program), 0o777);
    assert!(watch().contains("other users may change it"));
    if own == 0 {
        mode(Path::new(&program), 0o755);
        chown(&program, Some(4242), None).expect("an administrator may");
        assert!(watch().contains("it belongs to another user"));
        chown(&program, Some(0), None).expect("an administrator may");
    }
    assert!(incidents(&place).is_empty());
    mode(Path::new(&program), 0o755);
    assert_eq!(watch(), "");
    assert_eq!(incidents(&place).len(), 1, "their own are kept");
    // What was in order then may not be when it is run.
    mode(Path::new(&program), 0o777);
    let late = at_home(&place, &["anonymize", "last"]).output().expect("it starts");
    says(&late, 2, "other users may change it");
}

#[test]
fn attack_a_program_that_others_can_change_is_run_unattended() {
    let place = Place::new("unattended");
    let program = recorded(&place);
    let owned = place.path("owned");
    // Somebody who may write to the program waits for the night.
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\nkill -6 $$\n", owned.display()))
        .expect("it is open");
    mode(&program, 0o777);
    let mut command = at_home(&place, &["work", "--time", "60s"]);
    let output = command.env("STUNT_TIME", "1").output().expect("it starts");
    let said = text(&output.stderr);
    assert!(said.contains("its program is not run, because other users may change it"), "{said}");
    assert!(!owned.exists());
    assert_eq!(incidents(&place)[0]["state"], "pending");
}

/// Fails because of a file that it opens by itself.
const OWN_FILE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char path[4096], line[256];
  snprintf(path, sizeof path, "%s/settings.ini", getenv("HOME"));
  FILE *f = fopen(path, "r");
  if (!f) return 1;
  while (fgets(line, sizeof line, f)) if (!strncmp(line, "workers=0", 9)) abort();
  return 0;
}
"#;

/// Fails because of a file in the folder that it is given.
const FOLDER: &str = r#"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  struct dirent **e;
  int n = scandir(argv[1], &e, 0, alphasort);
  for (int i = 0; i < n; i++) {
    char path[4096], line[256] = "";
    snprintf(path, sizeof path, "%s/%s", argv[1], e[i]->d_name);
    FILE *f = e[i]->d_name[0] == '.' ? 0 : fopen(path, "r");
    if (f && fgets(line, sizeof line, f) && strstr(line, "1981-23")) abort();
  }
  return 0;
}
"#;

/// Fails because of a datagram that it gets through a socket of the family that it is given.
const DATAGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char data[64] = "";
  if (argc > 1) {
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "dgram.sock"};
    int s = socket(AF_UNIX, SOCK_DGRAM, 0), c = socket(AF_UNIX, SOCK_DGRAM, 0);
    unlink(a.sun_path);
    if (bind(s, (void *)&a, sizeof a)) return 1;
    sendto(c, "Qsecret", 7, 0, (void *)&a, sizeof a);
    recv(s, data, sizeof data, 0);
  } else {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t l = sizeof a;
    int s = socket(AF_INET, SOCK_DGRAM, 0), c = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(s, (void *)&a, sizeof a) || getsockname(s, (void *)&a, &l)) return 1;
    sendto(c, "Qsecret", 7, 0, (void *)&a, sizeof a);
    recv(s, data, sizeof data, 0);
  }
  if (data[0] == 'Q') abort();
  return 0;
}
"#;

#[test]
fn attack_private_data_that_is_not_seen_is_called_fit_to_be_sent() {
    let place = Place::new("unseen");
    fs::create_dir_all(place.path("home")).expect("a folder");
    fs::create_dir_all(place.path("people")).expect("a folder");
    place.write("home/settings.ini", b"token=Qvistgaard\nworkers=0\n");
    place.write("people/a.csv", b"Wyczolkowska,1981-23-01\n");
    place.write("empty", b"");
    place.compile("own-file", OWN_FILE, &[]);
    place.compile("folder", FOLDER, &[]);
    place.compile("datagram", DATAGRAM, &[]);
    let parser = place.compile("parser", PARSER, &[]);
    let mut answers = Vec::new();
    for words in
        [&["./own-file"][..], &["./folder", "people"], &["./datagram"], &["./datagram", "local"]]
    {
        let mut command = at_home(&place, &["record", "--"]);
        let output = command.args(words).output().expect("it starts");
        assert_eq!(output.status.code(), Some(128 + 6), "{words:?}: {}", text(&output.stderr));
        let output = at_home(&place, &["anonymize", "last"]).output().expect("it starts");
        says(&output, 2, "the recorded run took in ");
        answers.push(output);
    }
    answers.push(place.stunt(&["anonymize", "-i", "empty", "--", &parser, "@@"]));
    place.write("in", b"BUG");
    answers.push(place.stunt(&["anonymize", "-i", "in", "--public", "file", "--", &parser, "@@"]));
    for answer in answers {
        says(&answer, 2, "send nothing of this run");
        let said = text(&answer.stderr) + &text(&answer.stdout);
        for kind in ["opens by itself", "folders", "UDP", "local sockets"] {
            assert!(said.contains(kind), "{kind} in {said}");
        }
        for advice in ["nothing to hide", "send it", "as it is"] {
            assert!(!said.contains(advice), "{advice} in {said}");
        }
    }
}
