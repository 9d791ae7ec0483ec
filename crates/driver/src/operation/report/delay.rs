//! The time that attempts wait inside of a connection.

use gax_text::Human;
use std::fmt;
use std::time::Duration;

/// The time that an attempt waited before its request could be sent, known over a
/// [`Connection`](https://tonic-gax.github.io/tonic-gax/connecting.html).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttemptDelay {
    pub(crate) kind: DelayType,
    pub(crate) time: Duration,
}

/// The kinds of delay of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DelayType {
    /// A connection.
    Connecting,
    /// A free stream, where the server limits how many a connection has.
    Stream,
    /// The end of the back-off after connections that failed, and the next connection. The attempt's RPC timeout starts afterwards.
    Backoff,
    /// A connection without other calls, because our own HTTP/2 stack closed that of the attempt before for one response on it. The
    /// attempt's RPC timeout starts afterwards.
    OwnConnection,
}

impl AttemptDelay {
    gax_text::getters! { move self:
        /// Returns whether the attempt waited for a connection, a stream or something else, at first.
        pub delay_type: DelayType = self.kind;

        /// For how long it waited, in all.
        pub time: Duration = self.time;
    }
}

impl DelayType {
    /// The value of `grpc.delay_type` in metrics and spans (gRFC A121).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Stream => "gax.stream",
            Self::Backoff => "gax.backoff",
            Self::OwnConnection => "gax.own_connection",
        }
    }

    /// Returns whether it takes none of the attempt's time.
    pub(crate) const fn is_held(self) -> bool {
        matches!(self, Self::Backoff | Self::OwnConnection)
    }
}

impl fmt::Display for AttemptDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DelayType::Connecting => "a connection",
            DelayType::Stream => "a free stream",
            DelayType::Backoff => "the next connection after those that failed (back-off)",
            DelayType::OwnConnection => "a connection of its own",
        };
        write!(f, "{} for {what}", Human(self.time))
    }
}
