//! Links in Markdown that point to files of the project.
//!
//! Only links of the form `[text](target)` outside code are looked at. A target with a scheme
//! (`https:`) or a mere `#section` is not ours to check; of `FILE#section` the file is.

use std::path::Path;

use super::Source;

/// Complains about links that lead nowhere.
pub fn check(root: &Path, source: &Source, problems: &mut Vec<String>) {
    let folder = root.join(source.path.parent().unwrap_or(Path::new("")));
    for (number, target) in targets(&source.text) {
        let file = target.split('#').next().unwrap_or_default();
        let scheme = file.contains("://") || file.starts_with("mailto:");
        if !file.is_empty() && !scheme && !folder.join(file).exists() {
            problems.push(format!("{}:{number}: no such file: {target}", source.path.display()));
        }
    }
}

/// The targets of all links outside code, with their line numbers.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        // Every second piece between back quotes is code.
        for prose in line.split('`').step_by(2) {
            for (at, _) in prose.match_indices("](") {
                if let Some((target, _)) = prose[at + 2..].split_once(')') {
                    found.push((number, target));
                }
            }
        }
        // A link whose text is code: `](` follows a back quote directly and is seen above.
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let text = "[a](b.md) and [`c`](d/e.rs#x)\n```\n[no](code)\n```\n`[no](code)` [f](#g)\n";
        assert_eq!(targets(text), [(1, "b.md"), (1, "d/e.rs#x"), (5, "#g")]);
    }

    #[test]
    fn dead_links_are_reported() {
        let root = crate::files::root();
        let text = "[a](xtask/src/tidy/links.rs) [b](no/such/file.md) [c](https://d.e) [f](#g)";
        let source = Source { path: "README.md".into(), text: text.to_string() };
        let mut problems = Vec::new();
        check(&root, &source, &mut problems);
        assert_eq!(problems, ["README.md:1: no such file: no/such/file.md"]);
    }
}
