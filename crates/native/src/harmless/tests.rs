//! Each rule, where it says yes and where it says no.

use std::ffi::CString;
use std::os::unix::fs::symlink;

use super::*;

const STAND_IN: u32 = 0x1234_5678;

/// What a call of this process would mean.
fn of(surroundings: &Surroundings, number: c_long, arguments: &[u64]) -> Meaning {
    let process = std::process::id().cast_signed();
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    let (number, thread) = (number as u64, 0x7000);
    let call = Call { process, number, arguments: all, thread, known_as: STAND_IN };
    surroundings.meaning(&call, &Memory::of(process).expect("our own"))
}

const AT: u64 = libc::AT_FDCWD as u64;

#[test]
fn paths_are_followed_to_their_ends() {
    let root = std::env::temp_dir().join(format!("stunt-harmless-{}", std::process::id()));
    let (own, beside) = (root.join("own"), root.join("beside"));
    fs::create_dir_all(&own).and_then(|()| fs::create_dir_all(&beside)).expect("folders");
    fs::write(beside.join("file"), "").expect("a file");
    let link = |name: &str, to: &str| symlink(to, beside.join(name)).expect("a link");
    link("in", "../own/input");
    link("self", "/proc/self");
    link("circle", "circle");
    link("good", "./good2");
    link("good2", "/etc/passwd");
    let surroundings = Surroundings::new(Some(&own), false, false);
    let opens = |path: &str| {
        let path = CString::new(path).expect("a path");
        of(&surroundings, libc::SYS_openat, &[AT, path.as_ptr() as u64]) == Meaning::Harmless
    };
    let there = |name: &str| opens(&format!("{}/{name}", root.display()));
    for good in ["beside/file", "beside", "beside/none", "beside/good", "none/none", "own2"] {
        assert!(there(good), "{good}");
    }
    for bad in [
        "own",
        "own/input",
        "own/none",
        "beside/../own/input",
        "beside/in",
        "beside/self/cwd/x",
        "beside/circle",
        "none/../own/x",
    ] {
        assert!(!there(bad), "{bad}");
    }
    for bad in ["/proc/self/cwd/x", "/usr/../proc/self/cwd/x", "/dev/null", "/dev/stdin", ""] {
        assert!(!opens(bad), "{bad}");
    }
    assert!(opens("/proc/self/maps") && opens("/") && opens("src/lib.rs"));
    assert!(!opens("/proc/self//maps2") && !opens("/proc/self/status"));
    fs::remove_dir_all(&root).expect("removed");
}

#[test]
fn arguments_decide() {
    let (with, without) =
        (Surroundings::new(None, true, false), Surroundings::new(None, false, true));
    let harmless = |call: c_long, arguments: &[u64]| {
        let both = [&with, &without].map(|it| of(it, call, arguments) == Meaning::Harmless);
        assert_eq!(both[0], both[1], "{call} {arguments:?}");
        both[0]
    };
    let (private, anonymous) = (libc::MAP_PRIVATE, libc::MAP_ANONYMOUS);
    let mmap = |flags: i32, descriptor: i32| {
        harmless(libc::SYS_mmap, &[0, 4096, 3, flags as u64, descriptor as u64])
    };
    assert!(mmap(private | anonymous, -1) && mmap(private, 3) && mmap(libc::MAP_SHARED, 3));
    assert!(!mmap(libc::MAP_SHARED | anonymous, -1) && !mmap(private, 0));
    assert!(!mmap(private | anonymous | libc::MAP_LOCKED, -1));
    assert!(!mmap(libc::MAP_SHARED_VALIDATE, 3));
    let advice = |advice: i32| harmless(libc::SYS_madvise, &[0, 0, advice as u64]);
    assert!(advice(libc::MADV_DONTNEED) && !advice(libc::MADV_DONTFORK) && !advice(18));
    let clock = |id: i32| harmless(libc::SYS_clock_gettime, &[id as u64, 0]);
    assert!(clock(libc::CLOCK_MONOTONIC) && !clock(libc::CLOCK_THREAD_CPUTIME_ID) && !clock(-6));
    let limit = |who: u64, new: u64| harmless(libc::SYS_prlimit64, &[who, 3, new, 0x1000]);
    assert!(limit(0, 0) && !limit(0, 1) && !limit(1, 0));
    for (call, good) in [
        (libc::SYS_read, [false, false, true]),
        (libc::SYS_close, [false, false, true]),
        (libc::SYS_write, [false; 3]),
        (libc::SYS_dup, [false; 3]),
    ] {
        assert_eq!([0, 2, 3].map(|fd| harmless(call, &[fd])), good, "{call}");
    }
    assert!(harmless(libc::SYS_fcntl, &[0, libc::F_GETFL as u64]));
    assert!(!harmless(libc::SYS_fcntl, &[0, libc::F_SETFL as u64]));
    assert!(!harmless(libc::SYS_fcntl, &[3, libc::F_GETOWN as u64]));
    let path = c"/etc/passwd".as_ptr() as u64;
    let opens = |flags: i32| harmless(libc::SYS_open, &[path, flags as u64]);
    assert!(opens(libc::O_CLOEXEC) && !opens(libc::O_RDWR) && !opens(libc::O_WRONLY));
    assert!(!opens(libc::O_TRUNC) && !opens(libc::O_CREAT) && !opens(libc::O_TMPFILE));
    let streams = |events: u8| {
        let list = [0, 0, 0, 0, events, 0, 0, 0];
        harmless(libc::SYS_poll, &[list.as_ptr() as u64, 1, 0])
    };
    assert!(streams(0) && !streams(1));
    // Only where standard input is none of the input, and where there are no sockets anyway.
    for (call, arguments) in [
        (libc::SYS_fstat, &[0, 0][..]),
        (libc::SYS_lseek, &[0, 0, 2]),
        (libc::SYS_newfstatat, &[0, c"".as_ptr() as u64, 0, libc::AT_EMPTY_PATH as u64]),
        (libc::SYS_socket, &[1, 1, 0]),
    ] {
        assert_eq!(of(&with, call, arguments), Meaning::Own, "{call}");
        assert_eq!(of(&without, call, arguments), Meaning::Harmless, "{call}");
    }
}

#[test]
fn numbers_are_told_and_named() {
    let surroundings = Surroundings::new(None, false, false);
    let of = |call: c_long, first: u64| of(&surroundings, call, &[first]);
    assert_eq!(of(libc::SYS_gettid, 0), Meaning::TellsNumber);
    assert_eq!(of(libc::SYS_set_tid_address, 0x7000 + THREAD_NUMBER), Meaning::TellsNumber);
    assert_eq!(of(libc::SYS_set_tid_address, 0x7000), Meaning::Own);
    assert_eq!(of(libc::SYS_sched_getaffinity, STAND_IN.into()), Meaning::NamesItself);
    assert_eq!(of(libc::SYS_sched_getaffinity, 1), Meaning::Own);
    for call in [libc::SYS_getppid, libc::SYS_getpgrp, libc::SYS_exit_group, libc::SYS_clone] {
        assert_eq!(of(call, 0), Meaning::Own, "{call}");
    }
    // The upper half of a number is no part of any call that is listed.
    assert_eq!(of(1 << 32 | libc::SYS_getuid, 0), Meaning::Own);
}
