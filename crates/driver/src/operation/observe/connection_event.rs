//! Events of connections.

use std::fmt;
use std::time::Duration;

/// Something that happened to an endpoint of a `Connection`.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionEvent<'a> {
    target: &'a str,
    peer: &'a str,
    change: ConnectionChange<'a>,
}

/// A change of an endpoint.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ConnectionChange<'a> {
    /// A connection is being made.
    Connecting,
    /// It was made, and the server's SETTINGS have come, after so long.
    Ready {
        /// The time since it was begun.
        after: Duration,
    },
    /// It could not be made.
    Failed {
        /// Why.
        error: &'a (dyn std::error::Error + 'static),
        /// How long it takes from now until the endpoint connects again.
        retry_in: Duration,
    },
    /// It takes no calls any longer. Those that it has may continue.
    Lost {
        /// Why.
        reason: &'a LostReason,
    },
    /// Calls avoid the endpoint for so long, since calls to it failed.
    Ejected {
        /// For how long.
        time: Duration,
    },
}

/// Why a connection takes no calls any longer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LostReason {
    /// The server has closed it, or asked for that (`GOAWAY`).
    Closed,
    /// It broke, with that error.
    Broken(String),
    /// Attempts in a row have used up their RPC timeouts, and the server has not said a word: it may be dead.
    Silent,
    /// It has reached the maximum age.
    TooOld,
    /// The resolver no longer returns its address, or the connection is no longer needed.
    Removed,
}

impl LostReason {
    /// A short name, as metrics have it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Broken(_) => "broken",
            Self::Silent => "silent",
            Self::TooOld => "too_old",
            Self::Removed => "removed",
        }
    }
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the server closed it"),
            Self::Broken(error) => write!(f, "it broke: {}", gax_text::Escaped(error)),
            Self::Silent => f.write_str("attempts timed out and the server was silent"),
            Self::TooOld => f.write_str("it reached the maximum age"),
            Self::Removed => f.write_str("the endpoint is gone"),
        }
    }
}

impl<'a> ConnectionEvent<'a> {
    /// A change of the connection of that target to that peer, for tests of observers.
    #[must_use]
    pub fn new(target: &'a str, peer: &'a str, change: ConnectionChange<'a>) -> Self {
        Self { target, peer, change }
    }

    gax_text::getters! { self:
        /// The target, as the connection was given it.
        pub target: &'a str = self.target;

        /// The endpoint's address; of an endpoint with several that has no connection, the first of them.
        pub peer: &'a str = self.peer;

        /// The change.
        pub change: ConnectionChange<'a> = self.change;
    }
}

impl fmt::Display for ConnectionEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", gax_text::Escaped(self.peer))?;
        match self.change {
            ConnectionChange::Connecting => f.write_str("connecting"),
            ConnectionChange::Ready { after } => write!(f, "ready after {}", gax_text::Human(after)),
            ConnectionChange::Failed { error, retry_in } => {
                let error = error.to_string();
                write!(
                    f,
                    "failed: {}; connects again in {}",
                    gax_text::Escaped(&error),
                    gax_text::Human(retry_in)
                )
            }
            ConnectionChange::Lost { reason } => write!(f, "lost: {reason}"),
            ConnectionChange::Ejected { time } => write!(f, "ejected for {}", gax_text::Human(time)),
        }
    }
}
