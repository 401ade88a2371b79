//! What the closed process tries, by the name of the attack. It was let in with the system's libraries,
//! a folder of its own and a private file beside it.

use std::ffi::CString;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use stunt_cage::{Guards, close_off};

const GUARDS: Guards = Guards { seconds: 20, memory: 2 << 30, file: 1 << 20 };

/// Closes this process off, and tries.
pub fn closed(folder: &Path, attack: &str) {
    let outside = folder.with_extension("outside");
    if attack == "threads" {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || stopped.recv());
        let answer = close_off(folder, GUARDS);
        println!("with another thread: {}", if answer.is_err() { "refused" } else { "closed" });
        drop(stop);
        let _ = thread.join();
        return;
    }
    // As if somebody had left it open.
    let left = std::fs::File::open(&outside).expect("not closed yet").into_raw_fd();
    close_off(folder, GUARDS).expect("the kernel has Landlock and seccomp");
    match attack {
        "ordinary" => ordinary(folder, &outside),
        "files" => files(folder, &outside),
        "namespaces" => namespaces(),
        "processes" => processes(),
        "dialects" => dialects(),
        "calls" => calls(folder),
        "more" => more(left),
        other => panic!("there is no attack {other}"),
    }
}

fn ordinary(folder: &Path, outside: &Path) {
    let say = |what: &str, worked: bool| println!("{what}: {worked}");
    say("read the folder", std::fs::read(folder.join("given")).is_ok());
    say("write the folder", std::fs::write(folder.join("made"), "x").is_ok());
    say("read a library", std::fs::read("/usr/lib/os-release").is_ok());
    say("read passwords", std::fs::read("/etc/passwd").is_ok());
    say("read elsewhere", std::fs::read(outside).is_ok());
    say("listen", TcpListener::bind("127.0.0.1:0").is_ok());
    // The answer of a network, which a closed process does not get.
    let is_of_peer = |error: std::io::Error| error.kind() == ErrorKind::ConnectionRefused;
    say("connect", TcpStream::connect("127.0.0.1:1").is_err_and(is_of_peer));
    say("send", UdpSocket::bind("127.0.0.1:0").is_ok());
    say("write a large file", std::fs::write(folder.join("large"), vec![0; 1 << 20]).is_ok());
    say("map much", Vec::<u8>::new().try_reserve_exact(4 << 30).is_ok());
    say("start a thread", std::thread::spawn(|| 1).join().is_ok());
    say("tell the time", std::time::SystemTime::now().elapsed().is_ok());
}

/// Makes a call, and says whether it was refused.
fn call(what: &str, number: libc::c_long, arguments: &[u64]) {
    let mut all = [0_u64; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    let [a, b, c, d, e, f] = all;
    // SAFETY: pointers among the arguments are null or lead to memory that the caller holds.
    let answer = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    let error = std::io::Error::last_os_error().raw_os_error();
    if answer == 0 && what.starts_with("process") {
        // A child of an attack that succeeds says nothing, and goes.
        std::process::exit(0);
    }
    say(what, answer, error);
}

fn say(what: &str, answer: i64, error: Option<i32>) {
    let by_cage = [libc::EPERM, libc::ENOSYS, libc::EACCES, libc::EBADF].map(Some);
    match answer {
        -1 if by_cage.contains(&error) => println!("{what}: refused"),
        -1 => println!("{what}: failed otherwise, with {error:?}"),
        _ => println!("{what}: {answer}"),
    }
}

fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path")
}

fn files(folder: &Path, outside: &Path) {
    let path = text(outside);
    let at = path.as_ptr() as u64;
    let (here, wide) = (libc::AT_FDCWD as u64, 0o777);
    call("truncate", libc::SYS_truncate, &[at, 0]);
    let (write, cut) = (libc::O_WRONLY as u64, (libc::O_RDONLY | libc::O_TRUNC) as u64);
    call("open to write", libc::SYS_open, &[at, write]);
    call("open to cut", libc::SYS_openat, &[here, at, cut]);
    call("creat", libc::SYS_creat, &[at, wide]);
    call("unlink", libc::SYS_unlink, &[at]);
    let moved = text(&folder.join("moved"));
    call("rename", libc::SYS_rename, &[at, moved.as_ptr() as u64]);
    call("link", libc::SYS_link, &[at, moved.as_ptr() as u64]);
    call("chown", libc::SYS_chown, &[at, 1, 1]);
    call("utimes", libc::SYS_utimensat, &[here, at, 0, 0]);
    let (name, value) = (c"user.x".as_ptr() as u64, c"y".as_ptr() as u64);
    call("setxattr", libc::SYS_setxattr, &[at, name, value, 1]);
    // Said to have succeeded; the test looks at the mode.
    // SAFETY: a text of our own.
    assert_eq!(unsafe { libc::chmod(path.as_ptr(), 0o777) }, 0);
}

fn namespaces() {
    let spaces = [
        ("user", libc::CLONE_NEWUSER),
        ("mount", libc::CLONE_NEWNS),
        ("pid", libc::CLONE_NEWPID),
        ("network", libc::CLONE_NEWNET),
    ];
    for (name, flag) in spaces {
        let flag = flag as u64;
        call(&format!("unshare {name}"), libc::SYS_unshare, &[flag]);
        let signal = libc::SIGCHLD as u64;
        call(&format!("process in a {name} namespace"), libc::SYS_clone, &[flag | signal]);
        // `struct clone_args`: flags, …, the signal.
        let arguments = [flag, 0, 0, 0, signal, 0, 0, 0];
        let arguments = [arguments.as_ptr() as u64, size_of_val(&arguments) as u64];
        call(&format!("process in a {name} namespace, newly"), libc::SYS_clone3, &arguments);
        call(&format!("setns {name}"), libc::SYS_setns, &[0, flag]);
    }
}

fn processes() {
    call("process by fork", libc::SYS_fork, &[]);
    call("process by clone", libc::SYS_clone, &[libc::SIGCHLD as u64]);
    call("process without a signal", libc::SYS_clone, &[0]);
    let apart = (libc::CLONE_VM | libc::CLONE_FILES) as u64;
    call("process that shares memory", libc::SYS_clone, &[apart]);
    let arguments = [0, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
    let arguments = [arguments.as_ptr() as u64, size_of_val(&arguments) as u64];
    call("process by clone3", libc::SYS_clone3, &arguments);
    call("a session of its own", libc::SYS_setsid, &[]);
    call("a group of its own", libc::SYS_setpgid, &[0, 0]);
    let program = c"/bin/true".as_ptr();
    let words = [program, std::ptr::null()];
    let execute = [program as u64, words.as_ptr() as u64, words[1..].as_ptr() as u64];
    call("another program", libc::SYS_execve, &execute);
    let started = Command::new("/bin/true").status();
    say(
        "a command",
        if started.is_ok() { 0 } else { -1 },
        started.err().and_then(|it| it.raw_os_error()),
    );
}

fn dialects() {
    const X32: libc::c_long = 0x4000_0000;
    // The numbers of `getpid`, `fork` and `socket`, and `execve` as x32 has it.
    for number in [39, 57, 41, 520] {
        call(&format!("x32 process call {number}"), X32 | number, &[]);
    }
    // As 32-bit programs have them: `getpid`, `fork`, `socketcall`, `unshare`.
    for number in [20_i64, 2, 102, 310] {
        let answer: i64;
        // SAFETY: the gate of 32-bit programs takes and gives registers; with these zeros none of
        // them is an address. What it may destroy is said.
        unsafe {
            std::arch::asm!("push rbx", "xor ebx, ebx", "int 0x80", "pop rbx",
                inout("rax") number => answer, in("rcx") 0, in("rdx") 0, in("rsi") 0, in("rdi") 0,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _);
        }
        let answer = i64::from(answer as i32);
        let error = (-4095..0).contains(&answer).then_some(-answer as i32);
        say(&format!("32-bit call {number}"), if error.is_some() { -1 } else { answer }, error);
    }
}

fn calls(folder: &Path) {
    let parent = u64::from(std::os::unix::process::parent_id());
    let own = text(folder);
    let all = [
        ("socket", libc::SYS_socket, [1, 1, 0]),
        ("socketpair", libc::SYS_socketpair, [1, 1, 0]),
        ("ptrace", libc::SYS_ptrace, [12, parent, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, [parent, 0, 0]),
        ("pidfd_open", libc::SYS_pidfd_open, [parent, 0, 0]),
        ("kill", libc::SYS_kill, [parent, 0, 0]),
        ("kill everybody", libc::SYS_kill, [u64::MAX, 0, 0]),
        ("kill the group", libc::SYS_kill, [0, 0, 0]),
        ("tkill", libc::SYS_tkill, [parent, 0, 0]),
        ("tgkill", libc::SYS_tgkill, [parent, parent, 0]),
        ("sigqueue", libc::SYS_rt_sigqueueinfo, [parent, 0, 0]),
        ("mount", libc::SYS_mount, [0, own.as_ptr() as u64, 0]),
        ("chroot", libc::SYS_chroot, [own.as_ptr() as u64, 0, 0]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, [0, 0, 0]),
        ("name_to_handle_at", libc::SYS_name_to_handle_at, [0, 0, 0]),
        ("io_uring_setup", libc::SYS_io_uring_setup, [1, 0, 0]),
        ("bpf", libc::SYS_bpf, [0, 0, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, [0, 0, 0]),
        ("memfd_create", libc::SYS_memfd_create, [c"x".as_ptr() as u64, 0, 0]),
        ("keyctl", libc::SYS_keyctl, [0, 0, 0]),
        ("shmget", libc::SYS_shmget, [0, 4096, 0o1600]),
        ("semget", libc::SYS_semget, [0, 1, 0o1600]),
        ("msgget", libc::SYS_msgget, [0, 0o1600, 0]),
        ("mq_open", libc::SYS_mq_open, [c"x".as_ptr() as u64, 0o100, 0o600]),
        ("personality", libc::SYS_personality, [0xffff_ffff, 0, 0]),
        ("mknod", libc::SYS_mknod, [own.as_ptr() as u64, 0o20_600, 0x0101]),
        ("symlink", libc::SYS_symlink, [own.as_ptr() as u64, own.as_ptr() as u64, 0]),
        ("inotify", libc::SYS_inotify_init1, [0, 0, 0]),
        ("fanotify", libc::SYS_fanotify_init, [0, 0, 0]),
        ("vmsplice", libc::SYS_vmsplice, [1, 0, 0]),
        ("ioctl that types for the user", libc::SYS_ioctl, [0, 0x5412, 0]),
        ("fcntl that signals others", libc::SYS_fcntl, [0, libc::F_SETOWN as u64, parent]),
        ("nice", libc::SYS_setpriority, [0, parent, 1]),
        ("syslog", libc::SYS_syslog, [3, 0, 0]),
        ("clock_settime", libc::SYS_clock_settime, [0, 0, 0]),
        ("a number that no kernel has yet", 1023, [0, 0, 0]),
    ];
    for (what, number, arguments) in all {
        call(what, number, &arguments);
    }
}

/// More rights, memory, time or descriptors than it was left with.
fn more(left: i32) {
    let mut byte = [0_u8; 1];
    call("a file that was left open", libc::SYS_read, &[left as u64, byte.as_mut_ptr() as u64, 1]);
    let wide = [u64::MAX; 2];
    for limit in [libc::RLIMIT_CPU, libc::RLIMIT_AS, libc::RLIMIT_FSIZE] {
        let arguments = [0, u64::from(limit), wide.as_ptr() as u64, 0];
        call(&format!("limit {limit}"), libc::SYS_prlimit64, &arguments);
        call(&format!("limit {limit}, as before"), libc::SYS_setrlimit, &arguments[1..]);
    }
    let (any, both) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_WRITE | libc::PROT_EXEC);
    let map = |protection: i32| [0, 4096, protection as u64, any as u64, u64::MAX, 0];
    call("map code that can be written", libc::SYS_mmap, &map(both));
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing.
    let page =
        unsafe { libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_WRITE, any, -1, 0) as u64 };
    call("let it be code, too", libc::SYS_mprotect, &[page, 4096, both as u64]);
    call("become root", libc::SYS_setuid, &[0]);
    call("another filter", libc::SYS_seccomp, &[1, 8, 0]);
    call("be looked into", libc::SYS_prctl, &[libc::PR_SET_DUMPABLE as u64, 1]);
}
