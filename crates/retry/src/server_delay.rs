//! The delay that a server asks for before another attempt.

use std::time::Duration;

/// The delay that the server asks for before another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "nothing, a lower bound, a moment, or never")]
pub enum ServerDelay {
    /// Nothing.
    #[default]
    None,
    /// At least this long: `Retry-After`, `google.rpc.RetryInfo`. A random time is added, up to the back-off or half of the delay, so
    /// that clients which get the same delay don't return together. If the operation has no time for both, the random time is
    /// shortened. Without a total timeout, `max_server_delay` is the limit.
    AtLeast(Duration),
    /// Exactly this long: `grpc-retry-pushback-ms`.
    Exactly(Duration),
    /// Not at all: a pushback that is negative or unreadable.
    Never,
}
