//! The privacy bench as tables: claims beside what is really learned. Ends with an error if a claim
//! does not hold; the tables are complete in any case.
//!
//! Words on the command line leave out programs and algorithms whose names contain none of them.

use std::process::ExitCode;
use std::time::Instant;

use stunt_privacy::anonymiser::{Algorithm, Problem};
use stunt_privacy::chance::plausible;
use stunt_privacy::claims::{Cell, Method, cell};
use stunt_privacy::lengths::LENGTHY;
use stunt_privacy::listed::Listed;
use stunt_privacy::priors::{Prior, Told, told};
use stunt_privacy::programs::{FREE, RECORDS, small};
use stunt_privacy::{canaries, cells, game};

/// A surprise of this size is no chance.
const DOUBT: f64 = 1e-6;

struct Row {
    listed: Listed,
    cells: Vec<Cell>,
    again: Vec<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let named = |names: &[&str], name: &str| {
        let asked: Vec<&String> =
            words.iter().filter(|word| names.iter().any(|it| it.contains(word.as_str()))).collect();
        asked.is_empty() || asked.iter().any(|word| name.contains(word.as_str()))
    };
    let algorithms: Vec<Algorithm> = {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|it| it.name()).collect();
        Algorithm::ALL.into_iter().filter(|it| named(&names, it.name())).collect()
    };
    let names: Vec<&str> = small().map(|program| program.name).collect();
    match tables(&algorithms, &|name| named(&names, name)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(problems) => {
            eprintln!("privacy: {problems} claims do not hold");
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("privacy: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn tables(algorithms: &[Algorithm], named: &dyn Fn(&str) -> bool) -> Result<usize, Problem> {
    let mut rows = Vec::new();
    for program in small().filter(|program| named(program.name)) {
        let listed = Listed::new(program);
        let (mut cells, mut again) = (Vec::new(), Vec::new());
        for &algorithm in algorithms {
            let begun = Instant::now();
            cells.push(cell(&listed, algorithm, algorithm.seeds(listed.failing.len()))?);
            let share = cells::same_again(algorithm, program, &listed.failing, 20)?;
            again.push(format!("{:.0}", 100.0 * share.value()));
            let seconds = begun.elapsed().as_secs_f64();
            if let Some(cell) = cells.last() {
                let (claim, truth) = (cell.claim, cell.truth);
                let mark = if cell.flagged() { "DOES NOT HOLD, " } else { "" };
                let name = algorithm.name();
                eprintln!(
                    "{}, {name}: {mark}{claim:.2} / {truth:.2}, {seconds:.1} s",
                    program.name
                );
            }
        }
        rows.push(Row { listed, cells, again });
    }
    println!("Claim and truth, mean over all originals that fail, in bits (`~`: sampled):\n");
    print(algorithms, &rows, |row, at| {
        let cell = &row.cells[at];
        let text = format!("{:.2} / {}{:.2}", cell.claim, about(cell), cell.truth);
        if cell.flagged() { format!("**{text}**") } else { text }
    });
    println!("\nThe worst single double, in bits:\n");
    print(algorithms, &rows, |row, at| {
        let cell = &row.cells[at];
        format!("{}{:.2}", about(cell), cell.worst)
    });
    println!("\nMaximal leakage, which here is the min-entropy leakage, too, in bits:\n");
    print(algorithms, &rows, |row, at| {
        let cell = &row.cells[at];
        format!("{}{:.2}", about(cell), cell.maximal)
    });
    println!("\nHow often a double of a double comes from the same set, in percent:\n");
    print(algorithms, &rows, |row, at| row.again[at].clone());
    let mut flagged = rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.flagged()).count();
    flagged += beliefs(&rows)?;
    flagged += lengths()?;
    println!("\nLonger programs: {} bytes that the failure does not need.\n", FREE.len());
    flagged += records(algorithms)?;
    Ok(flagged)
}

fn about(cell: &Cell) -> &'static str {
    match cell.method {
        Method::Exact => "",
        Method::Sampled => "~",
    }
}

fn print(algorithms: &[Algorithm], rows: &[Row], text: impl Fn(&Row, usize) -> String) {
    let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
    println!("| program | fail | paths | floor | {} |", names.join(" | "));
    println!("|---|---:|---:|---:|{}", "---:|".repeat(names.len()));
    for row in rows {
        let listed = &row.listed;
        let texts: Vec<String> = (0..names.len()).map(|at| text(row, at)).collect();
        println!(
            "| {} | {} | {} | {:.2} | {} |",
            listed.program.name,
            listed.failing.len(),
            listed.paths.len(),
            listed.floor(),
            texts.join(" | ")
        );
    }
}

/// What doubles tell who believed something before. Gives the number of claims that do not hold.
fn beliefs(rows: &[Row]) -> Result<usize, Problem> {
    println!(
        "\nWeakening, for several beliefs about which original it was: what is learned at least, beyond that the \
         program fails, `tells` and `leak`, in bits:\n"
    );
    let names: Vec<&str> = Prior::ALL.iter().map(|prior| prior.name()).collect();
    println!("| program | {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(names.len()));
    let mut flagged = 0;
    for Row { listed, .. } in rows {
        let algorithm = Algorithm::Weaken;
        let all = told(listed, algorithm, algorithm.seeds(listed.failing.len()))?;
        flagged += all.iter().filter(|it| it.flagged()).count();
        let cell = |it: &Told| {
            let mark = if it.flagged() { "**" } else { "" };
            format!("{mark}{:.2} / {:.2} / {:.2}{mark}", it.learned, it.tells, it.leak)
        };
        let cells: Vec<String> = all.iter().map(cell).collect();
        println!("| {} | {} |", listed.program.name, cells.join(" | "));
    }
    Ok(flagged)
}

/// Doubles of other lengths than the original's. Gives the number of claims that do not hold.
fn lengths() -> Result<usize, Problem> {
    println!(
        "\nShorter doubles (black box), claim and truth in bits (`~`: sampled): of every original \
         (`always`), and where they claim less (`auto`):\n"
    );
    println!("| program | `--resize` | fail | length | of a double | claim / truth |");
    println!("|---|---|---:|---:|---:|---:|");
    let mut flagged = 0;
    for program in &LENGTHY {
        let ways = [("always", program.shortened(4)), ("auto", program.chosen(4))];
        for (way, it) in ways {
            let it = it?;
            let mark = if it.flagged() { "**" } else { "" };
            flagged += usize::from(it.flagged());
            println!(
                "| {} | {way} | {} | {} | {:.1} | {mark}{:.2} / ~{:.2}{mark} |",
                program.name, it.failing, program.length, it.length, it.claim, it.truth
            );
        }
    }
    Ok(flagged)
}

/// What needs no list of inputs. Gives the number of claims that do not hold.
fn records(algorithms: &[Algorithm]) -> Result<usize, Problem> {
    println!(
        "| program | algorithm | same set again, % | told apart, % | free bytes kept, % (0.39 by chance) |"
    );
    println!("|---|---|---:|---:|---:|");
    let mut flagged = 0;
    for (program, failing) in RECORDS {
        for &algorithm in algorithms {
            let again = cells::same_again(algorithm, program, &[failing.to_vec()], 20)?;
            // Of one path: free bytes make the difference.
            let mut other = *failing;
            other[FREE].reverse();
            let (lessons, rounds, doubles) = match algorithm {
                Algorithm::Castro | Algorithm::CastroCanonical | Algorithm::Camouflage => {
                    (200, 400, 300)
                }
                // Slower: fewer, enough to see bytes that are kept, not those that are avoided.
                _ => (20, 60, 60),
            };
            let told = game::play(algorithm, program, [failing, &other], lessons, rounds)?;
            let kept = canaries::kept(algorithm, program, failing, doubles)?;
            // A canonical double is the same for all, and avoiding the original is what camouflage
            // is for: it counts that.
            let random = !matches!(
                algorithm,
                Algorithm::Camouflage
                    | Algorithm::CastroCanonical
                    | Algorithm::MppCanonical
                    | Algorithm::WeakenCanonical
            );
            let same = algorithm != Algorithm::Camouflage;
            let bad = [
                same && !plausible(told.hits, told.runs, 0.5, DOUBT),
                random && !plausible(kept.hits, kept.runs, canaries::CHANCE, DOUBT),
            ];
            flagged += bad.iter().filter(|&&bad| bad).count();
            let mark = |bad: bool| if bad { "**" } else { "" };
            println!(
                "| {} | {} | {:.0} | {m}{:.0}{m} | {k}{:.2}{k} |",
                program.name,
                algorithm.name(),
                100.0 * again.value(),
                100.0 * told.value(),
                100.0 * kept.value(),
                m = mark(bad[0]),
                k = mark(bad[1]),
            );
        }
    }
    Ok(flagged)
}
