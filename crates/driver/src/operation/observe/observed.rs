//! One operation that is observed.
#![allow(missing_debug_implementations, reason = "for the crates of this repository alone")]

use crate::operation::clock::Clock;
use crate::operation::observe::info::{OperationInfo, Transport};
use crate::operation::observe::observer::{self, OperationObserver, OutgoingHeaders};
use crate::operation::observe::observers::{Entered, Observers, Recipients};
use crate::operation::observe::outgoing::{Outbound, Outgoing};
use crate::operation::observe::summary::OperationSummary;
use crate::operation::observe::transfer::{AttemptTransfer, MessageCounter};
use crate::operation::report::{AttemptDelay, Name};
use gax_retry::operation::{AttemptEnd, Event, Stop};
use gax_retry::{Attempt, AttemptKind, Code, Policy, RetryBudget, StartedAttempt, StopReason};
use http::HeaderMap;
use std::sync::Arc;
use std::time::Duration;

/// An operation on its way, and its observers. Dropped before it was closed, it was cancelled.
pub struct Observed {
    recipients: Arc<Recipients>,
    watches_transfers: bool,
    clock: Clock,
    budget: Option<RetryBudget>,
    in_flight: Vec<InFlight>,
    /// The attempt with the reply; observers are notified when it is known that the caller can use it.
    replied: Option<Attempt>,
    last: Option<Code>,
    /// The code that the operation ends with, unless an attempt in flight has a reply.
    held: Option<Code>,
    /// Since when no attempt has been in flight.
    idle_since: Option<Duration>,
    tally: OperationSummary,
    is_committed: bool,
    is_closed: bool,
}

impl Observed {
    /// An operation that begins now.
    pub fn begin(
        observers: &Observers,
        name: Name,
        is_described: bool,
        transport: &'static Transport,
        policy: &Policy,
        clock: Clock,
    ) -> Self {
        let is_registered = is_described || observers.knows(name.as_str());
        let watched = observers.settings_are_watched();
        let info = OperationInfo::new(name, transport, is_registered, policy.version(), watched);
        let recipients = Recipients::of(observers, info);
        let watches_transfers = transport.has_wire() && recipients.watches_transfers();
        let observed = Self {
            recipients: Arc::new(recipients),
            watches_transfers,
            clock,
            budget: policy.budget().cloned(),
            in_flight: Vec::with_capacity(1),
            replied: None,
            last: None,
            held: None,
            idle_since: None,
            tally: OperationSummary::begun(),
            is_committed: false,
            is_closed: false,
        };
        observed.each(OperationObserver::operation_started);
        observed
    }

    fn each(&self, notify: impl FnMut(&(dyn OperationObserver + 'static), &OperationInfo)) {
        self.recipients.each(notify);
    }

    fn in_flight(&mut self, number: u32) -> Option<&mut InFlight> {
        self.in_flight.iter_mut().find(|attempt| attempt.started.number() == number)
    }

    fn started(&self, number: u32) -> Option<StartedAttempt> {
        let found = self.in_flight.iter().find(|attempt| attempt.started.number() == number);
        found.map(|attempt| attempt.started)
    }

    /// The thread works on that attempt until the result is dropped.
    #[must_use]
    pub fn enter(&self, number: u32) -> Option<Entered> {
        self.started(number).map(|attempt| Entered::new(&self.recipients, attempt))
    }

    /// The attempt with the reply, as it was started.
    fn started_with_reply(&self) -> Option<StartedAttempt> {
        self.started(self.replied.as_ref()?.number())
    }

    /// Passes an event on. That of an attempt with the reply waits until the operation is closed.
    pub fn notify(&mut self, event: Event) {
        match event {
            Event::Started(attempt) => {
                self.tally.attempts = self.tally.attempts.saturating_add(1);
                if attempt.kind() == AttemptKind::Hedge {
                    self.tally.hedges = self.tally.hedges.saturating_add(1);
                }
                if let Some(since) = self.idle_since.take() {
                    let idle = attempt.start().saturating_sub(since);
                    self.tally.retry_delay = self.tally.retry_delay.saturating_add(idle);
                }
                self.in_flight.push(InFlight::new(attempt));
                self.each(|observer, info| observer.attempt_started(info, attempt));
            }
            Event::TransparentRetry(attempt) => {
                self.tally.transparent_retries = self.tally.transparent_retries.saturating_add(1);
                if let Some(known) = self.in_flight(attempt.number()) {
                    known.started = attempt;
                }
                self.each(|observer, info| observer.transparent_retry(info, attempt));
            }
            Event::PushbackReceived(attempt, asked) => {
                self.each(|observer, info| observer.pushback_received(info, &attempt, asked));
            }
            Event::RetryThrottled(attempt) => {
                self.each(|observer, info| observer.retry_throttled(info, &attempt));
            }
            Event::Ended(attempt, AttemptEnd::Succeeded) => self.replied = Some(attempt),
            Event::Ended(attempt, end) => self.ended(&attempt, end),
        }
    }

    fn ended(&mut self, attempt: &Attempt, end: AttemptEnd) {
        let place = self.in_flight.iter().position(|other| other.started.number() == attempt.number());
        let in_flight = place.map(|place| self.in_flight.remove(place));
        if self.in_flight.is_empty() {
            self.idle_since = Some(attempt.end());
        }
        // The operation does not end with the code of an attempt that was cancelled.
        if end != AttemptEnd::Cancelled {
            self.last = Some(attempt.code());
        }
        if let Some(in_flight) = in_flight.filter(|_| self.watches_transfers) {
            let transfer = in_flight.transfer(attempt, self.recipients.info().transport());
            self.each(|observer, info| observer.attempt_transferred(info, attempt, transfer));
        }
        self.each(|observer, info| match end {
            AttemptEnd::Succeeded => observer.attempt_succeeded(info, attempt),
            AttemptEnd::Failed(delay) => observer.attempt_failed(info, attempt, delay),
            AttemptEnd::RetriesExhausted(reason) => {
                observer.attempt_failed_retries_exhausted(info, attempt, reason);
            }
            AttemptEnd::PermanentFailure(reason) => observer.attempt_permanent_failure(info, attempt, reason),
            AttemptEnd::Cancelled => observer.attempt_cancelled(info, attempt),
        });
    }

    /// An attempt has failed with that code, which the operation ends with unless one in flight has a reply.
    pub fn held(&mut self, code: Code) {
        self.held = Some(code);
    }

    /// The attempt with that number was dropped, at this time after the operation's start.
    pub fn attempt_cancelled(&mut self, number: u32, end: Duration) {
        if let Some(attempt) = self.started(number) {
            self.notify(Event::cancelled(attempt, end));
        }
    }

    /// The request of an attempt is sent, with the headers that observers add, if they want anything of it.
    pub fn sending(&mut self, number: u32) -> Option<Box<Outgoing>> {
        let attempt = self.started(number)?;
        let waited = self.clock.elapsed().saturating_sub(attempt.start());
        let mut headers = HeaderMap::new();
        self.each(|observer, info| {
            observer.attempt_headers(info, attempt, &mut OutgoingHeaders::new(&mut headers));
        });
        self.each(|observer, info| observer.attempt_sent(info, attempt, waited));
        let is_counted = self.watches_transfers && self.recipients.info().transport().counts_messages();
        let outbound = is_counted.then(|| Arc::new(Outbound::new(&self.recipients, attempt, self.clock)));
        if let Some(known) = self.in_flight(number) {
            known.sent(waited, outbound.clone());
        }
        (!headers.is_empty() || outbound.is_some()).then(|| Box::new(Outgoing { headers, outbound }))
    }

    /// These bytes of an attempt's response have arrived.
    pub fn received(&mut self, number: u32, data: &[u8]) {
        if !self.watches_transfers {
            return;
        }
        let recipients = Arc::clone(&self.recipients);
        if let Some(in_flight) = self.in_flight(number) {
            let attempt = in_flight.started;
            in_flight.received().count(data, |message| {
                recipients.each(|observer, info| observer.message_received(info, attempt, message));
            });
        }
    }

    /// Something has happened to that attempt.
    pub fn event(&self, number: u32, event: &dyn observer::Event) {
        if let Some(attempt) = self.started(number) {
            self.each(|observer, info| observer.attempt_event(info, attempt, event));
        }
    }

    /// These bytes have arrived of the response that the caller has already.
    pub fn stream_received(&mut self, data: &[u8]) {
        if let Some(attempt) = self.started_with_reply() {
            self.received(attempt.number(), data);
        }
    }

    /// The response of an attempt is the operation's. Observers are notified of that once.
    pub fn committed(&mut self, number: u32) {
        if let Some(attempt) = self.started(number).filter(|_| !self.is_committed) {
            self.is_committed = true;
            self.each(|observer, info| observer.committed(info, attempt));
        }
    }

    /// That attempt waited inside of its connection.
    pub fn waited(&mut self, number: u32, delay: AttemptDelay) {
        if let Some(attempt) = self.in_flight(number) {
            attempt.delay = Some(delay);
            let attempt = attempt.started;
            self.each(|observer, info| observer.attempt_event(info, attempt, &delay));
        }
    }

    /// Returns whether observers watch the bytes that arrive.
    #[must_use]
    pub fn watches_transfers(&self) -> bool {
        self.watches_transfers
    }

    /// That attempt, which is in flight, has delivered a message of a stream.
    pub fn delivered(&self, number: u32) {
        if let Some(attempt) = self.started(number) {
            self.each(|observer, info| observer.response_received(info, attempt));
        }
    }

    /// The attempt with the reply has brought a message of a stream.
    pub fn response_received(&self) {
        if let Some(attempt) = self.started_with_reply() {
            self.each(|observer, info| observer.response_received(info, attempt));
        }
    }

    /// The reply is the caller's.
    pub fn succeeded(mut self: Box<Self>) {
        if let Some(attempt) = self.replied.take() {
            self.ended(&attempt, AttemptEnd::Succeeded);
        }
        let summary = self.close(Code::Ok, None);
        self.each(|observer, info| observer.operation_succeeded(info, &summary));
    }

    /// The reply was none after all, or says that the operation has failed.
    pub fn unusable(mut self: Box<Self>, code: Code) {
        if let Some(attempt) = self.replied.take() {
            let end = AttemptEnd::PermanentFailure(StopReason::NonRetryable);
            self.ended(&attempt.with_code(code), end);
        }
        let summary = self.close(code, Some(StopReason::NonRetryable));
        self.each(|observer, info| observer.operation_failed(info, &summary));
    }

    /// The stream that the reply began has ended with that code; if it failed, `reason` says why there is no other attempt.
    pub fn stream_ended(mut self: Box<Self>, code: Code, reason: StopReason) {
        if let Some(started) = self.started_with_reply() {
            let now = self.clock.elapsed();
            let attempt = Attempt::new(started, now, code);
            if code != Code::Ok {
                self.ended(&attempt, AttemptEnd::PermanentFailure(reason));
                let summary = self.close(code, Some(reason));
                return self.each(|observer, info| observer.operation_failed(info, &summary));
            }
            self.replied = Some(attempt);
        }
        self.succeeded();
    }

    /// The operation has no reply.
    pub fn failed(mut self: Box<Self>, stop: Stop) {
        let code = match self.held.or(self.last) {
            _ if stop.is_at_deadline() => Code::DeadlineExceeded,
            _ if stop.reason() == StopReason::Cancelled => Code::Cancelled,
            Some(code) => code,
            // There was no time for an attempt, or no request.
            None if stop.reason() == StopReason::InvalidOptions => Code::InvalidArgument,
            None if stop.reason() == StopReason::NonRetryable => Code::Unknown,
            None => Code::DeadlineExceeded,
        };
        self.tally.not_attempted = stop.not_attempted();
        let summary = self.close(code, Some(stop.reason()));
        self.each(|observer, info| match stop.reason() {
            StopReason::Cancelled => observer.operation_cancelled(info, &summary),
            _ => observer.operation_failed(info, &summary),
        });
    }

    fn close(&mut self, code: Code, stop_reason: Option<StopReason>) -> OperationSummary {
        self.is_closed = true;
        let retry_budget = self.budget.as_ref().map(|budget| budget.available(|| self.clock.uptime()));
        OperationSummary { code, stop_reason, elapsed: self.clock.elapsed(), retry_budget, ..self.tally }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        if self.is_closed {
            return;
        }
        self.replied = None;
        let end = self.clock.elapsed();
        while let Some(attempt) = self.in_flight.first() {
            self.attempt_cancelled(attempt.started.number(), end);
        }
        let summary = self.close(Code::Cancelled, Some(StopReason::Cancelled));
        self.each(|observer, info| observer.operation_cancelled(info, &summary));
    }
}

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
