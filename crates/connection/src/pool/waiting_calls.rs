//! The calls that wait for a stream, in the order in which they came.

use crate::endpoint::{Backlog, InFlight};
use gax_driver::__private::{ConnectionLink, RetryContext};
use gax_driver::report::DelayType;
use gax_wire::__private::NotConnected;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The most bytes of requests that wait, and what one counts for next to its body.
const MAX_BYTES: u64 = 64 << 20;
const REQUEST_BYTES: u64 = 1 << 10;

/// The terms on which a call waits.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallTerms {
    /// `true` if it waits whatever has failed.
    pub(crate) waits_for_ready: bool,
    /// `None`: its attempt does not look for the endpoint.
    pub(crate) link: Option<ConnectionLink>,
    /// `true` if it was held already, and lost the connection that it got: it counts from now on.
    pub(crate) is_counted: bool,
    /// Of an attempt that is not the operation's first.
    pub(crate) retry: Option<RetryContext>,
    /// `true` if it needs a stream. Otherwise it asks for a connection alone.
    pub(crate) needs_stream: bool,
}

impl CallTerms {
    /// Returns whether it waits for something that is going to happen at that moment, and takes none of its time.
    pub(super) fn outwaits(&self, moment: Instant) -> bool {
        !self.is_counted && self.link.as_ref().is_some_and(|link| link.outwaits(moment))
    }

    /// Returns whether it has to have a connection of its own.
    pub(super) fn is_suspect(&self) -> bool {
        self.link.as_ref().is_some_and(ConnectionLink::is_suspect)
    }
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
    reply: Option<oneshot::Sender<Placement>>,
}

/// The queues of calls.
#[derive(Default)]
pub(super) struct WaitingCalls {
    calls: VecDeque<WaitingCall>,
    /// Those that need a connection of their own.
    suspects: VecDeque<WaitingCall>,
    bytes: u64,
    backlog: Arc<Backlog>,
}

impl WaitingCall {
    /// Assigns a stream to it; if the caller has stopped waiting, the stream is free again.
    pub(super) fn place(&mut self, placement: Placement) {
        if let Some(reply) = self.reply.take() {
            drop(reply.send(placement));
        }
    }

    /// It waits for that now.
    pub(super) fn waits(&mut self, kind: DelayType) {
        if kind != std::mem::replace(&mut self.waits_for, kind)
            && let Some(link) = &self.terms.link
        {
            link.waits(kind);
        }
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.reply.as_ref().is_some_and(|reply| !reply.is_closed())
    }
}

impl WaitingCalls {
    pub(super) fn backlog(&self) -> &Arc<Backlog> {
        &self.backlog
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.calls.len() + self.suspects.len()
    }

    pub(super) fn has(&self, suspects: bool) -> bool {
        !if suspects { &self.suspects } else { &self.calls }.is_empty()
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
        let is_suspect = terms.is_suspect();
        let is_full = |queue: &VecDeque<_>| queue.len() == queue.capacity();
        // Callers that have stopped waiting hold no memory.
        if is_full(if is_suspect { &self.suspects } else { &self.calls }) || is_over(self) {
            self.retain(|_| true);
        }
        // One that is larger than that waits alone.
        if is_over(self) && !self.is_empty() {
            return None;
        }
        let (reply, place) = oneshot::channel();
        let call = WaitingCall { terms, failures, waits_for, bytes, reply: Some(reply) };
        if is_suspect { &mut self.suspects } else { &mut self.calls }.push_back(call);
        self.bytes = self.bytes.saturating_add(bytes);
        self.backlog.set(self.len());
        Some(place)
    }

    /// These alone continue waiting, of those whose callers do.
    pub(super) fn retain(&mut self, mut waits: impl FnMut(&mut WaitingCall) -> bool) {
        let mut bytes = 0_u64;
        for queue in [&mut self.suspects, &mut self.calls] {
            queue.retain_mut(|call| {
                let is_left = call.is_awaited() && waits(call);
                bytes = bytes.saturating_add(if is_left { call.bytes } else { 0 });
                is_left
            });
        }
        self.bytes = bytes;
        self.backlog.set(self.len());
    }

    /// Has those use what there is whose turn it is, until `place` has nothing for one. It counts in the backlog until then: a stream
    /// that is freed meanwhile rings the bell.
    pub(super) fn each(&mut self, suspects: bool, mut place: impl FnMut(&mut WaitingCall) -> bool) {
        let queue = if suspects { &mut self.suspects } else { &mut self.calls };
        while let Some(call) = queue.front_mut() {
            if call.is_awaited() && !place(call) {
                break;
            }
            self.bytes = self.bytes.saturating_sub(call.bytes);
            queue.pop_front();
        }
        self.backlog.set(self.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(waiting: &mut WaitingCalls, bytes: u64) -> Option<Place> {
        let terms = CallTerms { needs_stream: true, ..CallTerms::default() };
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
