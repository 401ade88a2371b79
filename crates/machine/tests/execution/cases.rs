//! What is walked: programs of our own, made of every kind of operation; the papers' examples; and
//! real crashes.

use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::symbolic::Relaxations;

use crate::subject::{Subject, Via, scratch};
use crate::{build, random};

/// A case: its name, and how it is made.
pub struct Case {
    /// Its name.
    pub name: String,
    program: Program,
    via: Via,
    input: Data,
}

enum Program {
    Own(&'static str, &'static str),
    Built(String),
    Given(PathBuf),
}

enum Data {
    Bytes(&'static [u8]),
    Of(String, &'static str),
    Given(PathBuf),
}

const TEXT: &[u8] = b"The ferry leaves at 17:45, pier 3; tickets cost 12.50 for Ada-L.";
const NUMBERS: &[u8] = b"0123456789-4096+65535*2147483648/18446744073709551615%7777777777";

/// Programs of the test `symbolic`, and what they are given.
const OWN: &[(&str, Via, &[u8])] = &[
    ("integers.c", Via::StandardInput, NUMBERS),
    ("flags.c", Via::StandardInput, TEXT),
    ("strings.c", Via::StandardInput, TEXT),
    ("strings.c", Via::Argument, TEXT),
    ("strings.c", Via::Variable, NUMBERS),
    ("repeats.c", Via::StandardInput, TEXT),
    ("tables.c", Via::StandardInput, NUMBERS),
    ("tables.c", Via::File, TEXT),
    ("files.c", Via::File, TEXT),
    ("vectors.c", Via::StandardInput, TEXT),
    ("comparisons.c", Via::StandardInput, b"opalGATEkex."),
    ("clauses.c", Via::StandardInput, b";;ab7-......"),
    ("switches.c", Via::StandardInput, b"25?........."),
    ("reads.c", Via::StandardInput, b"363........."),
    ("lines.c", Via::StandardInput, b"a b\n\tz\n7 ,~\n"),
    ("processes.c", Via::StandardInput, b"xaxbxcdx--xx....zaz.fd-a-b3q...."),
];

/// Subjects: folder, program, input.
const SUBJECTS: &[(&str, &str, &str)] = &[
    ("c/small-addressbook", "small-addressbook-O1", "private.csv"),
    ("c/small-addressbook", "small-addressbook-O2", "private.csv"),
    ("c/small-cruise", "small-cruise-O1", "private.txt"),
    ("c/small-cruise", "small-cruise-O2", "private.txt"),
    ("c/small-luhn", "small-luhn-O1", "private.txt"),
    ("c/small-luhn", "small-luhn-O2", "private.txt"),
    ("c/small-processcard", "small-processcard-O1", "private.txt"),
    ("c/small-processcard", "small-processcard-O2", "private.txt"),
    ("c/small-score", "small-score-O1", "private.txt"),
    ("c/small-score", "small-score-O2", "private.txt"),
    ("c/small-searchclients", "small-searchclients-O1", "private.txt"),
    ("c/small-searchclients", "small-searchclients-O2", "private.txt"),
    ("c/small-webserver", "small-webserver-O1", "private.http"),
    ("c/small-webserver", "small-webserver-O2", "private.http"),
    ("c/libyaml-assert", "libyaml-assert-O2", "minimal.yaml"),
    ("c/libxml2-dtd", "libxml2-dtd-O2", "minimal.xml"),
    ("c/onig-class", "onig-class-O1", "minimal.txt"),
    ("c/lua-getlocal", "lua-getlocal-O2", "minimal.lua"),
    ("c/sqlite-div0", "sqlite-div0-O2", "minimal.sql"),
    ("rust/cookie_signed", "cookie_signed", "minimal.http"),
    ("rust/json_rust", "json_rust", "minimal.json"),
    ("rust/nmea_parser", "nmea_parser", "minimal.nmea"),
    ("rust/png_plte", "png_plte", "minimal.png"),
    ("rust/pulldown_cmark", "pulldown_cmark", "minimal.markdown"),
    ("rust/sqlparser", "sqlparser", "minimal.sql"),
    ("rust/url_list", "url_list", "minimal.txt"),
];

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for &(source, via, input) in OWN {
        for level in ["-O0", "-O2"] {
            all.push(Case {
                name: format!("{}{level}-{via:?}", source.trim_end_matches(".c")).to_lowercase(),
                program: Program::Own(source, level),
                via,
                input: Data::Bytes(input),
            });
        }
    }
    for &(folder, program, input) in SUBJECTS {
        all.push(Case {
            name: format!("{program}-{}", input.split('.').next().unwrap_or_default()),
            program: Program::Built(program.to_owned()),
            via: Via::File,
            input: Data::Of(folder.to_owned(), input),
        });
    }
    all
}

/// A program that is given a file, by their paths.
pub fn given(program: &str, input: &str) -> Case {
    Case {
        name: "given".to_owned(),
        program: Program::Given(program.into()),
        via: Via::File,
        input: Data::Given(input.into()),
    }
}

/// A program of random instructions.
pub fn random(seed: u64) -> Result<Subject, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Ok(Subject {
        program: random::assemble(seed, false)?,
        via: Via::StandardInput,
        input: (0..512).map(|_| rng.r#gen()).collect(),
        folder: scratch().join("random"),
        relax: Relaxations::STEPWISE,
        check_memory: false,
        check_terms: true,
    })
}

impl Case {
    /// The subject, for a test with this name.
    pub fn subject(&self, test: &str, relax: Relaxations) -> Result<Subject, String> {
        let program = match &self.program {
            Program::Own(source, level) => build::build(source, &[level])?,
            Program::Built(name) => built(name)?,
            Program::Given(path) => path.clone(),
        };
        let input = match &self.input {
            Data::Bytes(bytes) => bytes.to_vec(),
            Data::Of(folder, file) => {
                let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
                read(&subjects.join(folder).join("inputs").join(file))?
            }
            Data::Given(path) => read(path)?,
        };
        Ok(Subject {
            program,
            via: self.via,
            input,
            folder: scratch().join(test).join(&self.name),
            relax,
            check_memory: false,
            check_terms: false,
        })
    }

    /// Whether it is small enough to be looked at with every term compared.
    pub fn is_small(&self) -> bool {
        matches!(self.program, Program::Own(..)) || self.name.starts_with("small-")
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn built(name: &str) -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("no target folder")?;
    let path = target.join("subjects/bin").join(name);
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(_) => Err(format!("{} is absent: `cargo xtask subjects` builds it", path.display())),
    }
}
