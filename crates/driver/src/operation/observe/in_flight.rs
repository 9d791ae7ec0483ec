//! An attempt in flight, as observers see it.

use crate::operation::observe::info::Transport;
use crate::operation::observe::outgoing::Outbound;
use crate::operation::observe::transfer::{AttemptTransfer, MessageCounter};
use crate::operation::report::AttemptDelay;
use gax_retry::{Attempt, Code, StartedAttempt};
use std::sync::Arc;
use std::time::Duration;

/// An attempt in flight, and how much has gone over the wire with it.
pub(super) struct InFlight {
    pub(super) started: StartedAttempt,
    /// How long after its start the service below took its request.
    taken_after: Option<Duration>,
    outbound: Option<Arc<Outbound>>,
    received: MessageCounter,
    /// The time that it waited inside of its connection.
    pub(super) delay: Option<AttemptDelay>,
}

impl InFlight {
    pub(super) fn new(started: StartedAttempt) -> Self {
        Self { started, taken_after: None, outbound: None, received: MessageCounter::default(), delay: None }
    }

    /// The service takes its request: for the first time, or again.
    pub(super) fn sent(&mut self, waited: Duration, outbound: Option<Arc<Outbound>>) {
        self.taken_after = Some(waited);
        self.outbound = outbound;
        self.received = MessageCounter::default();
    }

    pub(super) fn received(&mut self) -> &mut MessageCounter {
        &mut self.received
    }

    /// How much has gone over the wire, now that it is over.
    pub(super) fn transfer(&self, attempt: &Attempt, transport: &Transport) -> AttemptTransfer {
        let is_counted = transport.counts_messages();
        let read_after = match &self.outbound {
            // A service that is no connection may reply without reading the request.
            Some(outbound) if attempt.code() == Code::Ok => outbound.read_after().or(self.taken_after),
            Some(outbound) => outbound.read_after(),
            None => self.taken_after,
        };
        let took = attempt.end().saturating_sub(attempt.start());
        AttemptTransfer {
            sent: is_counted.then(|| self.outbound.as_ref().map_or(0, |outbound| outbound.bytes())),
            received: is_counted.then(|| self.received.bytes()),
            delay_type: self.delay.map(AttemptDelay::delay_type),
            waited: read_after.unwrap_or(took).min(took),
        }
    }
}
