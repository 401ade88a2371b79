//! The check of the fuzz target for incidents on its seeds, on changes of them, and on what fuzzing has
//! found.

#[path = "fuzzed/incident.rs"]
mod incident;
#[path = "../../../fuzz/checks/mutate.rs"]
mod mutate;

#[test]
fn attack_incident_of_a_stranger_stops_its_reader() {
    mutate::with_changes(&mutate::seeds("incident"), 500, incident::check);
}
