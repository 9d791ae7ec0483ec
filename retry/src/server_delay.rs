//! The delay that a server asks for before another attempt.

use std::time::Duration;

/// The delay that the server asks for before another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "nothing, a lower bound, a moment, or never")]
pub enum ServerDelay {
    /// Nothing.
    #[default]
    None,
    /// So long at least: `Retry-After`, `google.rpc.RetryInfo`. A draw comes on top of it, up to the back-off or half of that, so that
    /// clients which are given the same moment don't come back together; where the operation has no time for both,
    /// back-off is cut. Without a total timeout, `max_server_delay` is the limit.
    AtLeast(Duration),
    /// Exactly so long: `grpc-retry-pushback-ms`.
    Exactly(Duration),
    /// Not at all: a pushback that is negative or unreadable.
    Never,
}
