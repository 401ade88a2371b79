//! Thousands of random calls on a directory of the host and on the machine's view of a copy of it.
//!
//! Both start from the same tree, part of it made on the host beforehand. Every result, every
//! error number, and from time to time the whole tree must agree. Each stands in a world of its own,
//! so deep that no way up leads out of it: links to parents of parents soon leave the tree itself.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::linux::abi::*;
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Halt, Node};

use crate::common::{Guest, Scratch};
use crate::native::{self, call};

const NAMES: [&str; 7] = ["a", "b", "c", "d", "l", "sub", "x"];

/// A path of a few components, with everything that makes paths interesting.
fn random_path(rng: &mut ChaCha8Rng) -> String {
    let mut path = String::new();
    for index in 0..rng.gen_range(1..4) {
        if index > 0 {
            path.push_str(if rng.gen_bool(0.05) { "//" } else { "/" });
        }
        let name = match rng.gen_range(0..30) {
            0 => ".",
            1 if index > 0 => "..",
            2 => "nope",
            _ => NAMES.choose(rng).expect("names"),
        };
        path.push_str(name);
    }
    match rng.gen_range(0..200) {
        0 => path.clear(),
        1 => path.push_str(&"n".repeat(256)),
        2..20 => path.push('/'),
        _ => {}
    }
    path
}

fn fill(dir: &Path) {
    fs::create_dir_all(dir.join("sub/sub")).unwrap();
    fs::create_dir(dir.join("d")).unwrap();
    fs::write(dir.join("a"), b"hello").unwrap();
    fs::write(dir.join("sub/b"), vec![7; 10_000]).unwrap();
    fs::write(dir.join("sub/sub/c"), b"deep").unwrap();
    fs::hard_link(dir.join("a"), dir.join("d/x")).unwrap();
    fs::set_permissions(dir.join("sub/b"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("sub/b", dir.join("l")).unwrap();
    symlink("../d", dir.join("sub/l")).unwrap();
    symlink("l", dir.join("d/l")).unwrap();
    symlink("nowhere/", dir.join("d/c")).unwrap();
    symlink("../sub/x", dir.join("d/b")).unwrap();
}

/// The two worlds side by side.
struct Twins {
    guest: Guest,
    dir: i32,
    /// Open files: host descriptor, guest descriptor.
    open: Vec<(i32, i32)>,
}

type Answer = Result<i64, Errno>;

fn count(result: Result<(), Errno>) -> Answer {
    result.map(|()| 0)
}

impl Twins {
    fn name_call(&mut self, rng: &mut ChaCha8Rng) -> (String, Answer, Answer) {
        let (one, two) = (random_path(rng), random_path(rng));
        let (c_one, c_two) = (native::path(&one), native::path(&two));
        let (p, q) = (one.as_bytes(), two.as_bytes());
        let (dir, cwd) = (self.dir, self.guest.cwd);
        let guest = &mut self.guest;
        match rng.gen_range(0..15) {
            0 => (
                format!("mkdir {one}"),
                call!(mkdirat(dir, c_one.as_ptr(), 0o777)),
                count(guest.call(|f, c| f.mkdir(c, cwd, p, 0o777))),
            ),
            1 => (
                format!("rmdir {one}"),
                call!(unlinkat(dir, c_one.as_ptr(), libc::AT_REMOVEDIR)),
                count(guest.call(|f, c| f.rmdir(c, cwd, p))),
            ),
            2 => (
                format!("unlink {one}"),
                call!(unlinkat(dir, c_one.as_ptr(), 0)),
                count(guest.call(|f, c| f.unlink(c, cwd, p))),
            ),
            3..6 => {
                let flags = *[0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE].choose(rng).unwrap();
                (
                    format!("rename {one} {two} {flags}"),
                    call!(renameat2(dir, c_one.as_ptr(), dir, c_two.as_ptr(), flags)),
                    count(guest.call(|f, c| f.rename(c, (cwd, p), (cwd, q), flags))),
                )
            }
            6 => {
                let follow = rng.gen_bool(0.3);
                let flags = if follow { libc::AT_SYMLINK_FOLLOW } else { 0 };
                let mine = if p.is_empty() {
                    Err(Errno::ENOENT)
                } else {
                    count(guest.call(|f, c| f.link(c, (cwd, p), (cwd, q), follow)))
                };
                (
                    format!("link {one} {two} {follow}"),
                    call!(linkat(dir, c_one.as_ptr(), dir, c_two.as_ptr(), flags)),
                    mine,
                )
            }
            7 => (
                format!("symlink {one} {two}"),
                call!(symlinkat(c_one.as_ptr(), dir, c_two.as_ptr())),
                count(guest.call(|f, c| f.symlink(c, p, cwd, q))),
            ),
            8 => {
                let mut buffer = [0u8; 300];
                let theirs =
                    call!(readlinkat(dir, c_one.as_ptr(), buffer.as_mut_ptr().cast(), 300));
                let mine = match p {
                    [] => Err(Errno::ENOENT),
                    _ => guest.call(|f, c| f.read_link(c, cwd, p)),
                };
                if let (Ok(length), Ok(text)) = (theirs, &mine) {
                    assert_eq!(&buffer[..length as usize], &text[..], "readlink {one}");
                }
                (format!("readlink {one}"), theirs, mine.map(|text| text.len() as i64))
            }
            9 => {
                let mode = rng.gen_range(0..0o10000);
                (
                    format!("chmod {one} {mode:o}"),
                    call!(fchmodat(dir, c_one.as_ptr(), mode, 0)),
                    guest.call(|f, c| {
                        let node = f.find(c, cwd, p, true)?.node;
                        count(f.chmod(c.user, node, mode))
                    }),
                )
            }
            10 => {
                let wish = rng.gen_range(0..8);
                (
                    format!("access {one} {wish}"),
                    call!(faccessat(dir, c_one.as_ptr(), wish as i32, 0)),
                    guest.call(|f, c| {
                        let node = f.find(c, cwd, p, true)?.node;
                        count(f.access(c.user, node, wish))
                    }),
                )
            }
            11 => {
                let kind = *[S_IFREG, S_IFIFO, S_IFSOCK, S_IFDIR].choose(rng).unwrap();
                (
                    format!("mknod {one} {kind:o}"),
                    call!(mknodat(dir, c_one.as_ptr(), kind | 0o640, 0)),
                    count(guest.call(|f, c| f.mknod(c, cwd, p, kind | 0o640, 0))),
                )
            }
            _ => {
                let follow = rng.gen_bool(0.5);
                let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
                let theirs = native::stat(dir, &one, flags);
                let mine = match p {
                    [] => Err(Errno::ENOENT),
                    _ => guest.call(|f, c| f.stat_path(c, cwd, p, follow)),
                };
                if let (Ok(theirs), Ok(mine)) = (theirs, mine) {
                    let size = if mine.kind() == S_IFDIR { 0 } else { mine.size };
                    assert_eq!((mine.mode, mine.nlink, size), theirs, "stat {one}");
                }
                (format!("stat {one}"), theirs.map(|_| 0), mine.map(|_| 0))
            }
        }
    }

    fn open_call(&mut self, rng: &mut ChaCha8Rng) -> (String, Answer, Answer) {
        let path = random_path(rng);
        let mut flags = *[O_RDONLY, O_WRONLY, O_RDWR].choose(rng).unwrap() | O_NONBLOCK;
        let extra = [O_CREAT, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_PATH];
        for _ in 0..rng.gen_range(0..4) {
            flags |= extra.choose(rng).unwrap();
        }
        if rng.gen_bool(0.05) {
            flags |= O_TMPFILE;
        }
        // What creation without O_CREAT does with O_EXCL is left open by the manual.
        if flags & O_CREAT == 0 && flags & O_TMPFILE != O_TMPFILE {
            flags &= !O_EXCL;
        }
        let name = native::path(&path);
        let theirs = call!(openat(self.dir, name.as_ptr(), flags as i32, 0o666));
        let cwd = self.guest.cwd;
        let mine = self
            .guest
            .call(|f, c| f.open(c, cwd, path.as_bytes(), flags, 0o666))
            .map(|opened| opened.file);
        let mine = mine.and_then(|file| {
            let guest = &mut self.guest;
            guest.files.number_file(&mut guest.table, file, false, 0)
        });
        if let (Ok(theirs), Ok(mine)) = (theirs, mine) {
            self.open.push((theirs as i32, mine as i32));
        }
        let number = mine.unwrap_or(0);
        (format!("open {path} {flags:o} = {number}"), theirs.map(|_| 0), mine.map(|_| 0))
    }

    fn file_call(&mut self, rng: &mut ChaCha8Rng) -> (String, Answer, Answer) {
        let &(fd, mine) = self.open.choose(rng).expect("an open file");
        let file = self.guest.file(mine).expect("open");
        let files = &mut self.guest.files;
        let offset = rng.gen_range(-5..20_000i64);
        let size = *[0, 1, 5, 100, 5000, 9000].choose(rng).unwrap();
        let (what, theirs, ours) = match rng.gen_range(0..11) {
            0 | 1 => {
                let (mut a, mut b) = (vec![0u8; size], vec![0u8; size]);
                let theirs = call!(read(fd, a.as_mut_ptr().cast(), size));
                let ours = files.read(file, &mut b).map(|moved| moved.count as i64);
                assert!(a == b, "read {size}");
                (format!("read {size}"), theirs, ours.map_err(Halt::errno))
            }
            2 => {
                let (mut a, mut b) = (vec![0u8; size], vec![0u8; size]);
                let theirs = call!(pread(fd, a.as_mut_ptr().cast(), size, offset));
                let ours = files.read_at(file, offset, &mut b).map(|moved| moved.count as i64);
                assert!(a == b, "pread {size} {offset}");
                (format!("pread {size} {offset}"), theirs, ours.map_err(Halt::errno))
            }
            3 | 4 => {
                let bytes: Vec<u8> = (0..size).map(|_| rng.r#gen()).collect();
                let theirs = call!(write(fd, bytes.as_ptr().cast(), size));
                let ours = files.write(file, &bytes).map(|moved| moved.count as i64);
                (format!("write {size}"), theirs, ours.map_err(Halt::errno))
            }
            5 => {
                let bytes: Vec<u8> = (0..size).map(|_| rng.r#gen()).collect();
                let theirs = call!(pwrite(fd, bytes.as_ptr().cast(), size, offset));
                let ours = files.write_at(file, offset, &bytes).map(|moved| moved.count as i64);
                (format!("pwrite {size} {offset}"), theirs, ours.map_err(Halt::errno))
            }
            6 => {
                // A directory's offsets are the file system's own business.
                if files.file_stat(file).unwrap().kind() == S_IFDIR {
                    return ("nothing".into(), Ok(0), Ok(0));
                }
                let whence = rng.gen_range(0..3);
                let theirs = call!(lseek(fd, offset, whence));
                let ours = files.seek(file, offset, whence as u32).map(|to| to as i64);
                (format!("lseek {offset} {whence}"), theirs, ours)
            }
            7 => (
                format!("ftruncate {offset}"),
                call!(ftruncate(fd, offset)),
                count(files.file_truncate(file, offset)),
            ),
            8 => {
                let theirs = native::fstat(fd);
                let ours = files.file_stat(file).map(|stat| {
                    let size = if stat.kind() == S_IFDIR { 0 } else { stat.size };
                    (stat.mode, stat.nlink, size)
                });
                assert_eq!(ours, theirs, "fstat");
                ("fstat".into(), theirs.map(|_| 0), ours.map(|_| 0))
            }
            9 => {
                let theirs = call!(fcntl(fd, libc::F_GETFL));
                let ours = files.status_flags(file).map(i64::from);
                ("F_GETFL".into(), theirs, ours)
            }
            _ => {
                let theirs = call!(close(fd));
                let guest = &mut self.guest;
                let ours = count(guest.files.close(&mut guest.table, mine));
                self.open.retain(|pair| pair.0 != fd);
                ("close".into(), theirs, ours)
            }
        };
        (format!("{mine}: {what}"), theirs, ours)
    }

    /// The whole tree: paths, modes, link counts, sizes, link texts, contents.
    fn compare(&mut self, root: &Path, relative: &Path) {
        let here = root.join(relative);
        let mut names: Vec<Vec<u8>> = fs::read_dir(&here)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_encoded_bytes())
            .collect();
        names.sort();
        let cwd = self.guest.cwd;
        let at = if relative.as_os_str().is_empty() { "." } else { relative.to_str().unwrap() };
        let node: Node = self.guest.call(|f, c| f.find(c, cwd, at.as_bytes(), false)).unwrap().node;
        let mine = self.guest.call(|f, c| f.names(c, node)).unwrap();
        let mine: Vec<Vec<u8>> = mine.into_iter().map(|entry| entry.0).collect();
        assert_eq!(mine, names, "names in {at}");
        for name in names {
            let path = relative.join(String::from_utf8(name).unwrap());
            let text = path.to_str().unwrap().to_string();
            let theirs = native::stat(self.dir, &text, libc::AT_SYMLINK_NOFOLLOW).unwrap();
            let stat = self.guest.call(|f, c| f.stat_path(c, cwd, text.as_bytes(), false)).unwrap();
            let size = if stat.kind() == S_IFDIR { 0 } else { stat.size };
            assert_eq!((stat.mode, stat.nlink, size), theirs, "stat of {text}");
            match stat.kind() {
                S_IFDIR => self.compare(root, &path),
                S_IFREG => {
                    let bytes = fs::read(root.join(&path)).unwrap();
                    assert!(self.guest.read_all(&text) == Ok(bytes), "content of {text}");
                }
                S_IFLNK => {
                    let target = fs::read_link(root.join(&path)).unwrap();
                    let mine = self.guest.call(|f, c| f.read_link(c, cwd, text.as_bytes()));
                    assert_eq!(mine, Ok(target.into_os_string().into_encoded_bytes()));
                }
                _ => {}
            }
        }
    }
}

/// More levels than a path can go up: 40 links, each to a parent's parent at the most.
const DEPTH: usize = 80;

fn run(seed: u64, steps: usize) {
    let scratch = Scratch::new(&format!("tree-{seed}"));
    let worlds = ["host", "copy"].map(|name| scratch.0.join(name));
    let [host, copy] = worlds.each_ref().map(|world| {
        let dir = world.join("in/".repeat(DEPTH));
        fs::create_dir_all(&dir).unwrap();
        fill(&dir);
        dir
    });
    let name = native::path(host.to_str().unwrap());
    let dir = call!(open(name.as_ptr(), libc::O_DIRECTORY | libc::O_PATH)).unwrap() as i32;
    let mut twins = Twins { guest: Guest::within(&worlds[1], &copy), dir, open: Vec::new() };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut history = Vec::new();
    for step in 0..steps {
        let (what, theirs, ours) = match rng.gen_range(0..10) {
            0..5 => twins.name_call(&mut rng),
            5 | 6 if twins.open.len() < 12 => twins.open_call(&mut rng),
            _ if twins.open.is_empty() => twins.open_call(&mut rng),
            _ => twins.file_call(&mut rng),
        };
        history.push(what);
        let recent = &history[history.len().saturating_sub(40)..];
        assert_eq!(ours, theirs, "ours, the host's; step {step}, seed {seed}: {recent:#?}");
        if step % 100 == 99 {
            twins.compare(&host, Path::new(""));
        }
    }
    twins.compare(&host, Path::new(""));
    for (fd, _) in twins.open {
        call!(close(fd)).unwrap();
    }
    call!(close(dir)).unwrap();
    // The copy on the host must not have changed.
    assert_eq!(fs::read(copy.join("a")).unwrap(), b"hello");
    assert_eq!(fs::read_dir(&copy).unwrap().count(), 4);
}

#[test]
fn random_calls_agree_with_the_host() {
    // SAFETY: sets the mask of this process; the machine's callers use the same one.
    unsafe { libc::umask(0o022) };
    let rounds = std::env::var("STUNT_ROUNDS").ok().and_then(|text| text.parse().ok());
    for seed in 0..rounds.unwrap_or(40) {
        run(seed, 600);
    }
}
