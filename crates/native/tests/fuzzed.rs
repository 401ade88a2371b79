//! The check of the fuzz target for tracebacks on its seeds, on changes of them, and on what fuzzing has
//! found.

#[path = "../../../fuzz/checks/mutate.rs"]
mod mutate;
#[path = "fuzzed/traceback.rs"]
mod traceback;

#[test]
fn attack_traceback_of_a_stranger_stops_its_reader() {
    mutate::with_changes(&mutate::seeds("traceback"), 1000, traceback::check);
}
