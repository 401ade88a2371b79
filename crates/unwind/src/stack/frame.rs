//! A call stack, and how it reads.
//!
//! Always holds: frames go from the innermost outward; an inlined function comes before the one
//! that it was inlined into and has the same address. A stack that was too deep has a gap, and the
//! gap says how many frames it stands for.
//!
//! An address outside of all modules may be a piece of a private input (a return address that was
//! overwritten): neither `Display` nor `Debug` shows one.

use std::fmt;
use std::sync::Arc;

/// How a frame was found, from the most to the least certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// From saved registers: those of the stopped thread, or those in a signal's frame.
    Context,
    /// By call frame information, which compilers emit for this.
    Cfi,
    /// By the frame pointer; a function that uses that register otherwise misleads.
    FramePointer,
    /// By looking for a return address on the stack; it may be a stale one.
    Scan,
}

/// What a frame stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A call.
    Call,
    /// A call that the compiler put into its caller, the next frame.
    Inlined,
    /// A signal that interrupted the next frame.
    Signal,
}

/// The identity that a linker gives a file, normally a hash of its contents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId(Arc<[u8]>);

impl BuildId {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The bytes of the identity.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Where in which module an address is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InModule {
    /// The file's name without its folder.
    pub name: Arc<str>,
    /// The file's identity, if it has one.
    pub build_id: Option<BuildId>,
    /// The address before the bias: the same in every run.
    pub offset: u64,
    /// Where the function begins, by call frame information, which stripped files have, too.
    pub function: Option<u64>,
}

/// Where in which function an address is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InSymbol {
    /// The function's name, as the programmer wrote it.
    pub name: String,
    /// How far the address is behind the function's first; 0 in an inlined function, which has
    /// none.
    pub offset: u64,
}

/// A place in source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The file, as the compiler recorded it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// One call on the stack.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The next instruction: where the thread stopped, or where a call returns to.
    pub address: u64,
    /// How it was found.
    pub trust: Trust,
    /// What it stands for.
    pub kind: Kind,
    /// The module that the address is in.
    pub module: Option<InModule>,
    /// The function that the call is in.
    pub symbol: Option<InSymbol>,
    /// The source line of the call.
    pub location: Option<Location>,
}

/// Frames that were left out of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gap {
    /// The index in the list of frames before which they belong.
    pub before: usize,
    /// How many there were.
    pub count: u64,
    /// Whether each has the address of one of the frames before the gap, as in plain recursion.
    pub alike: bool,
}

/// Why a stack has no more frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The last frame has no caller.
    Outermost,
    /// There was no way to find the last frame's caller.
    Lost,
    /// There were too many, or they went round in a circle.
    Limit,
}

/// A call stack, innermost frame first.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CallStack {
    /// The frames that were kept.
    pub frames: Vec<Frame>,
    /// Those that were not.
    pub gap: Option<Gap>,
    /// Why there are no more.
    pub end: End,
}

/// The widest column of functions; longer names push the module to the right.
const WIDEST: usize = 60;

impl Frame {
    /// The function, its offset and its line, as one column of text.
    fn function(&self) -> String {
        let mut text = match (&self.symbol, self.kind) {
            (_, Kind::Signal) => "<signal handler called>".into(),
            (Some(symbol), _) if symbol.offset != 0 => {
                format!("{}+{:#x}", symbol.name, symbol.offset)
            }
            (Some(symbol), _) => symbol.name.clone(),
            (None, _) if self.module.is_some() => "??".into(),
            (None, _) if self.address == 0 => "0x0".into(),
            (None, _) => "<no code>".into(),
        };
        if let Some(location) = &self.location {
            let file = location.file.rsplit('/').next().unwrap_or(&location.file);
            let file: String = file.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            text += &format!(" at {file}:{}", location.line);
        }
        text
    }

    /// The module and the offset in it, as one column of text.
    fn place(&self) -> String {
        match &self.module {
            _ if self.kind == Kind::Inlined => "(inlined)".into(),
            Some(module) => format!("({}+{:#x})", module.name, module.offset),
            None => "(no module)".into(),
        }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?}", self.function(), self.place(), self.trust)
    }
}

impl fmt::Display for CallStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions: Vec<String> = self.frames.iter().map(Frame::function).collect();
        let widths = functions.iter().map(|function| function.chars().count());
        let width = widths.filter(|&width| width <= WIDEST).max().unwrap_or(0);
        // Frames behind the gap keep the numbers that they have on the whole stack.
        let skipped = |index: usize| match self.gap {
            Some(gap) if gap.before <= index => gap.count,
            _ => 0,
        };
        let number = |index: usize| (index as u64 + skipped(index)).to_string();
        let digits = self.frames.len().checked_sub(1).map_or(1, |last| number(last).len());
        let gap = |f: &mut fmt::Formatter<'_>, gap: Gap| {
            let like = if gap.alike { "frames like these" } else { "more frames" };
            writeln!(f, "{:digits$}   ... {} {like} ...", "", grouped(gap.count))
        };
        for (index, (frame, function)) in self.frames.iter().zip(&functions).enumerate() {
            if let Some(here) = self.gap.filter(|gap| gap.before == index) {
                gap(f, here)?;
            }
            let mark = match frame.trust {
                Trust::Context | Trust::Cfi => ' ',
                Trust::FramePointer => '~',
                Trust::Scan => '?',
            };
            let number = format!("#{}", number(index));
            let numbers = digits + 1;
            writeln!(f, "{number:<numbers$} {mark}{function:<width$}  {}", frame.place())?;
        }
        if let Some(here) = self.gap.filter(|gap| gap.before >= self.frames.len()) {
            gap(f, here)?;
        }
        let found_by = |trust: Trust| self.frames.iter().any(|frame| frame.trust == trust);
        if found_by(Trust::FramePointer) {
            writeln!(f, "~ found by frame pointer: callers may be missing")?;
        }
        if found_by(Trust::Scan) {
            writeln!(f, "? found by searching the stack: may be wrong")?;
        }
        match self.end {
            End::Outermost => Ok(()),
            End::Lost => writeln!(f, "(the caller of the last frame was not found)"),
            End::Limit => writeln!(f, "(there are too many frames to follow)"),
        }
    }
}

impl fmt::Debug for CallStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A number with its thousands set apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
