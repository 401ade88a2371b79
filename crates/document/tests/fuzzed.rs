//! The check of the fuzz target for documents on its seeds, on changes of them, and on what fuzzing has
//! found.

#[path = "fuzzed/document.rs"]
mod document;
#[path = "../../../fuzz/checks/mutate.rs"]
mod mutate;

#[test]
fn any_bytes_are_a_document() {
    mutate::with_changes(&mutate::seeds("document"), 300, document::check);
}

#[test]
fn what_fuzzing_has_found() {
    let found: [&[u8]; 2] = [b"", b"\0"];
    found.iter().for_each(|bytes| document::check(bytes));
}
