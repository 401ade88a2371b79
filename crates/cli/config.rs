//! `stunt config`: what the configuration says, where each value comes from, and what is wrong.
//!
//! Always: secrets are not shown.

use std::fmt::Write;

use anyhow::Result;
use serde_json::{Value, json};
use stunt_client::config::{Layer, Loaded, Origin, Places, Setting, load};
use stunt_report::visible;

use crate::outcome::{self, Outcome};

/// Flags of `stunt config`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Find everything that is wrong with the configuration files, with file and line
    Check,
    /// Every setting with its value and where that comes from; tokens are hidden
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let places = Places::usual();
    let loaded = load(&places);
    match &arguments.action {
        Action::Check => {
            for trouble in &loaded.troubles {
                println!("{}", visible(&trouble.to_string()));
            }
            if !loaded.troubles.is_empty() {
                return Ok(Outcome::Wrong);
            }
            let files: Vec<String> =
                loaded.files.iter().map(|file| file.path.display().to_string()).collect();
            if files.is_empty() {
                println!("There is no configuration file; every setting has its default.");
            } else {
                println!("Nothing is wrong with {}.", visible(&files.join(", ")));
            }
            Ok(Outcome::Done)
        }
        Action::Show { json } => {
            let text = if *json { to_json(&loaded)? } else { to_text(&places, &loaded) };
            outcome::print(text.as_bytes())?;
            for trouble in &loaded.troubles {
                eprintln!("stunt: {}", visible(&trouble.to_string()));
            }
            Ok(if loaded.troubles.is_empty() { Outcome::Done } else { Outcome::Wrong })
        }
    }
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::File { layer, path, line } => format!("{layer}: {}:{line}", path.display()),
    }
}

fn to_text(places: &Places, loaded: &Loaded) -> String {
    let mut text = String::new();
    let files = [
        (Layer::System, Some(&places.system)),
        (Layer::User, places.user.as_ref()),
        (Layer::Project, places.project.as_ref()),
    ];
    for (layer, path) in files {
        let read = loaded.files.iter().any(|file| file.layer == layer);
        let path = path.map_or_else(|| "none".to_owned(), |path| path.display().to_string());
        let absent = if read { "" } else { " (not read)" };
        let _ = writeln!(text, "# {layer}: {}{absent}", visible(&path));
    }
    let (mut table, mut rows) = ("", Vec::new());
    for setting in loaded.settings.all() {
        let (of, name) = setting.key.name.split_once('.').unwrap_or(("", setting.key.name));
        if of != table {
            rows.push((format!("\n[{of}]"), String::new()));
            table = of;
        }
        rows.push(row(name, setting));
    }
    let width = rows.iter().map(|(line, _)| line.trim_start().chars().count()).max().unwrap_or(0);
    for (line, comment) in rows {
        if comment.is_empty() {
            let _ = writeln!(text, "{line}");
        } else {
            let _ = writeln!(text, "{line:<width$}  # {comment}");
        }
    }
    text
}

fn row(name: &str, setting: &Setting) -> (String, String) {
    let line = match &setting.value {
        Some(value) => format!("{name} = {}", visible(&value.to_string())),
        None => format!("# {name} is not set"),
    };
    let mut comment = visible(&origin(&setting.origin));
    if setting.value.is_none() {
        comment = setting.key.meaning.to_owned();
    }
    for other in &setting.overruled {
        comment += &format!("; not {}", visible(&origin(other)));
    }
    (line, comment)
}

fn to_json(loaded: &Loaded) -> Result<String> {
    let place = |origin: &Origin| match origin {
        Origin::Default => json!("default"),
        Origin::File { layer, path, line } => {
            json!({ "layer": layer.to_string(), "file": path, "line": line })
        }
    };
    let setting = |setting: &Setting| {
        json!({
            "key": setting.key.name,
            "value": setting.value.as_ref().map(ToString::to_string),
            "origin": place(&setting.origin),
            "overruled": setting.overruled.iter().map(place).collect::<Vec<_>>(),
        })
    };
    let settings: Vec<Value> = loaded.settings.all().iter().map(setting).collect();
    let troubles: Vec<String> = loaded.troubles.iter().map(ToString::to_string).collect();
    Ok(format!("{:#}\n", json!({ "settings": settings, "troubles": troubles })))
}
