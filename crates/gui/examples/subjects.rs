//! The crashes of `subjects/gui`, by both ways to minimise: a row of a table for each.
//!
//! `cargo xtask eval --gui` runs it. The first argument is the folder of the npm packages, the second that of the
//! subjects; names that follow choose some. What goes wrong with a subject is a row that says so.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_gui::chromium::Look;
use stunt_gui::minimise::{Budget, Checked};
use stunt_gui::{Algorithm, Case, Double, Pool, Recording, Settings, Steps, anonymize, gaudi};

/// Tabs at once.
const WIDTH: usize = 4;
/// What a double may take.
const TIME: Duration = Duration::from_secs(60);
/// What GAUDI's reduction may take: it has no bound of its own.
const GAUDI_TIME: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [packages, subjects, names @ ..] = &arguments[..] else {
        eprintln!("usage: subjects PACKAGES SUBJECTS [NAME…]");
        return;
    };
    let (packages, subjects) = (PathBuf::from(packages), PathBuf::from(subjects));
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = listener.local_addr().expect("it has one");
    let roots = Arc::new((packages, subjects.clone()));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let roots = Arc::clone(&roots);
            // One that goes away early gets nothing.
            thread::spawn(move || serve(&stream, &roots.0, &roots.1));
        }
    });
    let pool = Pool::new(Look::Headless, None, WIDTH).expect("Chromium is there");
    println!(
        "| subject | steps | left | replays | seconds | reveals | trusted | GAUDI: left | replays | seconds |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    let mut folders: Vec<PathBuf> = fs::read_dir(&subjects)
        .expect("the subjects are there")
        .flatten()
        .map(|it| it.path())
        .filter(|it| it.join("actions.json").is_file())
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !names.is_empty() && !names.iter().any(|it| name.contains(it.as_str())) {
            continue;
        }
        let url = format!("http://{address}/subjects/gui/{name}/index.html");
        println!("| {name} | {} |", row(&pool, &folder, url).unwrap_or_else(|why| why));
    }
}

fn row(pool: &Pool, folder: &Path, url: String) -> Result<String, String> {
    let bytes = fs::read(folder.join("actions.json")).map_err(|error| error.to_string())?;
    let original = Recording::read(&bytes).map_err(|error| error.to_string())?;
    let case = Case::new(pool, &original, Some(url)).map_err(|error| error.to_string())?;
    let cancel = AtomicBool::new(false);
    let settings = Settings {
        algorithm: Algorithm::Complements,
        time: TIME,
        trials: 20_000,
        cancel: &cancel,
        stage: &|_| {},
    };
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let double = anonymize(&case, &original, settings, &mut rng);
    let double = double.map_err(|error| error.to_string())?;
    if std::env::var_os("STUNT_GUI_DOUBLES").is_some() {
        eprintln!("{}", String::from_utf8_lossy(&double.bytes.0));
    }
    Ok(format!("{} | {}", ours(&double), theirs(&case, &original)))
}

fn ours(double: &Double) -> String {
    let minimal = double.minimised.checked == Checked::OneMinimal;
    format!(
        "{} | {}{} | {} | {:.1} | {} | {} of {}",
        double.before,
        double.recording.actions().len(),
        if minimal { "" } else { " (not minimal)" },
        double.trials,
        double.took.as_secs_f64(),
        double.claim.total(),
        double.proved[1].0,
        double.proved[1].1,
    )
}

/// GAUDI's two phases alone, as in the paper: steps, and nothing else.
fn theirs(case: &Case<'_>, original: &Recording) -> String {
    let begun = Instant::now();
    let over = || begun.elapsed() >= GAUDI_TIME;
    let budget = Budget { trials: 1 << 20, over: &over };
    let mut tester = Steps { case, recording: original };
    let count = original.actions().len();
    match gaudi::minimise(count, &original.needs(), &mut tester, budget) {
        Ok(Some(found)) => {
            let done = found.checked == Checked::OneMinimal;
            let more = if done { "" } else { " (not done)" };
            let seconds = begun.elapsed().as_secs_f64();
            format!("{}{more} | {} | {seconds:.1}", found.steps.len(), found.trials)
        }
        Ok(None) => "does not fail | |".to_owned(),
        Err(error) => format!("{error} | |"),
    }
}

/// A file of the packages or of the subjects; of one request for each connection.
fn serve(mut stream: &TcpStream, packages: &Path, subjects: &Path) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next()?.ok()?;
    // The head ends with an empty line.
    lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
    let path = request.split(' ').nth(1)?.split(['?', '#']).next()?.to_owned();
    let inside = !path.contains("..");
    let file = match path.strip_prefix("/subjects/gui/") {
        Some(rest) => subjects.join(rest),
        None => packages.join(path.trim_start_matches('/')),
    };
    let kind = match file.extension().and_then(|it| it.to_str()) {
        Some("html") => "text/html",
        Some("js" | "mjs") => "text/javascript",
        Some("css") => "text/css",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    };
    let (status, body) = match fs::read(&file).ok().filter(|_| inside) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}
