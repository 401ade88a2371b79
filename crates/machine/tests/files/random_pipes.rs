//! Random calls on pipes, counters and what polls them, on the host and in the machine.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::linux::abi::*;
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Config, EpollEvent, FileId, Files, Halt};

use crate::common::Guest;
use crate::native::call;

fn files() -> Files {
    Guest::new(Config::default()).files
}

fn poll(fd: i32) -> u32 {
    let events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
    let mut entry = libc::pollfd { fd, events: events as i16, revents: 0 };
    call!(poll(&mut entry, 1, 0)).unwrap();
    entry.revents as u16 as u32
}

/// Reads and writes of random sizes on both, until `steps` are done; every answer must agree.
fn exchange(rng: &mut ChaCha8Rng, files: &mut Files, pair: [(i32, FileId); 2], steps: usize) {
    let [(r, reader), (w, writer)] = pair;
    for _ in 0..steps {
        let size = *[0, 1, 7, 100, 4095, 4096, 4097, 10_000, 70_000].choose(rng).unwrap();
        if rng.gen_bool(0.55) {
            let bytes: Vec<u8> = (0..size).map(|_| rng.r#gen()).collect();
            let theirs = call!(write(w, bytes.as_ptr().cast(), size));
            let ours = files.write(writer, &bytes).map(|moved| moved.count as i64);
            assert_eq!(ours.map_err(Halt::errno), theirs, "write {size}");
        } else {
            let (mut a, mut b) = (vec![0u8; size], vec![0u8; size]);
            let theirs = call!(read(r, a.as_mut_ptr().cast(), size));
            let ours = files.read(reader, &mut b).map(|moved| moved.count as i64);
            assert_eq!(ours.map_err(Halt::errno), theirs, "read {size}");
            assert!(a == b, "bytes of a read of {size}");
        }
        assert_eq!(files.ready(writer) & !POLLRDHUP, poll(w), "poll of the writing end");
        assert_eq!(files.ready(reader) & !POLLRDHUP, poll(r), "poll of the reading end");
        let mut waiting = 0i32;
        call!(ioctl(r, libc::FIONREAD, &mut waiting)).unwrap();
        assert_eq!(files.readable_bytes(reader), Ok(waiting as usize));
    }
}

#[test]
fn pipes_agree_with_the_host() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..40 {
        let mut files = files();
        let mut ends = [0; 2];
        call!(pipe2(ends.as_mut_ptr(), libc::O_NONBLOCK)).unwrap();
        let (reader, writer) = files.new_pipe(O_NONBLOCK).unwrap();
        if round % 3 == 1 {
            let size = rng.gen_range(1..300_000);
            let theirs = call!(fcntl(ends[1], libc::F_SETPIPE_SZ, size));
            let ours = files.set_pipe_size(writer, size as usize).map(|size| size as i64);
            assert_eq!(ours, theirs);
        }
        let pair = [(ends[0], reader), (ends[1], writer)];
        exchange(&mut rng, &mut files, pair, 200);
        if rng.gen_bool(0.5) {
            call!(close(ends[1])).unwrap();
            files.release(writer);
            assert_eq!(files.ready(reader), poll(ends[0]));
            let mut buffer = vec![0u8; 1 << 19];
            loop {
                let theirs = call!(read(ends[0], buffer.as_mut_ptr().cast(), 5000));
                let ours = files.read(reader, &mut buffer[..5000]).map(|moved| moved.count as i64);
                assert_eq!(ours.map_err(Halt::errno), theirs);
                assert_eq!(files.ready(reader), poll(ends[0]));
                if theirs == Ok(0) {
                    break;
                }
            }
            call!(close(ends[0])).unwrap();
        } else {
            call!(close(ends[0])).unwrap();
            files.release(reader);
            assert_eq!(files.ready(writer), poll(ends[1]));
            let theirs = call!(write(ends[1], b"x".as_ptr().cast(), 1));
            assert_eq!(theirs, Err(Errno::EPIPE));
            assert_eq!(files.write(writer, b"x").map_err(Halt::errno), Err(Errno::EPIPE));
            call!(close(ends[1])).unwrap();
        }
    }
}

#[test]
fn counters_agree_with_the_host() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for flags in [0, EFD_SEMAPHORE] {
        let mut files = files();
        let fd = call!(eventfd(3, (flags | EFD_NONBLOCK) as i32)).unwrap() as i32;
        let file = files.new_counter(3, flags | EFD_NONBLOCK).unwrap();
        for _ in 0..500 {
            if rng.gen_bool(0.5) {
                let value: u64 = *[0, 1, 5, u64::MAX, u64::MAX - 1].choose(&mut rng).unwrap();
                let bytes = value.to_le_bytes();
                let size = *[8, 8, 8, 4].choose(&mut rng).unwrap();
                let theirs = call!(write(fd, bytes.as_ptr().cast(), size));
                let ours = files.write(file, &bytes[..size]).map(|moved| moved.count as i64);
                assert_eq!(ours.map_err(Halt::errno), theirs);
            } else {
                let (mut a, mut b) = ([0u8; 8], [0u8; 8]);
                let theirs = call!(read(fd, a.as_mut_ptr().cast(), 8));
                let ours = files.read(file, &mut b).map(|moved| moved.count as i64);
                assert_eq!(ours.map_err(Halt::errno), theirs);
                assert_eq!(a, b);
            }
            assert_eq!(files.ready(file), poll(fd));
        }
        call!(close(fd)).unwrap();
    }
}

#[test]
fn epoll_agrees_with_the_host() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..40 {
        let mut files = files();
        let (epfd, epoll) = (call!(epoll_create1(0)).unwrap() as i32, files.new_epoll(0).unwrap());
        let mut ends = Vec::new();
        for _ in 0..2 {
            let mut pair = [0; 2];
            call!(pipe2(pair.as_mut_ptr(), libc::O_NONBLOCK)).unwrap();
            let (reader, writer) = files.new_pipe(O_NONBLOCK).unwrap();
            ends.push((pair[0], reader));
            ends.push((pair[1], writer));
        }
        for _ in 0..200 {
            let index = rng.gen_range(0..ends.len());
            let (fd, file) = ends[index];
            match rng.gen_range(0..6) {
                0 => {
                    let bits = [0, 0, EPOLLET, EPOLLONESHOT, EPOLLET | EPOLLONESHOT];
                    let events = POLLIN | POLLOUT | bits.choose(&mut rng).unwrap();
                    let operation = rng.gen_range(1..4);
                    let mut event = libc::epoll_event { events, u64: index as u64 };
                    let theirs = call!(epoll_ctl(epfd, operation, fd, &mut event));
                    let event = EpollEvent { events, data: index as u64 };
                    let ours = files.epoll_control(epoll, operation as u32, fd, file, event);
                    assert_eq!(ours.map(|()| 0), theirs, "epoll_ctl {operation}");
                }
                1 | 2 if index % 2 == 1 => {
                    let size = rng.gen_range(1..30_000);
                    let bytes = vec![1u8; size];
                    let theirs = call!(write(fd, bytes.as_ptr().cast(), size));
                    let ours = files.write(file, &bytes).map(|moved| moved.count as i64);
                    assert_eq!(ours.map_err(Halt::errno), theirs);
                }
                1 | 2 => {
                    let size = rng.gen_range(1..60_000);
                    let mut bytes = vec![1u8; size];
                    let theirs = call!(read(fd, bytes.as_mut_ptr().cast(), size));
                    let ours = files.read(file, &mut bytes).map(|moved| moved.count as i64);
                    assert_eq!(ours.map_err(Halt::errno), theirs);
                }
                _ => {
                    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 8];
                    let count = call!(epoll_wait(epfd, events.as_mut_ptr(), 8, 0)).unwrap();
                    let mut theirs: Vec<(u64, u32)> = events[..count as usize]
                        .iter()
                        .map(|event| (event.u64, event.events))
                        .collect();
                    theirs.sort_unstable();
                    let ours = files.epoll_events(epoll, 8).unwrap();
                    let mut ours: Vec<(u64, u32)> =
                        ours.iter().map(|event| (event.data, event.events)).collect();
                    ours.sort_unstable();
                    // An edge more is allowed (a wait may always end early), one less is not.
                    for event in &theirs {
                        assert!(ours.contains(event), "{ours:?} lacks one of {theirs:?}");
                    }
                    for event in &ours {
                        let ready = files.ready(ends[event.0 as usize].1);
                        assert_eq!(event.1 & !ready, 0, "{ours:?}");
                    }
                }
            }
        }
        for (fd, _) in ends {
            call!(close(fd)).unwrap();
        }
        call!(close(epfd)).unwrap();
    }
}
