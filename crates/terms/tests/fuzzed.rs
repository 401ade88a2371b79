//! The check of the fuzz target for SMT-LIB on its seeds, on changes of them, and on what fuzzing has found.

#[path = "../../../fuzz/checks/mutate.rs"]
mod mutate;
#[path = "fuzzed/smtlib.rs"]
mod smtlib;

#[test]
fn attack_smtlib_of_a_stranger_stops_the_reader() {
    mutate::with_changes(&mutate::seeds("smtlib"), 300, smtlib::check);
}

#[test]
fn a_short_text_asks_for_few_scopes() {
    // A gigabyte of scopes for each kilobyte of text, once.
    let text = "(push 10000)".repeat(1000);
    let problem = stunt_terms::smtlib::parse_script(&mut stunt_terms::Pool::new(), &text);
    assert!(problem.is_err_and(|it| it.to_string().contains("fewer scopes")));
    smtlib::check(text.as_bytes());
    smtlib::check("(push 10000)(pop 10000)".repeat(50).as_bytes());
}
