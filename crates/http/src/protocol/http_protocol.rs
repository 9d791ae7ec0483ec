//! A request over an HTTP service, between its attempts.

use crate::config::HttpConfig;
use crate::failure::Broken;
use crate::note;
use crate::report::HttpReport;
use crate::request::{Replay, ReplayableRequest};
use crate::response::HttpResponseBody;
use crate::shared_state::LayeredClient;
use gax_driver::__private::inbound_deadline;
use gax_driver::observe::Transport;
use gax_driver::protocol::AttemptContext;
use gax_retry::StartedAttempt;
use gax_retry::http::{Classification, HttpFailure};
use gax_retry::operation::{AttemptResult, Repetition};
use std::sync::Arc;
use tokio::time::Instant;

/// HTTP over any client, as observers see it.
pub const HTTP: Transport = Transport::new("http").with_wire();

/// One request on its way to its response.
#[expect(missing_debug_implementations, reason = "for the crates of this repository alone")]
pub struct HttpProtocol<S, B, R> {
    pub(super) client: LayeredClient<S>,
    pub(super) inbound: Option<Instant>,
    pub(super) request: ReplayableRequest<B>,
    /// `true` if the request is safe to retry, whatever became of it.
    pub(super) is_repeatable: bool,
    pub(crate) http: Box<HttpReport>,
    /// How the last attempt failed.
    pub(super) failure: Option<HttpFailure>,
    /// The outcome of that attempt.
    pub(super) ended: Option<AttemptOutcome<R>>,
    /// The outcome of a hedge that the operation ends with, unless an attempt in flight has a reply.
    pub(super) held: Option<AttemptOutcome<R>>,
}

/// The outcome of an attempt that failed.
#[expect(
    clippy::exhaustive_enums,
    missing_debug_implementations,
    missing_docs,
    reason = "for the crates of this repository alone"
)]
pub enum AttemptOutcome<R> {
    Response(Box<http::Response<HttpResponseBody<R>>>),
    Broken(Broken),
}

impl<R> AttemptOutcome<R> {
    /// Releases the connection that a response still holds.
    pub(super) fn cut(&mut self) {
        if let AttemptOutcome::Response(response) = self {
            response.body_mut().cut();
        }
    }
}

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    pub(crate) fn new(client: LayeredClient<S>, config: &HttpConfig, request: ReplayableRequest<B>) -> Self {
        let classification = config.classify(request.parts(), &request.bytes().unwrap_or_default());
        Self::of(client, request, HttpReport::new(classification, config.strategy))
    }

    /// An operation over that client whose requests are made again for each attempt, which makes them safe to retry.
    pub fn made_anew(client: LayeredClient<S>, config: &HttpConfig, first: http::Request<B>) -> Self {
        let http = HttpReport::new(Classification::always(), config.strategy);
        Self::of(client, ReplayableRequest::made_anew(first), http)
    }

    fn of(client: LayeredClient<S>, request: ReplayableRequest<B>, http: HttpReport) -> Self {
        let http = Box::new(http);
        Self {
            client,
            inbound: inbound_deadline(),
            is_repeatable: http.may_be_sent_again(),
            request,
            http,
            failure: None,
            ended: None,
            held: None,
        }
    }

    /// The next attempt sends that request.
    pub fn send_next(&mut self, request: http::Request<B>) {
        self.request = ReplayableRequest::made_anew(request);
    }

    /// The config for a request that may be sent while an attempt is in flight, where such requests are hedged. Its attempts
    /// may follow each other as well, whatever the request is.
    pub(crate) fn hedged(&mut self, config: &HttpConfig) -> Option<Arc<HttpConfig>> {
        if !self.request.is_replayable() {
            return None;
        }
        let hedged = config.hedged(&self.http.classification)?;
        self.is_repeatable = true;
        Some(hedged)
    }

    /// The outcome of an operation that has failed.
    pub fn take_outcome(&mut self) -> Option<AttemptOutcome<R>> {
        self.held.take().or_else(|| self.ended.take())
    }

    /// The part of the report that only HTTP has.
    pub(crate) fn details(&mut self) -> HttpReport {
        self.http.failures.extend(self.failure.take());
        (*self.http).clone()
    }

    /// The facts of an attempt that failed so; `None`: by a fault of the request's own.
    pub fn result(&self, config: &HttpConfig, failure: Option<HttpFailure>) -> AttemptResult {
        self.with_request(config.failed(failure), failure)
    }

    /// The result of an attempt that failed so, with what follows from its request.
    pub fn with_request(&self, result: AttemptResult, failure: Option<HttpFailure>) -> AttemptResult {
        result
            .with_repetition(self.repetition(failure))
            .with_idempotent(self.is_repeatable)
            .with_replayable(self.request.is_replayable())
    }

    /// Returns whether such a failure can come of an earlier attempt that was carried out.
    fn repetition(&self, failure: Option<HttpFailure>) -> Repetition {
        let is_refused = matches!(failure, Some(HttpFailure::Status(404 | 409 | 412)));
        if is_refused && !self.request.parts().method.is_safe() { Repetition::Yes } else { Repetition::No }
    }

    /// The attempt failed so, with that outcome.
    pub(crate) fn failed(
        &mut self,
        config: &HttpConfig,
        failure: Option<HttpFailure>,
        ended: AttemptOutcome<R>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        // Of several attempts in flight, another one may have failed meanwhile.
        let before = std::mem::replace(&mut self.failure, failure);
        self.http.failures.extend(before);
        self.ended = Some(ended);
        if self.http.classification.is_at_other_host() {
            context.note(note::STORAGE_HOST_NOT_NAMED);
        }
        let result = self.result(config, failure);
        if config.policy.permits(result) && !self.request.is_replayable() {
            context.note(self.request.note());
        }
        result
    }

    /// The attempt's time was up before it had a status.
    pub(super) fn timed_out(
        &mut self,
        config: &HttpConfig,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let after = context.started().and_then(StartedAttempt::rpc_timeout).unwrap_or_default();
        let broken = Broken::TimedOut { after };
        let failure = broken.failure().map(HttpFailure::Transport);
        self.failed(config, failure, AttemptOutcome::Broken(broken), context).with_timed_out()
    }
}
