//! Spans and events for `tracing`.

use super::{OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders, Transport, WireMessage};
use gax_retry::__private::{Escaped, Human};
use gax_retry::{Attempt, AttemptKind, Code, ServerDelay, StartedAttempt, StopReason};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing::field::Empty;
use tracing::{Level, Span, debug, debug_span, enabled, info_span, trace, warn};

/// Writes the context of a span into the headers of a request.
type Propagator = dyn Fn(&Span, &mut OutgoingHeaders<'_>) + Send + Sync;

/// Makes a span of each operation and, below it, one of each attempt, and one warning of each operation that failed.
///
/// | what | level | fields |
/// | --- | --- | --- |
/// | span `operation`, a child of the span in which the call is made | INFO | `otel.name` (the full method), `otel.kind`, `rpc.system.name`, `rpc.method`, `server.address`, `settings.version`; at its end `rpc.response.status_code`, `error.type`, `attempts` |
/// | span `attempt`, its child | DEBUG | `otel.name`, `otel.kind`, `rpc.system.name`, `rpc.method`, `previous-rpc-attempts`, `transparent-retry`, `hedge`; at its end `rpc.response.status_code`, `error.type` |
/// | span `delay`, a child of that, where [asked for](Self::attempt_delays) | DEBUG | `otel.name` ("Delay"), `grpc.delay_type`; its event "Delay triggered" has `grpc.delay_reason` |
/// | an operation failed | WARN, in the operation's span | one sentence: the method, the code, how many attempts in what time, and which limit ended it |
/// | a retry, a pushback, a spent budget, a transparent retry, a cancelled operation | DEBUG | what is known of it |
/// | a message over gRPC: "Outbound message", "Inbound message" or "Inbound compressed message" | TRACE, in the attempt's span | `sequence-number`, `message-size` or, of a compressed one, `message-size-compressed` |
///
/// The names are those of gRFCs A72 and A121 and of OpenTelemetry's conventions for RPCs; `otel.name` and `otel.kind` are
/// what `tracing-opentelemetry` reads. Over HTTP and for closures `rpc.system.name` and `rpc.method` are left out.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use tonic_gax::observe::TracingObserver;
/// use tonic_gax::{RetrySettings, Retryer};
///
/// let tracing = TracingObserver::new()
///     .server_address("asset.example.com")
///     // What your propagator does; here the span's own number, for a server that logs it.
///     .propagator(|span, headers| {
///         if let Some(id) = span.id() {
///             headers.set("x-span", &id.into_u64().to_string());
///         }
///     });
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// let retryer = Retryer::new(&settings, [tonic_gax::Code::Unavailable]).observer(Arc::new(tracing));
/// # drop(retryer);
/// # Ok::<(), tonic_gax::SettingsError>(())
/// ```
#[derive(Clone, Default)]
pub struct TracingObserver {
    server_address: Option<Arc<str>>,
    propagator: Option<Arc<Propagator>>,
    attempt_delays: bool,
    sent_prefix: bool,
}

impl TracingObserver {
    /// An observer that carries no context to servers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The server's name, for the field `server.address`; left out unless set, since a layer does not know it.
    #[must_use]
    pub fn server_address(mut self, address: impl Into<Arc<str>>) -> Self {
        self.server_address = Some(address.into());
        self
    }

    /// Whether an operation over gRPC is called `Sent.package.Service/Method` in `otel.name`, as gRFC A72 has it, in place of
    /// the method's name alone, as OpenTelemetry has it. Default: the name alone.
    #[must_use]
    pub fn sent_prefix(mut self, is_set: bool) -> Self {
        self.sent_prefix = is_set;
        self
    }

    /// Whether each attempt has a span `delay` (`otel.name` "Delay", `grpc.delay_type` "connecting") below its own, from its
    /// start until a connection reads its request (gRFC A121); over HTTP until the client takes it. Default: it hasn't.
    #[must_use]
    pub fn attempt_delays(mut self, are_spans: bool) -> Self {
        self.attempt_delays = are_spans;
        self
    }

    /// Writes the context of each attempt's span into the headers of its request, so that the server's span hangs below
    /// it. Called once for each request that goes out. Default: nothing is written.
    #[must_use]
    pub fn propagator(
        mut self,
        inject: impl Fn(&Span, &mut OutgoingHeaders<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.propagator = Some(Arc::new(inject));
        self
    }
}

impl fmt::Debug for TracingObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracingObserver")
            .field("server_address", &self.server_address)
            .finish_non_exhaustive()
    }
}

impl OperationObserver for TracingObserver {
    fn for_operation(&self, operation: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        let method = operation.full_method();
        let is_grpc = operation.transport() == Transport::Grpc;
        let prefix = if is_grpc && self.sent_prefix { "Sent." } else { "" };
        let span = info_span!(
            "operation",
            otel.name = %format_args!("{prefix}{method}"),
            otel.kind = "client",
            rpc.system.name = is_grpc.then_some("grpc"),
            rpc.method = is_grpc.then_some(method),
            server.address = self.server_address.as_deref(),
            settings.version = operation.settings_version(),
            rpc.response.status_code = Empty,
            error.type = Empty,
            attempts = Empty,
        );
        let propagator = self.propagator.clone();
        let attempt_delays = self.attempt_delays;
        let messages = is_grpc && enabled!(Level::TRACE);
        Some(Arc::new(OperationSpan {
            span,
            attempts: Mutex::default(),
            propagator,
            attempt_delays,
            messages,
        }))
    }
}

/// The spans of one operation.
struct OperationSpan {
    span: Span,
    attempts: Mutex<Vec<AttemptSpan>>,
    propagator: Option<Arc<Propagator>>,
    attempt_delays: bool,
    /// Whether anybody takes in events of messages.
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
    fn change<R>(&self, change: impl FnOnce(&mut Vec<AttemptSpan>) -> R) -> R {
        change(&mut self.attempts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The span of an attempt in flight.
    fn in_flight(&self, number: u32) -> Option<Span> {
        self.change(|attempts| {
            attempts.iter().find(|attempt| attempt.number == number).map(|attempt| attempt.span.clone())
        })
    }

    /// The same; the operation's, if it has none.
    fn attempt(&self, number: u32) -> Span {
        self.in_flight(number).unwrap_or_else(|| self.span.clone())
    }

    /// The request has waited long enough.
    fn end_delay(&self, number: u32, waited: Duration) {
        let delay = self
            .change(|attempts| attempts.iter_mut().find(|attempt| attempt.number == number)?.delay.take());
        if let Some(delay) = delay {
            trace!(parent: &delay, "waited for {}", Human(waited));
        }
    }

    fn end(&self, attempt: &Attempt) {
        let ended = self.change(|attempts| {
            let place = attempts.iter().position(|other| other.number == attempt.number())?;
            Some(attempts.remove(place))
        });
        if let Some(AttemptSpan { span, .. }) = ended {
            record_code(&span, attempt.code());
        }
    }

    fn close(&self, summary: &OperationSummary) {
        record_code(&self.span, summary.code());
        self.span.record("attempts", summary.attempts());
    }
}

fn record_code(span: &Span, code: Code) {
    span.record("rpc.response.status_code", code.name());
    if code != Code::Ok {
        span.record("error.type", code.name());
    }
}

impl OperationObserver for OperationSpan {
    fn operation_succeeded(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.close(summary);
    }

    fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {
        self.close(summary);
        warn!(
            parent: &self.span,
            method = operation.full_method(),
            code = summary.code().name(),
            attempts = summary.attempts(),
            stop_reason = summary.stop_reason().map(StopReason::as_str),
            "{}",
            Sentence(operation, summary)
        );
    }

    fn operation_cancelled(&self, operation: &OperationInfo, summary: &OperationSummary) {
        self.close(summary);
        let (method, elapsed) = (operation.full_method(), Human(summary.elapsed()));
        debug!(parent: &self.span, method, attempts = summary.attempts(), "cancelled after {elapsed}");
    }

    fn attempt_started(&self, operation: &OperationInfo, attempt: StartedAttempt) {
        let method = operation.full_method();
        let is_grpc = operation.transport() == Transport::Grpc;
        let span = debug_span!(
            parent: &self.span,
            "attempt",
            otel.name = %format_args!("Attempt.{method}"),
            otel.kind = "client",
            rpc.system.name = is_grpc.then_some("grpc"),
            rpc.method = is_grpc.then_some(method),
            "previous-rpc-attempts" = attempt.number() - 1,
            "transparent-retry" = false,
            hedge = attempt.kind() == AttemptKind::Hedge,
            rpc.response.status_code = Empty,
            error.type = Empty,
        );
        let is_sent = operation.transport() != Transport::Closure;
        let delay = (self.attempt_delays && is_sent).then(|| {
            let delay =
                debug_span!(parent: &span, "delay", otel.name = "Delay", grpc.delay_type = "connecting");
            debug!(parent: &delay, grpc.delay_reason = DELAY_REASON, "Delay triggered");
            delay
        });
        let number = attempt.number();
        self.change(|attempts| attempts.push(AttemptSpan { number, span, delay }));
    }

    fn attempt_headers(&self, _: &OperationInfo, attempt: StartedAttempt, headers: &mut OutgoingHeaders<'_>) {
        if let Some(inject) = &self.propagator {
            inject(&self.attempt(attempt.number()), headers);
        }
    }

    fn watches_transfers(&self, operation: &OperationInfo) -> bool {
        self.messages || (self.attempt_delays && operation.transport() == Transport::Grpc)
    }

    fn attempt_sent(&self, operation: &OperationInfo, attempt: StartedAttempt, waited: Duration) {
        // Over gRPC a channel takes requests before it has a connection.
        if operation.transport() != Transport::Grpc {
            self.end_delay(attempt.number(), waited);
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
        debug!(parent: &span, "sent again at once: no server has seen the request");
    }

    fn pushback_received(&self, _: &OperationInfo, attempt: &Attempt, asked: ServerDelay) {
        debug!(parent: &self.attempt(attempt.number()), ?asked, "the server asks for a delay");
    }

    fn retry_throttled(&self, _: &OperationInfo, attempt: &Attempt) {
        debug!(parent: &self.attempt(attempt.number()), "not retried: the retry budget is spent");
    }

    fn attempt_succeeded(&self, _: &OperationInfo, attempt: &Attempt) {
        self.end(attempt);
    }

    fn attempt_failed(&self, _: &OperationInfo, attempt: &Attempt, delay: Option<Duration>) {
        let (number, code) = (attempt.number(), attempt.code().name());
        let then = if delay.is_some() { "another attempt follows" } else { "others are in flight" };
        debug!(parent: &self.span, attempt = number, code, ?delay, "failed; {then}");
        self.end(attempt);
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.end(attempt);
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, attempt: &Attempt, _: StopReason) {
        self.end(attempt);
    }

    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        self.end(attempt);
    }
}

/// What a request waits for, as far as a client can tell.
const DELAY_REASON: &str = "waiting for a connection, or for a free stream on one";

/// The event of a message, by gRFC A72.
fn message_event(span: &Span, message: WireMessage, plain: &'static str, compressed: &'static str) {
    let (number, size) = (message.sequence(), message.size());
    if message.is_compressed() {
        trace!(parent: span, { "sequence-number" = number, "message-size-compressed" = size }, "{compressed}");
    } else {
        trace!(parent: span, { "sequence-number" = number, "message-size" = size }, "{plain}");
    }
}

/// What somebody wants to read who was woken by it.
struct Sentence<'a>(&'a OperationInfo, &'a OperationSummary);

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

/// What a reason means, for people.
fn why(reason: StopReason) -> &'static str {
    match reason {
        StopReason::NonRetryable => "this error is not retried",
        StopReason::TotalTimeout => "the total timeout leaves no time for another attempt",
        StopReason::MaxAttempts => "no more attempts are allowed",
        StopReason::NoLimits => "neither a total timeout nor max_attempts is set, so nothing is retried",
        StopReason::NotReplayable => "the request can't be sent again",
        StopReason::Committed => "the response was committed: part of it had been handed to the caller",
        StopReason::Throttled => "the retry budget is spent",
        StopReason::Pushback => "the server said not to retry",
        StopReason::ServerDelayExceedsBudget => "the server asks for a longer delay than there is time for",
        StopReason::NestedRetry => "the request that it serves is a retry itself",
        StopReason::ChannelClosed => "the channel is closed",
        StopReason::InvalidOptions => "the call's options can't be followed",
        StopReason::Cancelled => "the caller cancelled it",
        other => other.as_str(),
    }
}
