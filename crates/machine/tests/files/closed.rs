//! Nothing outside of what is allowed can be seen or changed, by whatever way.

use std::fs;
use std::os::unix::fs::symlink;

use stunt_machine::linux::abi::*;
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Allow, Config};

use crate::common::{Guest, Scratch, host_user};

#[test]
fn nothing_outside_of_what_is_allowed_can_be_read() {
    let scratch = Scratch::new("closed");
    let (open, secret) = (scratch.0.join("open"), scratch.0.join("secret"));
    fs::create_dir(&open).unwrap();
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("key"), b"hidden").unwrap();
    fs::write(scratch.0.join("beside"), b"hidden").unwrap();
    fs::write(open.join("plain"), b"shown").unwrap();
    symlink(secret.join("key"), open.join("absolute")).unwrap();
    symlink("../secret/key", open.join("relative")).unwrap();
    symlink("../secret", open.join("dir")).unwrap();
    symlink("/proc/self/root", open.join("root")).unwrap();
    symlink("dir", open.join("chain")).unwrap();
    let mut guest = Guest::under(&open);
    assert_eq!(guest.read_all("plain"), Ok(b"shown".to_vec()));

    let key = secret.join("key");
    let key = key.to_str().unwrap();
    let ways = [
        key.to_string(),
        "../secret/key".into(),
        "../beside".into(),
        "absolute".into(),
        "relative".into(),
        "dir/key".into(),
        "chain/key".into(),
        format!("root{key}"),
        format!("/proc/self/root{key}"),
        format!("/proc/42/root{key}"),
        format!("/proc/1/root{key}"),
        format!("/dev/fd/../root{key}"),
        format!("/dev/../{key}"),
        "/etc/passwd".into(),
        "/etc".into(),
        "/proc/kcore".into(),
        "/proc/1/environ".into(),
        "/sys/class".into(),
        "/dev/vda".into(),
    ];
    for way in &ways {
        assert_eq!(guest.read_all(way), Err(Errno::ENOENT), "{way}");
        let cwd = guest.cwd;
        let bytes = way.as_bytes();
        let stat = guest.call(|f, c| f.stat_path(c, cwd, bytes, true));
        assert_eq!(stat, Err(Errno::ENOENT), "{way}");
        for flags in [O_PATH, O_RDWR, O_RDONLY | O_DIRECTORY] {
            assert_eq!(guest.open(way, flags, 0), Err(Errno::ENOENT), "{way}");
        }
        assert!(guest.call(|f, c| f.find_directory(c, cwd, bytes)).is_err(), "{way}");
    }

    // The way to the allowed directory can be walked, and shows nothing else.
    let above = scratch.0.to_str().unwrap();
    let fd = guest.open(above, O_DIRECTORY, 0).unwrap();
    let file = guest.file(fd).unwrap();
    let entries = guest.call(|f, c| f.entries(c, file, 4096)).unwrap();
    let text = String::from_utf8_lossy(&entries).into_owned();
    assert!(text.contains("open") && !text.contains("secret") && !text.contains("beside"));
    let node = guest.files.node_of(file).unwrap();
    assert_eq!(guest.call(|f, c| f.names(c, node)).unwrap(), [(b"open".to_vec(), DT_DIR)]);

    // A link, a new name or a move does not open a door either.
    let cwd = guest.cwd;
    guest.call(|f, c| f.symlink(c, key.as_bytes(), cwd, b"mine")).unwrap();
    assert_eq!(guest.read_all("mine"), Err(Errno::ENOENT));
    let linked = guest.call(|f, c| f.link(c, (cwd, key.as_bytes()), (cwd, b"door"), true));
    assert_eq!(linked, Err(Errno::ENOENT));
    // Moving a host directory keeps what it shows; making one of that name shows nothing.
    guest.call(|f, c| f.mkdir(c, cwd, b"../secret", 0o777)).unwrap();
    assert_eq!(guest.read_all("../secret/key"), Err(Errno::ENOENT));
    assert_eq!(guest.read_all("dir/key"), Err(Errno::ENOENT));
    assert_eq!(fs::read(secret.join("key")).unwrap(), b"hidden");
}

#[test]
fn nothing_is_written_to_the_host() {
    let scratch = Scratch::new("unwritten");
    fs::write(scratch.0.join("a"), b"before").unwrap();
    fs::create_dir(scratch.0.join("dir")).unwrap();
    let mut guest = Guest::under(&scratch.0);
    let fd = guest.open("a", O_RDWR | O_TRUNC, 0).unwrap();
    let file = guest.file(fd).unwrap();
    guest.files.write(file, b"after").unwrap();
    let cwd = guest.cwd;
    guest.call(|f, c| f.rename(c, (cwd, b"a"), (cwd, b"b"), 0)).unwrap();
    guest.call(|f, c| f.rmdir(c, cwd, b"dir")).unwrap();
    guest.open("new", O_CREAT | O_WRONLY, 0o644).unwrap();
    assert_eq!(guest.read_all("b"), Ok(b"after".to_vec()));
    assert_eq!(fs::read(scratch.0.join("a")).unwrap(), b"before");
    let mut names: Vec<_> =
        fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "dir"]);
}

#[test]
fn a_machine_that_may_see_nothing_still_works() {
    let mut guest = Guest::new(Config { allow: Allow::Nothing, ..Config::default() });
    let root = guest.files.root();
    let names = guest.call(|f, c| f.names(c, root)).unwrap();
    let names: Vec<_> = names.iter().map(|entry| String::from_utf8_lossy(&entry.0)).collect();
    assert_eq!(names, ["dev", "proc", "sys", "tmp"]);
    let fd = guest.open("/tmp/x", O_CREAT | O_RDWR, 0o600).unwrap();
    let file = guest.file(fd).unwrap();
    guest.files.write(file, b"kept").unwrap();
    assert_eq!(guest.read_all("/tmp/x"), Ok(b"kept".to_vec()));
    assert_eq!(guest.read_all("/dev/null"), Ok(vec![]));
    assert_eq!(guest.open("/dev/tty", O_RDWR, 0), Err(Errno::ENXIO));
    assert_eq!(guest.read_all("/proc/self/maps"), Ok(b"maps\n".to_vec()));
    assert_eq!(guest.read_all("/sys/devices/system/cpu/online"), Ok(b"0\n".to_vec()));
    assert!(guest.read_all("/proc/mounts").unwrap().starts_with(b"/dev/root / "));
    assert_eq!(guest.read_all("/proc/sys/../uptime"), Ok(b"1000.00 1000.00\n".to_vec()));
    let cwd = guest.cwd;
    let exe = guest.call(|f, c| f.read_link(c, cwd, b"/proc/self/exe"));
    assert_eq!(exe, Ok(b"/usr/bin/env".to_vec()));
    let link = format!("/proc/self/fd/{fd}");
    let name = guest.call(|f, c| f.read_link(c, cwd, link.as_bytes()));
    assert_eq!(name, Ok(b"/tmp/x".to_vec()));
    assert_eq!(guest.read_all(&link), Ok(b"kept".to_vec()));
    guest.call(|f, c| f.unlink(c, cwd, b"/tmp/x")).unwrap();
    let name = guest.call(|f, c| f.read_link(c, cwd, link.as_bytes()));
    assert_eq!(name, Ok(b"/tmp/x (deleted)".to_vec()));
    // Open and without a name, it lives on.
    assert_eq!(guest.read_all(&link), Ok(b"kept".to_vec()));
}

#[test]
fn answers_about_host_files_are_the_hosts() {
    use std::os::unix::fs::MetadataExt;
    let mut guest =
        Guest::new(Config { allow: Allow::Everything, user: host_user(), ..Config::default() });
    let cwd = guest.cwd;
    for path in ["/usr", "/usr/bin/env", "/etc/passwd", "/", "/bin", "/usr/bin"] {
        let theirs = fs::symlink_metadata(path).unwrap();
        let ours = guest.call(|f, c| f.stat_path(c, cwd, path.as_bytes(), false)).unwrap();
        assert_eq!(ours.ino, theirs.ino(), "{path}");
        assert_eq!(ours.dev, theirs.dev(), "{path}");
        assert_eq!((ours.mode, ours.uid, ours.gid), (theirs.mode(), theirs.uid(), theirs.gid()));
        assert_eq!((ours.nlink, ours.blocks), (theirs.nlink(), theirs.blocks()), "{path}");
        assert_eq!(ours.mtime.seconds, theirs.mtime(), "{path}");
        if ours.kind() != S_IFDIR {
            assert_eq!(ours.size, theirs.size(), "{path}");
        }
    }
    assert_eq!(guest.read_all("/usr/bin/env"), Ok(fs::read("/usr/bin/env").unwrap()));
}
