//! What a server does with a request.

use gax_retry::{JitterSource as _, SeededJitter};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a server does with a request, whatever the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It replies as it should.
    None,
    /// It takes so long to.
    Slow(Duration),
    /// It is overloaded.
    Refused,
    /// It is, and says when to come again: soon, or never.
    RefusedUntil(Option<Duration>),
    /// It has a fault that no retry cures.
    Broken,
    /// It is no server of that protocol, but a proxy.
    Foreign,
    /// It says nothing.
    Silent,
}

/// Draws what a server does.
#[derive(Debug, Clone)]
pub(super) struct Faults {
    source: Arc<Mutex<SeededJitter>>,
}

impl Faults {
    pub(super) fn new(seed: u64) -> Self {
        Self { source: Arc::new(Mutex::new(SeededJitter::new(seed))) }
    }

    /// A number below that one.
    pub(super) fn below(&self, end: u64) -> u64 {
        self.source.lock().unwrap().next_u64() % end
    }

    pub(super) fn next(&self) -> Fault {
        match self.below(1000) {
            0..700 => Fault::None,
            700..750 => Fault::Slow(Duration::from_millis(self.below(50))),
            750..880 => Fault::Refused,
            880..920 => Fault::RefusedUntil(Some(Duration::from_millis(self.below(10)))),
            920..940 => Fault::RefusedUntil(None),
            940..970 => Fault::Broken,
            970..990 => Fault::Foreign,
            _ => Fault::Silent,
        }
    }
}
