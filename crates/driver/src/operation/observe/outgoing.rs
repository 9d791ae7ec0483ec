//! A request on its way out, as observers see it.

use crate::operation::clock::Clock;
use crate::operation::observe::observers::Recipients;
use crate::operation::observe::transfer::MessageCounter;
use gax_retry::StartedAttempt;
use http::HeaderMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The headers that observers add to a request that is about to be sent, and who watches its body.
#[derive(Debug)]
pub struct Outgoing {
    pub(super) headers: HeaderMap,
    /// Follows its body, if transfers are watched.
    pub(super) outbound: Option<Arc<Outbound>>,
}

impl Outgoing {
    /// Puts the headers instead of what a request has of these names.
    #[cold]
    pub fn add_headers(&mut self, headers: &mut HeaderMap) {
        for (name, value) in std::mem::take(&mut self.headers) {
            // Of each name there is one value.
            if let Some(name) = name {
                headers.insert(name, value);
            }
        }
    }

    /// Follows the body.
    #[must_use]
    pub fn outbound(self) -> Option<Arc<Outbound>> {
        self.outbound
    }
}

/// A gRPC request whose transfer is observed. Its body writes here while the connection reads it, in the connection's
/// task.
pub struct Outbound {
    recipients: Arc<Recipients>,
    attempt: StartedAttempt,
    clock: Clock,
    read_after: OnceLock<Duration>,
    bytes: AtomicU64,
}

impl Outbound {
    pub(super) fn new(recipients: &Arc<Recipients>, attempt: StartedAttempt, clock: Clock) -> Self {
        Self {
            recipients: Arc::clone(recipients),
            attempt,
            clock,
            read_after: OnceLock::new(),
            bytes: AtomicU64::new(0),
        }
    }

    /// The connection reads the body.
    pub fn is_read(&self) {
        self.read_after.get_or_init(|| {
            let waited = self.clock.elapsed().saturating_sub(self.attempt.start());
            self.recipients.each(|observer, info| observer.request_read(info, self.attempt, waited));
            waited
        });
    }

    /// It has read these bytes.
    pub fn data(&self, counter: &mut MessageCounter, data: &[u8]) {
        counter.count(data, |message| {
            self.recipients.each(|observer, info| observer.message_sent(info, self.attempt, message));
        });
        self.bytes.store(counter.bytes(), Ordering::Relaxed);
    }

    gax_text::getters! { self:
        /// How long after the attempt's start its first bytes were read.
        pub(super) read_after: Option<Duration> = self.read_after.get().copied();

        pub(super) bytes: u64 = self.bytes.load(Ordering::Relaxed);
    }
}

gax_text::short_debug! { self: Outbound { attempt: self.attempt.number() } }
