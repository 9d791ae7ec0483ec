//! The limits of calls, and the memory that they share for streams of requests.

use crate::note;
use gax_driver::{Compatibility, Note};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The limits of calls, and the switches of their attempts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) max_replay_bytes: usize,
    pub(crate) max_total_replay_bytes: usize,
    /// `None`: by the compatibility.
    pub(crate) replays_streams: Option<bool>,
    pub(crate) max_response_buffer: usize,
    pub(crate) server_timeouts_are_ours: bool,
    /// `None`: by the compatibility.
    pub(crate) previous_attempts_header: Option<bool>,
}

impl Default for Limits {
    fn default() -> Self {
        // The longest message that a gRPC server accepts by default, and some room for its frame.
        const MESSAGE: usize = 4 * 1024 * 1024 + 64 * 1024;
        Self {
            max_replay_bytes: MESSAGE,
            max_total_replay_bytes: 16 * 1024 * 1024,
            replays_streams: None,
            max_response_buffer: MESSAGE,
            server_timeouts_are_ours: true,
            previous_attempts_header: None,
        }
    }
}

impl Limits {
    /// Whether attempts carry the number of those before them.
    pub(crate) fn counts_attempts(&self, compatibility: Compatibility) -> bool {
        self.previous_attempts_header.unwrap_or(compatibility != Compatibility::GaxJava)
    }
}

/// The memory that calls share for streams of requests which may be replayed (gRFC A6: the buffer of a channel).
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplayMemory(Arc<AtomicUsize>);

impl ReplayMemory {
    /// The memory for streams of calls by these rules; `None`: they are not buffered.
    pub(crate) fn of(&self, limits: &Limits, compatibility: Compatibility) -> Option<&Self> {
        let replays = limits.replays_streams.unwrap_or(compatibility == Compatibility::Grpc);
        (replays && limits.max_replay_bytes > 0).then_some(self)
    }
}

/// The part of the memory that one call uses. Dropping it returns the part.
#[derive(Debug)]
pub(crate) struct Reserved {
    memory: ReplayMemory,
    limits: Limits,
    bytes: usize,
}

impl Reserved {
    pub(crate) fn new(memory: ReplayMemory, limits: &Limits) -> Self {
        Self { memory, limits: *limits, bytes: 0 }
    }

    /// Takes the bytes that a message of that length needs. A short one counts as 32 bytes.
    ///
    /// # Errors
    ///
    /// The note for the limit that is exceeded. Nothing is taken then.
    pub(crate) fn take(&mut self, message: usize) -> Result<(), Note> {
        const PREFIX: usize = 5;
        let bytes = message.saturating_add(PREFIX).max(32);
        if bytes > self.limits.max_replay_bytes.saturating_sub(self.bytes) {
            return Err(note::STREAM_TOO_LARGE_TO_REPLAY);
        }
        let total = self.limits.max_total_replay_bytes;
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= total);
        if self.memory.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Err(note::REPLAY_MEMORY_USED_UP);
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
