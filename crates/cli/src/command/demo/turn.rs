//! A turn of the server's script.

use crate::render::Ms;
use gax_retry::Code;
use gax_testing::{Reply, Script, Step};
use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use tonic::Status;

/// How a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It gets that code, after a while.
    Reply(Duration, Code),
    /// It gets no reply.
    Hang,
}

/// The script of these turns, of which the last is repeated.
pub(super) fn script(turns: &[Turn]) -> Script {
    let (after, reply) = turns.last().copied().unwrap_or(Turn::Hang).reply();
    Script::of(turns.iter().copied()).then_always(after, reply)
}

impl Turn {
    fn reply(self) -> (Duration, Reply) {
        match self {
            Turn::Hang => (Duration::ZERO, Reply::Hang),
            Turn::Reply(after, Code::Ok) => (after, Reply::Serve),
            Turn::Reply(after, code) => {
                (after, Reply::status(Status::new(code.number().into(), "as the script says")))
            }
        }
    }
}

impl From<Turn> for Step {
    fn from(turn: Turn) -> Self {
        turn.reply().into()
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Turn::Reply(Duration::ZERO, code) => write!(f, "{code} at once"),
            Turn::Reply(after, code) => write!(f, "{code} after {}", Ms(*after)),
            Turn::Hang => f.write_str("no reply"),
        }
    }
}

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
