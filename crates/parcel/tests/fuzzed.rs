//! The check of the fuzz target for messages on its seeds, on changes of them, and on what fuzzing has
//! found.

#[path = "fuzzed/messages.rs"]
mod messages;
#[path = "../../../fuzz/checks/mutate.rs"]
mod mutate;

#[test]
fn attack_message_of_a_stranger_stops_its_reader() {
    mutate::with_changes(&mutate::seeds("messages"), 200, messages::check);
}
