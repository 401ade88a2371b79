//! Real trackers for tests: prepared once for all tests, started on a free port, ended by id.
//!
//! A prepared tracker lies in a folder beside the build's results and is made by whichever test
//! comes first; the others wait for it. Each test works on a copy. `cargo xtask test` installs
//! what is needed; without it these tests fail with a sentence.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a server may take to answer: machines that test are busy.
const PATIENCE: Duration = Duration::from_secs(240);

/// A tracker that runs for one test.
pub struct Real {
    /// Where it is.
    pub url: String,
    server: Child,
    folder: PathBuf,
}

impl Real {
    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Says in which format a Redmine reads texts.
    pub fn set_text_formatting(&self, format: &str) {
        let code = format!("Setting.text_formatting = '{format}'; puts Setting.text_formatting");
        must_work(redmine_command(&self.folder, "rails").args(["runner", &code]));
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The key that the prepared Redmine knows its administrator by.
pub const REDMINE_KEY: &str = "5dac8cb5c0a9a6a0d5a8b94d8ba8a9f6e3c5d7a1";
/// Redmine's code, where Debian puts it.
const REDMINE: &str = "/usr/share/redmine";
/// What Redmine's database needs before it can take issues: its defaults, a project, and a key.
const REDMINE_SEED: &str = r#"
Setting.rest_api_enabled = '1'
Redmine::DefaultData::Loader.load('en')
admin = User.find_by_login('admin')
admin.update_column(:must_change_passwd, false)
token = Token.new(user: admin, action: 'api')
token.save!
token.update_column(:value, ENV.fetch('STUNT_REDMINE_KEY'))
project = Project.new(name: 'Program', identifier: 'program')
project.trackers = Tracker.all
project.enabled_module_names = ['issue_tracking']
project.save!
"#;

/// A Redmine with the project `program`. Its administrator has [`REDMINE_KEY`].
pub fn redmine() -> Real {
    assert!(
        Path::new(REDMINE).join("config.ru").exists(),
        "Redmine is absent: `apt-get install redmine redmine-sqlite puma`, \
         or `cargo xtask test`, which does it"
    );
    let prepared = prepared("redmine", |folder| {
        for part in ["config", "files", "log", "tmp", "public"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        fs::write(folder.join("config/secret_key.txt"), "0".repeat(64)).unwrap();
        fs::write(folder.join("seed.rb"), REDMINE_SEED).unwrap();
        redmine_database(folder);
        let seed = folder.join("seed.rb");
        must_work(redmine_command(folder, "rake").arg("db:migrate"));
        must_work(redmine_command(folder, "rails").arg("runner").arg(seed));
    });
    start("redmine", &prepared, |folder, port| {
        redmine_database(folder);
        let mut command = redmine_command(folder, "puma");
        command.args(["-b", &format!("tcp://127.0.0.1:{port}"), "config.ru"]);
        command
    })
}

fn redmine_database(folder: &Path) {
    let text = format!(
        "production:\n  adapter: sqlite3\n  database: {}\n  timeout: 20000\n  encoding: utf8\n",
        folder.join("redmine.db").display()
    );
    fs::write(folder.join("config/database.yml"), text).unwrap();
}

/// A command in Redmine's folder, for the instance in `folder`.
fn redmine_command(folder: &Path, program: &str) -> Command {
    let mut command = if program == "puma" {
        Command::new("puma")
    } else {
        let mut command = Command::new("ruby");
        command.arg(format!("bin/{program}"));
        command
    };
    // An instance is a path below a folder of Redmine's own, which leads up to the root again.
    let instance = format!("../../../..{}", folder.display());
    command
        .current_dir(REDMINE)
        .env("RAILS_ENV", "production")
        .env("X_DEBIAN_SITEID", instance)
        .env("SCHEMA", folder.join("schema.rb"))
        .env("STUNT_REDMINE_KEY", REDMINE_KEY);
    command
}

/// Who may do everything in the prepared Trac, and with which password.
pub const TRAC_USER: (&str, &str) = ("reporter", "pass word");

/// A Trac with an empty environment.
pub fn trac() -> Real {
    let prepared = prepared("trac", |folder| {
        let env = folder.join("env");
        let admin = |arguments: &[&str]| {
            must_work(Command::new(trac_tool("trac-admin")).arg(&env).args(arguments));
        };
        admin(&["initenv", "Program", "sqlite:db/trac.db"]);
        admin(&["permission", "add", TRAC_USER.0, "TRAC_ADMIN"]);
        // The password, as htpasswd writes it.
        let line = format!("{}:$1$stunt$mIYdQ6jCiGSv7J83wIgYs.\n", TRAC_USER.0);
        fs::write(folder.join("htpasswd"), line).unwrap();
    });
    start("trac", &prepared, |folder, port| {
        let mut command = Command::new(trac_tool("tracd"));
        let passwords = format!("env,{},trac", folder.join("htpasswd").display());
        command.args(["-s", "--hostname", "127.0.0.1", "-p", &port.to_string()]);
        command.args(["--basic-auth", &passwords]).arg(folder.join("env"));
        command
    })
}

/// A program of the Python environment that `cargo xtask test` made.
fn trac_tool(name: &str) -> PathBuf {
    let python = std::env::var_os("STUNT_PYTHON").map(PathBuf::from);
    let tool = python.and_then(|python| Some(python.parent()?.join(name)));
    let tool = tool.expect(
        "STUNT_PYTHON is not set: it names a Python with Trac. `cargo xtask test` makes one",
    );
    assert!(tool.exists(), "{} is absent: `pip install Trac` there", tool.display());
    tool
}

/// The folder of a prepared tracker; the first who comes makes it.
fn prepared(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trackers");
    fs::create_dir_all(&base).unwrap();
    let lock = File::create(base.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let folder = base.join(name);
    let done = base.join(format!("{name}.done"));
    if !done.exists() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        make(&folder);
        File::create(done).unwrap();
    }
    folder
}

fn start(name: &str, prepared: &Path, command: impl FnOnce(&Path, u16) -> Command) -> Real {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = std::env::temp_dir().join(format!("stunt-{name}-{}-{port}", std::process::id()));
    must_work(Command::new("cp").arg("-a").arg(prepared).arg(&folder));
    let log = File::create(folder.join("server.log")).unwrap();
    let errors = log.try_clone().unwrap();
    let mut command = command(&folder, port);
    let server = command.stdin(Stdio::null()).stdout(log).stderr(errors).spawn();
    let server = server.unwrap_or_else(|error| panic!("{name} does not start: {error}"));
    let mut real = Real { url: format!("http://127.0.0.1:{port}"), server, folder };
    let start = Instant::now();
    while get(&real.url).is_none() {
        let ended = real.server.try_wait().unwrap().is_some();
        if ended || start.elapsed() > PATIENCE {
            let log = fs::read_to_string(real.folder.join("server.log")).unwrap_or_default();
            panic!("{name} does not answer: {log}");
        }
        thread::sleep(Duration::from_millis(200));
    }
    real
}

fn must_work(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| {
        panic!("{command:?} cannot be started: {error}");
    });
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {text}");
}

/// What is at an address, if it answers with 200.
pub fn get(url: &str) -> Option<Vec<u8>> {
    fetch(url, &[])
}

/// The same with headers.
pub fn fetch(url: &str, headers: &[(&str, &str)]) -> Option<Vec<u8>> {
    let mut request = ureq::get(url).config().proxy(None).build();
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.call().ok()?.body_mut().read_to_vec().ok()
}
