//! A failure as an incident keeps it: all that makes its identity, and what is shown.
//!
//! Always holds: a failure that is written down and read again is equal to what it was, with the
//! same signature.

use serde::{Deserialize, Serialize};
use stunt_path::{Failure, FailureKind, Frame, Location, Role};

/// A failure in words and frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedFailure {
    /// The kind as one word: `signal`, `abort`, `panic`, `exception`, `stack-overflow`,
    /// `invalid-access`, `sanitizer`, `stated`.
    pub kind: String,
    /// The number of the signal, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<u8>,
    /// The user's condition, if the failure was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The short name of the identity.
    pub signature: String,
    /// The failure as a sentence's part.
    pub words: String,
    /// From the failing frame outward.
    #[serde(default)]
    pub frames: Vec<NotedFrame>,
}

/// A call on the stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedFrame {
    /// The file's name.
    pub module: String,
    /// The file's identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The address in the file.
    pub offset: u64,
    /// The function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The source file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The source line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its part in the identity: `site`, `counts`, `inlined`, `library`, `repeated`, `beyond`.
    pub role: String,
}

const ROLES: [(Role, &str); 6] = [
    (Role::Site, "site"),
    (Role::Counts, "counts"),
    (Role::Inlined, "inlined"),
    (Role::Library, "library"),
    (Role::Repeated, "repeated"),
    (Role::Beyond, "beyond"),
];

impl From<&Failure> for NotedFailure {
    fn from(failure: &Failure) -> Self {
        let (signal, condition) = match &failure.kind {
            FailureKind::Signal(number) => (Some(*number), None),
            FailureKind::Stated(text) => (None, Some(text.clone())),
            _ => (None, None),
        };
        Self {
            kind: failure.kind.word().to_owned(),
            signal,
            condition,
            signature: failure.signature(),
            words: failure.to_string(),
            frames: failure.frames.iter().map(NotedFrame::from).collect(),
        }
    }
}

impl From<&Frame> for NotedFrame {
    fn from(frame: &Frame) -> Self {
        let role = ROLES.iter().find(|(role, _)| *role == frame.role);
        Self {
            module: frame.module.clone(),
            build_id: frame.build_id.clone(),
            offset: frame.offset,
            symbol: frame.symbol.clone(),
            file: frame.location.as_ref().map(|it| it.file.clone()),
            line: frame.location.as_ref().map(|it| it.line),
            role: role.map_or("beyond", |(_, word)| word).to_owned(),
        }
    }
}

impl NotedFailure {
    /// The failure, to be compared with others. Nothing if it was noted by somebody who knows the
    /// place alone (a panic hook), or says what no failure can be.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let kind = match self.kind.as_str() {
            "signal" => FailureKind::Signal(self.signal?),
            "abort" => FailureKind::Abort,
            "panic" => FailureKind::Panic,
            "exception" => FailureKind::Exception,
            "stack-overflow" => FailureKind::StackOverflow,
            "invalid-access" => FailureKind::InvalidAccess,
            "sanitizer" => FailureKind::Sanitizer,
            "stated" => FailureKind::Stated(self.condition.clone()?),
            _ => return None,
        };
        let frames = self.frames.iter().map(NotedFrame::frame).collect::<Option<Vec<_>>>()?;
        let failure = Failure { kind, frames };
        (failure.signature() == self.signature).then_some(failure)
    }
}

impl NotedFrame {
    fn frame(&self) -> Option<Frame> {
        let (role, _) = ROLES.iter().find(|(_, word)| *word == self.role)?;
        let location = self.file.clone().zip(self.line);
        Some(Frame {
            module: self.module.clone(),
            build_id: self.build_id.clone(),
            offset: self.offset,
            symbol: self.symbol.clone(),
            location: location.map(|(file, line)| Location { file, line }),
            role: *role,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_back_equal() {
        let frame = |role, offset| Frame {
            module: "prog".into(),
            build_id: (offset % 2 == 0).then(|| "0123".into()),
            offset,
            symbol: Some("f".into()),
            location: Some(Location { file: "a.c".into(), line: 7 }),
            role,
        };
        let frames: Vec<Frame> =
            ROLES.iter().zip(1..).map(|((role, _), at)| frame(*role, at)).collect();
        let kinds = [
            FailureKind::Signal(11),
            FailureKind::Abort,
            FailureKind::Panic,
            FailureKind::Exception,
            FailureKind::StackOverflow,
            FailureKind::InvalidAccess,
            FailureKind::Sanitizer,
            FailureKind::Stated("exit=3".into()),
        ];
        for kind in kinds {
            let failure = Failure { kind, frames: frames.clone() };
            let json = serde_json::to_string(&NotedFailure::from(&failure)).unwrap();
            let noted: NotedFailure = serde_json::from_str(&json).unwrap();
            let again = noted.failure().expect("a failure");
            assert_eq!(again, failure);
            assert_eq!(again.frames, failure.frames);
        }
    }

    #[test]
    fn a_failure_that_was_tampered_with_is_none() {
        let mut noted = NotedFailure::from(&Failure::stated("exit=3"));
        assert!(noted.failure().is_some());
        noted.condition = Some("exit=4".into());
        assert!(noted.failure().is_none());
        noted.kind = "whatever".into();
        assert!(noted.failure().is_none());
    }
}
