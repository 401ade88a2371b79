//! The settings that hold, and where each of them comes from.
//!
//! Always: the destination (server, recipient, token, certificate) is taken whole from one file.
//! Values of two files are never mixed, so that no token goes to the server of another file, and
//! no report to a server whose key is somebody else's. A project's destination is used only where
//! neither the user nor the system names one. Limits only become stricter, and `ask` is off as soon
//! as one file says so.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stunt_parcel::Recipient;

use super::file::{Entry, File, Layer};
use super::key::{KEYS, Key, Reach, key_of};
use super::value::{Ceiling, Secret, Value};
use crate::address::Address;

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A line of a file.
    File {
        /// Whose file it is.
        layer: Layer,
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

/// What holds for one key.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The key.
    pub key: &'static Key,
    /// Its value, if it has one.
    pub value: Option<Value>,
    /// Where the value comes from.
    pub origin: Origin,
    /// Other lines that set it, and do not count.
    pub overruled: Vec<Origin>,
}

/// Where a report goes, from one file.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The server.
    pub server: Address,
    /// The public key that reports are sealed for.
    pub recipient: Option<Recipient>,
    /// The project's token.
    pub token: Option<Secret>,
    /// The file with the only certificates that the server may be vouched for by.
    pub certificate: Option<PathBuf>,
    /// Whose file names it; `None` if it is from the command line.
    pub layer: Option<Layer>,
    /// Whose file says the rest: recipient, token and certificate. `None` if none does.
    pub rest: Option<Layer>,
    /// The file that names it, or says the rest.
    pub file: Option<PathBuf>,
}

/// All settings.
#[derive(Clone, Debug)]
pub struct Settings {
    settings: Vec<Setting>,
}

impl Settings {
    /// What holds if these are the files.
    pub fn merged(files: &[File]) -> Settings {
        Settings { settings: KEYS.iter().map(|key| setting(key, files)).collect() }
    }

    /// Every key with what holds for it.
    pub fn all(&self) -> &[Setting] {
        &self.settings
    }

    fn value(&self, name: &str) -> Option<&Value> {
        let key = key_of(name).expect("the key is in the table");
        self.settings.iter().find(|setting| std::ptr::eq(setting.key, key))?.value.as_ref()
    }

    fn origin(&self, name: &str) -> Option<&Origin> {
        self.settings.iter().find(|setting| setting.key.name == name).map(|it| &it.origin)
    }

    /// Where reports go, if a file says so.
    pub fn destination(&self) -> Option<Destination> {
        let Some(Value::Url(server)) = self.value("destination.server") else { return None };
        let (layer, file) = match self.origin("destination.server")? {
            Origin::File { layer, path, .. } => (Some(*layer), Some(path.clone())),
            Origin::Default => (None, None),
        };
        let recipient = match self.value("destination.recipient") {
            Some(Value::Recipient(recipient)) => Some(recipient.clone()),
            _ => None,
        };
        let token = match self.value("destination.token") {
            Some(Value::Secret(token)) => Some(token.clone()),
            _ => None,
        };
        let certificate = match self.value("destination.certificate") {
            Some(Value::Path(path)) => Some(path.clone()),
            _ => None,
        };
        let server = server.clone();
        Some(Destination { server, recipient, token, certificate, layer, rest: layer, file })
    }

    /// Whether the server is asked first; `None` if nobody has decided.
    pub fn ask(&self) -> Option<bool> {
        self.optional_flag("ask")
    }

    /// Whether reports are signed.
    pub fn sign(&self) -> bool {
        self.optional_flag("sign") == Some(true)
    }

    /// What a report may reveal at most: all of these hold, each with the key that says so.
    pub fn ceilings(&self) -> Vec<(Ceiling, &'static str)> {
        let percent = match self.value("max-leak") {
            Some(Value::Percent(percent)) => Some((Ceiling::Percent(*percent), "max-leak")),
            _ => None,
        };
        let bits = self.number("max-leak-bits").map(Ceiling::Bits);
        percent.into_iter().chain(bits.map(|bits| (bits, "max-leak-bits"))).collect()
    }

    /// The proxy.
    pub fn proxy(&self) -> Option<&Secret> {
        match self.value("network.proxy") {
            Some(Value::Proxy(proxy)) => Some(proxy),
            _ => None,
        }
    }

    /// A switch: `record.keep-last`.
    pub fn flag(&self, name: &str) -> bool {
        self.optional_flag(name) == Some(true)
    }

    fn optional_flag(&self, name: &str) -> Option<bool> {
        match self.value(name) {
            Some(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A number or a number of bytes: `queue.max-size`.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.value(name) {
            Some(Value::Count(number) | Value::Size(number)) => Some(*number),
            _ => None,
        }
    }

    /// A length of time: `queue.keep`.
    pub fn age(&self, name: &str) -> Option<Duration> {
        match self.value(name) {
            Some(Value::Age(age)) => Some(*age),
            _ => None,
        }
    }

    /// A list of words: `watch.programs`.
    pub fn words(&self, name: &str) -> &[String] {
        match self.value(name) {
            Some(Value::Names(words)) => words,
            _ => &[],
        }
    }
}

impl Destination {
    /// A destination that the user names on the command line: with what the file says about that
    /// very server, or with nothing.
    pub fn named(server: Address, configured: Option<Destination>) -> Destination {
        match configured {
            // The user has named it, whoever else has.
            Some(known) if known.server == server => Destination { layer: None, ..known },
            _ => Destination {
                server,
                recipient: None,
                token: None,
                certificate: None,
                layer: None,
                rest: None,
                file: None,
            },
        }
    }

    /// The same with a token that was given for one server, wherever the command goes: used there and
    /// nowhere else. Without `given_for`, it is for the server that the user's or the system's own
    /// file names; what a project's file names is no server of the user's. Says whether it is used.
    pub fn with_token(
        mut self,
        token: Secret,
        given_for: Option<&Address>,
        configured: Option<&Destination>,
    ) -> (Destination, bool) {
        let own = configured.filter(|it| !it.is_a_suggestion()).map(|it| &it.server);
        let used = given_for.or(own) == Some(&self.server);
        if used {
            self.token = Some(token);
        }
        (self, used)
    }

    /// What of it only a project's file says, though somebody may have named the server: whom it is
    /// sealed for, and who vouches for the server. `recipient_given` if the command line says the
    /// first.
    pub fn suggested(&self, recipient_given: bool) -> Option<&'static str> {
        if self.rest != Some(Layer::Project) {
            return None;
        }
        match (recipient_given, &self.recipient, &self.certificate) {
            (_, _, Some(_)) => Some("destination.certificate"),
            (false, Some(_), None) => Some("destination.recipient"),
            _ => None,
        }
    }

    /// Whether somebody else than the user or the administrator has chosen it.
    pub fn is_a_suggestion(&self) -> bool {
        self.layer == Some(Layer::Project)
    }
}

fn origin(file: &File, entry: &Entry) -> Origin {
    Origin::File { layer: file.layer, path: file.path.clone(), line: entry.line }
}

fn setting(key: &'static Key, files: &[File]) -> Setting {
    let given: Vec<(&File, &Entry)> = files
        .iter()
        .flat_map(|file| file.entries.iter().map(move |entry| (file, entry)))
        .filter(|(_, entry)| std::ptr::eq(entry.key, key))
        .collect();
    let chosen = match key.reach {
        Reach::Destination => {
            let file = destination_file(files);
            given.iter().find(|(of, _)| file == Some(of.path.as_path())).copied()
        }
        // Whoever says no, or gives the lowest limit.
        Reach::OnlyOff | Reach::OnlyLower => {
            let rank = |&&(file, entry): &&(&File, &Entry)| {
                let own = match file.layer {
                    Layer::User => 0,
                    Layer::System => 1,
                    Layer::Project => 2,
                };
                (strictness(&entry.value), own)
            };
            given.iter().min_by_key(rank).copied()
        }
        Reach::Own | Reach::Free => given.iter().max_by_key(|(file, _)| file.layer).copied(),
    };
    let overruled = given
        .iter()
        .filter(|(_, entry)| chosen.is_none_or(|(_, chosen)| !std::ptr::eq(*entry, chosen)))
        .map(|(file, entry)| origin(file, entry))
        .collect();
    match chosen {
        Some((file, entry)) => Setting {
            key,
            value: Some(entry.value.clone()),
            origin: origin(file, entry),
            overruled,
        },
        None => Setting { key, value: key.default_value(), origin: Origin::Default, overruled },
    }
}

/// The file whose destination counts: the user's, the system's, or else the project's.
fn destination_file(files: &[File]) -> Option<&Path> {
    let names = |file: &File| file.entries.iter().any(|it| it.key.reach == Reach::Destination);
    [Layer::User, Layer::System, Layer::Project]
        .into_iter()
        .find_map(|layer| files.iter().find(|file| file.layer == layer && names(file)))
        .map(|file| file.path.as_path())
}

/// Smaller is stricter.
fn strictness(value: &Value) -> u64 {
    match value {
        Value::Flag(flag) => u64::from(*flag),
        // Percentages are not negative; the order of such numbers is that of their bits.
        Value::Percent(percent) => percent.to_bits(),
        Value::Count(number) => *number,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    fn settings(texts: &[(Layer, &str)]) -> Settings {
        let mut troubles = Vec::new();
        let files: Vec<File> = texts
            .iter()
            .map(|(layer, text)| {
                let path = PathBuf::from(format!("/{layer}.toml"));
                parse(*layer, &path, text, &mut troubles)
            })
            .collect();
        assert!(troubles.is_empty(), "{troubles:?}");
        Settings::merged(&files)
    }

    const USER: &str = "[destination]\nserver = \"https://user.example\"\ntoken = \"u\"\n";
    const SYSTEM: &str =
        "[destination]\nserver = \"https://system.example\"\ntoken = \"s\"\ncertificate = \"c\"\n";
    const PROJECT: &str = "[destination]\nserver = \"https://evil.example\"\ntoken = \"p\"\n";

    #[test]
    fn a_destination_is_taken_whole() {
        let both = settings(&[(Layer::System, SYSTEM), (Layer::User, USER)]);
        let destination = both.destination().unwrap();
        assert_eq!(destination.server.to_string(), "https://user.example");
        assert_eq!(destination.token.unwrap().expose(), "u");
        assert!(destination.certificate.is_none(), "not the system's for the user's server");
    }

    #[test]
    fn a_project_suggests_a_destination_and_never_redirects() {
        for own in [(Layer::System, SYSTEM), (Layer::User, USER)] {
            let settings = settings(&[own, (Layer::Project, PROJECT)]);
            let destination = settings.destination().unwrap();
            assert_ne!(destination.server.to_string(), "https://evil.example");
            assert!(!destination.is_a_suggestion());
            let is_server = |setting: &&Setting| setting.key.name == "destination.server";
            let server = settings.all().iter().find(is_server).unwrap();
            assert!(matches!(&server.overruled[..], [Origin::File { layer: Layer::Project, .. }]));
        }
        // Even a part of a destination keeps the project's away.
        let only_token = "[destination]\ntoken = \"u\"\n";
        let part = settings(&[(Layer::User, only_token), (Layer::Project, PROJECT)]);
        assert!(part.destination().is_none());
        let alone = settings(&[(Layer::Project, PROJECT)]).destination().unwrap();
        assert!(alone.is_a_suggestion());
    }

    #[test]
    fn limits_only_become_stricter() {
        let low = "max-leak = \"1%\"\nask = false\nmax-leak-bits = 40\n";
        let high = "max-leak = \"5%\"\nmax-leak-bits = 300\n";
        let lowest = [(Ceiling::Percent(1.0), "max-leak"), (Ceiling::Bits(40), "max-leak-bits")];
        for layers in [(Layer::User, Layer::Project), (Layer::Project, Layer::User)] {
            let settings = settings(&[(layers.0, low), (layers.1, high)]);
            assert_eq!(settings.ceilings(), lowest);
            assert_eq!(settings.ask(), Some(false));
        }
        let mixed = settings(&[(Layer::User, "max-leak = \"20bits\"\n"), (Layer::Project, low)]);
        assert_eq!(
            mixed.ceilings(),
            [(Ceiling::Percent(1.0), "max-leak"), (Ceiling::Bits(20), "max-leak-bits")]
        );
        let off = settings(&[(Layer::User, "ask = true\n"), (Layer::Project, "ask = false\n")]);
        assert_eq!(off.ask(), Some(false));
        assert_eq!(settings(&[]).ask(), None);
    }

    #[test]
    fn what_is_free_goes_by_nearness() {
        let text = |size: &str| format!("[record]\nlargest-file = \"{size}\"\n");
        let (system, user, project) = (text("1K"), text("2K"), text("3K"));
        let layers =
            [(Layer::System, &*system), (Layer::User, &*user), (Layer::Project, &*project)];
        assert_eq!(settings(&layers).number("record.largest-file"), Some(3 << 10));
        assert_eq!(settings(&layers[..2]).number("record.largest-file"), Some(2 << 10));
        assert_eq!(settings(&[]).number("record.largest-file"), Some(4 << 20));
        assert_eq!(settings(&[]).age("queue.keep"), Some(Duration::from_secs(30 * 86_400)));
        assert!(!settings(&[]).flag("record.keep-last") && !settings(&[]).sign());
        assert!(settings(&[]).words("watch.programs").is_empty());
    }

    #[test]
    fn attack_token_is_sent_to_another_server() {
        let evil: Address = "https://evil.example".parse().unwrap();
        let own: Address = "https://user.example".parse().unwrap();
        let token = || Secret::new("stunt_1");
        let used = |to: &Address, given_for: Option<&Address>, layers: &[(Layer, &str)]| {
            let configured = settings(layers).destination();
            let destination = Destination::named(to.clone(), configured.clone());
            let before = destination.token.clone();
            let (after, used) = destination.with_token(token(), given_for, configured.as_ref());
            assert_eq!(after.token == Some(token()), used);
            assert!(used || after.token == before);
            used
        };
        // An address that somebody hands over, with the token in the environment.
        assert!(!used(&evil, None, &[]));
        assert!(!used(&evil, Some(&own), &[]));
        assert!(!used(&evil, None, &[(Layer::User, USER)]));
        // A project that names its own server does not make it the user's.
        let project = "[destination]\nserver = \"https://evil.example\"\n";
        assert!(!used(&evil, None, &[(Layer::Project, project)]));
        assert!(!used(&evil, Some(&own), &[(Layer::Project, project)]));
        assert!(!used(&evil, None, &[(Layer::User, USER), (Layer::Project, project)]));
        // Where it was given for.
        assert!(used(&own, Some(&own), &[]));
        assert!(used(&own, None, &[(Layer::User, USER)]));
        assert!(used(&own, None, &[(Layer::System, USER)]));
        assert!(used(&evil, Some(&evil), &[(Layer::User, USER)]), "the user says so");
    }

    #[test]
    fn attack_project_says_whom_it_is_sealed_for() {
        let key = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
        let project =
            format!("[destination]\nserver = \"https://u.example\"\nrecipient = \"{key}\"\n");
        let pinned = format!("{project}certificate = \"evil.pem\"\n");
        let server = || "https://u.example".parse().unwrap();
        // Naming the server on the command line makes nothing else of the project's file one's own.
        let named = |text: &str, layer: Layer| {
            Destination::named(server(), settings(&[(layer, text)]).destination())
        };
        let of_project = named(&project, Layer::Project);
        assert!(!of_project.is_a_suggestion(), "the server is the user's choice");
        assert_eq!(of_project.suggested(false), Some("destination.recipient"));
        assert_eq!(of_project.suggested(true), None);
        let of_project = named(&pinned, Layer::Project);
        assert_eq!(of_project.suggested(true), Some("destination.certificate"));
        for layer in [Layer::User, Layer::System] {
            assert_eq!(named(&pinned, layer).suggested(false), None);
        }
    }

    #[test]
    fn a_server_on_the_command_line_gets_no_token_of_another() {
        let configured = settings(&[(Layer::User, USER)]).destination();
        let other = "https://other.example".parse().unwrap();
        assert!(Destination::named(other, configured.clone()).token.is_none());
        let same = "https://USER.example/".parse().unwrap();
        assert!(Destination::named(same, configured).token.is_some());
    }
}
