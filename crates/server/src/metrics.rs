//! Figures for those who watch the server, as Prometheus reads them.
//!
//! Always: a label is a route, a method, a status or a reason of ours, never anything that a
//! request brought along; so there are few of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::store::Totals;

/// Upper bounds of the times that are told apart, in seconds.
const BOUNDS: [f64; 9] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

#[derive(Default)]
struct Times {
    within: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

/// All counters of a server.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(String, &'static str, u16), Times>>,
    refused: Mutex<BTreeMap<&'static str, u64>>,
    /// Reports that were new.
    pub reports: AtomicU64,
    /// Parcels that had been here before.
    pub repeated: AtomicU64,
    /// Events that were counted.
    pub counts: AtomicU64,
    /// Replays that this server did.
    pub replays: AtomicU64,
}

impl Metrics {
    /// A request was answered.
    pub fn answered(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let seconds = took.as_secs_f64();
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let times = requests.entry((route.to_owned(), method, status)).or_default();
        for (within, bound) in times.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= bound);
        }
        times.count += 1;
        times.seconds += seconds;
    }

    /// A report was refused, for a reason of ours.
    pub fn refused(&self, reason: &'static str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(reason).or_default() += 1;
    }

    /// Everything as text.
    #[must_use]
    pub fn text(&self, totals: Totals, waiting: i64, connections: (u32, usize)) -> String {
        let mut text = String::new();
        let mut simple = |name: &str, kind: &str, help: &str, value: u64| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        let counters = [
            ("stunt_reports_total", "Reports that were new.", &self.reports),
            ("stunt_reports_repeated_total", "Parcels that were here before.", &self.repeated),
            ("stunt_counts_total", "Events that were counted.", &self.counts),
            ("stunt_replays_total", "Replays that this server did.", &self.replays),
        ];
        for (name, help, value) in counters {
            simple(name, "counter", help, value.load(Ordering::Relaxed));
        }
        let gauges = [
            ("stunt_replays_waiting", "Replays without a worker.", waiting.unsigned_abs()),
            ("stunt_database_connections", "Connections.", u64::from(connections.0)),
            ("stunt_database_connections_idle", "Unused ones.", connections.1 as u64),
        ];
        for (name, help, value) in gauges {
            simple(name, "gauge", help, value);
        }
        let _ =
            writeln!(text, "# HELP stunt_tickets Tickets by state.\n# TYPE stunt_tickets gauge");
        for (state, value) in
            [("open", totals.open), ("fixed", totals.fixed), ("regressed", totals.regressed)]
        {
            let _ = writeln!(text, "stunt_tickets{{state=\"{state}\"}} {value}");
        }
        let name = "stunt_reports_refused_total";
        let _ = writeln!(
            text,
            "# HELP {name} Reports by why they were refused.\n# TYPE {name} counter"
        );
        for (reason, value) in self.refused.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(text, "{name}{{reason=\"{reason}\"}} {value}");
        }
        self.times(&mut text);
        text
    }

    fn times(&self, text: &mut String) {
        let name = "stunt_request_seconds";
        let _ = writeln!(text, "# HELP {name} How long answers took.\n# TYPE {name} histogram");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for ((route, method, status), times) in requests.iter() {
            let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
            for (bound, within) in BOUNDS.iter().zip(times.within) {
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {within}");
            }
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", times.count);
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", times.seconds);
            let _ = writeln!(text, "{name}_count{{{labels}}} {}", times.count);
        }
    }
}
