//! Netlink sockets: the kernel's answers byte by byte, and what becomes of bytes that are none of its
//! messages.
//!
//! The answers were taken from a Linux 6.18 in a fresh network namespace whose loopback interface is
//! up. Times since the start of the system are zero here, and settings and counters of the Internet
//! protocols are left out.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::linux::abi::*;
use stunt_machine::linux::errno::Errno;
use stunt_machine::linux::fs::{Address, Config, FileId, Halt, Message};

use crate::common::{Guest, OWN};

const SOL_NETLINK: u32 = 270;
const STRICT: u32 = 12;
const EXPLAINED: u32 = 11;
const REQUEST: u16 = 1;
const ALL: u16 = 0x301;
const LINK: u16 = 18;
const ADDRESS: u16 = 22;
const ROUTE: u16 = 26;
const RULE: u16 = 34;
const PORT: u32 = OWN.0;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks_exact(2).map(|pair| str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn message(kind: u16, flags: u16, sequence: u32, port: u32, body: &[u8]) -> Vec<u8> {
    let mut out = (16 + body.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(&port.to_le_bytes());
    out.extend_from_slice(body);
    out
}

struct Asking {
    guest: Guest,
    file: FileId,
}

impl Asking {
    fn new() -> Asking {
        let mut guest = Guest::new(Config::default());
        let kind = SOCK_RAW | SOCK_NONBLOCK;
        let file = guest.files.new_socket(OWN, AF_NETLINK, kind, 0).unwrap();
        Asking { guest, file }
    }

    fn strict() -> Asking {
        let mut asking = Asking::new();
        for option in [STRICT, EXPLAINED] {
            let on = 1u32.to_le_bytes();
            asking.guest.files.set_socket_option(asking.file, SOL_NETLINK, option, &on).unwrap();
        }
        asking
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let message = Message { bytes, to: None, files: Vec::new() };
        let file = self.file;
        let sent = self.guest.call(|files, caller| files.send(caller, file, &message, 0));
        sent.map(|moved| moved.count).map_err(Halt::errno)
    }

    fn receive(&mut self, flags: u32) -> Result<Vec<u8>, Errno> {
        let mut buffer = vec![0; 70_000];
        let received =
            self.guest.files.receive(self.file, &mut buffer, flags).map_err(Halt::errno)?;
        assert_eq!(received.from, Some(Address::Netlink { port: 0, groups: 0 }));
        buffer.truncate(received.count);
        Ok(buffer)
    }

    /// The datagrams that a request is answered with.
    fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> Vec<Vec<u8>> {
        let request = message(kind, flags, 77, 0, body);
        assert_eq!(self.send(&request), Ok(request.len()));
        let mut answers = Vec::new();
        while let Ok(answer) = self.receive(0) {
            answers.push(answer);
        }
        answers
    }
}

fn done(flags: u16) -> Vec<u8> {
    message(3, flags, 77, PORT, &[0; 4])
}

/// `lo`, up to what the Internet protocols say about it.
const LINK_BODY: &str = "00000403010000004900010000000000070003006c6f000008000d00e8030000
    05001000000000000500110000000000050043000100000008000400000001000800320000000000
    080033000000000008001b000000000008001e000000000008003d000000000008001f0001000000
    08002800ffff0000080029000000010008003a000000010008003f00000001000800400000000100
    08003b00f8ff070008003c00ffff0000080042000000000008002000010000000500210001000000
    080023000000000008002f0000000000080030000000000006004400000000000600450000000000
    05002700000000000a00010000000000000000000a0002000000000000000000cc001700";

#[test]
fn links_are_told_as_by_the_kernel() {
    let all = Asking::new().ask(LINK, ALL, &[0]);
    assert_eq!(all.len(), 2);
    let body = hex(LINK_BODY);
    assert_eq!(all[0][4..16], message(16, 2, 77, PORT, &[])[4..]);
    assert_eq!(all[0][16..16 + body.len()], body);
    let discipline = hex("0c0006006e6f717565756500");
    assert!(all[0].windows(12).any(|window| window == discipline));
    assert!(all[0].ends_with(&hex("04003e8004004180")));
    assert_eq!(all[1], done(2));
    // Each message is as long as it says, and so is each attribute.
    assert_eq!(all[0].len(), u32::from_le_bytes(all[0][..4].try_into().unwrap()) as usize);
    let mut rest = &all[0][32..];
    while !rest.is_empty() {
        let length = u16::from_le_bytes(rest[..2].try_into().unwrap()) as usize;
        rest = &rest[length.next_multiple_of(4)..];
    }
    // By number and by name it is the same, alone.
    let numbered = hex("00000000010000000000000000000000");
    let named = hex("00000000000000000000000000000000 070003006c6f0000 08001d0009000000");
    for body in [&numbered, &named] {
        for mut asking in [Asking::new(), Asking::strict()] {
            let one = asking.ask(LINK, REQUEST, body);
            assert_eq!(one.len(), 1);
            assert_eq!(one[0][..4], all[0][..4]);
            assert_eq!(one[0][6..8], [0, 0]);
            assert_eq!(one[0][8..], all[0][8..]);
        }
    }
    // Version 6 has its own words, and the end comes with them.
    let six = Asking::strict().ask(LINK, ALL, &hex("0a000000000000000000000000000000"));
    let start = hex("0a000403010000004900010000000000070003006c6f00000a000100000000000000
        0000080004000000010005001000000000");
    assert_eq!(six[0][16..16 + start.len()], start);
    assert!(six.len() == 1 && six[0].ends_with(&done(2)));
}

#[test]
fn addresses_are_told_as_by_the_kernel() {
    let four = message(
        20,
        2,
        77,
        PORT,
        &hex("020880fe01000000080001007f000001080002007f000001
        070003006c6f0000080008008000000014000600ffffffffffffffff0000000000000000"),
    );
    let six = message(
        20,
        2,
        77,
        PORT,
        &hex("0a8080fe0100000014000100000000000000000000000000
        0000000114000600ffffffffffffffff0000000000000000080008008000000005000b0001000000"),
    );
    let both = [four.clone(), six.clone()].concat();
    for family in [0, 17, 44] {
        assert_eq!(Asking::new().ask(ADDRESS, ALL, &[family]), [both.clone(), done(2)]);
    }
    assert_eq!(Asking::new().ask(ADDRESS, ALL, &[2, 0, 0, 0]), [four, done(2)]);
    assert_eq!(Asking::new().ask(ADDRESS, ALL, &[10]), [[six, done(2)].concat()]);
    let away = Asking::strict().ask(ADDRESS, ALL, &[0, 0, 0, 0, 9, 0, 0, 0]);
    assert_eq!(away, [message(3, 0x22, 77, PORT, &(-19i32).to_le_bytes())]);
}

#[test]
fn routes_and_rules_are_told_as_by_the_kernel() {
    let fours = [
        "02080000ff02fe020000000008000f00ff000000080001007f000000080007007f0000010800040001000000",
        "02200000ff02fe020000000008000f00ff000000080001007f000001080007007f0000010800040001000000",
        "02200000ff02fd030000000008000f00ff000000080001007fffffff080007007f0000010800040001000000",
    ];
    let six = "0a800000ff0200020000000008000f00ff000000140001000000000000000000000000000000
        00010800060000000000080004000100000024000c00000000000000000000000000000000000000
        00000000000000000000000000000500140000000000";
    let told = |flags, bodies: &[&str]| -> Vec<u8> {
        bodies.iter().flat_map(|body| message(24, flags, 77, PORT, &hex(body))).collect()
    };
    let all = [told(2, &fours), told(2, &[six])].concat();
    assert_eq!(Asking::new().ask(ROUTE, ALL, &[0; 12]), [all, done(2)]);
    let of = |family: u8, table: u8| {
        let mut body = vec![0; 12];
        body[0] = family;
        [body, vec![8, 0, 15, 0, table, 0, 0, 0]].concat()
    };
    for family in [0, 2, 10] {
        assert_eq!(Asking::strict().ask(ROUTE, ALL, &of(family, 254)), [done(0x22)]);
    }
    assert_eq!(Asking::strict().ask(ROUTE, ALL, &of(2, 255)), [told(0x22, &fours), done(0x22)]);
    assert_eq!(Asking::strict().ask(ROUTE, ALL, &of(10, 255)), [told(0x22, &[six]), done(0x22)]);
    let absent =
        hex("feffffff23000100697076343a20464942207461626c6520646f6573206e6f7420657869737400
        00");
    let absent = [message(3, 0x222, 77, PORT, &absent)];
    assert_eq!(Asking::strict().ask(ROUTE, ALL, &of(2, 77)), absent);
    let way = hex("022000000000000000000000 08000100 7f000001");
    let taken = hex("02200000fe0000020002008008000f00fe000000080001007f00000108000400010000000800
        07007f000001080019000000000024000c0002000000000000000000000000000000000000000000
        00000000000000000000");
    assert_eq!(Asking::new().ask(ROUTE, REQUEST, &way), [message(24, 0, 77, PORT, &taken)]);
    let rules = Asking::new().ask(RULE, ALL, &hex("0a0000000000000000000000"));
    let local = hex("0a000000ff0000010000000008000f00ff00000008000e00ffffffff0500150002000000");
    let main = hex("0a000000fe0000010000000008000f00fe00000008000e00ffffffff050015000200000008
        000600fe7f0000");
    let rule = |body: &[u8]| message(32, 2, 77, PORT, body);
    assert_eq!(rules, [[rule(&local), rule(&main), done(2)].concat()]);
}

#[test]
fn what_cannot_be_is_refused() {
    let error = |errno: i32, kind: u16, flags: u16, body: &[u8]| {
        let request = message(kind, flags, 77, 0, body);
        let mut told = [&(-errno).to_le_bytes()[..], &request].concat();
        told.resize(told.len().next_multiple_of(4), 0);
        vec![message(2, 0, 77, PORT, &told)]
    };
    // Nobody may change the network: new, delete, set, of everything.
    for kind in [16, 17, 19, 20, 21, 24, 25, 28, 32, 33, 36, 88, 108] {
        assert_eq!(Asking::new().ask(kind, 5, &[0; 16]), error(1, kind, 5, &[0; 16]), "{kind}");
    }
    for (kind, flags) in [(38, ALL), (66, ALL), (82, ALL), (34, REQUEST), (124, 5), (500, 5)] {
        assert_eq!(Asking::new().ask(kind, flags, &[0; 16]), error(95, kind, flags, &[0; 16]));
    }
    assert_eq!(Asking::new().ask(LINK, REQUEST, &[0]), error(22, LINK, REQUEST, &[0]));
    assert_eq!(Asking::new().ask(LINK, REQUEST, &[0; 16]), error(22, LINK, REQUEST, &[0; 16]));
    let away = hex("022000000000000000000000 08000100 08080808");
    assert_eq!(Asking::new().ask(ROUTE, REQUEST, &away), error(101, ROUTE, REQUEST, &away));
    // To others only the kernel could talk.
    let mut asking = Asking::new();
    let to = Some(Address::Netlink { port: 7, groups: 0 });
    let message = Message { bytes: &[0; 16], to, files: Vec::new() };
    let file = asking.file;
    let sent = asking.guest.call(|files, caller| files.send(caller, file, &message, 0));
    assert_eq!(sent, Err(Halt::Error(Errno::EPERM)));
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut asking = Asking::new();
    asking.send(&message(LINK, ALL, 1, 0, &[0])).unwrap();
    let files = asking.guest.files.clone();
    let first = asking.receive(MSG_PEEK).unwrap();
    assert_eq!(asking.receive(0).as_ref(), Ok(&first));
    assert_eq!(asking.receive(0).map(|end| end.len()), Ok(20));
    assert_eq!(asking.receive(0), Err(Errno::EAGAIN));
    asking.guest.files = files;
    assert_eq!(asking.receive(0), Ok(first));
    assert_eq!(asking.receive(0).map(|end| end.len()), Ok(20));
    // Whoever waits without end waits for something to read.
    asking.guest.files.set_nonblocking(asking.file, false).unwrap();
    let halt = asking.guest.files.receive(asking.file, &mut [0], 0);
    assert!(matches!(halt, Err(Halt::Wait(wait)) if wait.events & POLLIN != 0));
    // Its port is free again when it is closed.
    let name = Address::Netlink { port: PORT, groups: 0 };
    assert_eq!(asking.guest.files.local_address(asking.file), Ok(name.clone()));
    let other = asking.guest.files.new_socket(OWN, AF_NETLINK, SOCK_DGRAM, 0).unwrap();
    let bound = asking.guest.call(|files, caller| files.bind(caller, other, &name));
    assert_eq!(bound, Err(Errno::EADDRINUSE));
    asking.guest.files.release(asking.file);
    assert_eq!(asking.guest.call(|files, caller| files.bind(caller, other, &name)), Ok(()));
}

/// A request that is nearly right.
fn nearly(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let kinds = [LINK, ADDRESS, ROUTE, RULE, 30, 16, 20, 66];
    let kind = kinds[rng.gen_range(0..kinds.len())];
    let flags = [REQUEST, 5, ALL, 0x101, 0][rng.gen_range(0..5)];
    let mut body = vec![0; [0, 1, 4, 8, 12, 16][rng.gen_range(0..6)]];
    for _ in 0..rng.gen_range(0..3) {
        if !body.is_empty() {
            let at = rng.gen_range(0..body.len());
            body[at] = [1, 2, 10, 255, rng.r#gen()][rng.gen_range(0..5)];
        }
    }
    for _ in 0..rng.gen_range(0..4) {
        let value: Vec<u8> = (0..rng.gen_range(0..24)).map(|_| rng.gen_range(0..4)).collect();
        let length = match rng.gen_range(0..5) {
            0 => rng.r#gen(),
            _ => 4 + value.len() as u16,
        };
        body.extend_from_slice(&length.to_le_bytes());
        body.extend_from_slice(&rng.gen_range(0..70u16).to_le_bytes());
        body.extend_from_slice(&value);
        body.resize(body.len().next_multiple_of([4, 1][usize::from(rng.gen_bool(0.1))]), 0);
    }
    let mut out = message(kind, flags, rng.r#gen(), rng.r#gen(), &body);
    if rng.gen_bool(0.1) {
        out[..4].copy_from_slice(&rng.r#gen::<[u8; 4]>());
    }
    out.truncate(out.len() - usize::from(rng.gen_bool(0.1)) * rng.gen_range(0..out.len()));
    out
}

/// Whatever is sent, only whole messages come back, and never more than the box holds.
#[test]
fn any_bytes_can_be_sent() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for round in 0..3000 {
        let mut asking = if round % 2 == 0 { Asking::new() } else { Asking::strict() };
        let mut answered = 0;
        for _ in 0..rng.gen_range(1..4) {
            let bytes: Vec<u8> = match rng.gen_range(0..4) {
                0 => (0..rng.gen_range(1..200)).map(|_| rng.r#gen()).collect(),
                1 => (0..rng.gen_range(1..5)).flat_map(|_| nearly(&mut rng)).collect(),
                2 => nearly(&mut rng).repeat(if round % 100 == 0 { 2000 } else { 2 }),
                _ => nearly(&mut rng),
            };
            match asking.send(&bytes) {
                Ok(count) => assert_eq!(count, bytes.len()),
                Err(errno) => assert!(matches!(errno, Errno::EMSGSIZE | Errno::ENODATA)),
            }
            assert!(asking.guest.files.ready(asking.file) & POLLOUT != 0);
        }
        let mut lost = false;
        loop {
            match asking.receive(0) {
                Err(Errno::ENOBUFS) if !lost => lost = true,
                Err(errno) => {
                    assert_eq!(errno, Errno::EAGAIN);
                    break;
                }
                Ok(answer) => {
                    answered += answer.len();
                    let mut rest = &answer[..];
                    while !rest.is_empty() {
                        let length = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
                        assert!(length >= 20 && length <= rest.len(), "{length}");
                        assert_eq!(rest[12..16], PORT.to_le_bytes());
                        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
                    }
                }
            }
        }
        assert!(answered < 500_000, "{answered}");
    }
}
