//! Attempts that open connections by a closure, and deliver their messages.

use crate::closure::ErrorCode as _;
use crate::grpc::{EndsWithStatus, Failure, MethodConfig, time_is_up};
use crate::note;
use crate::operation::{
    AttemptContext, Name, Note, ObservedTransport, OperationError, OperationReport, Protocol, Start, Step,
    earlier, time_left,
};
use crate::resumption::StreamProgress;
use crate::subscription::connection::{Connection, ConnectionProj, Talk};
use crate::subscription::opening::Opening;
use crate::subscription::shared::{Panicked, Shared};
use crate::subscription::state::SubscriptionState;
use crate::subscription::strategy::{Ended, Say, SubscriptionStrategy};
use crate::transport::ConnectProblem;
use crate::transport::{Reach, chain};
use gax_retry::operation::{AttemptResult, RetryFact, Stop};
use gax_retry::{Code, Delivery, SettingsError, StartedAttempt, StopReason};
use http::HeaderMap;
use std::error::Error;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tokio_stream::Stream;
use tonic::metadata::MetadataMap;
use tonic::{Response, Status};

/// A subscription's connections.
pub(super) struct SubscriptionProtocol<S: SubscriptionStrategy, F, Fut, T> {
    connect: F,
    shared: Arc<Shared<S>>,
    name: Name,
    /// The request of the next connection.
    next: Option<S::Request>,
    progress: StreamProgress,
    /// The failure that the last attempt ended with.
    failure: Option<Box<Failure>>,
    /// No attempt is in flight, and one follows.
    is_waiting: bool,
    /// Nobody takes its messages any more.
    is_abandoned: bool,
    types: PhantomData<fn() -> (Fut, T)>,
}

/// The place of a message for the caller.
#[derive(Debug)]
pub(super) struct SubscriptionSlot<M> {
    pub(super) message: Option<M>,
    /// The metadata of the connection that was opened last.
    pub(super) metadata: Option<MetadataMap>,
    /// How often the stream was begun anew, as of that connection.
    pub(super) restarts: u64,
}

impl<S: SubscriptionStrategy, F, Fut, T> SubscriptionProtocol<S, F, Fut, T> {
    pub(super) fn new(
        connect: F,
        shared: Arc<Shared<S>>,
        name: Name,
        first: S::Request,
        wait_timeout: Option<Duration>,
    ) -> Self {
        Self {
            connect,
            shared,
            name,
            next: Some(first),
            progress: StreamProgress::new(wait_timeout),
            failure: None,
            is_waiting: false,
            is_abandoned: false,
            types: PhantomData,
        }
    }

    /// Whether the operation waits before its next attempt.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Nobody takes its messages: the next poll ends it.
    pub(super) fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// The facts of an attempt that ended with that failure, which is kept.
    fn ended(&mut self, mut failure: Box<Failure>) -> AttemptResult {
        let result = AttemptResult::failed(failure.code);
        failure.follow(self.failure.take());
        self.failure = Some(failure);
        result
    }

    /// No other attempt can do better.
    fn hopeless(&mut self, status: Status) -> AttemptResult {
        self.final_failure(Failure::transport(status.into(), false).0)
    }

    fn final_failure(&mut self, failure: Failure) -> AttemptResult {
        self.ended(Box::new(failure)).with_retry(RetryFact::No(StopReason::NonRetryable))
    }

    /// The strategy can't be asked any more.
    fn panicked(&mut self, _: Panicked) -> AttemptResult {
        self.hopeless(Status::internal("the strategy of the subscription has panicked"))
    }

    fn timed_out(&mut self, context: &AttemptContext<'_>) -> AttemptResult {
        let timeout = context.started().and_then(StartedAttempt::rpc_timeout).unwrap_or_default();
        self.ended(Box::new(Failure::timed_out(timeout))).with_timed_out()
    }

    /// The facts of a connection that could not be opened, or broke.
    fn failed(
        &mut self,
        config: &MethodConfig,
        status: Status,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let is_final = notes_of(&status, context) || status.is_final();
        if is_final {
            return self.hopeless(status);
        }
        if let Some(problem) = ConnectProblem::behind(&status) {
            context.note(problem.note());
            if !problem.may_recover() {
                return self.hopeless(status).with_delivery(Delivery::NotSent);
            }
        }
        let (failure, reach) = failure_of(status, self.progress.has_begun());
        let result = if failure.code == Code::DeadlineExceeded && time_is_up(context) {
            self.timed_out(context)
        } else {
            let server_delay = failure.server_delay();
            let result = self.ended(Box::new(failure)).with_server_delay(server_delay);
            match reach {
                Reach::ChannelClosed => result.with_retry(RetryFact::No(StopReason::ChannelClosed)),
                reach => result.with_delivery(reach.delivery()),
            }
        };
        self.settled(config, result, context)
    }

    /// The caller has waited for a message for too long.
    fn waited(
        &mut self,
        config: &MethodConfig,
        end: Duration,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = self.ended(Box::new(Failure::waited())).with_retry(RetryFact::Yes).with_end(end);
        self.settled(config, result, context)
    }

    /// The facts of an attempt that failed, with what the strategy makes of them.
    fn settled(
        &mut self,
        config: &MethodConfig,
        result: AttemptResult,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        match self.failure.as_ref().map(|failure| failure.peek()) {
            Some(status) => self.settled_as(config, result, &status, context),
            None => result,
        }
    }

    /// The facts of an attempt that failed, of which the strategy sees that status.
    fn settled_as(
        &mut self,
        config: &MethodConfig,
        result: AttemptResult,
        status: &Status,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = result.with_seen(self.progress.seen(config.shared.compatibility));
        let settled = self.shared.lock().map(|mut inner| {
            // A message is either said again by the next request, or waits for the next connection.
            inner.renew_outbox();
            inner.resumer.settle(&config.policy, result, status, context)
        });
        match settled {
            Ok((result, next)) => {
                self.next = next;
                result
            }
            Err(panicked) => self.panicked(panicked),
        }
    }

    /// The connection has ended well. `None`: so has the subscription, but for what was withheld.
    fn ended_well(
        &mut self,
        config: &MethodConfig,
        context: &mut AttemptContext<'_>,
    ) -> Result<Option<AttemptResult>, Panicked> {
        let mut inner = self.shared.lock()?;
        if inner.resumer.strategy().map_or(Ended::End, SubscriptionStrategy::ended) == Ended::End {
            inner.resumer.finish(&mut self.progress);
            return Ok(None);
        }
        drop(inner);
        let status = Status::unavailable("the server ended the stream");
        let result = self.ended(Box::new(Failure::transport(status.into(), true).0));
        let result = result.with_retry(RetryFact::Yes);
        Ok(Some(self.settled_as(config, result, &Status::ok(""), context)))
    }

    /// Lets the strategy say what it has to say. Pending: the server takes no more for now.
    #[inline]
    fn poll_talk(&self, talk: &mut Talk<S::Message>, cx: &mut Context<'_>) -> Poll<Result<(), Panicked>>
    where
        S::Message: 'static,
    {
        loop {
            ready!(talk.poll_place(cx));
            if !talk.is_open {
                return Poll::Ready(Ok(()));
            }
            let mut inner = self.shared.lock()?;
            let said = inner.resumer.strategy().map_or(Say::Nothing, SubscriptionStrategy::say);
            match (said, inner.outbox.sender()) {
                (Say::Message(message), Some(sender)) => talk.say(sender, message),
                (Say::HalfClose, _) => {
                    inner.outbox.half_close();
                    talk.is_open = false;
                }
                (Say::Nothing, _) | (Say::Message(_), None) => talk.is_open = false,
            }
        }
    }

    /// Goes on with the messages of a connection that is open.
    fn poll_messages(
        &mut self,
        config: &MethodConfig,
        attempt: Pin<&mut Connection<Fut, T, S::Message>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut Option<S::Response>,
    ) -> Poll<Result<Step, Panicked>>
    where
        S::Message: 'static,
        T: Stream<Item = Result<S::Response, Status>>,
    {
        let ConnectionProj::Open { mut messages, talk } = attempt.project() else { return Poll::Pending };
        loop {
            if let Some(step) = self.shared.lock()?.resumer.next_step(&mut self.progress, slot) {
                return Poll::Ready(Ok(step));
            }
            let polled = match self.poll_talk(talk, cx)? {
                Poll::Ready(()) => messages.as_mut().poll_next(cx),
                Poll::Pending => Poll::Pending,
            };
            let message = match polled {
                Poll::Pending => {
                    let Some(end) = self.progress.wait.over(context.clock()) else { return Poll::Pending };
                    return Poll::Ready(Ok(Step::Ended(self.waited(config, end, context))));
                }
                Poll::Ready(None) => match self.ended_well(config, context)? {
                    Some(result) => return Poll::Ready(Ok(Step::Ended(result))),
                    None => continue,
                },
                Poll::Ready(Some(Err(status))) => {
                    return Poll::Ready(Ok(Step::Ended(self.failed(config, status, context))));
                }
                Poll::Ready(Some(Ok(message))) => message,
            };
            self.progress.arrived();
            talk.is_open = true;
            let mut inner = self.shared.lock()?;
            let size = inner.resumer.strategy().map_or(0, |strategy| strategy.size(&message));
            let step = inner.resumer.step_behind(message, size, &mut self.progress, context, cx, slot);
            drop(inner);
            match step {
                Ok(Some(polled)) => return polled.map(Ok),
                Ok(None) => {}
                Err(full) => return Poll::Ready(Ok(Step::Ended(self.hopeless(full)))),
            }
        }
    }

    /// Goes on with an attempt.
    fn poll_attempt(
        &mut self,
        config: &MethodConfig,
        mut attempt: Pin<&mut Connection<Fut, T, S::Message>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut SubscriptionSlot<S::Response>,
    ) -> Poll<Result<Step, Panicked>>
    where
        S::Message: 'static,
        Fut: Future<Output = Result<Response<T>, Status>>,
        T: Stream<Item = Result<S::Response, Status>>,
    {
        let opened = match attempt.as_mut().project() {
            ConnectionProj::Open { .. } => {
                return self.poll_messages(config, attempt, context, cx, &mut slot.message);
            }
            ConnectionProj::Impossible => return Poll::Ready(Err(Panicked)),
            ConnectionProj::Opening { opening } => opening.poll(cx),
        };
        match opened {
            Poll::Pending => {
                let Some(end) = self.progress.wait.over(context.clock()) else { return Poll::Pending };
                Poll::Ready(Ok(Step::Ended(self.waited(config, end, context))))
            }
            Poll::Ready(Err(status)) => Poll::Ready(Ok(Step::Ended(self.failed(config, status, context)))),
            Poll::Ready(Ok(response)) => {
                let (metadata, messages, _) = response.into_parts();
                slot.metadata = Some(metadata);
                slot.restarts = self.shared.lock()?.resumer.restarts();
                self.shared.set_state(SubscriptionState::Live);
                self.progress.opened();
                attempt.set(Connection::Open { messages, talk: Talk::new() });
                self.poll_messages(config, attempt, context, cx, &mut slot.message)
            }
        }
    }
}

/// The notes of a call that was made over a generated client or the layer are those of the subscription. Returns whether one of
/// them says that no other attempt can do better.
fn notes_of(status: &Status, context: &mut AttemptContext<'_>) -> bool {
    let Some(error) = OperationError::of(status) else { return false };
    let mut is_final = false;
    for note in error.report().notes() {
        is_final |= [Note::UNREADABLE_RESPONSE, note::MESSAGE_ABOVE_DECODING_LIMIT].contains(note);
        context.note(*note);
    }
    is_final
}

/// The failure behind a status, and how far the request got.
fn failure_of(status: Status, has_begun: bool) -> (Failure, Reach) {
    let is_servers = chain(&status).skip(1).all(<dyn Error>::is::<OperationError>);
    let mut trailers = HeaderMap::new();
    if is_servers && status.add_header(&mut trailers).is_ok() {
        let code = status.error_code();
        return (Failure::by_server(code, None, trailers), Reach::MaybeSent);
    }
    let (failure, classification) = Failure::transport(status.into(), has_begun);
    (failure, classification.reach)
}

impl<S, F, Fut, T> Protocol for SubscriptionProtocol<S, F, Fut, T>
where
    S: SubscriptionStrategy<Message: 'static>,
    F: FnMut(Opening<S::Request, S::Message>) -> Fut,
    Fut: Future<Output = Result<Response<T>, Status>>,
    T: Stream<Item = Result<S::Response, Status>>,
{
    type Config = MethodConfig;
    type Attempt = Connection<Fut, T, S::Message>;
    type Slot = SubscriptionSlot<S::Response>;

    const TRANSPORT: &'static ObservedTransport = &ObservedTransport::CLOSURE;

    fn name(&self, _: &MethodConfig) -> Name {
        self.name.clone()
    }

    fn start<'a>(&'a self, config: &'a MethodConfig) -> Start<'a> {
        config.shared.start().within(earlier(config.timeout, time_left()))
    }

    fn begin(
        &mut self,
        _: &MethodConfig,
        started: StartedAttempt,
        _: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        self.is_waiting = false;
        self.progress.wait.reset();
        let (Some(request), Ok(mut inner)) = (self.next.take(), self.shared.lock()) else {
            return Connection::Impossible;
        };
        inner.resumer.begin();
        let is_half_closed = inner.is_half_closed;
        let outgoing = inner.outbox.open(is_half_closed);
        drop(inner);
        self.shared.set_state(SubscriptionState::Connecting);
        let opening = Opening::new(request, outgoing, started, started.deadline());
        Connection::Opening { opening: (self.connect)(opening) }
    }

    fn poll(
        &mut self,
        config: &MethodConfig,
        attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut SubscriptionSlot<S::Response>,
    ) -> Poll<Step> {
        if self.is_abandoned {
            return Poll::Ready(Step::Ended(self.final_failure(Failure::left_alone())));
        }
        let step = self.poll_attempt(config, attempt, context, cx, slot);
        step.map(|step| step.unwrap_or_else(|panicked| Step::Ended(self.panicked(panicked))))
    }

    fn expire(
        &mut self,
        config: &MethodConfig,
        _: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = self.timed_out(context);
        self.settled(config, result, context)
    }

    fn ending(&mut self, context: &mut AttemptContext<'_>) {
        self.progress.end(context);
    }

    fn due(&self, _: &Self::Attempt) -> Option<Instant> {
        self.progress.wait.due()
    }

    /// Its connections follow each other: two at once would be two subscriptions.
    fn is_hedgeable(&self, _: &MethodConfig) -> bool {
        false
    }

    fn before_wait(&mut self) {
        self.is_waiting = true;
        if let Some(failure) = &mut self.failure {
            failure.pack();
        }
    }
}

impl<S, F, Fut, T> EndsWithStatus for SubscriptionProtocol<S, F, Fut, T>
where
    S: SubscriptionStrategy<Message: 'static>,
    F: FnMut(Opening<S::Request, S::Message>) -> Fut,
    Fut: Future<Output = Result<Response<T>, Status>>,
    T: Stream<Item = Result<S::Response, Status>>,
{
    fn status(&mut self, problem: Option<&SettingsError>, stop: Stop, report: OperationReport) -> Status {
        Failure::at_end(self.failure.take(), problem, stop).into_status(report)
    }
}
