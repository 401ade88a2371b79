//! The quick part of the privacy bench: claims hold on some programs, mutants are caught, and secrets
//! in unused fields are as random as they should be. `cargo xtask privacy` does all of it.

use stunt_privacy::anonymiser::{Algorithm, Drawn, report};
use stunt_privacy::canaries::{CHANCE, kept};
use stunt_privacy::cells::same_again;
use stunt_privacy::chance::plausible;
use stunt_privacy::claims::{Cell, Method, cell};
use stunt_privacy::game::{name_it, play};
use stunt_privacy::lengths::LENGTHY;
use stunt_privacy::listed::Listed;
use stunt_privacy::priors::{Told, told};
use stunt_privacy::programs::{FREE, RECORDS, named, small};

/// A surprise of this size is no chance.
const DOUBT: f64 = 1e-6;

fn run(program: &str, algorithm: Algorithm, seeds: u64) -> (Listed, Cell) {
    let listed = Listed::new(named(program).expect("there is one"));
    let cell = cell(&listed, algorithm, seeds).expect("every original has a double");
    (listed, cell)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn castro_claims_exactly_what_is_learned() {
    for program in small() {
        let listed = Listed::new(program);
        let cell = cell(&listed, Algorithm::Castro, 1).expect("every original has a double");
        assert_eq!((cell.method, cell.wrong), (Method::Exact, 0), "{}", program.name);
        // Paths share no input: the set is all that is learned.
        assert!(near(cell.claim, cell.truth), "{}: {} {}", program.name, cell.claim, cell.truth);
        assert!(!cell.flagged());
    }
}

#[test]
fn mpp_reveals_the_failure_alone() {
    for program in ["case", "loop", "score", "find", "tlv"] {
        let (listed, cell) = run(program, Algorithm::Mpp, 1);
        assert_eq!((cell.method, cell.wrong), (Method::Exact, 0), "{program}");
        assert!(near(cell.claim, listed.floor()), "{program}: {}", cell.claim);
        assert!(near(cell.truth, listed.floor()), "{program}: {}", cell.truth);
        assert!(near(cell.worst, listed.floor()), "{program}: {}", cell.worst);
    }
}

#[test]
fn mpp_chooses_paths_by_the_number_of_their_inputs() {
    let listed = Listed::new(named("score").expect("there is one"));
    let mut counts = vec![0u32; listed.failing.len()];
    for seed in 0..1500 {
        let double = report(Algorithm::Mpp, listed.program, &listed.failing[0], seed);
        let double = double.expect("there is a double").double;
        counts[listed.number(&double).expect("it fails") as usize] += 1;
    }
    for &count in &counts {
        assert!(plausible(count, 1500, 1.0 / counts.len() as f64, DOUBT), "{counts:?}");
    }
}

#[test]
fn camouflage_counts_that_it_differs() {
    for program in ["case", "score"] {
        let (_, cell) = run(program, Algorithm::Camouflage, 128);
        assert!(!cell.flagged(), "{program}: {} {}", cell.claim, cell.truth);
    }
}

#[test]
fn camouflage_counts_that_it_differs_where_bytes_depend_on_each_other() {
    let (_, cell) = run("compare", Algorithm::Camouflage, 256);
    assert!(!cell.flagged(), "{} {}", cell.claim, cell.truth);
}

#[test]
fn reap_rm_claims_no_less_than_is_learned() {
    let (_, cell) = run("score", Algorithm::ReapRm, 32);
    assert!(!cell.flagged(), "{} {}", cell.claim, cell.truth);
}

#[test]
fn respa_claims_no_less_than_each_double_tells() {
    for program in ["branch, pin", "pinned", "score", "find", "card"] {
        let listed = Listed::new(named(program).expect("there is one"));
        let report = |own: &Vec<u8>| {
            report(Algorithm::Respa, listed.program, own, 1).expect("there is a double")
        };
        let reports: Vec<_> = listed.failing.iter().map(report).collect();
        let mut gained = 0;
        for made in &reports {
            // There is no chance in it but the draw: whoever sees the double knows that the original is
            // one of those that lead to this set.
            let suspects = reports.iter().filter(|other| other.set == made.set).count();
            let told = 8.0 * listed.program.len() as f64 - (suspects as f64).log2();
            let claim = made.claim.upper();
            assert!(claim >= told - 1e-9, "{program}: {claim} bits, and {told} are told");
            gained += usize::from(claim < 8.0 * listed.program.len() as f64 - 1.0);
        }
        assert!(gained > 0, "{program}");
    }
}

#[test]
fn weakening_claims_no_less_than_is_learned() {
    for program in ["case", "score"] {
        for algorithm in [Algorithm::Weaken, Algorithm::BlackBox] {
            let (listed, cell) = run(program, algorithm, 2);
            assert_eq!(cell.wrong, 0, "{program}");
            assert!(!cell.flagged(), "{program}: {} {}", cell.claim, cell.truth);
            assert!(cell.truth >= listed.floor());
        }
    }
}

#[test]
fn pieces_that_move_claim_no_less_than_is_learned() {
    for program in ["anywhere", "twins"] {
        let (listed, cell) = run(program, Algorithm::Weaken, 2);
        assert_eq!(cell.wrong, 0, "{program}");
        assert!(!cell.flagged(), "{program}: {} {}", cell.claim, cell.truth);
        // One place alone would tell a bit more than the failure does, for every original.
        let floor = listed.floor();
        assert!(cell.claim < floor + 0.6, "{program}: {} and {floor}", cell.claim);
    }
}

#[test]
fn a_canonical_double_tells_the_path_at_most() {
    for program in ["case", "score"] {
        let (_, castro) = run(program, Algorithm::Castro, 1);
        for algorithm in [Algorithm::WeakenCanonical, Algorithm::MppCanonical] {
            let (listed, cell) = run(program, algorithm, 1);
            assert_eq!((cell.method, cell.wrong), (Method::Exact, 0), "{program}");
            assert!(near(cell.claim, castro.claim), "{program}: {} {}", cell.claim, castro.claim);
            assert!(!cell.flagged(), "{program}: {} {}", cell.claim, cell.truth);
            assert!(cell.truth >= listed.floor() - 1e-6);
        }
    }
    // Where not all paths are found, which ones were tells something.
    let (_, cell) = run("branch, pin", Algorithm::MppCanonical, 1);
    assert!(!cell.flagged(), "{} {}", cell.claim, cell.truth);
    // One double for each path, whichever original of it is reported.
    let listed = Listed::new(named("score").expect("there is one"));
    for path in &listed.paths {
        let double = |number: u32| {
            let own = &listed.failing[number as usize];
            let it = report(Algorithm::WeakenCanonical, listed.program, own, u64::from(number));
            it.expect("there is a double").double
        };
        assert!(path.iter().all(|&number| double(number) == double(path[0])));
    }
}

#[test]
fn shorter_doubles_claim_no_less_than_is_learned() {
    for program in &LENGTHY {
        let it = program.shortened(2).expect("it can be run");
        assert!(!it.flagged(), "{}: {} {}", program.name, it.claim, it.truth);
        // They are shorter, where the failure needs less.
        assert!(it.length < f64::from(program.length), "{}: {}", program.name, it.length);
        assert!((8..=120).contains(&it.failing), "{}: {}", program.name, it.failing);
        let it = program.chosen(2).expect("it can be run");
        assert!(!it.flagged(), "{}: {} {}", program.name, it.claim, it.truth);
    }
}

#[test]
fn doubles_tell_no_more_than_is_said_whatever_was_believed() {
    for program in ["case", "score", "anywhere", "answer", "unit", "verb"] {
        let listed = Listed::new(named(program).expect("there is one"));
        for algorithm in [Algorithm::Castro, Algorithm::Weaken, Algorithm::Itself] {
            let seeds = if algorithm == Algorithm::Weaken { 2 } else { 1 };
            for it in told(&listed, algorithm, seeds).expect("every original has a double") {
                assert!(!it.flagged(), "{program}, {algorithm:?}: {it:?}");
                assert!(it.tells <= it.leak + 1.0 + 1e-9, "{program}, {algorithm:?}: {it:?}");
            }
        }
    }
    // A word of the program costs less than its letters.
    let listed = Listed::new(named("verb").expect("there is one"));
    for it in told(&listed, Algorithm::Itself, 1).expect("every original has a double") {
        assert!(it.tells < it.leak - 8.0, "{it:?}");
    }
}

#[test]
fn a_belief_that_looks_at_the_original_is_caught() {
    for program in ["case", "score", "tlv"] {
        let listed = Listed::new(named(program).expect("there is one"));
        let all = told(&listed, Algorithm::Peeks, 1).expect("every original has a double");
        assert!(all.iter().any(Told::flagged), "{program}: {all:?}");
    }
}

#[test]
fn an_attacker_with_a_dictionary_guesses_no_better_than_is_said() {
    let (program, failing) = &RECORDS[0];
    let names = ["Anneliese Brandt", "Tomasz Wieczorek", "Ingrid Solheim  ", "Mehmet Yildirim "];
    // In bytes that the failure does not need: no better than by chance.
    let originals: Vec<Vec<u8>> =
        names.iter().map(|name| [&failing[..FREE.start], name.as_bytes()].concat()).collect();
    for algorithm in [Algorithm::Castro, Algorithm::Weaken] {
        let rounds = if algorithm == Algorithm::Castro { 1000 } else { 60 };
        let game = name_it(algorithm, program, &originals, rounds).expect("there are doubles");
        assert!(plausible(game.won.hits, game.won.runs, 0.25, DOUBT), "{algorithm:?}: {game:?}");
        assert!(game.won.value() <= game.allowed, "{game:?}");
    }
    // What keeps a byte is found out.
    let game = name_it(Algorithm::Keeps, program, &originals, 600).expect("there are doubles");
    assert!(!plausible(game.won.hits, game.won.runs, 0.25, DOUBT), "{game:?}");
}

#[test]
fn a_double_that_must_differ_is_caught() {
    for program in ["case", "score"] {
        let (_, mutant) = run(program, Algorithm::MustDiffer, 128);
        assert!(mutant.flagged(), "{program}: {} {}", mutant.claim, mutant.truth);
        // The same doubles with the figure that counts it are not.
        let (_, honest) = run(program, Algorithm::Camouflage, 128);
        assert!(!honest.flagged() && near(honest.truth, mutant.truth), "{program}");
    }
}

#[test]
fn a_double_that_keeps_a_byte_is_caught() {
    // It may end up outside of its set, or tell more than its set does.
    let (_, outside) = run("compare", Algorithm::Keeps, 2);
    assert!(outside.wrong > 0 && outside.flagged());
    let (_, inside) = run("loop", Algorithm::Keeps, 32);
    assert!(inside.wrong == 0 && inside.flagged(), "{} {}", inside.claim, inside.truth);
}

#[test]
fn castro_twice_is_castro_once() {
    for (program, failing) in RECORDS {
        for algorithm in [Algorithm::Castro, Algorithm::Mpp] {
            let share = same_again(algorithm, program, &[failing.to_vec()], 10);
            let share = share.expect("there are doubles");
            assert_eq!(share.hits, share.runs, "{}", program.name);
        }
    }
}

#[test]
fn two_originals_of_a_path_cannot_be_told_apart_unless_doubles_avoid_them() {
    let case = named("case").expect("there is one");
    let originals: [&[u8]; 2] = [b"GoA", b"Gob"];
    for algorithm in [Algorithm::Castro, Algorithm::Mpp, Algorithm::CastroCanonical] {
        let won = play(algorithm, case, originals, 400, 1000).expect("there are doubles");
        assert!(plausible(won.hits, won.runs, 0.5, DOUBT), "{algorithm:?}: {won:?}");
    }
    let won = play(Algorithm::MustDiffer, case, originals, 400, 6000).expect("there are doubles");
    assert!(!plausible(won.hits, won.runs, 0.5, DOUBT), "{won:?}");
}

#[test]
fn secrets_in_unused_fields_are_left_to_chance() {
    for (program, failing) in RECORDS {
        let share = kept(Algorithm::Castro, program, failing, 300).expect("there are doubles");
        assert!(plausible(share.hits, share.runs, CHANCE, DOUBT), "{share:?}");
    }
    let (program, failing) = &RECORDS[0];
    let share = |algorithm, doubles| kept(algorithm, program, failing, doubles).expect("doubles");
    for algorithm in [Algorithm::Mpp, Algorithm::Weaken] {
        let it = share(algorithm, 40);
        assert!(plausible(it.hits, it.runs, CHANCE, DOUBT), "{algorithm:?}: {it:?}");
    }
    // Too few and too many.
    let (few, many) = (share(Algorithm::MustDiffer, 300), share(Algorithm::Keeps, 300));
    assert_eq!(few.hits, 0);
    assert!(!plausible(few.hits, few.runs, CHANCE, DOUBT));
    assert!(!plausible(many.hits, many.runs, CHANCE, DOUBT), "{many:?}");
}

#[test]
fn records_fail_whatever_their_free_bytes_are() {
    for (program, failing) in RECORDS {
        let mut input = failing.to_vec();
        assert!(program.fails(&input), "{}", program.name);
        for value in [0, 1, 0x7f, 0xff] {
            input[FREE].fill(value);
            assert!(program.fails(&input), "{}", program.name);
        }
    }
}

#[test]
fn canonical_doubles_depend_on_the_path_alone() {
    let listed = Listed::new(named("http").expect("there is one"));
    for path in &listed.paths {
        let double = |number: u32| {
            let own = &listed.failing[number as usize];
            let it = report(Algorithm::CastroCanonical, listed.program, own, u64::from(number));
            it.expect("there is a double")
        };
        let first = double(path[0]);
        assert!(matches!(first.drawn, Drawn::Nothing));
        assert!(path.iter().all(|&number| double(number).double == first.double));
    }
}
