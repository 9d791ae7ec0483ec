//! The memory in which one client or layer buffers its streams of requests.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use crate::replay::replay_options::ReplayOptions;
use gax_retry::Compatibility;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory that calls share for requests which may be replayed (gRFC A6: the buffer of a channel). A counter without a
/// lock: a call that finds it full does not wait.
#[derive(Debug, Clone, Default)]
pub struct ReplayMemory {
    used: Arc<AtomicUsize>,
}

impl ReplayMemory {
    /// The memory for streams of requests of calls by these rules; `None`: they are not buffered.
    #[must_use]
    pub fn of(&self, options: &ReplayOptions, compatibility: Compatibility) -> Option<Self> {
        options.replays_streams(compatibility).then(|| self.clone())
    }

    fn take(&self, bytes: usize, limit: usize) -> bool {
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Which limit a request has outgrown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum Limit {
    /// That of each call.
    Call,
    /// That of all calls together.
    Memory,
}

/// The part of it that one call has. It goes back when it is dropped.
#[derive(Debug)]
pub struct Reserved {
    memory: ReplayMemory,
    /// The most that this call may have.
    limit: usize,
    /// The most that all calls may have.
    total_limit: usize,
    bytes: usize,
}

impl Reserved {
    #[must_use]
    pub fn none(memory: ReplayMemory, options: &ReplayOptions) -> Self {
        let ReplayOptions { max_replay_bytes: limit, max_total_replay_bytes: total_limit, .. } = *options;
        Self { memory, limit, total_limit, bytes: 0 }
    }

    /// Takes so many bytes more.
    ///
    /// # Errors
    ///
    /// The limit that does not allow it. Nothing is taken then.
    pub fn take(&mut self, bytes: usize) -> Result<(), Limit> {
        if bytes > self.limit.saturating_sub(self.bytes) {
            return Err(Limit::Call);
        }
        if !self.memory.take(bytes, self.total_limit) {
            return Err(Limit::Memory);
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Gives so many bytes back, or all that are left.
    pub fn give_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.memory.give_back(bytes);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(memory: &ReplayMemory) -> usize {
        memory.used.load(Ordering::Relaxed)
    }

    #[test]
    fn calls_share_it_and_give_it_back() {
        let memory = ReplayMemory::default();
        let reserved = |limit| {
            let options = ReplayOptions::new().max_total_replay_bytes(100).max_replay_bytes(limit);
            Reserved::none(memory.clone(), &options)
        };
        let (mut first, mut second) = (reserved(70), reserved(usize::MAX));
        assert_eq!(first.take(70), Ok(()));
        assert_eq!(first.take(1), Err(Limit::Call));
        assert_eq!(second.take(31), Err(Limit::Memory));
        assert_eq!(second.take(usize::MAX), Err(Limit::Memory));
        assert_eq!(second.take(30), Ok(()));
        assert_eq!(used(&memory), 100);
        first.give_back(20);
        assert_eq!((first.take(20), used(&memory)), (Ok(()), 100));
        second.give_back(usize::MAX);
        assert_eq!(used(&memory), 70);
        drop(first);
        drop(second);
        assert_eq!(used(&memory), 0);
    }

    #[test]
    fn only_grpc_s_rules_replay_streams_unless_a_program_says_so() {
        let (memory, options) = (ReplayMemory::default(), ReplayOptions::new());
        let says = |yes| options.replay_streams(yes);
        for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
            let is_grpc = compatibility == Compatibility::Grpc;
            assert_eq!(memory.of(&options, compatibility).is_some(), is_grpc);
            assert!(memory.of(&says(true), compatibility).is_some());
            assert!(memory.of(&says(false), compatibility).is_none());
        }
        assert!(memory.of(&options.max_replay_bytes(0), Compatibility::Grpc).is_none());
    }
}
