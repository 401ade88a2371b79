//! Programs of random instructions, followed: every register, flag and byte of memory stands for
//! some term, and every term has the value that it stands for.
//!
//! A program reads its input, loads all registers and the flags from it, does what chance says, and
//! writes all registers, flags and memory. Addresses are those of its own data, some at an index
//! that depends on the input. Some are interrupted, again and again: by a timer, and by accesses that
//! fail between other instructions; a handler goes on after those. The seed decides everything.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Pin, Source, TestKind};

use crate::build;
use crate::follow::{Subject, difference};

/// How many programs there are.
pub const PROGRAMS: u64 = 64;
/// How many more there are that are interrupted.
pub const INTERRUPTED: u64 = 32;
/// Those that have shown a mistake: an access that failed behind instructions that were done on values,
/// while flags and registers still stood for what was there before.
pub const FOUND: [u64; 1] = [1137];
/// Instructions of a program, without those that load its input again.
const LENGTH: usize = 160;
/// Bytes of input, and of all data.
const INPUT: usize = 512;
const DATA: usize = 1024;

const NAMES: [[&str; 4]; 13] = [
    ["al", "ax", "eax", "rax"],
    ["bl", "bx", "ebx", "rbx"],
    ["cl", "cx", "ecx", "rcx"],
    ["dl", "dx", "edx", "rdx"],
    ["sil", "si", "esi", "rsi"],
    ["dil", "di", "edi", "rdi"],
    ["bpl", "bp", "ebp", "rbp"],
    ["r8b", "r8w", "r8d", "r8"],
    ["r9b", "r9w", "r9d", "r9"],
    ["r10b", "r10w", "r10d", "r10"],
    ["r11b", "r11w", "r11d", "r11"],
    ["r12b", "r12w", "r12d", "r12"],
    ["r13b", "r13w", "r13d", "r13"],
];
const SIZES: [&str; 4] = ["byte", "word", "dword", "qword"];
const CONDITIONS: [&str; 16] =
    ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"];
const VECTOR: [&str; 81] = [
    "paddb",
    "paddw",
    "paddd",
    "paddq",
    "paddsb",
    "paddsw",
    "paddusb",
    "paddusw",
    "psubb",
    "psubw",
    "psubd",
    "psubq",
    "psubsb",
    "psubsw",
    "psubusb",
    "psubusw",
    "pavgb",
    "pavgw",
    "pmaddwd",
    "pmaxsw",
    "pmaxub",
    "pminsw",
    "pminub",
    "pmulhw",
    "pmulhuw",
    "pmullw",
    "pmuludq",
    "psadbw",
    "pand",
    "pandn",
    "por",
    "pxor",
    "pcmpeqb",
    "pcmpeqw",
    "pcmpeqd",
    "pcmpgtb",
    "pcmpgtw",
    "pcmpgtd",
    "packsswb",
    "packssdw",
    "packuswb",
    "punpckhbw",
    "punpckhwd",
    "punpckhdq",
    "punpckhqdq",
    "punpcklbw",
    "punpcklwd",
    "punpckldq",
    "punpcklqdq",
    "andps",
    "andnpd",
    "orps",
    "xorpd",
    "unpcklps",
    "unpckhpd",
    "movdqa",
    "movaps",
    "movdqu",
    "psllw",
    "pslld",
    "psllq",
    "psrlw",
    "psrld",
    "psrlq",
    "psraw",
    "psrad",
    "pshufb",
    "pabsb",
    "pabsw",
    "phaddw",
    "pmaxsd",
    "pminud",
    "pmulld",
    "pcmpeqq",
    "packusdw",
    "ptest",
    "pmovzxbw",
    "pmovsxbd",
    "psignw",
    "pmaddubsw",
    "pcmpgtq",
];

/// A program under way.
struct Text {
    rng: ChaCha8Rng,
    lines: String,
    labels: u32,
    /// Whether some accesses fail.
    interrupted: bool,
}

/// Handles signals from now on, and asks for one every few nanoseconds, of which an instruction takes
/// one. What the handler is given is pinned; it changes flags and registers, which come back.
const HANDLING: &str = "\
mov eax, 13
mov edi, 11
lea rsi, action[rip]
xor edx, edx
mov r10d, 8
syscall
mov eax, 13
mov edi, 14
syscall
mov eax, 222
mov edi, 1
xor esi, esi
lea rdx, timer[rip]
syscall
mov eax, 223
mov edi, timer[rip]
xor esi, esi
lea rdx, every[rip]
xor r10d, r10d
syscall";

/// The handler: after a failed access, which has seven bytes, it goes on behind it.
const HANDLER: &str = "\
handler:
cmp edi, 11
jne 8f
add qword ptr [rdx+0xa8], 7
8:
xor eax, eax
ret
restorer:
mov eax, 15
syscall
.data
.balign 8
action: .quad handler, 0x04000004, restorer, 0
timer: .quad 0";

/// An access that fails: `mov al, [0]`, in its longest form.
const FAILING: &str = ".byte 0x8a, 0x04, 0x25, 0, 0, 0, 0";

impl Text {
    fn line(&mut self, text: &str) {
        self.lines.push_str(text);
        self.lines.push('\n');
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all.choose(&mut self.rng).expect("there are some")
    }

    fn register(&mut self, w: usize) -> &'static str {
        NAMES[self.rng.gen_range(0..NAMES.len())][w]
    }

    fn constant(&mut self, w: usize) -> i32 {
        let any = self.rng.r#gen::<i32>() >> self.rng.gen_range(0..32);
        match w {
            0 => i32::from(any as i8),
            1 => i32::from(any as i16),
            _ => any,
        }
    }

    /// A place in the data; now and then at an index that depends on the input.
    fn memory(&mut self, w: usize) -> String {
        let at = self.rng.gen_range(0..DATA - 256);
        if self.rng.gen_ratio(1, 6) {
            let index = self.register(3);
            let mask = [3, 7, 15, 63][self.rng.gen_range(0..4)];
            self.line(&format!("and {index}, {mask}"));
            let scale = 1 << self.rng.gen_range(0..2);
            return format!("{} ptr [r15+{index}*{scale}+{at}]", SIZES[w]);
        }
        format!("{} ptr [r15+{at}]", SIZES[w])
    }

    fn vector(&mut self) -> String {
        format!("xmm{}", self.rng.gen_range(0..16))
    }

    fn vector_memory(&mut self) -> String {
        format!("[r15+{}]", 16 * self.rng.gen_range(0..DATA / 16 - 1))
    }

    /// Registers come to depend on the input again.
    fn refresh(&mut self) {
        for _ in 0..3 {
            let (register, at) = (self.register(3), self.rng.gen_range(0..INPUT - 8));
            self.line(&format!("mov {register}, [r15+{at}]"));
        }
        let (vector, at) = (self.vector(), self.rng.gen_range(0..INPUT - 16));
        self.line(&format!("movdqu {vector}, [r15+{at}]"));
    }

    /// One random instruction, or a few that belong together.
    fn step(&mut self) {
        if self.interrupted && self.rng.gen_ratio(1, 5) {
            self.line(FAILING);
        }
        let w = self.rng.gen_range(0..4);
        let (a, b) = (self.register(w), self.register(w));
        let cc = CONDITIONS[self.rng.gen_range(0..16)];
        match self.rng.gen_range(0..34) {
            0..=5 => {
                let op = self
                    .pick(&["add", "adc", "sub", "sbb", "and", "or", "xor", "cmp", "test", "mov"]);
                let line = match self.rng.gen_range(0..5) {
                    0 | 1 => format!("{op} {a}, {b}"),
                    2 => format!("{op} {a}, {}", self.constant(w)),
                    3 if op != "test" => format!("{op} {a}, {}", self.memory(w)),
                    _ => format!("{op} {}, {b}", self.memory(w)),
                };
                self.line(&line);
            }
            6 => {
                let op = self.pick(&["not", "neg", "inc", "dec"]);
                let place = if self.rng.gen_ratio(1, 3) { self.memory(w) } else { a.to_owned() };
                self.line(&format!("{op} {place}"));
            }
            7 | 8 => {
                let op = self.pick(&["shl", "shr", "sar", "rol", "ror", "rcl", "rcr"]);
                let by = match self.rng.gen_range(0..3) {
                    0 => "cl".to_owned(),
                    1 => "1".to_owned(),
                    _ => self.rng.gen_range(0..70).to_string(),
                };
                self.line(&format!("{op} {a}, {by}"));
            }
            9 => {
                let w = w.max(1);
                let (a, b) = (self.register(w), self.register(w));
                let op = self.pick(&["shld", "shrd"]);
                // More than the width is undefined for words.
                let by = self.rng.gen_range(0..16);
                let by = if w > 1 && self.rng.r#gen() { "cl".to_owned() } else { by.to_string() };
                self.line(&format!("{op} {a}, {b}, {by}"));
            }
            10 | 11 => {
                let w = w.max(1);
                let (a, b) = (self.register(w), self.register(w));
                let op = self.pick(&["bt", "bts", "btr", "btc"]);
                let by = self.rng.gen_range(0..70).to_string();
                let by = if self.rng.r#gen() { b.to_owned() } else { by };
                self.line(&format!("{op} {a}, {by}"));
            }
            12 => {
                let w = w.max(1);
                let (a, b) = (self.register(w), self.register(w));
                let op = self.pick(&["bsf", "bsr", "popcnt"]);
                self.line(&format!("{op} {a}, {b}"));
            }
            13 | 14 => {
                let w = w.max(1);
                let (a, b) = (self.register(w), self.register(w));
                self.line(&format!("cmov{cc} {a}, {b}"));
            }
            15 => {
                let a = self.register(0);
                self.line(&format!("set{cc} {a}"));
            }
            16 | 17 => {
                let label = self.labels;
                self.labels += 1;
                self.line(&format!("j{cc} 9{label}f"));
                for _ in 0..self.rng.gen_range(1..4) {
                    self.step();
                }
                self.line(&format!("9{label}:"));
            }
            18 => {
                let place = if self.rng.r#gen() { self.memory(w) } else { a.to_owned() };
                let op = self.pick(&["mul", "imul"]);
                self.line(&format!("{op} {place}"));
            }
            19 => {
                let w = w.max(1);
                let (a, b) = (self.register(w), self.register(w));
                let line = match self.rng.r#gen() {
                    true => format!("imul {a}, {b}"),
                    false => format!("imul {a}, {b}, {}", self.constant(w)),
                };
                self.line(&line);
            }
            20 => {
                // The high half is smaller than the divisor, so that the quotient fits.
                let (low, high) = (["ax", "ax", "eax", "rax"][w], ["ah", "dx", "edx", "rdx"][w]);
                let mut divisor = self.register(w);
                while ["al", "ax", "eax", "rax", "dl", "dx", "edx", "rdx"].contains(&divisor) {
                    divisor = self.register(w);
                }
                let bit = 1 << self.rng.gen_range(0..6);
                self.line(&format!("or {divisor}, {bit}"));
                self.line(&format!("and {low}, {}", if w == 0 { 255 } else { -1 }));
                if w == 0 {
                    self.line(&format!("div {divisor}"));
                } else if self.rng.r#gen() {
                    self.line(&format!("xor {high}, {high}"));
                    self.line(&format!("div {divisor}"));
                } else {
                    self.line(&format!("shr {low}, 1"));
                    self.line(["", "cwd", "cdq", "cqo"][w]);
                    self.line(&format!("idiv {divisor}"));
                }
            }
            21 => {
                let one = [
                    "cbw", "cwde", "cdqe", "cwd", "cdq", "cqo", "lahf", "sahf", "stc", "clc", "cmc",
                ];
                let op = self.pick(&one);
                self.line(op);
            }
            22 => {
                let narrow = self.rng.gen_range(0..2);
                let wide = self.rng.gen_range(narrow + 1..4);
                let op = self.pick(&["movzx", "movsx"]);
                let from = self.register(narrow);
                let from = if self.rng.r#gen() { self.memory(narrow) } else { from.to_owned() };
                let to = self.register(wide);
                self.line(&format!("{op} {to}, {from}"));
            }
            23 => {
                let (a, b, c) = (self.register(3), self.register(3), self.register(3));
                let line = match self.rng.gen_range(0..4) {
                    0 => format!("lea {a}, [{b}+{c}*4+{}]", self.constant(2)),
                    1 => format!("movsxd {a}, {}", self.register(2)),
                    2 => format!("bswap {a}"),
                    _ => format!("lea {}, [{b}+{c}*2]", self.register(2)),
                };
                self.line(&line);
            }
            24 => {
                let op = self.pick(&["xchg", "xadd", "cmpxchg"]);
                let place = if self.rng.r#gen() { self.memory(w) } else { a.to_owned() };
                self.line(&format!("{op} {place}, {b}"));
            }
            25 => {
                let line = match self.rng.gen_range(0..4) {
                    0 => format!("push {}\npop {}", self.register(3), self.register(3)),
                    1 => format!("pushfq\npop {0}\nand {0}, 0x8d5", self.register(3)),
                    2 => format!("mov ah, {}", self.pick(&["al", "bl", "ch", "dh"])),
                    _ => format!("add {}, bh", self.pick(&["al", "ch", "dl", "ah"])),
                };
                self.line(&line);
            }
            26 => {
                let (from, to) = (self.rng.gen_range(0..INPUT), self.rng.gen_range(0..INPUT));
                self.line(&format!(
                    "lea rsi, [r15+{from}]\nlea rdi, [r15+{to}]\nmov ecx, {}",
                    from % 9
                ));
                let op = self.pick(&[
                    "rep movsb",
                    "rep movsd",
                    "movsq",
                    "rep stosb",
                    "rep stosq",
                    "stosw",
                    "lodsb",
                    "lodsd",
                    "repe cmpsb",
                    "repne scasb",
                    "repe cmpsd",
                    "repne scasw",
                    "cmpsb",
                    "scasd",
                ]);
                self.line(op);
            }
            _ => self.vector_step(),
        }
    }

    fn vector_step(&mut self) {
        let (a, b) = (self.vector(), self.vector());
        let (general, word) = (self.register(3), self.register(2));
        let by = self.rng.gen_range(0..20);
        let line = match self.rng.gen_range(0..12) {
            0..=5 => {
                let op = VECTOR[self.rng.gen_range(0..VECTOR.len())];
                let second = if self.rng.gen_ratio(1, 4) { self.vector_memory() } else { b };
                format!("{op} {a}, {second}")
            }
            6 => {
                let op = self.pick(&[
                    "psllw", "pslld", "psllq", "psrlw", "psrld", "psrlq", "psraw", "psrad",
                    "pslldq", "psrldq",
                ]);
                format!("{op} {a}, {by}")
            }
            7 => {
                let op =
                    self.pick(&["pshufd", "pshufhw", "pshuflw", "shufps", "palignr", "shufpd"]);
                format!("{op} {a}, {b}, {}", self.rng.gen_range(0..256))
            }
            8 => match self.rng.gen_range(0..6) {
                0 => format!("movd {a}, {word}"),
                1 => format!("movd {word}, {a}"),
                2 => format!("movq {a}, {general}"),
                3 => format!("movq {general}, {a}"),
                4 => format!("pinsrw {a}, {word}, {}", by % 8),
                _ => format!("pextrw {word}, {a}, {}", by % 8),
            },
            9 => {
                let op = self.pick(&["pmovmskb", "movmskps", "movmskpd"]);
                format!("{op} {word}, {a}")
            }
            10 => {
                let at = self.vector_memory();
                let op = self.pick(&["movdqa", "movups", "movlps", "movhpd", "movq"]);
                format!("{op} {at}, {a}")
            }
            _ => match self.rng.gen_range(0..5) {
                0 => format!("addsd {a}, {b}"),
                1 => format!("cvtsi2sd {a}, {word}"),
                2 => format!("mulps {a}, {b}"),
                3 => format!("movsd {a}, {b}"),
                _ => format!("cvttsd2si {word}, {a}"),
            },
        };
        self.line(&line);
    }
}

/// The text of a program.
fn program(seed: u64, interrupted: bool) -> String {
    let rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = Text { rng, lines: String::new(), labels: 0, interrupted };
    text.line(".intel_syntax noprefix\n.globl _start\n_start:");
    text.line(&format!(
        "xor eax, eax\nxor edi, edi\nlea rsi, data[rip]\nmov edx, {INPUT}\nsyscall"
    ));
    if interrupted {
        text.line(HANDLING);
    }
    text.line(
        "lea r15, data[rip]\nmov eax, [r15+500]\nand eax, 0x8d5\nor eax, 0x202\npush rax\npopfq",
    );
    for (names, k) in NAMES.iter().zip(0..) {
        text.line(&format!("mov {}, [r15+{}]", names[3], 8 * k));
    }
    for k in 0..16 {
        text.line(&format!("movdqu xmm{k}, [r15+{}]", 128 + 16 * k));
    }
    for k in 0..LENGTH {
        if k % 12 == 11 {
            text.refresh();
        }
        text.step();
    }
    let mut ending = String::from("pushfq\n");
    for (names, k) in NAMES.iter().zip(0..) {
        let _ = writeln!(ending, "mov [r15+{}], {}", DATA + 8 * k, names[3]);
    }
    for k in 0..16 {
        let _ = writeln!(ending, "movdqu [r15+{}], xmm{k}", DATA + 128 + 16 * k);
    }
    ending += &format!("pop rax\nand eax, 0x8d5\nmov [r15+{}], rax\n", DATA + 400);
    ending += &format!("mov eax, 1\nmov edi, 1\nmov rsi, r15\nmov edx, {}\nsyscall\n", DATA + 408);
    ending += "mov eax, 60\nxor edi, edi\nsyscall\n";
    text.line(&ending);
    if interrupted {
        let every = text.rng.gen_range(60..200);
        text.line(HANDLER);
        text.line(&format!("every: .quad 0, {every}, 0, {every}"));
    }
    text.line(&format!(".bss\n.balign 64\ndata: .skip {}\n", DATA + 512));
    text.lines
}

pub fn assemble(seed: u64, interrupted: bool) -> Result<PathBuf, String> {
    let folder = build::scratch().join("random");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let name = if interrupted { format!("{seed}-interrupted") } else { seed.to_string() };
    let (source, path) = (folder.join(format!("{name}.s")), folder.join(name));
    fs::write(&source, program(seed, interrupted)).map_err(|error| error.to_string())?;
    let output = Command::new("gcc")
        .args(["-nostdlib", "-static", "-o"])
        .args([&path, &source])
        .output()
        .map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(path),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Follows a program on several inputs; it must be as without.
pub fn check(seed: u64, interrupted: bool) -> Result<(), String> {
    let program = assemble(seed, interrupted)?;
    let mut rng = ChaCha8Rng::seed_from_u64(!seed);
    for number in 0..4 {
        // Bytes that are all alike make flags that random ones hardly ever do.
        let alike = [0x00, 0xff, 0x80, 0x7f, 0x01][rng.gen_range(0..5)];
        let share = [0.0, 0.3, 0.7, 0.95][number];
        let input: Vec<u8> =
            (0..INPUT).map(|_| if rng.gen_bool(share) { alike } else { rng.r#gen() }).collect();
        let subject = Subject {
            program: program.clone(),
            words: vec![b"program".to_vec()],
            environment: Vec::new(),
            folder: build::scratch(),
            stdin: Some(input),
            most: u64::MAX,
        };
        let plain = subject.run()?;
        if plain.seen.stdout.len() != DATA + 408 {
            return Err(format!("input {number}: it ends as {:?}", plain.seen.ending));
        }
        for relax in [Relaxations::NONE, Relaxations::ALL] {
            let followed = subject.follow(&[Source::StandardInput], relax)?;
            let pinned = followed.symbolic.as_ref().is_some_and(|symbolic| {
                symbolic.tests().iter().any(|test| test.kind == TestKind::Pin(Pin::Signal))
            });
            if interrupted && !pinned {
                return Err(format!("input {number}: no signal came where it mattered"));
            }
            if let Some(text) = difference(&plain.seen, &followed.seen) {
                return Err(format!("input {number}: {text}"));
            }
        }
    }
    Ok(())
}
