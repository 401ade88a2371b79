//! What a run leaves behind, and how two of them differ.
//!
//! Compared are both output streams, the ending, and every file of the folder: path, kind, mode,
//! content. Times are not: natively they are the wall clock's. The one thing that is changed
//! before a comparison is the thread's number in the words of a Rust panic.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::table::{Ending, Run};

/// A file afterwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// `file`, `folder`, `link`, or `other`.
    pub kind: &'static str,
    /// Permission bits.
    pub mode: u32,
    /// A file's bytes, or a link's target.
    pub content: Vec<u8>,
}

/// What a run leaves behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// All files, by path relative to the folder.
    pub files: BTreeMap<String, Left>,
}

/// Everything below a folder of the host.
pub fn files_below(folder: &Path) -> io::Result<BTreeMap<String, Left>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            let metadata = fs::symlink_metadata(&path)?;
            let (kind, content) = if metadata.is_dir() {
                open.push(path.clone());
                ("folder", Vec::new())
            } else if metadata.is_symlink() {
                ("link", fs::read_link(&path)?.as_os_str().as_bytes().to_vec())
            } else if metadata.is_file() {
                ("file", fs::read(&path)?)
            } else {
                ("other", Vec::new())
            };
            let mode = metadata.permissions().mode() & 0o7777;
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            files.insert(name, Left { kind, mode, content });
        }
    }
    Ok(files)
}

/// How the outcomes of a run differ, for people; nothing if they agree.
pub fn differences(run: &Run, left: (&str, &Outcome), right: (&str, &Outcome)) -> Option<String> {
    let ((left_name, left), (right_name, right)) = (left, right);
    let mut text = String::new();
    if left.ending != right.ending {
        let _ = writeln!(
            text,
            "ending: {left_name} {:?}, {right_name} {:?}",
            left.ending, right.ending
        );
    }
    for (what, a, b) in
        [("stdout", &left.stdout, &right.stdout), ("stderr", &left.stderr, &right.stderr)]
    {
        let (a, b) = (without_thread_numbers(a), without_thread_numbers(b));
        if a != b {
            let _ = writeln!(text, "{what}:\n{}", first_difference(left_name, &a, right_name, &b));
        }
    }
    let excepted = |path: &str| {
        run.except.iter().any(|part| {
            path == part || path.strip_prefix(part.as_str()).is_some_and(|p| p.starts_with('/'))
        })
    };
    let paths: std::collections::BTreeSet<&String> =
        left.files.keys().chain(right.files.keys()).filter(|path| !excepted(path)).collect();
    for path in paths {
        match (left.files.get(path), right.files.get(path)) {
            (Some(_), None) => _ = writeln!(text, "{path}: only after {left_name}"),
            (None, Some(_)) => _ = writeln!(text, "{path}: only after {right_name}"),
            (Some(a), Some(b)) if a != b => {
                let _ = writeln!(
                    text,
                    "{path}: {left_name} {} {:o}, {right_name} {} {:o}",
                    a.kind, a.mode, b.kind, b.mode
                );
                if a.content != b.content {
                    let shown = first_difference(left_name, &a.content, right_name, &b.content);
                    let _ = writeln!(text, "{shown}");
                }
            }
            _ => {}
        }
    }
    (!text.is_empty()).then_some(text)
}

/// The surroundings of the first byte that differs.
fn first_difference(left_name: &str, left: &[u8], right_name: &str, right: &[u8]) -> String {
    let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let line = left[..common].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = left[..common].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let start = start.max(common.saturating_sub(60));
    let excerpt =
        |bytes: &[u8]| bytes[start..bytes.len().min(start + 240)].escape_ascii().to_string();
    format!(
        "  from byte {common} (line {line}) of {} and {}\n  {left_name:>8}: {}\n  {right_name:>8}: {}",
        left.len(),
        right.len(),
        excerpt(left),
        excerpt(right)
    )
}

/// `thread 'main' (123) panicked` without the number, which the kernel gives out.
fn without_thread_numbers(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let number = line.strip_prefix(b"thread '").and_then(|_| {
            let open = line.windows(3).position(|window| window == b"' (")? + 3;
            let close = open + line[open..].iter().position(|&byte| byte == b')')?;
            line[open..close].iter().all(u8::is_ascii_digit).then_some(open..close)
        });
        match number {
            Some(number) => {
                text.extend_from_slice(&line[..number.start]);
                text.extend_from_slice(&line[number.end..]);
            }
            None => text.extend_from_slice(line),
        }
    }
    text
}

/// What must hold of the comparison; the harness runs it as a test.
pub fn check(run: &Run) -> Result<(), String> {
    let file = |content: &[u8]| Left { kind: "file", mode: 0o644, content: content.to_vec() };
    let outcome = Outcome {
        ending: Ending::Exit(0),
        stdout: b"one\ntwo\n".to_vec(),
        stderr: b"thread 'main' (12) panicked at x\n".to_vec(),
        files: BTreeMap::from([("a".to_string(), file(b"x")), ("b/c".to_string(), file(b"y"))]),
    };
    let compare = |other: &Outcome| differences(run, ("native", &outcome), ("other", other));
    let changed = |change: &dyn Fn(&mut Outcome)| {
        let mut other = outcome.clone();
        change(&mut other);
        compare(&other)
    };
    assert_eq!(compare(&outcome), None);
    assert_eq!(changed(&|o| o.stderr = b"thread 'main' (345) panicked at x\n".to_vec()), None);
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Outcome));
    let seen: [Change<'_>; 7] = [
        ("ending", &|o| o.ending = Ending::Signal(6)),
        ("line 2", &|o| o.stdout = b"one\ntwelve\n".to_vec()),
        ("stdout", &|o| o.stdout.truncate(3)),
        ("stderr", &|o| o.stderr.clear()),
        ("a: only after native", &|o| _ = o.files.remove("a")),
        ("b/d: only after other", &|o| _ = o.files.insert("b/d".to_string(), file(b""))),
        ("b/c", &|o| _ = o.files.insert("b/c".to_string(), Left { mode: 0o600, ..file(b"y") })),
    ];
    for (words, change) in seen {
        let text = changed(change).ok_or(format!("{words}: a difference was not seen"))?;
        assert!(text.contains(words), "{words} is not in {text}");
    }
    Ok(())
}
