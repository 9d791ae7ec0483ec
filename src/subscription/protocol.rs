//! Attempts that open connections by a closure, and deliver their messages.

use crate::closure::ErrorCode as _;
use crate::grpc::{EndsWithStatus, Failure, MethodConfig, time_is_up};
use crate::operation::{
    AttemptContext, ConnectProblem, Jitter, Name, Note, ObservedTransport, Observers, OperationError,
    OperationReport, Protocol, Step, earlier, time_left,
};
use crate::resumption::{Brought, Settled, Taken, WaitTimeout, withheld_too_much};
use crate::subscription::connection::{Connection, ConnectionProj, Talk};
use crate::subscription::opening::Opening;
use crate::subscription::shared::{Panicked, Shared};
use crate::subscription::state::SubscriptionState;
use crate::subscription::strategy::{Ended, Say, SubscriptionStrategy};
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
    wait: WaitTimeout,
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
            wait: WaitTimeout::new(wait_timeout),
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
        brought: Brought,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let is_final = notes_of(&status, context) || status.is_final();
        if is_final {
            return self.hopeless(status);
        }
        if let Some(problem) = ConnectProblem::of(&status) {
            context.note(Note::CannotConnect(problem));
            if !problem.may_recover() {
                return self.hopeless(status).with_delivery(Delivery::NotSent);
            }
        }
        let (failure, reach) = failure_of(status, brought != Brought::Nothing);
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
        self.settled(config, result, brought, context)
    }

    /// The caller has waited for a message for too long.
    fn waited(
        &mut self,
        config: &MethodConfig,
        end: Duration,
        brought: Brought,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = self.ended(Box::new(Failure::waited())).with_retry(RetryFact::Yes).with_end(end);
        self.settled(config, result, brought, context)
    }

    /// The facts of an attempt that failed, with what the strategy makes of them.
    fn settled(
        &mut self,
        config: &MethodConfig,
        result: AttemptResult,
        brought: Brought,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        match self.failure.as_ref().map(|failure| failure.peek()) {
            Some(status) => self.settled_as(config, result, brought, &status, context),
            None => result,
        }
    }

    /// The facts of an attempt that failed, of which the strategy sees that status.
    fn settled_as(
        &mut self,
        config: &MethodConfig,
        result: AttemptResult,
        brought: Brought,
        status: &Status,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = result.with_seen(brought.seen(config.shared.compatibility));
        let settled = self.shared.lock().map(|mut inner| {
            // A message is either said again by the next request, or waits for the next connection.
            inner.renew_outbox();
            inner.resumer.settle(&config.policy, result, status)
        });
        match settled {
            Ok(Settled { result, next, note }) => {
                self.next = next;
                if let Some(note) = note {
                    context.note(note);
                }
                result
            }
            Err(panicked) => self.panicked(panicked),
        }
    }

    /// The connection has ended well. `None`: so has the subscription, but for what was withheld.
    fn ended_well(
        &mut self,
        config: &MethodConfig,
        brought: Brought,
        context: &mut AttemptContext<'_>,
    ) -> Option<AttemptResult> {
        let ended = self.shared.lock().map(|mut inner| {
            let ended = inner.resumer.strategy().map_or(Ended::End, SubscriptionStrategy::ended);
            if ended == Ended::End {
                inner.resumer.release();
            }
            ended
        });
        match ended {
            Ok(Ended::End) => None,
            Ok(Ended::Reconnect) => {
                let status = Status::unavailable("the server ended the stream");
                let result = self.ended(Box::new(Failure::transport(status.into(), true).0));
                let result = result.with_retry(RetryFact::Yes);
                Some(self.settled_as(config, result, brought, &Status::ok(""), context))
            }
            Err(panicked) => Some(self.panicked(panicked)),
        }
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
            let mut inner = match self.shared.lock() {
                Ok(inner) => inner,
                Err(panicked) => return Poll::Ready(Err(panicked)),
            };
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

    /// Goes on with a connection that is open. At its end the report has how many messages came over it.
    fn poll_connection(
        &mut self,
        config: &MethodConfig,
        mut attempt: Pin<&mut Connection<Fut, T, S::Message>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut SubscriptionSlot<S::Response>,
    ) -> Poll<Step>
    where
        S::Message: 'static,
        T: Stream<Item = Result<S::Response, Status>>,
    {
        let step = self.poll_messages(config, attempt.as_mut(), context, cx, slot);
        if let (Poll::Ready(Step::Ended(_)), ConnectionProj::Open { delivered, .. }) =
            (&step, attempt.project())
        {
            context.ended_after(*delivered);
        }
        step
    }

    /// Goes on with its messages.
    fn poll_messages(
        &mut self,
        config: &MethodConfig,
        attempt: Pin<&mut Connection<Fut, T, S::Message>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut SubscriptionSlot<S::Response>,
    ) -> Poll<Step>
    where
        S::Message: 'static,
        T: Stream<Item = Result<S::Response, Status>>,
    {
        let ConnectionProj::Open { mut messages, talk, brought, delivered, is_done } = attempt.project()
        else {
            return Poll::Pending;
        };
        loop {
            match self.shared.lock().map(|mut inner| inner.resumer.released()) {
                Ok(None) => {}
                Ok(Some(message)) => {
                    *brought = Brought::Delivered;
                    *delivered += 1;
                    slot.message = Some(message);
                    return Poll::Ready(Step::Yielded);
                }
                Err(panicked) => return Poll::Ready(Step::Ended(self.panicked(panicked))),
            }
            if *is_done {
                return Poll::Ready(Step::Ended(AttemptResult::done()));
            }
            let polled = match self.poll_talk(talk, cx) {
                Poll::Ready(Ok(())) => messages.as_mut().poll_next(cx),
                Poll::Ready(Err(panicked)) => return Poll::Ready(Step::Ended(self.panicked(panicked))),
                Poll::Pending => Poll::Pending,
            };
            let message = match polled {
                Poll::Pending => {
                    let Some(end) = self.wait.over(context.clock()) else { return Poll::Pending };
                    return Poll::Ready(Step::Ended(self.waited(config, end, *brought, context)));
                }
                Poll::Ready(None) => {
                    if let Some(result) = self.ended_well(config, *brought, context) {
                        return Poll::Ready(Step::Ended(result));
                    }
                    *is_done = true;
                    continue;
                }
                Poll::Ready(Some(Err(status))) => {
                    return Poll::Ready(Step::Ended(self.failed(config, status, *brought, context)));
                }
                Poll::Ready(Some(Ok(message))) => message,
            };
            self.wait.reset();
            *brought = (*brought).max(Brought::Messages);
            talk.is_open = true;
            let taken = self.shared.lock().map(|mut inner| {
                let size = inner.resumer.strategy().map_or(0, |strategy| strategy.size(&message));
                inner.resumer.take(message, size)
            });
            match taken {
                Err(panicked) => return Poll::Ready(Step::Ended(self.panicked(panicked))),
                Ok(Taken::Deliver(message)) => {
                    *brought = Brought::Delivered;
                    *delivered += 1;
                    slot.message = Some(message);
                    return Poll::Ready(Step::Yielded);
                }
                Ok(Taken::Kept) => {}
                Ok(Taken::KeptForLong) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Ok(Taken::Full) => {
                    context.note(Note::WithheldTooMuch);
                    return Poll::Ready(Step::Ended(self.hopeless(withheld_too_much())));
                }
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
        is_final |= matches!(note, Note::UnreadableResponse | Note::MessageAboveDecodingLimit);
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

    const TRANSPORT: ObservedTransport = ObservedTransport::Closure;

    fn name(&self, _: &MethodConfig) -> Name {
        self.name.clone()
    }

    fn observers<'a>(&'a self, config: &'a MethodConfig) -> Option<&'a Observers> {
        config.shared.observers.as_deref()
    }

    fn bound(&self, config: &MethodConfig) -> Option<Duration> {
        earlier(config.timeout, time_left())
    }

    fn jitter(&self, config: &MethodConfig) -> Jitter {
        config.shared.options.jitter.next()
    }

    fn begin(
        &mut self,
        _: &MethodConfig,
        started: StartedAttempt,
        _: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        self.is_waiting = false;
        self.wait.reset();
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
        mut attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut SubscriptionSlot<S::Response>,
    ) -> Poll<Step> {
        if self.is_abandoned {
            if let ConnectionProj::Open { delivered, .. } = attempt.as_mut().project() {
                context.ended_after(*delivered);
            }
            return Poll::Ready(Step::Ended(self.final_failure(Failure::left_alone())));
        }
        let opened = match attempt.as_mut().project() {
            ConnectionProj::Open { .. } => return self.poll_connection(config, attempt, context, cx, slot),
            ConnectionProj::Impossible => return Poll::Ready(Step::Ended(self.panicked(Panicked))),
            ConnectionProj::Opening { opening } => opening.poll(cx),
        };
        match opened {
            Poll::Pending => {
                let Some(end) = self.wait.over(context.clock()) else { return Poll::Pending };
                Poll::Ready(Step::Ended(self.waited(config, end, Brought::Nothing, context)))
            }
            Poll::Ready(Err(status)) => {
                Poll::Ready(Step::Ended(self.failed(config, status, Brought::Nothing, context)))
            }
            Poll::Ready(Ok(response)) => {
                let (metadata, messages, _) = response.into_parts();
                slot.metadata = Some(metadata);
                match self.shared.lock().map(|inner| inner.resumer.restarts()) {
                    Ok(restarts) => slot.restarts = restarts,
                    Err(panicked) => return Poll::Ready(Step::Ended(self.panicked(panicked))),
                }
                self.shared.set_state(SubscriptionState::Live);
                let (talk, brought) = (Talk::new(), Brought::Headers);
                attempt.set(Connection::Open { messages, talk, brought, delivered: 0, is_done: false });
                self.poll_connection(config, attempt, context, cx, slot)
            }
        }
    }

    fn expire(
        &mut self,
        config: &MethodConfig,
        attempt: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let brought = match attempt.map(|attempt| attempt.project()) {
            Some(ConnectionProj::Open { brought, delivered, .. }) => {
                context.ended_after(*delivered);
                *brought
            }
            _ => Brought::Nothing,
        };
        let result = self.timed_out(context);
        self.settled(config, result, brought, context)
    }

    fn due(&self, _: &Self::Attempt) -> Option<Instant> {
        self.wait.due()
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
