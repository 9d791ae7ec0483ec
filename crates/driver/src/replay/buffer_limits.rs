//! The limits of what a client over gRPC buffers.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use gax_retry::Compatibility;

/// How much of each call a client or layer buffers, and what else only gRPC has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct BufferLimits {
    /// The longest request that is buffered for another attempt.
    pub max_replay_bytes: usize,
    /// The most that all streams of requests together may have buffered for other attempts.
    pub max_total_replay_bytes: usize,
    /// Whether streams of requests are buffered to be replayed; `None`: that of the compatibility.
    pub replays_streams: Option<bool>,
    /// The most bytes of a response that are buffered until the status is known.
    pub max_response_buffer: usize,
    /// Whether a server's "Timeout expired", once the attempt's time is up, is treated as our own timeout.
    pub map_timeout_cancellations: bool,
    /// Whether `grpc-previous-rpc-attempts` is sent; `None`: that of the compatibility.
    pub previous_attempts_header: Option<bool>,
}

impl Default for BufferLimits {
    fn default() -> Self {
        // The longest message that a gRPC server accepts by default, and some room for its frame.
        const MESSAGE: usize = 4 * 1024 * 1024 + 64 * 1024;
        Self {
            max_replay_bytes: MESSAGE,
            max_total_replay_bytes: 16 * 1024 * 1024,
            replays_streams: None,
            max_response_buffer: MESSAGE,
            map_timeout_cancellations: true,
            previous_attempts_header: None,
        }
    }
}

impl BufferLimits {
    /// Returns whether attempts carry the number of those before them.
    #[must_use]
    pub fn counts_attempts(&self, compatibility: Compatibility) -> bool {
        self.previous_attempts_header.unwrap_or(compatibility != Compatibility::GaxJava)
    }
}
