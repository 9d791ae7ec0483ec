//! The messages of a stream that went to the caller, by the connection that they came over.

use crate::operation::report::rows::FirstAndLast;
use std::fmt;

/// The messages that a stream's connections have delivered: of very many connections those of both ends, as of the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Delivered {
    messages: u64,
    connections: u64,
    /// By the numbers of their attempts.
    kept: FirstAndLast<(u32, u64)>,
}

impl Delivered {
    /// The attempt of that number has ended, after so many messages for the caller.
    pub(crate) fn push(&mut self, attempt: u32, messages: u64) {
        self.messages = self.messages.saturating_add(messages);
        self.connections += 1;
        self.kept.push((attempt, messages));
    }

    pub(crate) fn messages(&self) -> u64 {
        self.messages
    }

    /// Those of one attempt.
    pub(crate) fn of(&self, attempt: u32) -> u64 {
        let own = self.kept.as_slice().iter().find(|(number, _)| *number == attempt);
        own.map_or(0, |(_, messages)| *messages)
    }
}

impl fmt::Display for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = |count, one, more| if count == 1 { one } else { more };
        let (messages, connections) = (self.messages, self.connections);
        write!(
            f,
            "delivered: {messages} {}, over {connections} {}",
            noun(messages, "message", "messages"),
            noun(connections, "connection", "connections"),
        )
    }
}
