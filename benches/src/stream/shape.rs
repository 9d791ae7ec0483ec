//! Who streams, and what is streamed.

use crate::bench::Part;

/// Which side streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Shape {
    /// The server.
    Server,
    /// The client.
    Client,
    /// Both, each message a reply to one.
    Both,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Server, Self::Client, Self::Both];

    /// How many messages come back where so many are sent or asked for.
    #[must_use]
    pub fn replies(self, messages: u32) -> u64 {
        if self == Self::Client { 1 } else { messages.into() }
    }

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server streams",
            Self::Client => "client streams",
            Self::Both => "both stream",
        }
    }
}

/// The message of that number, of about 128 bytes.
#[must_use]
pub fn part(number: u64) -> Part {
    Part { number, data: vec![b'x'; 120] }
}
