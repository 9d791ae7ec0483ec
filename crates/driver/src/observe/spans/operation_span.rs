//! The spans and events of one operation.

use crate::locked::Locked;
use crate::observe::{
    Event, OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders, Peer, WireMessage,
};
use crate::operation::AttemptDelay;
use gax_retry::{Attempt, AttemptKind, Code, CodeSet, ServerDelay, StartedAttempt, StopReason};
use gax_text::{Escaped, Human};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tracing::field::{Empty, display};
use tracing::{Span, debug, debug_span, trace, warn};

/// The spans of one operation.
pub(super) struct OperationSpan {
    span: Span,
    attempts: Locked<Vec<AttemptSpan>>,
    options: SpanOptions,
    /// `true` if anybody takes in events of messages.
    messages: bool,
}

/// An attempt in flight.
struct AttemptSpan {
    number: u32,
    span: Span,
    /// Until a connection reads the request.
    delay: Option<Span>,
}

impl OperationSpan {
    pub(super) fn new(span: Span, options: SpanOptions, messages: bool) -> Self {
        Self { span, attempts: Locked::default(), options, messages }
    }

    /// The span of an attempt in flight.
    fn in_flight(&self, number: u32) -> Option<Span> {
        self.attempts.change(|attempts| {
            attempts.iter().find(|attempt| attempt.number == number).map(|attempt| attempt.span.clone())
        })
    }

    /// The attempt's span; the operation's, if it has none.
    fn attempt(&self, number: u32) -> Span {
        self.in_flight(number).unwrap_or_else(|| self.span.clone())
    }

    /// The request has waited long enough.
    fn end_delay(&self, number: u32, waited: Duration) {
        let delay = self
            .attempts
            .change(|attempts| attempts.iter_mut().find(|attempt| attempt.number == number)?.delay.take());
        if let Some(delay) = delay {
            trace!(parent: &delay, "waited for {}", Human(waited));
        }
    }

    /// The attempt has ended; `failure` says why, if it failed.
    fn end(&self, attempt: &Attempt, failure: Option<&dyn fmt::Display>) {
        let ended = self.attempts.change(|attempts| {
            let place = attempts.iter().position(|other| other.number == attempt.number())?;
            Some(attempts.remove(place))
        });
        if let Some(AttemptSpan { span, .. }) = ended {
            record_end(&span, attempt.code(), failure);
        }
    }

    fn close(&self, summary: &OperationSummary, failure: Option<&dyn fmt::Display>) {
        record_end(&self.span, summary.code(), failure);
        self.span.record("attempts", i64::from(summary.attempts()));
    }
}

/// Whoever was cancelled has a code, and has not failed.
fn record_end(span: &Span, code: Code, failure: Option<&dyn fmt::Display>) {
    span.record("rpc.response.status_code", code.name());
    if code != Code::Ok {
        span.record("error.type", code.name());
    }
    if let Some(failure) = failure {
        span.record("otel.status_code", "ERROR");
        span.record("otel.status_message", failure.to_string());
    }
}

/// `Attempt.package.Service.Method`, as grpc-go writes it. Over HTTP and for closures the name stays as it is.
pub(super) fn prefixed(prefix: &str, operation: &OperationInfo) -> String {
    let method = operation.full_method();
    let names_rpcs = operation.transport().names_rpcs();
    format!("{prefix}.{}", if names_rpcs { method.replace('/', ".") } else { method.to_owned() })
}

/// Of other kinds of numbers `tracing-opentelemetry` makes strings.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl OperationObserver for OperationSpan {
    fn operation_succeeded(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.close(summary, None);
    }

    fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {
        let sentence = Sentence(operation, summary);
        macro_rules! failed {
            ($level:ident) => {
                $level!(
                    parent: &self.span,
                    method = operation.full_method(),
                    code = summary.code().name(),
                    attempts = i64::from(summary.attempts()),
                    stop_reason = summary.stop_reason().map(StopReason::as_str),
                    "{sentence}"
                )
            };
        }
        let is_final = summary.stop_reason() == Some(StopReason::NonRetryable);
        if is_final && self.options.expected.contains(summary.code()) {
            failed!(debug);
        } else {
            failed!(warn);
        }
        // Afterwards: an event is printed with the fields of its span, so that the sentence would be there twice.
        self.close(summary, Some(&sentence));
    }

    fn operation_cancelled(&self, operation: &OperationInfo, summary: &OperationSummary) {
        self.close(summary, None);
        let (method, elapsed) = (operation.full_method(), Human(summary.elapsed()));
        let attempts = i64::from(summary.attempts());
        debug!(parent: &self.span, method, attempts, "cancelled after {elapsed}");
    }

    fn attempt_started(&self, operation: &OperationInfo, attempt: StartedAttempt) {
        let method = operation.full_method();
        let transport = operation.transport();
        let is_rpc = transport.is_rpc();
        let span = debug_span!(
            parent: &self.span,
            "attempt",
            otel.name = prefixed("Attempt", operation),
            otel.kind = "client",
            rpc.system.name = is_rpc.then_some(transport.name()),
            rpc.method = is_rpc.then_some(method),
            "previous-rpc-attempts" = i64::from(attempt.number()) - 1,
            "transparent-retry" = false,
            hedge = attempt.kind() == AttemptKind::Hedge,
            network.peer.address = Empty,
            network.peer.port = Empty,
            rpc.response.status_code = Empty,
            error.type = Empty,
            otel.status_code = Empty,
            otel.status_message = Empty,
        );
        let delay = (self.options.attempt_delays && transport.has_wire()).then(|| {
            let delay =
                debug_span!(parent: &span, "delay", otel.name = "Delay", grpc.delay_type = "connecting");
            debug!(parent: &delay, grpc.delay_reason = DELAY_REASON, "Delay triggered");
            delay
        });
        let number = attempt.number();
        self.attempts.change(|attempts| attempts.push(AttemptSpan { number, span, delay }));
    }

    fn attempt_entered(&self, _: &OperationInfo, attempt: StartedAttempt) {
        enter(&self.span);
        enter(&self.attempt(attempt.number()));
    }

    fn attempt_exited(&self, _: &OperationInfo, attempt: StartedAttempt) {
        exit(&self.attempt(attempt.number()));
        exit(&self.span);
    }

    fn attempt_headers(&self, _: &OperationInfo, attempt: StartedAttempt, headers: &mut OutgoingHeaders<'_>) {
        if let Some(inject) = &self.options.propagator {
            inject(&self.attempt(attempt.number()), headers);
        }
    }

    fn watches_transfers(&self, operation: &OperationInfo) -> bool {
        self.messages || (self.options.attempt_delays && operation.transport().counts_messages())
    }

    fn attempt_sent(&self, operation: &OperationInfo, attempt: StartedAttempt, waited: Duration) {
        // If messages are counted, a channel takes requests before it has a connection.
        if !operation.transport().counts_messages() {
            self.end_delay(attempt.number(), waited);
        }
    }

    fn attempt_event(&self, _: &OperationInfo, attempt: StartedAttempt, event: &dyn Event) {
        let Some(span) = self.in_flight(attempt.number()) else { return };
        if let Some(peer) = event.downcast_ref().map(Peer::as_str) {
            // OpenTelemetry has the port apart.
            if let Ok(address) = peer.parse::<std::net::SocketAddr>() {
                span.record("network.peer.address", address.ip().to_string());
                span.record("network.peer.port", i64::from(address.port()));
            } else {
                span.record("network.peer.address", peer);
            }
        } else if let Some(delay) = event.downcast_ref::<AttemptDelay>() {
            let kind = delay.delay_type().as_str();
            debug!(parent: &span, grpc.delay_type = kind, "waited {delay}");
        }
    }

    fn request_read(&self, _: &OperationInfo, attempt: StartedAttempt, waited: Duration) {
        self.end_delay(attempt.number(), waited);
    }

    fn message_sent(&self, _: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {
        if let Some(span) = self.in_flight(attempt.number()) {
            message_event(&span, message, "Outbound message", "Outbound message");
        }
    }

    fn message_received(&self, _: &OperationInfo, attempt: StartedAttempt, message: WireMessage) {
        if let Some(span) = self.in_flight(attempt.number()) {
            message_event(&span, message, "Inbound message", "Inbound compressed message");
        }
    }

    fn committed(&self, _: &OperationInfo, attempt: StartedAttempt) {
        trace!(parent: &self.attempt(attempt.number()), "committed");
    }

    fn transparent_retry(&self, _: &OperationInfo, attempt: StartedAttempt) {
        let span = self.attempt(attempt.number());
        span.record("transparent-retry", true);
        debug!(parent: &span, "sent again immediately: no server has processed the request");
    }

    fn pushback_received(&self, _: &OperationInfo, attempt: &Attempt, asked: ServerDelay) {
        debug!(parent: &self.attempt(attempt.number()), ?asked, "the server asks for a delay");
    }

    fn retry_throttled(&self, _: &OperationInfo, attempt: &Attempt) {
        debug!(parent: &self.attempt(attempt.number()), "not retried: the retry budget is exhausted");
    }

    fn attempt_succeeded(&self, _: &OperationInfo, attempt: &Attempt) {
        self.end(attempt, None);
    }

    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, delay: Option<Duration>) {
        let (number, code) = (i64::from(attempt.number()), attempt.code().name());
        let delay_text = delay.map(|delay| display(Human(delay)));
        // A poll of what is not done yet has a good reply.
        if attempt.code() == Code::Ok {
            debug!(parent: &self.span, attempt = number, code, delay = delay_text, "not done yet");
            return self.end(attempt, None);
        }
        let then = if delay.is_some() { "another attempt follows" } else { "others are in flight" };
        debug!(parent: &self.span, attempt = number, code, delay = delay_text, "failed; {then}");
        self.end(attempt, Some(&format_args!("{code}: {then}")));
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, attempt: &Attempt, reason: StopReason) {
        self.end(attempt, Some(&format_args!("{}: {}", attempt.code(), why(reason))));
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, attempt: &Attempt, reason: StopReason) {
        self.end(attempt, Some(&format_args!("{}: {}", attempt.code(), why(reason))));
    }

    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        self.end(attempt, None);
    }
}

/// Events on this thread are within that span from now on.
fn enter(span: &Span) {
    span.with_subscriber(|(id, subscriber)| subscriber.enter(id));
}

/// Events are not within it any longer.
fn exit(span: &Span) {
    span.with_subscriber(|(id, subscriber)| subscriber.exit(id));
}

/// The reasons that a request may wait for, as far as a client knows.
const DELAY_REASON: &str = "waiting for a connection, or for a free stream on one";

/// The event of a message, by gRFC A72.
fn message_event(span: &Span, message: WireMessage, plain: &'static str, compressed: &'static str) {
    let (number, size) = (integer(message.sequence()), integer(message.size()));
    if message.is_compressed() {
        trace!(parent: span, { "sequence-number" = number, "message-size-compressed" = size }, "{compressed}");
    } else {
        trace!(parent: span, { "sequence-number" = number, "message-size" = size }, "{plain}");
    }
}

/// One sentence for an operator who was woken by it.
pub(super) struct Sentence<'a>(pub(super) &'a OperationInfo, pub(super) &'a OperationSummary);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(operation, summary) = self;
        let (method, code) = (Escaped(operation.full_method()), summary.code());
        let count = summary.attempts();
        let noun = if count == 1 { "attempt" } else { "attempts" };
        write!(f, "{method} failed with {code} after {count} {noun} in {}", Human(summary.elapsed()))?;
        if let Some(reason) = summary.stop_reason() {
            write!(f, ": {}", why(reason))?;
        }
        if let Some(next) = summary.not_attempted() {
            write!(f, "; attempt {} would have followed after {}", next.attempt(), Human(next.delay()))?;
        }
        Ok(())
    }
}

/// A reason, for people.
pub(super) fn why(reason: StopReason) -> &'static str {
    match reason {
        StopReason::NonRetryable => "this error is not retried",
        StopReason::TotalTimeout => "the total timeout leaves no time for another attempt",
        StopReason::MaxAttempts => "no more attempts are allowed",
        StopReason::NoLimits => "neither a total timeout nor max_attempts is set, so nothing is retried",
        StopReason::NotReplayable => "the request can't be sent again",
        StopReason::Committed => "the response was committed: part of it had been handed to the caller",
        StopReason::Throttled => "the retry budget is exhausted",
        StopReason::Pushback => "the server asked for no retry",
        StopReason::ServerDelayExceedsTotalTimeout => {
            "the server asks for a longer delay than there is time for"
        }
        StopReason::NestedRetry => "the request that is being served is itself a retry",
        StopReason::ChannelClosed => "the channel is closed",
        StopReason::InvalidOptions => "the call's options are invalid",
        StopReason::Cancelled => "the caller cancelled it",
        other => other.as_str(),
    }
}

/// Writes the context of a span into the headers of a request.
type Propagator = dyn Fn(&Span, &mut OutgoingHeaders<'_>) + Send + Sync;

/// Options that apply while an operation runs.
#[derive(Clone)]
pub(super) struct SpanOptions {
    pub(super) propagator: Option<Arc<Propagator>>,
    pub(super) attempt_delays: bool,
    /// The codes without a warning.
    pub(super) expected: CodeSet,
}

/// Codes of a server that works, about a request that it can't or won't serve: by OpenTelemetry's conventions for RPCs they
/// are no errors of the server.
const EXPECTED: [Code; 8] = [
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::PermissionDenied,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::OutOfRange,
    Code::Unauthenticated,
];

impl Default for SpanOptions {
    fn default() -> Self {
        Self { propagator: None, attempt_delays: false, expected: EXPECTED.into() }
    }
}
