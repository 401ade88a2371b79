//! Standard streams, snapshots, shared offsets, and where bytes come from.

use stunt_machine::linux::abi::*;
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Config, Halt, Place, SourceId, Stream};

use crate::common::Guest;

fn guest(streams: [Stream; 3]) -> Guest {
    Guest::new(Config { streams, stdin: b"one two three"[..].into(), ..Config::default() })
}

#[test]
fn standard_input_says_where_its_bytes_come_from() {
    for kind in [Stream::Pipe, Stream::File] {
        let mut guest = guest([kind; 3]);
        let file = guest.file(0).unwrap();
        let source = SourceId::Inode(guest.files.stdin_inode());
        let mut buffer = [0; 4];
        for offset in [0, 4, 8] {
            let moved = guest.files.read(file, &mut buffer).unwrap();
            assert_eq!(moved.count, 4);
            assert_eq!(moved.place, Some(Place { source, offset }));
        }
        assert_eq!(guest.files.read(file, &mut buffer).unwrap().count, 1);
        assert_eq!(guest.files.read(file, &mut buffer).unwrap().count, 0);
        let mode = guest.files.file_stat(file).unwrap().kind();
        assert_eq!(mode, if kind == Stream::Pipe { S_IFIFO } else { S_IFREG });
        let seek = guest.files.seek(file, 4, SEEK_SET);
        assert_eq!(seek, if kind == Stream::Pipe { Err(Errno::ESPIPE) } else { Ok(4) });
    }
    let mut guest = guest([Stream::Null; 3]);
    let file = guest.file(0).unwrap();
    assert_eq!(guest.files.read(file, &mut [0; 4]).unwrap().count, 0);
    assert_eq!(guest.files.file_stat(file).unwrap().rdev, libc::makedev(1, 3));
}

#[test]
fn output_can_be_taken_as_it_comes() {
    for kind in [Stream::Pipe, Stream::File] {
        let mut guest = guest([kind; 3]);
        let (out, err) = (guest.file(1).unwrap(), guest.file(2).unwrap());
        guest.files.write(out, b"hello ").unwrap();
        guest.files.write(err, b"oops").unwrap();
        assert_eq!(guest.files.drain(1), b"hello ");
        let before = guest.clone();
        guest.files.write(out, b"world").unwrap();
        assert_eq!(guest.files.drain(1), b"world");
        assert_eq!(guest.files.drain(1), b"");
        assert_eq!(guest.files.drain(2), b"oops");
        // The snapshot has not seen any of it.
        let mut before = before;
        before.files.write(out, b"there").unwrap();
        assert_eq!(before.files.drain(1), b"there");
        assert_eq!(guest.files.read(out, &mut [0; 1]), Err(Halt::Error(Errno::EBADF)));
        // Closing the stream loses nothing.
        guest.files.write(out, b"!").unwrap();
        let table = &mut guest.table;
        guest.files.close(table, 1).unwrap();
        assert_eq!(guest.files.drain(1), b"!");
    }
}

#[test]
fn names_of_the_streams_lead_to_them() {
    let mut guest = guest([Stream::Pipe; 3]);
    assert_eq!(guest.read_all("/dev/stdin"), Ok(b"one two three".to_vec()));
    let fd = guest.open("/dev/stdout", O_WRONLY, 0).unwrap();
    let file = guest.file(fd).unwrap();
    guest.files.write(file, b"through the name").unwrap();
    assert_eq!(guest.files.drain(1), b"through the name");
}

#[test]
fn a_snapshot_is_not_touched_by_what_comes_later() {
    let mut guest = guest([Stream::Pipe; 3]);
    let fd = guest.open("/tmp/big", O_CREAT | O_RDWR, 0o644).unwrap();
    let file = guest.file(fd).unwrap();
    guest.files.write(file, &vec![1; 100_000]).unwrap();
    let (reader, writer) = guest.files.new_pipe(0).unwrap();
    guest.files.write(writer, b"in the pipe").unwrap();
    let mut snapshot = guest.clone();
    guest.files.write_at(file, 50_000, b"changed").unwrap();
    guest.files.file_truncate(file, 60_000).unwrap();
    let cwd = guest.cwd;
    guest.call(|f, c| f.rename(c, (cwd, b"/tmp/big"), (cwd, b"/tmp/other"), 0)).unwrap();
    guest.files.read(reader, &mut [0; 100]).unwrap();
    assert!(snapshot.read_all("/tmp/big") == Ok(vec![1; 100_000]));
    assert_eq!(snapshot.read_all("/tmp/other"), Err(Errno::ENOENT));
    let mut buffer = [0; 100];
    assert_eq!(snapshot.files.read(reader, &mut buffer).unwrap().count, 11);
    let mut changed = vec![1; 60_000];
    changed[50_000..50_007].copy_from_slice(b"changed");
    assert!(guest.read_all("/tmp/other") == Ok(changed));
}

#[test]
fn forked_descriptors_share_offsets_and_close_alone() {
    let mut guest = guest([Stream::Pipe; 3]);
    let fd = guest.open("/tmp/x", O_CREAT | O_RDWR, 0o644).unwrap();
    let file = guest.file(fd).unwrap();
    let mut child = guest.files.fork(&guest.table);
    guest.files.write(file, b"parent").unwrap();
    let theirs = child.get(fd).unwrap();
    guest.files.write(theirs, b" child").unwrap();
    guest.files.close_all(&mut child);
    assert_eq!(child.get(fd), Err(Errno::EBADF));
    assert_eq!(guest.read_all("/tmp/x"), Ok(b"parent child".to_vec()));
    // The reading end is closed only when both processes have closed it.
    let (reader, writer) = guest.files.new_pipe(0).unwrap();
    let table = &mut guest.table;
    let r = guest.files.number_file(table, reader, true, 10).unwrap() as i32;
    let w = guest.files.number_file(table, writer, false, 10).unwrap() as i32;
    assert_eq!((r, w), (10, 11));
    let mut child = guest.files.fork(table);
    guest.files.close(table, r).unwrap();
    guest.files.write(writer, b"x").unwrap();
    guest.files.close_on_exec(&mut child);
    assert_eq!(guest.files.write(writer, b"x"), Err(Halt::BrokenPipe));
}
