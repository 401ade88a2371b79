//! How much a report may tell, wherever that is said: on the command line and in the configuration, in bits, or in
//! percent of the original.
//!
//! Always: a limit that cannot be checked is not kept to.

use stunt_client::config::{Ceiling, Settings};
use stunt_report::{Report, visible};

use crate::owner::Owner;

/// Why a report tells too much, if it does.
pub fn above(
    report: &Report,
    owner: Option<&Owner>,
    asked: Option<Ceiling>,
    settings: &Settings,
) -> Option<String> {
    let asked = asked.map(|ceiling| (ceiling, "--max-leak".to_owned()));
    let set = settings.ceilings().into_iter();
    let set = set.map(|(ceiling, key)| (ceiling, format!("{key} in the configuration")));
    asked.into_iter().chain(set).find_map(|(ceiling, whose)| {
        let figure = Figure::of(report, owner);
        match (ceiling, figure.percent) {
            (Ceiling::Bits(bits), _) if figure.bits <= bits as f64 => None,
            (Ceiling::Percent(most), Some(percent)) if percent <= most => None,
            (Ceiling::Percent(_), None) => Some(format!(
                "{whose} allows {ceiling} of the original, and how long that was is known where the report was \
                 made alone; a limit in bits, such as 40bits, can be checked here"
            )),
            _ => Some(format!("the double {}, and {whose} allows {ceiling}", figure.words)),
        }
    })
}

/// What a double tells: the headline figure, and in reports that have none the papers'.
struct Figure {
    bits: f64,
    /// In percent of the original, where it is known how long that was.
    percent: Option<f64>,
    words: String,
}

impl Figure {
    fn of(report: &Report, owner: Option<&Owner>) -> Self {
        let (bits, verb, words) = match &report.tells {
            Some(tells) => (tells.bits, "tells", &tells.words),
            None => (report.leak.bits, "reveals", &report.leak.words),
        };
        let of = match owner {
            Some(owner) => Some(owner.bits),
            None if report.is_shorter() => None,
            None => Some(report.leak.of),
        };
        let percent = of.map(|of| if of == 0 { 0.0 } else { 100.0 * bits / of as f64 });
        let of = match (of, percent) {
            (Some(of), Some(percent)) => format!(" of {of} ({percent:.2} %)"),
            _ => String::new(),
        };
        Self { bits, percent, words: visible(&format!("{verb} {words}{of}")) }
    }
}
