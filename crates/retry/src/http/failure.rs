//! How an HTTP request fails.

use std::fmt;

/// A failure below HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportFailure {
    /// No connection came about: refused, unreachable, no such host.
    Connect,
    /// The connection broke before the reply was there.
    Reset,
    /// The reply's body ended early.
    Truncated,
    /// An attempt ran out of its time.
    Timeout,
    /// A reply came that can't be read: malformed, with headers beyond the client's limits, or compressed into
    /// something that doesn't unpack. It is never retried, since another attempt would get the same.
    Unreadable,
}

gax_text::names! {
    /// Every kind.
    pub const ALL;
    /// The kind in one word.
    pub fn as_str for TransportFailure {
        Connect = "connect",
        Reset = "reset",
        Truncated = "truncated",
        Timeout = "timeout",
        Unreadable = "unreadable",
    }
}

/// A set of [`TransportFailure`]s.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::{TransportFailure, TransportFailures};
///
/// let broken = TransportFailures::NONE.with(TransportFailure::Reset);
/// assert!(broken.contains(TransportFailure::Reset));
/// assert_eq!(TransportFailures::ALL.to_string(), "connect, reset, truncated, timeout");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[must_use]
pub struct TransportFailures(u8);

impl TransportFailures {
    /// None of them.
    pub const NONE: TransportFailures = TransportFailures(0);

    /// All that another attempt may cure: not [`TransportFailure::Unreadable`].
    pub const ALL: TransportFailures = TransportFailures::NONE
        .with(TransportFailure::Connect)
        .with(TransportFailure::Reset)
        .with(TransportFailure::Truncated)
        .with(TransportFailure::Timeout);

    /// The set with one more.
    pub const fn with(self, failure: TransportFailure) -> Self {
        TransportFailures(self.0 | (1 << failure as u8))
    }

    /// Returns whether it is in the set.
    #[must_use]
    pub const fn contains(self, failure: TransportFailure) -> bool {
        self.0 & (1 << failure as u8) != 0
    }

    /// Returns whether nothing is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for TransportFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for failure in TransportFailure::ALL.iter().filter(|failure| self.contains(**failure)) {
            write!(f, "{separator}{failure}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// How one attempt of an HTTP request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a reply came, or none did")]
pub enum HttpFailure {
    /// It got that status, not 2xx.
    Status(u16),
    /// It got no response, or not a whole one.
    Transport(TransportFailure),
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpFailure::Status(status) => write!(f, "status {status}"),
            HttpFailure::Transport(failure) => failure.fmt(f),
        }
    }
}
