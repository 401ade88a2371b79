//! The command line that a report tells, and what is hidden in it.
//!
//! A report need not have the whole command: a value that its owner did not want to be seen is
//! [`HIDDEN`], a path is [`PATH`]. Who runs such a command has to know the rest. What is printed of it
//! is quoted: nobody knows who wrote a report.

use crate::report::Report;
use crate::shell::command_line;

/// In the arguments, in place of a value, or of a part of one, that is not told.
pub const HIDDEN: &str = "<hidden>";

/// In the arguments, in place of a path.
pub const PATH: &str = "<path>";

impl Report {
    /// The program's name and its arguments, as a shell takes them.
    pub fn command_line(&self) -> String {
        command_line(std::iter::once(&self.program.name).chain(&self.arguments))
    }

    /// The numbers of the arguments, from 1, of which something is hidden.
    pub fn hidden_arguments(&self) -> Vec<usize> {
        let hidden = |word: &String| word.contains(HIDDEN) || word.contains(PATH);
        let numbered = (1..).zip(&self.arguments);
        numbered.filter(|(_, word)| hidden(word)).map(|(number, _)| number).collect()
    }

    /// What has to be said about hidden arguments, if there are any: `argument 2 is hidden`.
    pub fn hidden_words(&self) -> Option<String> {
        let numbers: Vec<String> =
            self.hidden_arguments().iter().map(ToString::to_string).collect();
        match &numbers[..] {
            [] => None,
            [one] => Some(format!("argument {one} is hidden")),
            [first @ .., last] => {
                Some(format!("arguments {} and {last} are hidden", first.join(", ")))
            }
        }
    }
}
