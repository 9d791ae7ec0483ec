//! What has gone over the wire with an attempt that is over.

use std::time::Duration;

/// What has gone over the wire with an attempt that is over, and how long its request waited for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptTransfer {
    pub(in crate::operation::observe) sent: Option<u64>,
    pub(in crate::operation::observe) received: Option<u64>,
    pub(in crate::operation::observe) waited: Duration,
}

impl AttemptTransfer {
    /// The bytes of all messages of the request that the connection has read, as they were compressed, without the five
    /// bytes that gRPC puts before each. After a transparent retry those of the last request: no server has seen the others.
    /// `None`: it isn't known, since the attempt is not gRPC's.
    #[must_use]
    pub fn sent(&self) -> Option<u64> {
        self.sent
    }

    /// The same of the response: what has come in, whether the caller took it or not.
    #[must_use]
    pub fn received(&self) -> Option<u64> {
        self.received
    }

    /// How long the request waited: over gRPC from the attempt's start until the connection read its first bytes, and over
    /// HTTP until the client took it. Where that never happened, as long as the attempt took.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }
}
