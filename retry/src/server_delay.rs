//! What a server asks of the wait before another attempt.

use std::time::Duration;

/// What the server asks for before another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "nothing, a lower bound, a moment, or never")]
pub enum ServerDelay {
    /// Nothing.
    #[default]
    None,
    /// So long at least: `Retry-After`, `google.rpc.RetryInfo`.
    AtLeast(Duration),
    /// Exactly so long: `grpc-retry-pushback-ms`.
    Exactly(Duration),
    /// Not at all: a pushback that is negative or unreadable.
    Never,
}
