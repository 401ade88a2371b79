//! Recordings in a real browser, from end to end. Needs Debian's `chromium-headless-shell`.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::{Value, json};
use stunt_gui::chromium::Look;
use stunt_gui::minimise::{Budget, Checked};
use stunt_gui::{
    Algorithm, Case, End, Manner, NoCase, Plan, Pool, Recording, SCHEMA, Settings, Steps,
    anonymize, gaudi,
};

fn page(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    format!("file://{}", folder.join(name).display())
}

fn pool() -> Pool {
    Pool::new(Look::Headless, None, 4).expect("Chromium is there: `cargo xtask test` installs it")
}

/// A recording of these actions: kind, widget, and what else.
fn recording(url: &str, actions: &[(&str, &str, Value)]) -> Recording {
    let action = |(number, (kind, widget, more)): (usize, &(&str, &str, Value))| {
        let name = format!("private name of {widget}");
        let tag = match *widget {
            "#sort" => "select",
            "#name" | "#sum" | "#filter" | "#q" => "input",
            "#next" => "a",
            _ => "button",
        };
        let mut action = json!({
            "id": number + 1, "at_ms": 100 * number, "kind": kind, "dialogs": [], "calls": [],
            "needs": [],
            "target": { "selectors": [[format!("aria/{name}")], [widget]], "widget": widget, "tag": tag,
                        "role": "button", "name": name, "frame": [] },
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            action[name] = value.clone();
        }
        action
    };
    let actions: Vec<Value> = actions.iter().enumerate().map(action).collect();
    let stored = json!([{ "area": "local", "key": "theme", "value": "private", "read": true }]);
    Recording::new(json!({
        "schema": SCHEMA, "recorder": "0.2.0",
        "page": { "url": url, "title": "private", "language": "de",
                  "viewport": { "width": 1000, "height": 700, "scale": 1 }, "agent": "private" },
        "begun": 1_790_000_000_000_u64,
        "environment": { "clock": 1_790_000_000_000_u64, "performance": 12.5, "zone": "Europe/Berlin",
                         "dark": false, "seed": [9, 8, 7, 6], "crypto": [], "storage": stored },
        "load": { "dialogs": [], "calls": [] }, "actions": actions, "answers": [],
        "failure": null, "others": [], "gaps": [], "dropped": 0,
    }))
    .expect("it is one")
}

fn ten_steps() -> Recording {
    let click = json!({ "offset": { "x": 3, "y": 4 }, "button": 0, "modifiers": [] });
    let steps = [
        ("click", "#dark", click.clone()),
        ("click", "#new", click.clone()),
        ("type", "#name", json!({ "text": "Erika Mustermann" })),
        ("type", "#sum", json!({ "text": "1250" })),
        ("click", "#save", click.clone()),
        ("click", "#new", click.clone()),
        ("type", "#name", json!({ "text": "Max Muster" })),
        ("click", "#more", click),
        ("change", "#sort", json!({ "values": ["sum"] })),
        ("type", "#filter", json!({ "text": "Erika (née Beispiel" })),
    ];
    recording(&page("invoices.html"), &steps)
}

fn settings(cancel: &AtomicBool) -> Settings<'_> {
    let algorithm = Algorithm::Complements;
    Settings { algorithm, time: Duration::from_secs(15), trials: 2000, cancel, stage: &|_| {} }
}

#[test]
fn ten_steps_become_a_double_that_tells_nothing_of_what_was_typed() {
    let (pool, original) = (pool(), ten_steps());
    let case = Case::new(&pool, &original, None).expect("it fails");
    assert_eq!((case.seen, case.failure.error.as_str()), ((3, 3), "SyntaxError"));
    let cancel = AtomicBool::new(false);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let double =
        anonymize(&case, &original, settings(&cancel), &mut rng).expect("there is a double");
    let kinds: Vec<&str> =
        double.recording.actions().iter().filter_map(|it| it["kind"].as_str()).collect();
    // Something to filter, the filter, and what is no regular expression.
    assert_eq!(kinds, ["click", "click", "click", "type"]);
    assert_eq!(double.before, 10);
    let bytes = String::from_utf8(double.bytes.0.clone()).expect("it is JSON");
    for private in
        ["private", "Erika", "Muster", "1250", "Beispiel", "Berlin", "1790", "theme", "tests/pages"]
    {
        assert!(!bytes.contains(private), "{private}: {bytes}");
    }
    let names: Vec<&str> =
        double.recording.actions().iter().filter_map(|it| it["target"]["name"].as_str()).collect();
    assert_eq!(names, ["New invoice", "Save", "More tools", "Filter"]);
    assert_eq!(double.recording.actions()[1]["target"]["within"]["name"], "Invoice");
    assert_eq!(double.proved, [(3, 3), (2, 2)], "by the player, and by mouse and keys");
    // Four steps of which each is one of some widgets, and a text that is no regular expression.
    let bits = double.claim.total().value();
    assert!((30.0..90.0).contains(&bits), "{bits} bits");
    let text = double.claim.texts.expect("there is a text").value();
    assert!(text < 40.0, "{text} bits of the text");
    // Whoever has the double alone sees the same.
    let again = Recording::read(&double.bytes.0).expect("it is a recording");
    let case = Case::new(&pool, &again, Some(page("invoices.html"))).expect("it fails");
    assert_eq!(case.seen, (3, 3));
}

/// What the network answered, after an action.
fn answer(after: u64, kind: &str, url: &str, body: &str) -> Value {
    json!({ "id": after, "after": after, "at_ms": 100 * after, "kind": kind, "method": "GET", "url": url,
            "status": 200, "headers": {}, "body": body, "encoding": "text" })
}

/// A recording with these answers, at these times.
fn answered(recording: &Recording, answers: &Value, times: &[u64]) -> Recording {
    let mut value = recording.value().clone();
    value["answers"] = answers.clone();
    for (action, at) in value["actions"].as_array_mut().into_iter().flatten().zip(times) {
        action["at_ms"] = json!(at);
    }
    Recording::new(value).expect("it is one")
}

#[test]
fn a_search_that_takes_time_asks_with_what_was_typed_and_is_not_the_first_mistake() {
    let click = json!({ "button": 0, "modifiers": [] });
    let steps = [
        ("click", "#oops", click.clone()),
        ("type", "#q", json!({ "text": "Erika Mustermann" })),
        ("click", "#ready", click.clone()),
        ("click", "#result1", click),
    ];
    let url = page("desk.html").replace("desk.html", "search?q=Erika%20Mustermann");
    let body = r#"[{"name":"Beispiel"},{"name":"Muster (Berlin"}]"#;
    let answers = json!([answer(2, "fetch", &url, body)]);
    let steps = recording(&page("desk.html"), &steps);
    let original = answered(&steps, &answers, &[40, 317, 2_719, 2_911]);
    let pool = pool();
    let case = Case::new(&pool, &original, None).expect("it fails");
    assert_eq!((case.seen, case.failure.error.as_str()), ((3, 3), "SyntaxError"));
    let cancel = AtomicBool::new(false);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let double =
        anonymize(&case, &original, settings(&cancel), &mut rng).expect("there is a double");
    let actions = double.recording.actions();
    let kinds: Vec<&str> = actions.iter().filter_map(|it| it["kind"].as_str()).collect();
    assert_eq!(kinds, ["type", "click"]);
    let bytes = String::from_utf8(double.bytes.0.clone()).expect("it is JSON");
    assert_eq!(double.proved, [(3, 3), (2, 2)], "by the player, and by mouse and keys: {bytes}");
    // A second would do, and who waited for how long is nobody's business.
    assert_eq!((&actions[0]["at_ms"], &actions[1]["at_ms"]), (&json!(3000.0), &json!(6000.0)));
    assert_eq!(double.recording.value()["answers"][0]["url"], "search");
    for private in ["private", "Erika", "Muster", "Beispiel", "Berlin", "tests/pages", "2911"] {
        assert!(!bytes.contains(private), "{private}: {bytes}");
    }
}

#[test]
fn what_a_server_says_by_itself_comes_by_mouse_and_keys_as_well() {
    let steps = [("click", "#ready", json!({})), ("click", "#ready", json!({}))];
    let text = r#"{"text":"Erika"}"#;
    let answers = [answer(1, "websocket", "ws://127.0.0.1:9/feed", text)];
    let more = answer(2, "websocket", "ws://127.0.0.1:9/feed", r#"{"from":"Erika"}"#);
    let answers = json!([answers[0], more]);
    let original = answered(&recording(&page("desk.html"), &steps), &answers, &[100, 200]);
    let pool = pool();
    let case = Case::new(&pool, &original, None).expect("it fails");
    assert_eq!((case.seen, case.failure.error.as_str()), ((3, 3), "TypeError"));
    let by_hand = case.proved(&original, Manner::Trusted, 2).expect("there is a browser");
    assert_eq!(by_hand.len(), 2);
}

#[test]
fn a_session_over_two_documents_replays_each_time() {
    let steps = [
        ("type", "#name", json!({ "text": "Erika Mustermann" })),
        ("click", "#ready", json!({})),
        ("click", "#next", json!({})),
        ("click", "#born", json!({})),
    ];
    let original = recording(&page("steps.html"), &steps);
    let pool = pool();
    let case = Case::new(&pool, &original, None).expect("it fails");
    assert_eq!((case.seen, case.failure.error.as_str()), ((3, 3), "RangeError"));
    let cancel = AtomicBool::new(false);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let double =
        anonymize(&case, &original, settings(&cancel), &mut rng).expect("there is a double");
    let actions = double.recording.actions();
    let widgets: Vec<&str> =
        actions.iter().filter_map(|it| it["target"]["widget"].as_str()).collect();
    // A day that is empty is none, either.
    assert_eq!(widgets, ["#next", "#born"]);
    assert_eq!(double.proved, [(3, 3), (2, 2)], "by the player, and by mouse and keys");
}

#[test]
fn gaudi_comes_to_as_few_steps() {
    let (pool, original) = (pool(), ten_steps());
    let case = Case::new(&pool, &original, None).expect("it fails");
    let mut tester = Steps { case: &case, recording: &original };
    let budget = Budget { trials: 2000, over: &|| false };
    let found = gaudi::minimise(10, &original.needs(), &mut tester, budget);
    let found = found.expect("there is a browser").expect("it fails");
    // The first invoice is not the one that the shortest suffix has.
    assert_eq!((found.steps.len(), found.checked), (4, Checked::OneMinimal));
}

#[test]
fn pages_that_do_not_do_their_part_are_told_apart() {
    let pool = pool();
    let click = |widget| [("click", widget, json!({}))];
    let case = |recording: &Recording| Case::new(&pool, recording, None).err();
    let absent = recording(&page("no-such-page.html"), &click("#a"));
    assert!(matches!(case(&absent), Some(NoCase::NotLoaded)));
    let never = recording(&page("invoices.html"), &click("#dark"));
    assert!(matches!(case(&never), Some(NoCase::NoFailure(why)) if why.is_empty()));
    let other_version = recording(&page("invoices.html"), &click("#delete"));
    assert!(
        matches!(case(&other_version), Some(NoCase::NoFailure(why)) if why.contains("1 of its steps"))
    );
    // A loop without end, a page that kills its process, and dialogs: the browser serves the next one.
    let hostile = page("hostile.html");
    let plan = |widget| Plan {
        recording: recording(&hostile, &click(widget)),
        url: None,
        manner: Manner::Trusted,
        time: Duration::from_secs(6),
        stop: true,
        afterwards: 3_000.0,
    };
    let plans = ["#loop", "#ask", "#leave", "#throw"].map(plan);
    let ran = pool.run_all(&plans).expect("there is a browser");
    let ends: Vec<(End, usize)> = ran.iter().map(|it| (it.end, it.failures.len())).collect();
    assert_eq!(ends, [(End::Late, 0), (End::Done, 0), (End::Done, 0), (End::Done, 1)]);
}
