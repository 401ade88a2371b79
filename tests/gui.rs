//! `stunt gui` from end to end in a real browser: a page that fails is recorded, and what leaves is a report about a
//! double that fails alike. Needs Debian's `chromium-headless-shell`.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;
use support::{Place, text};

/// What somebody does, who has much to hide.
const SESSION: &str = "
click #dark
click #new
type #name | Qvistgaard-Wyczolkowska
type #sum | 774411
click #save
click #more
choose #sort | sum
type #filter | Zwolle (Xhosa
";
const PRIVATE: [&str; 6] = ["Qvist", "Wyczo", "774411", "Zwolle", "Xhosa", "/pages/"];

#[test]
fn a_session_becomes_a_double_and_a_test() {
    let place = Place::new("gui");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/gui/tests/pages/invoices.html");
    let page = page.to_str().expect("a plain path");
    place.write("session", SESSION.as_bytes());
    let run = |arguments: &[&str], code: i32| {
        let output = place.stunt(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        for private in PRIVATE {
            assert!(!said.contains(private) && !text(&output.stdout).contains(private), "{said}");
        }
        text(&output.stdout)
    };

    run(&["gui", "record", page, "--script", "session", "-o", "recording.json"], 0);
    let mode = fs::metadata(place.path("recording.json")).expect("the recording").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let anonymize = ["gui", "anonymize", "recording.json", "--time", "15", "--seed", "1", "--json"];
    let told: Value = serde_json::from_str(&run(&anonymize, 0)).expect("JSON");
    assert_eq!(
        (&told["steps"]["after"], &told["steps"]["minimal"]),
        (&4.into(), &true.into()),
        "{told}"
    );
    let words = "uncaught SyntaxError in HTMLInputElement.filter (invoices.html:43)";
    assert_eq!(told["failure"]["words"], words);

    let inspected = run(&["inspect", "report.zip"], 0);
    for step in [
        "1. click *New invoice* in the navigation *Tools*",
        "2. click *Save* in the dialog *Invoice*",
        "3. click *More tools* in the navigation *Tools*",
        "4. type ",
    ] {
        assert!(inspected.contains(step), "{step} in {inspected}");
    }
    run(&["inspect", "report.zip", "--extract", "double"], 0);
    let double = fs::read_to_string(place.path("double/file.json")).expect("the double");
    for private in PRIVATE {
        assert!(!double.contains(private), "{double}");
    }

    // The maintainer has the page elsewhere; without it, nobody knows where it is.
    run(&["gui", "replay", "report.zip", "--headless"], 2);
    let replayed = run(&["gui", "replay", "report.zip", "--headless", "--page", page], 0);
    assert!(replayed.contains("fails as the report says"), "{replayed}");
    let film = ["gui", "replay", "report.zip", "--headless", "--page", page, "--film", "film.html"];
    run(&film, 0);
    let film = fs::read_to_string(place.path("film.html")).expect("the film");
    assert_eq!(
        film.matches("data:image/jpeg;base64,/9j/").count(),
        5,
        "before each step, and at the end"
    );
    assert!(film.contains("click *Save* in the dialog *Invoice*"), "{film}");
    let fixed = fs::read_to_string(page).expect("the page");
    let fixed = fixed.replace("new RegExp(event.target.value, 'i')", "/./");
    place.write("fixed.html", fixed.as_bytes());
    run(&["gui", "replay", "report.zip", "--headless", "--page", "fixed.html"], 1);

    // The commands for programs know a recording, and a report about one.
    let told = run(&["anonymize", "recording.json", "-o", "same.zip", "--time", "15", "--json"], 0);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((&told["steps"]["after"], &told["failure"]["words"]), (&4.into(), &words.into()));
    assert!(run(&["replay", "same.zip", "--page", page], 0).contains("fails as the report says"));
    run(&["replay", "same.zip", "--page", "fixed.html", "--bisect"], 0);
    run(&["replay", "same.zip", "--page", page, "--bisect"], 1);
    run(&["replay", "same.zip", "--bisect"], 125);

    let flow = run(&["gui", "export", "report.zip", "--as", "recorder"], 0);
    place.write("flow.json", flow.as_bytes());
    run(&["gui", "import", "flow.json", "-o", "again.json"], 0);
    let again: Value =
        serde_json::from_slice(&fs::read(place.path("again.json")).expect("it is there"))
            .expect("JSON");
    assert_eq!(again, serde_json::from_str::<Value>(&double).expect("JSON"));
    let test =
        run(&["gui", "export", "report.zip", "--as", "playwright", "--page", "fixed.html"], 0);
    assert!(test.contains(".locator(\"#save\").click()"), "{test}");
    let script =
        run(&["gui", "export", "report.zip", "--as", "webdriver", "--page", "fixed.html"], 0);
    place.write("script.py", script.as_bytes());
    let compiled = place.in_bash("python3 -m py_compile script.py");
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    place.nothing_is_left();
}

#[test]
fn the_demo_shows_what_is_left_of_a_session() {
    let place = Place::new("gui-demo");
    let output = place.stunt(&["demo", "--gui", "--seed", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    let (before, after) = shown.split_once("This is left").expect("both parts");
    assert!(before.contains("Anneliese Brandt") && before.contains("12. type"), "{shown}");
    for private in ["Anneliese", "Brandt", "Tomasz", "knee", "sleep"] {
        assert!(!after.contains(private), "{shown}");
    }
    assert!(after.contains("3. type") && !after.contains("\n     4. "), "{shown}");
    assert!(after.contains("in 3 of 3 replays by the player"), "{shown}");
    place.nothing_is_left();
}

#[test]
fn what_cannot_be_used_is_said_in_a_sentence() {
    let place = Place::new("gui-sentences");
    place.write("other.json", b"{}");
    let output = place.stunt(&["gui", "anonymize", "other.json"]);
    place.refused(&output, 2, "its schema is not stunt-recording-1");
    let absent =
        ["gui", "record", "other.json", "--script", "other.json", "--browser", "/no/such/browser"];
    place.refused(&place.stunt(&absent), 2, "line 1 of the script");
    place.write("empty", b"");
    let absent =
        ["gui", "record", "other.json", "--script", "empty", "--browser", "/no/such/browser"];
    place.refused(&place.stunt(&absent), 2, "chromium-headless-shell");
}
