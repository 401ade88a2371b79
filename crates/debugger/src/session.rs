//! What gdb asks, and what it is told.
//!
//! Always: a question that is not understood gets the empty answer, which tells gdb that there is no such
//! thing, and nothing that comes in ends the session but the end of the connection, or gdb saying so.

use std::fmt::Write as _;
use std::io;

use stunt_machine::{
    linux::{Ending, Signal, Tid},
    stepping::{Touch, Watch},
};

use crate::{
    packets::{LONGEST, Line, Packets, hex, parse_bytes, parse_hex},
    registers,
    travel::{Halt, TimeTravel},
};

/// The signals by which gdb calls a stop that is none of the program's.
const TRAP: u32 = 5;
const INTERRUPT: u32 = 2;
/// The most bytes that are watched at once.
const MOST_WATCHED: u64 = 1 << 16;

/// Who knows more about the run than where it is.
pub trait Helper {
    /// Answers a command of the user, in lines; nothing if there is no such command.
    fn command(&mut self, words: &[&str], travel: &mut TimeTravel) -> Option<String>;

    /// The commands, one a line, with what they do.
    fn commands(&self) -> &'static str;
}

/// Where a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Why the run stands there.
    pub halt: Halt,
}

/// A session with gdb.
pub struct Session<'a> {
    travel: &'a mut TimeTravel,
    helper: &'a mut dyn Helper,
    breakpoints: Vec<u64>,
    watches: Vec<Watch>,
    /// The thread that registers are those of, if gdb has named one.
    chosen: Option<Tid>,
    halt: Halt,
    /// Where gdb was told how the run ends.
    told_end: Option<u64>,
    /// Faults with these signals are not shown.
    passed: Vec<u32>,
}

/// What comes of a packet.
enum Answer {
    Text(Vec<u8>),
    /// An answer, and then nothing more.
    Last(Vec<u8>),
    /// The run goes somewhere, and the answer is why it stops there.
    Go(Go),
    /// None at all.
    Silence,
}

/// Where the run goes.
#[derive(Clone, Copy)]
enum Go {
    On,
    Step(Option<Tid>),
    /// Steps as long as the thread is between two addresses.
    Range(Option<Tid>, u64, u64),
    Back,
    BackStep,
}

fn text(text: impl Into<Vec<u8>>) -> Answer {
    Answer::Text(text.into())
}

fn ok() -> Answer {
    text("OK")
}

fn error() -> Answer {
    text("E01")
}

impl<'a> Session<'a> {
    /// A session about a run.
    pub fn new(travel: &'a mut TimeTravel, helper: &'a mut dyn Helper, start: Start) -> Self {
        let mut session = Self {
            travel,
            helper,
            breakpoints: Vec::new(),
            watches: Vec::new(),
            chosen: None,
            halt: start.halt,
            told_end: None,
            passed: Vec::new(),
        };
        session.note_end();
        session
    }

    /// Talks until gdb has had enough.
    ///
    /// # Errors
    /// Of the connection.
    pub fn talk(&mut self, line: impl Line) -> io::Result<()> {
        let mut packets = Packets::new(line);
        while let Some(packet) = packets.next()? {
            if packet == b"QStartNoAckMode" {
                packets.send(b"OK")?;
                packets.stop_acknowledging();
                continue;
            }
            match self.answer(&packet) {
                Answer::Text(text) => packets.send(&text)?,
                Answer::Last(text) => return packets.send(&text),
                Answer::Silence => {}
                Answer::Go(go) => {
                    self.go(go, &mut || packets.interrupted());
                    packets.send(self.why().as_bytes())?;
                }
            }
        }
        Ok(())
    }

    fn note_end(&mut self) {
        self.told_end = matches!(self.halt, Halt::End(_)).then(|| self.travel.position());
    }

    fn go(&mut self, go: Go, enough: &mut dyn FnMut() -> bool) {
        self.chosen = match go {
            Go::Step(thread) | Go::Range(thread, ..) => thread.or(self.chosen),
            Go::BackStep => self.chosen,
            Go::On | Go::Back => None,
        };
        let thread = self.chosen.unwrap_or_else(|| self.travel.thread());
        self.halt = match go {
            Go::On => loop {
                match self.travel.forward(None, enough) {
                    Halt::Fault(signal) if self.passed.contains(&number_of_gdb(signal.number)) => {}
                    halt => break halt,
                }
            },
            Go::Step(_) => self.travel.forward(Some(thread), enough),
            Go::Range(_, from, to) => loop {
                let halt = self.travel.forward(Some(thread), enough);
                let cpu = self.travel.processor(thread);
                let inside = cpu.is_some_and(|cpu| (from..to).contains(&cpu.rip()));
                // A breakpoint in the range counts, but the one that the step began at was passed.
                if halt != Halt::Stepped || !inside || enough() {
                    break halt;
                }
            },
            Go::Back => self.travel.back(enough),
            Go::BackStep => self.travel.back_step(thread, enough),
        };
        if !matches!(self.halt, Halt::Stepped) {
            self.chosen = None;
        }
        let first = self.told_end != Some(self.travel.position());
        if let Halt::End(_) = self.halt {
            // The signal that ends it is told once, then that there is no more.
            if !first || self.ended_by_fault() {
                self.halt = Halt::End(Ending::Idle);
            }
            self.told_end = Some(self.travel.position());
        }
    }

    /// Whether the end is a fault that was told as such.
    fn ended_by_fault(&self) -> bool {
        self.travel.was_told()
    }

    /// Why the run stands where it stands.
    fn why(&mut self) -> String {
        let tid = self.chosen.unwrap_or_else(|| self.travel.thread());
        let signal = |number: u32, more: &str| format!("T{number:02x}{more}");
        let mut text = match self.halt {
            Halt::Reached | Halt::Stepped => signal(TRAP, ""),
            Halt::Breakpoint => signal(TRAP, "swbreak:;"),
            Halt::Watch(number) => match self.watches.get(number) {
                Some(watch) => {
                    let kind = match watch.touch {
                        Touch::Change => "watch",
                        Touch::Read => "rwatch",
                        Touch::Access => "awatch",
                    };
                    signal(TRAP, &format!("{kind}:{:x};", watch.range.start))
                }
                None => signal(TRAP, ""),
            },
            Halt::Fault(Signal { number, .. }) => signal(number_of_gdb(number), ""),
            Halt::Start => signal(TRAP, "replaylog:begin;"),
            Halt::End(Ending::Killed(Signal { number, .. })) => signal(number_of_gdb(number), ""),
            Halt::End(_) => signal(TRAP, "replaylog:end;"),
            Halt::Interrupted => signal(INTERRUPT, ""),
        };
        let _ = write!(text, "thread:{:x};", tid.0);
        // What gdb asks next in any case: where it is.
        if let Some(cpu) = self.travel.processor(tid) {
            for number in [6, 7, 16] {
                let value = registers::read_one(cpu, number).unwrap_or_default();
                let _ = write!(text, "{number:02x}:{};", hex(&value));
            }
        }
        text
    }

    fn thread(&mut self) -> Tid {
        self.chosen.unwrap_or_else(|| self.travel.thread())
    }

    fn answer(&mut self, packet: &[u8]) -> Answer {
        let Some((&first, rest)) = packet.split_first() else { return text("") };
        match first {
            b'?' => text(self.why()),
            b'g' if rest.is_empty() => {
                let tid = self.thread();
                match self.travel.processor(tid) {
                    Some(cpu) => text(hex(&registers::read_all(cpu))),
                    None => error(),
                }
            }
            b'G' => self.change(|cpu| registers::write_all(cpu, &parse_bytes(rest)?)),
            b'p' => {
                let tid = self.thread();
                let cpu = self.travel.processor(tid);
                let number = parse_hex(rest);
                match cpu.zip(number).and_then(|(cpu, it)| registers::read_one(cpu, it as usize)) {
                    Some(value) => text(hex(&value)),
                    None => error(),
                }
            }
            b'P' => self.change(|cpu| {
                let (number, value) = split(rest, b'=')?;
                registers::write_one(cpu, parse_hex(number)? as usize, &parse_bytes(value)?)
            }),
            b'm' => self.read(rest).unwrap_or_else(error),
            b'M' => self.write(rest, parse_bytes).unwrap_or_else(error),
            b'X' => self.write(rest, |bytes| Some(bytes.to_vec())).unwrap_or_else(error),
            b'H' => self.choose(rest).unwrap_or_else(error),
            b'T' => {
                let tid = parse_hex(rest).map(|tid| Tid(tid as u32));
                let lives = self.travel.threads().iter().any(|it| Some(it.tid) == tid);
                if lives { ok() } else { error() }
            }
            b'Z' | b'z' => self.stop_at(first == b'Z', rest).unwrap_or_else(|| text("")),
            b'c' | b'C' => Answer::Go(Go::On),
            b's' | b'S' => Answer::Go(Go::Step(self.chosen)),
            b'b' if rest == b"c" => Answer::Go(Go::Back),
            b'b' if rest == b"s" => Answer::Go(Go::BackStep),
            b'D' => Answer::Last(b"OK".to_vec()),
            b'k' => Answer::Last(Vec::new()),
            b'v' => self.answer_v(rest),
            b'q' => self.answer_q(rest).unwrap_or_else(|| text("")),
            b'Q' => match rest.strip_prefix(b"PassSignals:") {
                Some(signals) => {
                    let signals = signals.split(|&byte| byte == b';').filter_map(parse_hex);
                    self.passed = signals.map(|number| number as u32).collect();
                    ok()
                }
                None => text(""),
            },
            0 | b'+' | b'-' => Answer::Silence,
            _ => text(""),
        }
    }

    fn change(
        &mut self,
        change: impl FnOnce(&mut stunt_machine::cpu::Cpu) -> Option<()>,
    ) -> Answer {
        let tid = self.thread();
        let Some(mut cpu) = self.travel.processor(tid).cloned() else { return error() };
        if change(&mut cpu).is_none() {
            return error();
        }
        self.travel.write_processor(tid, cpu);
        self.told_end = None;
        ok()
    }

    fn read(&mut self, rest: &[u8]) -> Option<Answer> {
        let (address, length) = split(rest, b',')?;
        let (address, length) = (parse_hex(address)?, parse_hex(length)?);
        let mut bytes = vec![0; (length as usize).min(LONGEST / 2 - 8)];
        let have = self.travel.memory()?.peek(address, &mut bytes);
        (have > 0 || length == 0).then(|| text(hex(&bytes[..have])))
    }

    fn write(
        &mut self,
        rest: &[u8],
        parse: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
    ) -> Option<Answer> {
        let (place, content) = split(rest, b':')?;
        let (address, length) = split(place, b',')?;
        let (address, length) = (parse_hex(address)?, parse_hex(length)?);
        let bytes = parse(content)?;
        if bytes.len() as u64 != length {
            return None;
        }
        // gdb asks whether there are binary writes by one of nothing.
        if bytes.is_empty() {
            return Some(ok());
        }
        self.told_end = None;
        self.travel.write_memory(address, &bytes).then(ok)
    }

    fn choose(&mut self, rest: &[u8]) -> Option<Answer> {
        let (&what, thread) = rest.split_first()?;
        let tid = match thread {
            b"-1" | b"0" => None,
            thread => Some(Tid(parse_hex(thread)? as u32)),
        };
        if tid.is_some_and(|tid| !self.travel.threads().iter().any(|it| it.tid == tid)) {
            return None;
        }
        // Steps name their threads themselves.
        if what == b'g' || tid.is_some() {
            self.chosen = tid;
        }
        Some(ok())
    }

    fn stop_at(&mut self, sets: bool, rest: &[u8]) -> Option<Answer> {
        let mut parts = rest.split(|&byte| byte == b',' || byte == b';');
        let kind = parts.next()?;
        let address = parse_hex(parts.next()?)?;
        let length = parse_hex(parts.next()?)?;
        let touch = match kind {
            b"0" | b"1" => {
                self.breakpoints.retain(|&it| it != address);
                if sets {
                    self.breakpoints.push(address);
                }
                self.set_stops();
                return Some(ok());
            }
            b"2" => Touch::Change,
            b"3" => Touch::Read,
            b"4" => Touch::Access,
            _ => return None,
        };
        let range = address..address.checked_add(length)?;
        if length == 0 || length > MOST_WATCHED {
            return Some(error());
        }
        let watch = Watch { range, touch };
        self.watches.retain(|it| *it != watch);
        if sets {
            self.watches.push(watch);
        }
        self.set_stops();
        Some(ok())
    }

    fn set_stops(&mut self) {
        self.travel.set_stops(self.breakpoints.iter().copied(), self.watches.clone());
    }

    fn answer_v(&mut self, rest: &[u8]) -> Answer {
        if rest == b"Cont?" {
            return text("vCont;c;C;s;S;r");
        }
        if rest.starts_with(b"Kill") {
            return Answer::Last(b"OK".to_vec());
        }
        let Some(actions) = rest.strip_prefix(b"Cont;") else { return text("") };
        // The schedule is the machine's: threads that gdb does not name go on, too.
        for action in actions.split(|&byte| byte == b';') {
            let mut parts = action.splitn(2, |&byte| byte == b':');
            let (what, thread) = (parts.next().unwrap_or_default(), parts.next());
            let thread = thread.and_then(parse_hex).map(|tid| Tid(tid as u32));
            match what.first() {
                Some(b's' | b'S') => return Answer::Go(Go::Step(thread)),
                Some(b'r') => {
                    let range = split(&what[1..], b',');
                    let range = range.and_then(|(a, b)| parse_hex(a).zip(parse_hex(b)));
                    let Some((from, to)) = range else { return error() };
                    return Answer::Go(Go::Range(thread, from, to));
                }
                _ => {}
            }
        }
        Answer::Go(Go::On)
    }

    fn answer_q(&mut self, rest: &[u8]) -> Option<Answer> {
        let is = |name: &str| rest.starts_with(name.as_bytes());
        if is("Supported") {
            return Some(text(format!(
                "PacketSize={LONGEST:x};qXfer:features:read+;qXfer:auxv:read+;\
                 qXfer:exec-file:read+;qXfer:threads:read+;qXfer:siginfo:read+;QPassSignals+;\
                 QStartNoAckMode+;vContSupported+;swbreak+;ReverseStep+;ReverseContinue+"
            )));
        }
        if let Some(command) = rest.strip_prefix(b"Rcmd,") {
            let line = String::from_utf8(parse_bytes(command)?).ok()?;
            return Some(text(hex(self.command(&line).as_bytes())));
        }
        if let Some(of) = rest.strip_prefix(b"Xfer:") {
            return Some(self.transfer(of).unwrap_or_else(|| text("E00")));
        }
        if let Some(thread) = rest.strip_prefix(b"ThreadExtraInfo,") {
            let tid = Tid(parse_hex(thread)? as u32);
            let seen = self.travel.threads().into_iter().find(|it| it.tid == tid)?;
            return Some(text(hex(&seen.name)));
        }
        Some(match rest {
            b"C" => text(format!("QC{:x}", self.thread().0)),
            b"Attached" => text("1"),
            b"Symbol::" => ok(),
            b"sThreadInfo" => text("l"),
            b"fThreadInfo" => {
                let threads = self.travel.threads();
                let threads: Vec<String> =
                    threads.iter().map(|it| format!("{:x}", it.tid.0)).collect();
                text(if threads.is_empty() {
                    "l".into()
                } else {
                    format!("m{}", threads.join(","))
                })
            }
            _ => return None,
        })
    }

    /// A part of a text that gdb reads piece by piece.
    fn transfer(&mut self, of: &[u8]) -> Option<Answer> {
        let mut parts = of.split(|&byte| byte == b':');
        let (object, _read, annex, range) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (offset, length) = split(range, b',')?;
        let (offset, length) = (parse_hex(offset)? as usize, parse_hex(length)? as usize);
        let whole = match object {
            b"features" if annex == b"target.xml" => registers::description().into_bytes(),
            b"auxv" => self.travel.program()?.1,
            b"exec-file" => self.travel.program()?.0,
            b"threads" => self.list_threads().into_bytes(),
            b"siginfo" => self.travel.siginfo()?.to_vec(),
            _ => return Some(text("")),
        };
        let rest = whole.get(offset..).unwrap_or_default();
        let length = length.min(LONGEST / 2).min(rest.len());
        let more = if length < rest.len() { b'm' } else { b'l' };
        Some(Answer::Text([&[more], &rest[..length]].concat()))
    }

    fn list_threads(&mut self) -> String {
        let mut text = String::from("<threads>");
        for thread in self.travel.threads() {
            let name: String = String::from_utf8_lossy(&thread.name)
                .chars()
                .filter(|it| it.is_alphanumeric() || " -_.:/+".contains(*it))
                .collect();
            let _ = write!(text, "<thread id=\"{:x}\" name=\"{name}\"/>", thread.tid.0);
        }
        text.push_str("</threads>");
        text
    }

    /// What the user typed after `monitor`.
    fn command(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["when"] => self.when(),
            ["goto", place] => {
                let halt = match place {
                    "start" => self.travel.goto(0, &mut || false),
                    "end" => self.travel.goto_end(&mut || false),
                    place => match place.parse() {
                        Ok(place) => self.travel.goto(place, &mut || false),
                        Err(_) => return "A number belongs here, start or end.\n".to_owned(),
                    },
                };
                (self.halt, self.chosen) = (halt, None);
                self.note_end();
                self.when()
            }
            ["help"] | [] => format!(
                "when                how many instructions were executed before this place\n\
                 goto N|start|end    goes there, forward or back\n{}",
                self.helper.commands()
            ),
            _ => match self.helper.command(&words, self.travel) {
                Some(answer) => answer,
                None => "There is no such command; `monitor help` lists them.\n".to_owned(),
            },
        }
    }

    fn when(&mut self) -> String {
        let here = self.travel.position();
        match self.travel.end() {
            Some((end, _)) => format!("Instruction {here} of {end}.\n"),
            None => format!("Instruction {here}.\n"),
        }
    }
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = text.iter().position(|&byte| byte == at)?;
    Some((&text[..place], &text[place + 1..]))
}

/// The number that gdb has for a signal; it numbers some of them as other systems do.
fn number_of_gdb(signal: u32) -> u32 {
    match signal {
        7 => 10,
        10 => 30,
        12 => 31,
        17 => 20,
        18 => 19,
        19 => 17,
        20 => 18,
        23 => 16,
        29 => 23,
        30 => 32,
        31 => 12,
        other => other,
    }
}
