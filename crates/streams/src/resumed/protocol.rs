//! Attempts that deliver the messages of a stream, one connection after the other.

use super::codec::Measured;
use super::connections::{Connections, Ending, Message, StrategyOf};
use crate::resumption::{Resumer, StreamProgress};
use gax_driver::observe::Transport;
use gax_driver::protocol::{AttemptContext, Name, Protocol, Start, Step, Unsendable};
use gax_retry::operation::{AttemptResult, CommitPoint, RetryFact, Seen};
use gax_retry::{Delivery, StartedAttempt};
use http::HeaderMap;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic_gax::__private::{Failing, Failure, MethodConfig};

/// A stream of responses over further connections: another protocol opens them, and a strategy decides what
/// happens to their messages.
pub struct StreamProtocol<C: Connections> {
    base: C::Base,
    connections: C,
    progress: StreamProgress,
    /// One attempt is the operation's: no other is in flight.
    is_committed: bool,
    /// Its messages are no longer read.
    is_abandoned: bool,
    /// No attempt is in flight, and one follows.
    is_waiting: bool,
}

pin_project! {
    /// An attempt in flight.
    #[project = StreamProj]
    pub enum StreamAttempt<A, C, M> {
        Opening { #[pin] attempt: A },
        // Its first message may have come before the operation was this attempt's.
        Open { #[pin] connection: C, first: Option<Measured<M>> },
    }
}

/// The attempt of a stream over those connections.
type Attempt<C> = StreamAttempt<
    <<C as Connections>::Base as Protocol>::Attempt,
    <C as Connections>::Connection,
    Message<C>,
>;

/// The place of a message for the caller.
#[derive(Debug)]
pub struct StreamSlot<M> {
    pub message: Option<M>,
    /// The headers of the connection that was opened last.
    pub head: Option<HeaderMap>,
    /// How often the stream was restarted, as of that connection.
    pub restarts: u64,
}

impl<C: Connections> StreamProtocol<C> {
    pub fn new(base: C::Base, connections: C, wait_timeout: Option<Duration>) -> Self {
        Self {
            base,
            connections,
            progress: StreamProgress::new(wait_timeout),
            is_committed: false,
            is_abandoned: false,
            is_waiting: false,
        }
    }

    /// Its messages are no longer read: the next poll ends it.
    pub fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// Returns whether the operation waits before its next attempt.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    pub fn connections(&mut self) -> &mut C {
        &mut self.connections
    }

    /// Returns whether other attempts may be in flight.
    fn competes(&self, config: &MethodConfig) -> bool {
        config.policy.hedging().is_some() && !self.is_committed
    }

    /// Continues with an attempt. The error is the operation's.
    #[inline]
    fn poll_attempt(
        &mut self,
        config: &MethodConfig,
        mut attempt: Pin<&mut Attempt<C>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut StreamSlot<Message<C>>,
    ) -> Poll<Result<Step, Status>> {
        let mut opening = match attempt.as_mut().project() {
            StreamProj::Open { .. } => return self.poll_messages(config, attempt, context, cx, slot),
            StreamProj::Opening { attempt } => attempt,
        };
        let mut reply = Poll::Pending;
        let result = match self.base.poll(config, opening.as_mut(), context, cx, &mut reply) {
            Poll::Pending => {
                let Some(end) = self.progress.wait.over(context.clock()) else { return Poll::Pending };
                context.expire();
                let is_unsent = self.base.give_up(&opening);
                let delivery = if is_unsent { Delivery::NotSent } else { Delivery::Unknown };
                return Poll::Ready(Ok(Step::Ended(
                    self.waited(config, end, context).with_delivery(delivery),
                )));
            }
            Poll::Ready(Step::Ended(result)) => result,
            Poll::Ready(step) => return Poll::Ready(Ok(step)),
        };
        let Poll::Ready(Ok(response)) = reply else {
            return Poll::Ready(Ok(Step::Ended(self.settled(config, result, None, context))));
        };
        match self.connections.open(&mut self.base.at(config, context), response) {
            Ok(connection) => attempt.set(StreamAttempt::Open { connection, first: None }),
            Err(result) => return Poll::Ready(Ok(Step::Ended(result))),
        }
        self.progress.opened();
        slot.restarts = self.connections.strategy(|resumer| resumer.restarts())?;
        let competes = self.competes(config);
        if competes {
            self.is_committed = config.policy.commit_point() == CommitPoint::Headers;
        }
        if let StreamProj::Open { connection, .. } = attempt.as_mut().project()
            && (!competes || self.is_committed)
        {
            slot.head = Some(self.connections.head(&mut self.base, connection));
        }
        if competes {
            return Poll::Ready(Ok(Step::Committed(CommitPoint::Headers)));
        }
        self.poll_messages(config, attempt, context, cx, slot)
    }

    /// Continues with the messages of a connection.
    #[inline]
    fn poll_messages(
        &mut self,
        config: &MethodConfig,
        attempt: Pin<&mut Attempt<C>>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut StreamSlot<Message<C>>,
    ) -> Poll<Result<Step, Status>> {
        let StreamProj::Open { mut connection, first } = attempt.project() else { return Poll::Pending };
        loop {
            let progress = &mut self.progress;
            let next = self.connections.strategy(|resumer| resumer.next_step(progress, &mut slot.message))?;
            if let Some(step) = next {
                return Poll::Ready(Ok(step));
            }
            let polled = match first.take() {
                Some(message) => Poll::Ready(Ok(message)),
                None => self.connections.poll_next(connection.as_mut(), context, cx)?,
            };
            let Measured { message, size } = match polled {
                Poll::Pending => {
                    let Some(end) = self.progress.wait.over(context.clock()) else { return Poll::Pending };
                    return Poll::Ready(Ok(Step::Ended(self.waited(config, end, context))));
                }
                Poll::Ready(Err(end)) => {
                    let connection = connection.as_mut();
                    let mut ended = self.base.at(config, context);
                    match self.connections.ended(&mut ended, connection, end)? {
                        Ending::Done => {
                            let progress = &mut self.progress;
                            self.connections.strategy(|resumer| resumer.finish(progress))?;
                            continue;
                        }
                        Ending::Failed(result, shown) => {
                            let result = self.settled(config, result, shown, context);
                            return Poll::Ready(Ok(Step::Ended(result)));
                        }
                        Ending::Final(result) => return Poll::Ready(Ok(Step::Ended(result))),
                    }
                }
                Poll::Ready(Ok(message)) => message,
            };
            self.progress.arrived();
            if self.competes(config) {
                self.is_committed = true;
                slot.head = Some(self.connections.head(&mut self.base, connection));
                *first = Some(Measured { message, size });
                return Poll::Ready(Ok(Step::Committed(CommitPoint::FirstMessage)));
            }
            let (progress, slot) = (&mut self.progress, &mut slot.message);
            let step =
                |resumer: &mut StrategyOf<C>| resumer.step_behind(message, size, progress, context, cx, slot);
            if let Some(polled) = self.connections.strategy(step)?? {
                return polled.map(Ok);
            }
        }
    }

    /// The caller has waited for a message for too long.
    #[cold]
    fn waited(
        &mut self,
        config: &MethodConfig,
        end: Duration,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = self.base.at(config, context).ended(Box::new(Failure::waited()), Seen::Headers);
        self.settled(config, result.with_retry(RetryFact::Yes).with_end(end), None, context)
    }

    /// The facts of an attempt that failed, with what the strategy makes of them. It sees that status; `None`: that of the failure.
    #[cold]
    fn settled(
        &mut self,
        config: &MethodConfig,
        result: AttemptResult,
        shown: Option<Status>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        if self.competes(config) {
            return result.with_seen(Seen::Nothing);
        }
        let seen = self.progress.seen(config.shared.compatibility);
        let result = result.with_seen(seen);
        let Some(status) = shown.or_else(|| self.base.kept().as_deref().map(Failure::peek)) else {
            return result;
        };
        let mut attempt = self.base.at(config, context);
        let settled = self.connections.settle(&mut attempt, result, &status);
        settled.unwrap_or_else(|status| attempt.end_with(status).with_seen(seen))
    }
}

impl<C: Connections> Protocol for StreamProtocol<C> {
    type Config = MethodConfig;
    type Attempt = Attempt<C>;
    type Slot = StreamSlot<Message<C>>;

    const TRANSPORT: &'static Transport = C::Base::TRANSPORT;

    fn name(&self, config: &MethodConfig) -> Name {
        self.base.name(config)
    }

    fn start<'a>(&'a self, config: &'a MethodConfig) -> Start<'a> {
        self.base.start(config)
    }

    fn is_prepared(&self) -> bool {
        self.base.is_prepared()
    }

    fn prepare(&mut self, config: &MethodConfig, cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
        self.base.prepare(config, cx)
    }

    fn begin(
        &mut self,
        config: &MethodConfig,
        started: StartedAttempt,
        context: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        // A strategy that can't be asked is found out when its attempt is polled.
        let _asked = self.connections.strategy(Resumer::begin);
        self.progress.wait.reset();
        self.is_waiting = false;
        StreamAttempt::Opening { attempt: self.base.begin(config, started, context) }
    }

    fn poll(
        &mut self,
        config: &MethodConfig,
        attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut StreamSlot<Message<C>>,
    ) -> Poll<Step> {
        if self.is_abandoned {
            let failure = Box::new(Failure::left_alone());
            return Poll::Ready(Step::Ended(self.base.at(config, context).permanent(failure)));
        }
        let step = self.poll_attempt(config, attempt, context, cx, slot);
        step.map(|step| {
            step.unwrap_or_else(|status| Step::Ended(self.base.at(config, context).end_with(status)))
        })
    }

    fn expire(
        &mut self,
        config: &MethodConfig,
        attempt: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let result = match attempt.map(|attempt| attempt.project()) {
            Some(StreamProj::Open { .. }) => self.base.at(config, context).timed_out(Seen::Headers),
            Some(StreamProj::Opening { attempt }) => self.base.expire(config, Some(attempt), context),
            None => self.base.expire(config, None, context),
        };
        self.settled(config, result, None, context)
    }

    fn ending(&mut self, context: &mut AttemptContext<'_>) {
        self.progress.end(context);
    }

    fn due(&self, _: &Self::Attempt) -> Option<Instant> {
        self.progress.wait.due()
    }

    fn is_hedgeable(&self, config: &MethodConfig) -> bool {
        self.base.is_hedgeable(config)
    }

    fn hold(&mut self) {
        self.base.hold();
    }

    fn before_wait(&mut self) {
        self.is_waiting = true;
        self.base.before_wait();
    }
}

impl<C: Connections> Failing for StreamProtocol<C> {
    fn kept(&mut self) -> &mut Option<Box<Failure>> {
        self.base.kept()
    }
}
