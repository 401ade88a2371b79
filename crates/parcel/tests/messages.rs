//! The messages as JSON: golden, since two versions of stunt talk to each other.

use serde_json::json;
use stunt_parcel::Digest;
use stunt_parcel::messages::{
    Answer, Ask, Count, EventId, KnownDouble, Problem, double_path, is_signature, report_path,
};

#[test]
fn messages_are_written_as_documented() {
    let ask = Ask { signature: "s1".into(), program: "p".into(), build_id: None };
    assert_eq!(serde_json::to_value(&ask).unwrap(), json!({"signature": "s1", "program": "p"}));
    let sha256 = Digest::of(b"");
    let double = Some(KnownDouble { sha256, bytes: 7, leak_bits: 1.5 });
    let answer = Answer { known: true, ticket: Some("T1".into()), double };
    assert_eq!(
        serde_json::to_value(&answer).unwrap(),
        json!({"known": true, "ticket": "T1", "double": {
            "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "bytes": 7, "leak_bits": 1.5}})
    );
    let unknown: Answer = serde_json::from_str(r#"{"known":false}"#).unwrap();
    assert_eq!(unknown, Answer { known: false, ticket: None, double: None });
    let problem = Problem::new(413, "Too large", "Send less.");
    assert_eq!(
        serde_json::to_value(&problem).unwrap(),
        json!({"type": "about:blank", "title": "Too large", "status": 413, "detail": "Send less."})
    );
    assert_eq!(report_path(sha256), format!("/api/v1/reports/{sha256}"));
    assert_eq!(double_path("ab12"), "/api/v1/doubles/ab12");
}

#[test]
fn what_reporters_send_has_no_room_for_more() {
    let text = r#"{"signature":"s","program":"p","host":"mine"}"#;
    assert!(serde_json::from_str::<Ask>(text).is_err());
    let id = EventId::random();
    let text = format!(r#"{{"id":"{id}","signature":"s","program":"p","user":"me"}}"#);
    assert!(serde_json::from_str::<Count>(&text).is_err());
    let text = format!(r#"{{"id":"{id}","signature":"s","program":"p"}}"#);
    assert_eq!(serde_json::from_str::<Count>(&text).unwrap().id, id);
}

#[test]
fn a_signature_may_stand_in_a_path() {
    assert!(is_signature("0f9a"));
    for text in ["", "a/b", "..", "a b", "ä", &"a".repeat(65)] {
        assert!(!is_signature(text), "{text}");
    }
}
