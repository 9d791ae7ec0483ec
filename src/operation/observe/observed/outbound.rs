//! A request on its way out.

use super::audience::Audience;
use crate::operation::clock::Clock;
use crate::operation::observe::MessageCounter;
use gax_retry::StartedAttempt;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What is known of a gRPC request that somebody watches: its body writes here as the connection reads it, in whichever
/// task that is.
pub(crate) struct Outbound {
    audience: Arc<Audience>,
    attempt: StartedAttempt,
    clock: Clock,
    read_after: OnceLock<Duration>,
    bytes: AtomicU64,
}

impl Outbound {
    pub(super) fn new(audience: &Arc<Audience>, attempt: StartedAttempt, clock: Clock) -> Self {
        Self {
            audience: Arc::clone(audience),
            attempt,
            clock,
            read_after: OnceLock::new(),
            bytes: AtomicU64::new(0),
        }
    }

    /// The connection reads the body.
    pub(crate) fn is_read(&self) {
        self.read_after.get_or_init(|| {
            let waited = self.clock.elapsed().saturating_sub(self.attempt.start());
            self.audience.each(|observer, info| observer.request_read(info, self.attempt, waited));
            waited
        });
    }

    /// It has read these bytes.
    pub(crate) fn data(&self, counter: &mut MessageCounter, data: &[u8]) {
        counter.count(data, |message| {
            self.audience.each(|observer, info| observer.message_sent(info, self.attempt, message));
        });
        self.bytes.store(counter.bytes(), Ordering::Relaxed);
    }

    /// How long after the attempt's start its first bytes were read.
    pub(super) fn read_after(&self) -> Option<Duration> {
        self.read_after.get().copied()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbound").field("attempt", &self.attempt.number()).finish_non_exhaustive()
    }
}
