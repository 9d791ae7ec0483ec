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
}

impl AttemptDelay {
    /// Whether the attempt waited for a connection or a stream, at first.
    #[must_use]
    pub fn delay_type(self) -> DelayType {
        self.kind
    }

    /// For how long it waited, in all.
    #[must_use]
    pub fn time(self) -> Duration {
        self.time
    }
}

impl DelayType {
    /// The value of `grpc.delay_type` in metrics and spans (gRFC A121).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Stream => "gax.stream",
        }
    }
}

impl fmt::Display for AttemptDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DelayType::Connecting => "a connection",
            DelayType::Stream => "a free stream",
        };
        write!(f, "{} for {what}", Human(self.time))
    }
}
