//! Any text as what an interpreter prints: there is an exception in it or not, and what is kept of one can
//! be shown. The fuzz target for tracebacks is this, too.

use std::time::Duration;

use stunt_native::{Texts, failure_of_script};
use stunt_path::{Ending, InputNames, Private, Run};

/// Panics if that does not hold.
pub fn check(data: &[u8]) {
    for status in [1, 2, 7, 255] {
        let run = Run {
            ending: Ending::Exit(status),
            failure: None,
            stdout: Private::new(Vec::new()),
            stderr: Private::new(data.to_vec()),
            duration: Duration::ZERO,
            inputs: InputNames::default(),
        };
        let Some(failure) = failure_of_script(&run, &Texts::default()) else { continue };
        let words = failure.to_string();
        assert!(!words.is_empty() && !words.contains(char::is_control), "{words:?}");
        assert!(!failure.signature().is_empty());
        for frame in &failure.frames {
            let file = frame.location.as_ref().map_or("", |place| &place.file);
            assert!(!file.contains(['/', '\\']), "a folder is kept: {file}");
        }
    }
}
