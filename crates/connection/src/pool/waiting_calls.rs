//! The calls that wait for a stream, in the order in which they came.

use crate::endpoint::{Backlog, InFlight};
use gax_driver::__house::RetryContext;
use gax_driver::report::DelayType;
use gax_wire::__house::NotConnected;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The most bytes of requests that wait, and what one counts for next to its body.
const MAX_BYTES: u64 = 64 << 20;
const REQUEST_BYTES: u64 = 1 << 10;

/// The terms on which a call waits.
#[derive(Debug, Clone)]
pub(crate) struct CallTerms {
    /// Whether it waits whatever has failed.
    pub(crate) waits_for_ready: bool,
    /// Of an attempt that is not the operation's first.
    pub(crate) retry: Option<RetryContext>,
    /// Whether it needs a stream. Otherwise it asks for a connection alone.
    pub(crate) needs_stream: bool,
}

/// Where a call goes.
pub(crate) enum Placement {
    To(InFlight),
    /// There is a connection, and the call may ask again after its spread.
    Later,
    /// There is a connection, for one who asks for that alone.
    Ready,
    /// There is no connection, for that reason.
    None(NotConnected),
}

/// The place of a call that waits. Whoever drops it leaves the queue; a stream that was assigned to it goes to the next one.
pub(crate) type Place = oneshot::Receiver<Placement>;

/// A call that waits.
pub(super) struct WaitingCall {
    pub(super) terms: CallTerms,
    /// How many attempts to connect had failed before.
    pub(super) failures: usize,
    pub(super) waits_for: DelayType,
    /// How much memory its request takes, about.
    bytes: u64,
    reply: oneshot::Sender<Placement>,
}

/// The queue of calls.
#[derive(Default)]
pub(super) struct WaitingCalls {
    calls: VecDeque<WaitingCall>,
    bytes: u64,
    backlog: Arc<Backlog>,
}

impl WaitingCall {
    /// Assigns a stream to it; if the caller has stopped waiting, the stream is free again.
    pub(super) fn place(self, placement: Placement) {
        drop(self.reply.send(placement));
    }
}

impl WaitingCalls {
    pub(super) fn backlog(&self) -> &Arc<Backlog> {
        &self.backlog
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// One more call waits, with a body of so many bytes. `None`: those that wait take too much memory.
    pub(super) fn join(
        &mut self,
        terms: CallTerms,
        bytes: u64,
        failures: usize,
        waits_for: DelayType,
    ) -> Option<Place> {
        let bytes = bytes.saturating_add(REQUEST_BYTES);
        let is_over = |waiting: &Self| waiting.bytes.saturating_add(bytes) > MAX_BYTES;
        // Callers that have stopped waiting hold no memory.
        if self.calls.len() == self.calls.capacity() || is_over(self) {
            self.calls.retain(|call| !call.reply.is_closed());
            self.bytes = self.calls.iter().map(|call| call.bytes).sum();
        }
        // One that is larger than that waits alone.
        if is_over(self) && !self.calls.is_empty() {
            return None;
        }
        let (reply, place) = oneshot::channel();
        self.bytes = self.bytes.saturating_add(bytes);
        self.calls.push_back(WaitingCall { terms, failures, waits_for, bytes, reply });
        self.backlog.set(self.calls.len());
        Some(place)
    }

    /// The call whose turn it is. It counts in the backlog until the others are [put back](Self::put_back): a stream that is freed meanwhile
    /// rings the bell.
    pub(super) fn first(&mut self) -> Option<WaitingCall> {
        loop {
            let call = self.calls.pop_front();
            self.bytes = self.bytes.saturating_sub(call.as_ref().map_or(0, |call| call.bytes));
            if call.as_ref().is_none_or(|call| !call.reply.is_closed()) {
                return call;
            }
        }
    }

    /// These continue waiting, before all others.
    pub(super) fn put_back(&mut self, calls: Vec<WaitingCall>) {
        for call in calls.into_iter().rev() {
            self.bytes = self.bytes.saturating_add(call.bytes);
            self.calls.push_front(call);
        }
        self.backlog.set(self.calls.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(waiting: &mut WaitingCalls, bytes: u64) -> Option<Place> {
        let terms = CallTerms { waits_for_ready: false, retry: None, needs_stream: true };
        waiting.join(terms, bytes, 0, DelayType::Stream)
    }

    #[test]
    fn as_many_calls_wait_as_have_memory_for_what_a_request_takes_next_to_its_body() {
        let mut waiting = WaitingCalls::default();
        let places: Vec<_> = (0..1 << 16).map(|_| join(&mut waiting, 0).unwrap()).collect();
        assert!(join(&mut waiting, 0).is_none());
        drop(places);
        assert!(join(&mut waiting, 0).is_some());
    }

    #[test]
    fn calls_that_come_and_go_hold_no_places() {
        let mut waiting = WaitingCalls::default();
        for _ in 0..10_000 {
            drop(join(&mut waiting, 0));
        }
        assert!(waiting.calls.len() < 100, "{}", waiting.calls.len());
    }

    #[test]
    fn calls_that_nobody_waits_for_any_more_take_no_memory() {
        let mut waiting = WaitingCalls::default();
        let half = MAX_BYTES / 2;
        let patient = join(&mut waiting, half - REQUEST_BYTES).unwrap();
        let other = join(&mut waiting, half - REQUEST_BYTES).unwrap();
        assert!(join(&mut waiting, 0).is_none());
        drop(other);
        assert!(join(&mut waiting, half - REQUEST_BYTES).is_some());
        drop(patient);
    }
}
