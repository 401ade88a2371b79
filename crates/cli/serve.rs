//! `stunt serve`: the server of tickets, and its upkeep.
//!
//! Flags, calls, print: what a server does is in its own crate. A worker process closes itself off
//! before it opens a stranger's report.

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use stunt_cage::{Guards, close_off};
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Ending, Frame, Original, Run};
use stunt_report::{Opened, Report};
use stunt_search::PathCondition;
use stunt_server::store::{Place, Role};
use stunt_server::{Config, Rate, Worker, command};
use stunt_subject::{Error, Stopped, Subject, follow_on, run_double};
use tracing_subscriber::filter::LevelFilter;

use crate::outcome::{self, Outcome};
use crate::replay::{Agreement, Expected};
use crate::subject::Limits;

/// Flags of `stunt serve`.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "The first admin: stunt serve admin add NAME --data DIR. Reporters need the public \
key of the server, which is printed at its start and at /api/v1/recipient. TLS is a proxy's work."
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Subcommand)]
enum Command {
    /// Users from the command line
    Admin {
        #[command(subcommand)]
        command: Admin,
    },
    /// Make a token for a program, and print it; it is not shown again
    Token {
        /// What it is for
        name: String,
        /// What it may do
        #[arg(long, default_value = "reporter")]
        role: RoleName,
        #[command(flatten)]
        place: WhichStore,
    },
    /// Copy the database of a server, running or not, into a new file (SQLite)
    Backup {
        /// The copy
        file: PathBuf,
        #[command(flatten)]
        place: WhichStore,
    },
    /// Take the tables back to an older version, before an older stunt is used
    MigrateDown {
        /// The version; 0 removes all tables with everything in them
        version: i64,
        #[command(flatten)]
        place: WhichStore,
    },
    /// A replay in a closed process; the server starts it
    #[command(hide = true)]
    Worker(WorkerFlags),
}

#[derive(Subcommand)]
enum Admin {
    /// Add an admin
    Add(UserFlags),
    /// Set a user's password anew, and end its sessions
    Password(UserFlags),
}

#[derive(Args)]
struct UserFlags {
    /// The name to log in with
    name: String,
    /// Read the password from standard input; otherwise one is drawn and printed
    #[arg(long)]
    password_stdin: bool,
    #[command(flatten)]
    place: WhichStore,
}

/// Where the server's data is.
#[derive(Args)]
struct WhichStore {
    /// The server's folder
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// A PostgreSQL database instead of SQLite in the folder: postgres://USER@HOST/NAME
    #[arg(long, value_name = "URL", env = "STUNT_DATABASE", hide_env_values = true)]
    database: Option<String>,
}

impl WhichStore {
    /// A store that somebody has made.
    fn existing(&self) -> Result<Place> {
        let config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), &self.data);
        let place = Config { database: self.database.clone(), ..config }.place();
        if !place.is_there() {
            bail!("there is no database of a server in {}", self.data.display());
        }
        Ok(place)
    }

    fn place(&self) -> Result<Place> {
        stunt_server::make_folder(&self.data)?;
        let config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), &self.data);
        Ok(Config { database: self.database.clone(), ..config }.place())
    }
}

/// What a token may do.
#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    /// Ask, count, hand in reports
    Reporter,
    /// Read and work on tickets
    Maintainer,
    /// Change settings, users and tokens
    Admin,
}

#[derive(Args)]
struct Serve {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The server's folder: database, builds, key
    #[arg(long, value_name = "DIR", required = true)]
    data: Option<PathBuf>,
    /// A PostgreSQL database instead of SQLite, for many replicas: postgres://USER@HOST/NAME
    #[arg(long, value_name = "URL", env = "STUNT_DATABASE", hide_env_values = true)]
    database: Option<String>,
    /// The file with the secret key, the same for all replicas; without it, one in the folder
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Where people reach the server: for links, and for cookies that are sent over TLS alone
    #[arg(long, value_name = "URL", env = "STUNT_URL", value_parser = address)]
    url: Option<String>,
    /// A proxy whose X-Forwarded-For is believed; without it, all that comes through one is one address
    #[arg(long, value_name = "ADDRESS", env = "STUNT_PROXY", value_delimiter = ',')]
    proxy: Vec<IpAddr>,
    /// Requests a minute that an address of a reporter may make; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 240)]
    rate: u32,
    /// Largest sealed report, such as 16M
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = crate::run::size)]
    largest_report: u64,
    /// Do no replays; other replicas do
    #[arg(long)]
    no_replays: bool,
    /// Seconds that a replay may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    replay_timeout: u64,
    /// Memory that a replayed program may use
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = crate::run::size)]
    replay_memory: u64,
    /// Seconds between two looks at the state of an issue
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    poll_trackers: u64,
    /// Anybody may read /metrics; otherwise it needs a maintainer's token
    #[arg(long)]
    open_metrics: bool,
    /// Log as JSON, a line for each event
    #[arg(long)]
    log_json: bool,
}

/// Where people reach a server.
fn address(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains(char::is_whitespace) => {
            Ok(text.to_owned())
        }
        _ => Err("this begins with https:// or http://, and a host comes after".to_owned()),
    }
}

#[derive(Args)]
struct WorkerFlags {
    /// Seconds of processor time
    #[arg(long)]
    seconds: u64,
    /// Bytes of memory for the replayed program
    #[arg(long)]
    address_space: u64,
    #[command(flatten)]
    limits: Limits,
    /// The folder with the report, and the program in `program`
    folder: PathBuf,
}

/// Runs the command.
pub fn run(arguments: Arguments, verbose: u8) -> Result<Outcome> {
    match arguments.command {
        None => serve(arguments.serve, verbose)?,
        Some(Command::Admin { command: Admin::Add(flags) }) => {
            let password = password(&flags)?;
            let drawn = password.is_none();
            let password = command::add_admin(&flags.place.place()?, &flags.name, password)?;
            tell_password(drawn, &password)?;
        }
        Some(Command::Admin { command: Admin::Password(flags) }) => {
            let password = password(&flags)?;
            let drawn = password.is_none();
            let password =
                command::reset_password(&flags.place.existing()?, &flags.name, password)?;
            tell_password(drawn, &password)?;
        }
        Some(Command::Token { name, role, place }) => {
            let role = match role {
                RoleName::Reporter => Role::Reporter,
                RoleName::Maintainer => Role::Maintainer,
                RoleName::Admin => Role::Admin,
            };
            let secret = command::add_token(&place.place()?, &name, role)?;
            outcome::print(format!("{secret}\n").as_bytes())?;
        }
        Some(Command::Backup { file, place }) => {
            command::backup(&place.existing()?, &file)?;
            eprintln!("stunt: {} is a copy of the database", file.display());
            eprintln!(
                "stunt: `identity` and `builds` in the server's folder are files: copy them, too"
            );
        }
        Some(Command::MigrateDown { version, place }) => {
            command::migrate_down(&place.existing()?, version)?;
            eprintln!("stunt: the tables are those of version {version} or older");
        }
        Some(Command::Worker(flags)) => return worker(&flags),
    }
    Ok(Outcome::Done)
}

/// The password from standard input, if that is wanted.
fn password(flags: &UserFlags) -> Result<Option<String>> {
    if !flags.password_stdin {
        return Ok(None);
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        bail!("a terminal would show the password; pipe it in, or leave --password-stdin away");
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line).context("cannot read the password")?;
    Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()))
}

fn tell_password(drawn: bool, password: &str) -> Result<()> {
    if drawn {
        eprintln!("stunt: the password, which is not shown again:");
        outcome::print(format!("{password}\n").as_bytes())?;
    }
    Ok(())
}

fn serve(flags: Serve, verbose: u8) -> Result<()> {
    let data = flags.data.context("the server needs a folder: --data DIR")?;
    log(flags.log_json, verbose);
    let mut config = Config::new(flags.listen, data);
    config.database = flags.database;
    config.identity = flags.identity;
    config.url = flags.url;
    config.proxies = flags.proxy;
    config.rate = Rate { per_minute: flags.rate, burst: (flags.rate / 4).max(10) };
    config.sizes.parcel = usize::try_from(flags.largest_report)?;
    config.sizes.report = config.sizes.parcel;
    config.open_metrics = flags.open_metrics;
    config.poll_trackers = std::time::Duration::from_secs(flags.poll_trackers.max(1));
    if !flags.no_replays {
        config.worker = Some(Worker {
            program: std::env::current_exe().context("cannot find this program")?,
            seconds: flags.replay_timeout.max(1),
            memory: flags.replay_memory,
        });
    }
    let key = config.identity.clone().unwrap_or_else(|| config.data.join("identity"));
    command::serve(config, |address| {
        eprintln!("stunt: listening on http://{address}");
        if let Ok(identity) = stunt_server::identity(&key, false) {
            eprintln!("stunt: reports are sealed to {}", identity.recipient());
        }
    })?;
    Ok(())
}

/// A server logs by default: requests by route, never what is in them.
fn log(json: bool, verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::INFO,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    if json { log.json().init() } else { log.with_ansi(false).init() }
}

/// Closes this process off, runs the program in the machine, and prints what came of it.
fn worker(flags: &WorkerFlags) -> Result<Outcome> {
    let guards = Guards {
        seconds: flags.seconds + 5,
        // The machine has tables beside the program's memory.
        memory: flags.address_space.saturating_mul(2).saturating_add(4 << 30),
        file: 64 << 20,
    };
    let folder = flags.folder.canonicalize().context("there is no such folder")?;
    // From here on, whatever the report and the program do stays in the folder.
    close_off(&folder, guards)?;
    let opened = Report::read(folder.join("report.stunt"))?;
    let report = &opened.report;
    let expected = Expected::of(report)?;
    if let Some(hidden) = report.hidden_words() {
        bail!("{hidden} in the report, so nobody here knows how to call the program");
    }
    let program = folder.join("program").join(&report.program.name);
    let mut words = vec![OsString::from(&program)];
    words.extend(report.arguments.iter().map(OsString::from));
    let subject = Subject::of_report(&opened, program, words, flags.limits.of_runs())?;
    let run = match run_double(&subject, &opened.doubles, report.replay.check_memory) {
        Ok(run) if run.ending != Ending::TimedOut => run,
        Ok(_) => bail!("the program does not end in time"),
        Err(error) => bail!("{}", error.to_string().trim_end_matches('.')),
    };
    let agreement = expected.compare(&run, &subject.texts);
    // At once: what comes then may take more than this process has.
    outcome::print(format!("{}\n", result(&run, agreement)).as_bytes())?;
    if agreement == Agreement::Same {
        let counted = match path_bits(&subject, &opened, &expected) {
            Ok(bits) => json!({ "bits": bits }),
            Err(error) => json!({ "bits": null, "why": format!("{error:#}") }),
        };
        outcome::print(format!("{counted}\n").as_bytes())?;
    }
    Ok(Outcome::Done)
}

/// What a double that takes this path reveals, in bits: counted anew, whatever the report says. All
/// of its bytes count: that some of them are public is the report's word alone.
fn path_bits(subject: &Subject, opened: &Opened, expected: &Expected) -> Result<f64> {
    let mut input = Original::new();
    for bytes in &opened.doubles {
        input.push(bytes.clone(), Vec::new());
    }
    let check_memory = opened.report.replay.check_memory;
    let followed = match follow_on(
        subject,
        Some(&input),
        Relaxations::ALL,
        check_memory,
        subject.machine_timeout(),
    ) {
        Err(Error::Stopped(Stopped::Unsupported(what) | Stopped::Limit(what))) => bail!("{what}"),
        followed => followed?,
    };
    let Some(failure) = &followed.failure else { bail!("it does not fail where it is followed") };
    if !expected.is_met_by(failure) {
        bail!("it fails in another way where it is followed");
    }
    let mut pool = followed.pool;
    let bits = PathCondition::new(&mut pool, &followed.tests, &input).measure().total.value();
    if !bits.is_finite() {
        bail!("its path cannot be counted");
    }
    Ok(bits)
}

/// What the server reads: it is a run on a double, so its output may be seen.
fn result(run: &Run, agreement: Agreement) -> serde_json::Value {
    let frame = |frame: &Frame| {
        let location = frame.location.as_ref();
        json!({
            "module": frame.module,
            "symbol": frame.symbol,
            "location": location.map(|place| format!("{}:{}", place.file, place.line)),
            "offset": format!("{:#x}", frame.offset),
        })
    };
    let failure = run.failure.as_ref().map(|failure| {
        let frames: Vec<_> = failure.frames.iter().take(64).map(frame).collect();
        json!({ "words": failure.to_string(), "frames": frames })
    });
    let output =
        |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(64 << 10)]).into_owned();
    json!({
        "same": matches!(agreement, Agreement::Same | Agreement::SameInAnotherBuild),
        "another_build": agreement == Agreement::SameInAnotherBuild,
        "ending": run.ending.to_string(),
        "failure": failure,
        "stdout": output(run.stdout.reveal()),
        "stderr": output(run.stderr.reveal()),
    })
}
