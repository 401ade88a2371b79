//! What a report says, as plain data.
//!
//! The order of the fields is the order of the keys in `report.json`. A field that is absent in
//! the file is `None`, empty or false here. Nothing that was seen or measured on the original has a
//! place: what a report says about a run, it says about the run on the double, which its reader can
//! make as well. Whoever fills a report sees to that, and `docs/report.md` says it for each field.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::figure::Leak;
use crate::per_byte::ByteRuns;
use crate::source::Source;
use crate::tells::Tells;

/// The schema of this version, as the file names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Schema;

impl Schema {
    /// The name of every version begins like this; a number follows.
    pub(crate) const FAMILY: &'static str = "stunt-report-";
    /// The number of this version.
    pub(crate) const VERSION: u32 = 2;
    /// The first version that can still be read: it has more fields, which are skipped.
    pub(crate) const OLDEST: u32 = 1;

    /// The name of this version: `stunt-report-2`.
    pub fn name(self) -> String {
        format!("{}{}", Schema::FAMILY, Schema::VERSION)
    }

    /// The number in a name of this family.
    pub(crate) fn version(name: &str) -> Option<u32> {
        name.strip_prefix(Schema::FAMILY)?.parse().ok()
    }

    /// Whether reports of a version can be read.
    pub(crate) fn can_read(version: u32) -> bool {
        (Schema::OLDEST..=Schema::VERSION).contains(&version)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Schema, D::Error> {
        let name = String::deserialize(deserializer)?;
        if Schema::version(&name).is_some_and(Schema::can_read) {
            Ok(Schema)
        } else {
            Err(serde::de::Error::custom("a schema that this version does not read"))
        }
    }
}

/// All that leaves the user's machine, except for the doubles themselves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Which schema the file follows.
    pub schema: Schema,
    /// The version of stunt that wrote the report.
    pub stunt: String,
    /// The program that failed.
    pub program: Program,
    /// Its arguments, without its name. `@@` stands for the input file's path; an argument that is
    /// itself an input is [`crate::SourceName::placeholder`].
    pub arguments: Vec<String>,
    /// Where the input came from. The double of each is in the archive.
    pub sources: Vec<Source>,
    /// How the program fails.
    pub failure: Failure,
    /// What it takes to see the failure again.
    pub replay: Replay,
    /// What the double tells, whatever was believed before; reports of older versions do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tells: Option<Tells>,
    /// How much the double reveals about the original, as the papers count.
    pub leak: Leak,
    /// What is revealed about each byte by itself, for each source in the order of `sources`.
    pub per_byte: Vec<ByteRuns>,
    /// How the double was found.
    pub algorithm: Algorithm,
    /// Whether every possible double had the same chance.
    pub draw: Draw,
    /// How often the double was seen to fail.
    pub verified: Verified,
    /// What else the reader should know, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the user says about it, in their own words, if anything. It is not measured: they have written it to
    /// be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// The longest comment, in characters.
pub const LONGEST_COMMENT: usize = 2000;

/// The program that failed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Program {
    /// The name of its file, without the folder.
    pub name: String,
    /// Its build-id in hexadecimal digits, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The modules that the frames of the failure are in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<Module>,
}

/// A file of code: the program or a library.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Module {
    /// The file's name, without the folder.
    pub name: String,
    /// Its build-id in hexadecimal digits, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
}

/// How the program fails.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of failure: `signal 11`, `abort`, `panic`, …
    pub kind: String,
    /// A short hash of the failure's identity: equal for equal failures.
    pub signature: String,
    /// The failure for people: `SIGSEGV in parse (parse.c:12)`.
    pub words: String,
    /// The call stack, from the failing frame outward; at most 32 frames.
    pub frames: Vec<Frame>,
}

/// A place on the call stack.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Frame {
    /// The name of the module's file, without the folder.
    pub module: String,
    /// The module's build-id in hexadecimal digits, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Where in the module; in the file in hexadecimal digits: `0x11d6`.
    #[serde(with = "hexadecimal")]
    pub offset: u64,
    /// The function, if the module has symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The source line, if the module has debugging information: `parse.c:12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// What it takes to see the failure again.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Replay {
    /// The program fails natively, outside the machine.
    pub native: bool,
    /// The failure shows only where memory accesses are checked: `stunt replay` does that by itself.
    pub check_memory: bool,
    /// What counts as the failure, if the user said so: `exit=3`, `stderr~REGEX`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_if: Option<String>,
}

/// How the double was found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Algorithm {
    /// Its name on the command line.
    pub name: String,
    /// Its settings by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// Whether every possible double had the same chance. The leak figure assumes so.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "DrawFields", into = "DrawFields")]
pub enum Draw {
    /// The double was drawn uniformly at random, with fresh randomness.
    Uniform,
    /// It was not, and so it may reveal more than the figure says, unless the figure counts that.
    NotUniform {
        /// Why, without a full stop: `the condition could not be counted`. It says so if the figure
        /// counts it.
        why: String,
    },
}

/// [`Draw`] as it is written.
#[derive(Serialize, Deserialize)]
struct DrawFields {
    uniform: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl From<Draw> for DrawFields {
    fn from(draw: Draw) -> DrawFields {
        match draw {
            Draw::Uniform => DrawFields { uniform: true, why: None },
            Draw::NotUniform { why } => DrawFields { uniform: false, why: Some(why) },
        }
    }
}

impl TryFrom<DrawFields> for Draw {
    type Error = &'static str;

    fn try_from(fields: DrawFields) -> Result<Draw, &'static str> {
        match fields {
            DrawFields { uniform: true, why: None } => Ok(Draw::Uniform),
            DrawFields { uniform: false, why: Some(why) } => Ok(Draw::NotUniform { why }),
            DrawFields { .. } => {
                Err("a draw that is not uniform has a reason, and no other draw has")
            }
        }
    }
}

/// How often the double was seen to fail as the original does.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Verified {
    /// Natively, on the real processor; otherwise in the machine.
    pub native: bool,
    /// How many times, every time with the same identity.
    pub runs: u32,
}

/// Addresses as people write them, and as no JSON reader rounds them.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:#x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.strip_prefix("0x").filter(|digits| {
            // `from_str_radix` alone would also take a sign.
            !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(|| {
            serde::de::Error::custom("an offset is not a hexadecimal number such as 0x11d6")
        })
    }
}

impl Report {
    /// How many bytes all sources have together.
    pub fn bytes(&self) -> u64 {
        self.sources.iter().fold(0, |sum, source| sum.saturating_add(source.bytes))
    }

    /// Whether the double is shorter than the original. How long that was is not said anywhere.
    pub fn is_shorter(&self) -> bool {
        self.algorithm.parameters.contains_key("resize")
    }

    /// `report.json` as it is written: one line, keys in a fixed order.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report has only text, numbers and lists")
    }
}
