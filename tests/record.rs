//! `stunt record` as its users see it: the program is left as it is, and what it read is kept when it
//! fails. The programs are in `record/programs.c`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The programs, compiled once for each process of tests.
fn programs() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record");
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join(format!("programs-{}", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record/programs.c");
        let status = Command::new("gcc")
            .args(["-g", "-O1", "-pthread", "-o"])
            .arg(&program)
            .arg(source)
            .status()
            .expect("gcc");
        assert!(status.success());
        program
    })
}

/// A user with a home of its own.
struct User {
    home: PathBuf,
}

impl User {
    fn new(name: &str) -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record").join(name);
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(home.join("run")).expect("a folder");
        Self { home }
    }

    fn stunt(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stunt"));
        command
            .args(arguments)
            .current_dir(&self.home)
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env("XDG_RUNTIME_DIR", self.home.join("run"))
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null());
        command
    }

    /// Records one of the programs.
    fn record(&self, flags: &[&str], words: &[&str]) -> Command {
        let mut command = self.stunt(&["record"]);
        command.args(flags).arg("--").arg(programs()).args(words);
        command
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.stunt(arguments).output().expect("stunt");
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// All incidents, the newest first.
    fn incidents(&self) -> Vec<Value> {
        let list = self.json(&["incidents", "--json"]);
        let list = list.as_array().expect("a list").clone();
        list.iter()
            .map(|it| self.json(&["incidents", "show", it["id"].as_str().unwrap(), "--json"]))
            .collect()
    }

    /// The one incident.
    fn incident(&self) -> Value {
        let mut all = self.incidents();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    /// The bytes of a source.
    fn data(&self, incident: &Value, source: &Value) -> Vec<u8> {
        let folder = self.home.join("state/stunt/incidents").join(incident["id"].as_str().unwrap());
        let number = source["stored"]["data"].as_u64().expect("a copy").to_string();
        let path = folder.join("data").join(number);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        fs::read(path).unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sources<'a>(incident: &'a Value, from: &str) -> Vec<&'a Value> {
    let all = incident["sources"].as_array().unwrap();
    all.iter().filter(|it| it["from"] == from).collect()
}

fn file_source<'a>(incident: &'a Value, name: &str) -> &'a Value {
    let ends = |it: &&&Value| it["path"].as_str().unwrap().ends_with(name);
    let all = sources(incident, "file");
    all.iter().find(ends).unwrap_or_else(|| panic!("{name} in {all:?}"))
}

fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("stunt starts");
    // A program that does not read everything closes its side.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().expect("an end")
}

/// What a native run does.
fn natively(words: &[&str]) -> Output {
    Command::new(programs()).args(words).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn output_and_status_are_the_programs_own() {
    let user = User::new("own");
    let output = user.stunt(&["record", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
    let output = { output }.output().unwrap();
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("out\n".into(), "err\n".into()));
    assert_eq!(output.status.code(), Some(7));
    for words in [&["status", "0"][..], &["status", "255"], &["terminal"], &["say", "3"]] {
        let (own, recorded) = (natively(words), user.record(&[], words).output().unwrap());
        assert_eq!((own.stdout, own.stderr), (recorded.stdout, recorded.stderr), "{words:?}");
        assert_eq!(own.status.code(), recorded.status.code());
    }
    // Signals that people send are no failures; the status is that of a shell.
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGKILL, libc::SIGPIPE] {
        let number = signal.to_string();
        let output = user.record(&[], &["raise", &number]).output().unwrap();
        assert_eq!(output.status.code(), Some(128 + signal));
        assert_eq!(text(&output.stderr), "");
    }
    assert!(user.incidents().is_empty());
}

#[test]
fn a_crash_on_a_file_keeps_the_file() {
    let user = User::new("file");
    user.file("private.txt", "name: alice boom\n");
    let output = user.record(&[], &["file", "private.txt"]).output().unwrap();
    assert_eq!(output.status.code(), Some(128 + libc::SIGSEGV));
    assert_eq!(text(&output.stdout), "");
    let said = text(&output.stderr);
    assert!(said.contains("SIGSEGV in parse") && !said.contains("alice"), "{said}");
    let incident = user.incident();
    assert_eq!(incident["failure"]["signal"], libc::SIGSEGV);
    assert_eq!(incident["state"], "pending");
    assert_eq!(incident["arguments"], serde_json::json!(["file", "private.txt"]));
    let file = file_source(&incident, "/private.txt");
    assert_eq!(file["copied"], "as-opened");
    assert_eq!(user.data(&incident, file), b"name: alice boom\n");
    // The system's files are named, and nothing more.
    let library = file_source(&incident, "libc.so.6");
    assert!(library["copied"] == "system" && library["stored"].is_null());
    assert!(incident["environment"].as_array().unwrap().is_empty());
}

#[test]
fn a_file_that_the_program_changed_is_kept_as_it_was() {
    let user = User::new("rewrite");
    user.file("notes.txt", "before boom");
    let output = user.record(&[], &["rewrite", "notes.txt"]).output().unwrap();
    assert_eq!(output.status.code(), Some(139));
    assert_eq!(fs::read_to_string(user.home.join("notes.txt")).unwrap(), "after");
    let incident = user.incident();
    let file = file_source(&incident, "/notes.txt");
    assert_eq!(user.data(&incident, file), b"before boom");
    assert_eq!(file["written"], true);
}

#[test]
fn large_files_are_named_only() {
    let user = User::new("large");
    user.file("big.txt", &format!("boom{}", "x".repeat(5000)));
    let output = user.record(&["--largest-file", "4K"], &["file", "big.txt"]).output().unwrap();
    assert_eq!(output.status.code(), Some(139));
    let incident = user.incident();
    let file = file_source(&incident, "/big.txt");
    assert!(file["copied"] == "too-large" && file["stored"].is_null() && file["bytes"] == 5004);
}

#[test]
fn standard_input_is_kept_whatever_it_is() {
    let user = User::new("stdin");
    let input = "a secret, and boom ".repeat(1000);
    let output = feed(user.record(&[], &["stdin"]), input.as_bytes());
    assert_eq!(output.status.code(), Some(139));
    let incident = user.incident();
    let stdin = sources(&incident, "stdin")[0];
    assert_eq!((&stdin["kind"], &stdin["complete"]), (&"pipe".into(), &true.into()));
    assert_eq!(user.data(&incident, stdin), input.as_bytes());
    // A file is not listened to, but read again.
    let path = user.file("in.txt", &input);
    let file = fs::File::open(path).unwrap();
    let output = user.record(&["--stats"], &["stdin"]).stdin(file).output().unwrap();
    assert_eq!(output.status.code(), Some(139));
    let incident = user.incidents().remove(0);
    let stdin = sources(&incident, "stdin")[0];
    assert_eq!(stdin["kind"], "file");
    assert_eq!(user.data(&incident, stdin), input.as_bytes());
}

#[test]
fn a_pipe_with_a_name_is_kept() {
    let user = User::new("fifo");
    let script = format!(
        "exec {} record -- {} file <(printf 'from boom')",
        env!("CARGO_BIN_EXE_stunt"),
        programs().display()
    );
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(&user.home);
    command.env("HOME", &user.home).env("XDG_STATE_HOME", user.home.join("state"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(139), "{}", text(&output.stderr));
    let incident = user.incident();
    let copies: Vec<Vec<u8>> = sources(&incident, "file")
        .into_iter()
        .filter(|it| !it["stored"].is_null())
        .map(|it| user.data(&incident, it))
        .collect();
    assert_eq!(copies, [b"from boom"]);
}

/// Starts a server, and says on which port it listens.
fn server(mut command: Command) -> (Child, u16) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().parse().expect("a port"))
}

/// Sends a request, and gives the answer.
fn ask(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    // A server that crashes may reset the connection.
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn requests_are_kept_however_they_are_read() {
    for how in ["read", "recv", "readv", "dup"] {
        let user = User::new(&format!("server-{how}"));
        let (mut child, port) = server(user.record(&[], &["serve", "2", how]));
        assert_eq!(ask(port, "GET /first"), "ok\n");
        assert_eq!(ask(port, "GET /boom"), "");
        assert_eq!(child.wait().unwrap().code(), Some(139), "{how}");
        let incident = user.incident();
        let connections = sources(&incident, "socket");
        let bytes: Vec<Vec<u8>> = connections.iter().map(|it| user.data(&incident, it)).collect();
        assert_eq!(bytes, [b"GET /first".to_vec(), b"GET /boom".to_vec()], "{how}");
        for (connection, ordinal) in connections.into_iter().zip(0..) {
            assert_eq!(connection["ordinal"], ordinal);
            assert_eq!(connection["way"]["accepted"], port);
            assert_eq!(connection["complete"], true);
        }
        assert!(incident["notes"].as_array().unwrap().is_empty(), "{how}: {}", incident["notes"]);
    }
}

#[test]
fn a_worker_that_crashes_is_told_while_the_server_goes_on() {
    let user = User::new("fork");
    let (mut child, port) = server(user.record(&[], &["serve", "3", "read", "fork"]));
    assert_eq!(ask(port, "one"), "ok\n");
    assert_eq!(ask(port, "boom"), "");
    assert_eq!(ask(port, "three"), "ok\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let incident = user.incident();
    assert_eq!(incident["failed_in"], "fork");
    let of_failed: Vec<bool> =
        sources(&incident, "socket").iter().map(|it| it["of_failed"].as_bool().unwrap()).collect();
    assert_eq!(of_failed, [false, true]);
}

#[test]
fn threads_children_and_other_programs_are_followed() {
    let user = User::new("followed");
    user.file("t.txt", "boom");
    let output = user.record(&[], &["thread", "t.txt"]).output().unwrap();
    assert_eq!(output.status.code(), Some(139));
    assert_eq!(user.incident()["failed_in"], "first");
    // A shell that starts the program has not failed itself.
    let line = format!("{} file t.txt; echo status $?", programs().display());
    let output = user.stunt(&["record", "--", "sh", "-c", &line]).output().unwrap();
    assert_eq!((text(&output.stdout), output.status.code()), ("status 139\n".into(), Some(0)));
    let incident = user.incidents().remove(0);
    let path = incident["failed_in"]["other"]["path"].as_str().unwrap().to_owned();
    assert!(path.ends_with(programs().file_name().unwrap().to_str().unwrap()), "{path}");
    let file = file_source(&incident, "/t.txt");
    assert_eq!(user.data(&incident, file), b"boom");
}

#[test]
fn signals_reach_the_program() {
    let user = User::new("signals");
    let mut child = user.record(&[], &["signals", "2"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    for signal in [libc::SIGUSR1, libc::SIGTERM] {
        let stunt = child.id().to_string();
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(&stunt).status().unwrap();
        assert!(sent.success());
        assert_eq!(lines.next().unwrap().unwrap(), format!("signal {signal}"));
    }
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(9), None));
}

#[test]
fn a_terminal_and_its_keys_work_as_before() {
    let user = User::new("terminal");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record/terminal.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(env!("CARGO_BIN_EXE_stunt")).arg(programs()).current_dir(&user.home);
    command.env("HOME", &user.home).env("XDG_STATE_HOME", user.home.join("state"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(user.incidents().is_empty());
}

#[test]
fn what_the_user_says_is_a_failure() {
    let user = User::new("stated");
    let output = user.record(&["--fails-if", "stdout~total: -"], &["say", "-5"]).output().unwrap();
    assert_eq!((text(&output.stdout), output.status.code()), ("total: -5\n".into(), Some(0)));
    let incident = user.incident();
    assert_eq!(incident["fails_if"], "stdout~total: -");
    assert_eq!(incident["failure"]["kind"], "stated");
    for (condition, words) in [("stdout~total: -", ["say", "5"]), ("exit=3", ["status", "4"])] {
        user.record(&["--fails-if", condition], &words).output().unwrap();
    }
    assert_eq!(user.incidents().len(), 1);
    user.record(&["--fails-if", "exit=4"], &["status", "4"]).output().unwrap();
    assert_eq!(user.incidents().len(), 2);
}

#[test]
fn the_exception_of_a_script_is_a_failure() {
    let user = User::new("script");
    user.file("data.txt", "private");
    user.file("s.py", "text = open('data.txt').read()\nint(text)\n");
    let output = user.stunt(&["record", "--", "python3", "s.py"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let incident = user.incident();
    assert_eq!(incident["failure"]["kind"], "exception");
    let file = file_source(&incident, "/data.txt");
    assert_eq!(user.data(&incident, file), b"private");
}

#[test]
fn only_chosen_variables_are_kept() {
    let user = User::new("environment");
    user.file("x.txt", "boom");
    let mut command = user.record(&["--keep-env", "CHOSEN"], &["file", "x.txt"]);
    command.env("CHOSEN", "yes").env("HIDDEN", "planted-value").output().unwrap();
    let incident = user.incident();
    assert_eq!(incident["environment"], serde_json::json!([["CHOSEN", "yes"]]));
    assert!(!incident.to_string().contains("planted-value"));
}

#[test]
fn a_request_is_made_of_the_last_run() {
    let user = User::new("request");
    let request = |flags: &[&str]| {
        user.stunt(&[&["request", "the total is wrong"], flags].concat()).output().unwrap()
    };
    let output = request(&["--fails-if", "stdout~total"]);
    assert_eq!(output.status.code(), Some(2));
    user.file("sum.txt", "1 2 3");
    feed(user.record(&[], &["stdin"]), b"never mind");
    let output = user.record(&[], &["file", "sum.txt"]).output().unwrap();
    assert_eq!(text(&output.stdout), "5\n");
    // It is not an incident yet, and lies where it goes with the session.
    assert!(user.incidents().is_empty() && user.home.join("run/stunt/last").is_dir());
    let output = request(&["--fails-if", "exit=3"]);
    assert!(text(&output.stderr).contains("exited with status 0"), "{}", text(&output.stderr));
    let output = request(&["--fails-if", "stdout~^5"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let incident = user.incident();
    assert_eq!(
        (&incident["maker"], &incident["fails_if"]),
        (&"request".into(), &"stdout~^5".into())
    );
    assert_eq!(incident["request"], "the total is wrong");
    let file = file_source(&incident, "/sum.txt");
    assert_eq!(user.data(&incident, file), b"1 2 3");
    assert!(!user.home.join("run/stunt/last").exists());
    // Nothing is kept if that is not wanted, or if it would have to be written to disk.
    user.record(&["--forget"], &["file", "sum.txt"]).output().unwrap();
    assert!(!user.home.join("run/stunt/last").exists());
    let mut command = user.record(&[], &["file", "sum.txt"]);
    command.env_remove("XDG_RUNTIME_DIR").output().unwrap();
    assert!(!user.home.join("state/stunt/last").exists());
    let mut command = user.record(&["--keep-last"], &["file", "sum.txt"]);
    command.env_remove("XDG_RUNTIME_DIR").output().unwrap();
    assert!(user.home.join("state/stunt/last").is_dir());
}

#[test]
fn incidents_are_listed_shown_and_removed() {
    let user = User::new("incidents");
    assert_eq!(user.json(&["incidents", "--json"]), serde_json::json!([]));
    user.file("p.txt", "private boom");
    for _ in 0..2 {
        user.record(&[], &["file", "p.txt"]).output().unwrap();
    }
    let list = user.json(&["incidents", "list", "--json"]);
    assert_eq!(list.as_array().unwrap().len(), 2);
    let shown = user.stunt(&["incidents", "show", "last"]).output().unwrap();
    let shown = text(&shown.stdout);
    assert!(shown.contains("p.txt: 12 bytes, copied") && !shown.contains("private"), "{shown}");
    let id = list[0]["id"].as_str().unwrap();
    assert!(user.stunt(&["incidents", "delete", id]).status().unwrap().success());
    assert_eq!(user.incidents().len(), 1);
    let missing = user.stunt(&["incidents", "show", id]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    let gone = user.json(&["incidents", "prune", "--size", "0", "--json"]);
    assert_eq!(gone.as_array().unwrap().len(), 1);
    assert!(user.incidents().is_empty());
}

/// A `coredumpctl` that prints what the real one prints.
fn fake_coredumpctl(user: &User, crashed: &Path) -> PathBuf {
    let folder = user.home.join("bin");
    fs::create_dir_all(&folder).unwrap();
    let exe = crashed.display();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = info ]; then\ncat <<'END'\n           PID: 4242 (programs)\n        \
         Signal: 11 (SEGV)\n  Command Line: {exe} file {home}/c.txt\n    Executable: {exe}\nEND\nelse\n\
         echo '[{{\"time\":1700000000000000,\"pid\":4242,\"uid\":{user},\"gid\":1000,\"sig\":11,\
         \"corefile\":\"present\",\"exe\":\"{exe}\",\"size\":18944}},{{\"time\":1700000001000000,\
         \"pid\":4243,\"uid\":1000,\"gid\":1000,\"sig\":6,\"corefile\":\"missing\",\"exe\":\"/usr/bin/other\",\
         \"size\":null}}]'\nfi\n",
        home = user.home.display(),
        user = stunt_record::user(),
    );
    let path = folder.join("coredumpctl");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn crashes_that_the_system_lists_become_incidents_once() {
    let user = User::new("watch");
    user.file("c.txt", "a core of the matter");
    let bin = fake_coredumpctl(&user, programs());
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let name = programs().file_name().unwrap().to_str().unwrap();
    let watch = |flags: &[&str]| {
        let mut command = user.stunt(&[&["watch", "--once"], flags, &[name]].concat());
        command.env("PATH", &path).output().unwrap()
    };
    let output = watch(&["--all"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let incident = user.incident();
    assert_eq!((&incident["maker"], &incident["made"]), (&"watch".into(), &1_700_000_000.into()));
    assert_eq!(incident["failure"]["words"], "SIGSEGV");
    let file = file_source(&incident, "/c.txt");
    assert_eq!(user.data(&incident, file), b"a core of the matter");
    watch(&["--all"]);
    assert_eq!(user.incidents().len(), 1);
    // Without it, a sentence says what to do.
    let mut command = user.stunt(&["watch", "--once", "x"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no coredumpctl"), "{}", text(&output.stderr));
}

#[test]
fn pending_incidents_are_worked_on() {
    let user = User::new("work");
    let output = user.stunt(&["work", "--idle"]).output().unwrap();
    assert!(text(&output.stderr).contains("no incident is pending"));
    user.file("w.txt", "xx boom yy");
    let output = user.record(&[], &["file", "w.txt"]).output().unwrap();
    assert_eq!(output.status.code(), Some(139));
    // No time is enough for nothing.
    user.stunt(&["work", "--idle", "--time", "0"]).output().unwrap();
    assert_eq!(user.incident()["state"], "pending");
    let mut command = user.stunt(&["work", "--idle", "--time", "10m"]);
    let output = command.env("STUNT_TIME", "2").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let incident = user.incident();
    assert_eq!(incident["state"], "anonymised");
    let folder = user.home.join("state/stunt/incidents").join(incident["id"].as_str().unwrap());
    assert!(folder.join("report.stunt").is_file());
}
