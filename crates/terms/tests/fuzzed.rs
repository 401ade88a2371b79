//! The check of the fuzz target for SMT-LIB on its seeds, on changes of them, and on what fuzzing has found.

#[path = "../../../fuzz/checks/mutate.rs"]
mod mutate;
#[path = "fuzzed/smtlib.rs"]
mod smtlib;

#[test]
fn attack_smtlib_of_a_stranger_stops_the_reader() {
    mutate::with_changes(&mutate::seeds("smtlib"), 300, smtlib::check);
}
