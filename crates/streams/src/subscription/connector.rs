//! Attempts that open connections by a closure.

use crate::resumption::StreamResumption;
use crate::subscription::opening::Opening;
use crate::subscription::shared::{Panicked, Shared};
use crate::subscription::state::SubscriptionState;
use crate::subscription::strategy::SubscriptionStrategy;
use gax_driver::__private::{earlier, time_left};
use gax_driver::closure::ErrorCode as _;
use gax_driver::observe::Transport;
use gax_driver::protocol::{AttemptContext, Name, Protocol, Start, Step};
use gax_driver::{Note, OperationError};
use gax_retry::operation::{AttemptResult, Resend, Seen};
use gax_retry::{Code, StartedAttempt};
use gax_wire::__private::chain;
use gax_wire::__private::time_is_up;
use http::HeaderMap;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio_stream::Stream;
use tonic::{Response, Status};
use tonic_gax::__private::{AttemptParts, Failing, Failure, MethodConfig};
use tonic_gax::note;

/// The messages of a connection.
pub(super) type BoxMessages<S> =
    Pin<Box<dyn Stream<Item = Result<<S as StreamResumption>::Response, Status>> + Send>>;

/// A connection that is being opened.
pub(super) type BoxOpening<S> =
    Pin<Box<dyn Future<Output = Result<Response<BoxMessages<S>>, Status>> + Send>>;

/// Opens a connection.
pub(super) type BoxConnect<S> = Box<
    dyn FnMut(
            Opening<<S as StreamResumption>::Request, <S as SubscriptionStrategy>::Message>,
        ) -> BoxOpening<S>
        + Send,
>;

/// Opens the connections of a subscription.
pub(super) struct Connector<S: SubscriptionStrategy> {
    connect: BoxConnect<S>,
    shared: Arc<Shared<S>>,
    name: Name,
    /// The request of the next connection.
    pub(super) next: Option<S::Request>,
    /// The failure that the last attempt ended with.
    failure: Option<Box<Failure>>,
}

impl<S: SubscriptionStrategy<Response: Send> + 'static> Connector<S> {
    pub(super) fn new(connect: BoxConnect<S>, shared: Arc<Shared<S>>, name: Name, first: S::Request) -> Self {
        Self { connect, shared, name, next: Some(first), failure: None }
    }
}

/// The facts of a connection that could not be opened, or broke.
pub(super) fn refused<S: SubscriptionStrategy<Response: Send> + 'static>(
    attempt: &mut AttemptParts<'_, '_, Connector<S>>,
    status: Status,
    seen: Seen,
) -> AttemptResult {
    if notes_of(&status, attempt.context) || status.is_final() {
        return attempt.end_with(status);
    }
    let is_servers = chain(&status).skip(1).all(<dyn Error>::is::<OperationError>);
    let mut trailers = HeaderMap::new();
    if !is_servers || status.add_header(&mut trailers).is_err() {
        // Its request is gone: it can't be sent again as if it had never been.
        return attempt.broken(status.into(), seen).with_resend(Resend::No);
    }
    if status.error_code() == Code::DeadlineExceeded && time_is_up(attempt.context) {
        return attempt.timed_out(seen);
    }
    let failure = Failure::by_server(status.error_code(), None, trailers);
    attempt.failed(Box::new(failure), seen)
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

impl<S: SubscriptionStrategy<Response: Send> + 'static> Protocol for Connector<S> {
    type Config = MethodConfig;
    /// `None`: the strategy has panicked before it said what to begin with.
    type Attempt = Option<BoxOpening<S>>;
    type Slot = Poll<Result<Response<BoxMessages<S>>, Status>>;

    const TRANSPORT: &'static Transport = &Transport::CLOSURE;

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
        let request = self.next.take()?;
        let connection = self.shared.outbox.lock().connection();
        self.shared.set_state(SubscriptionState::Connecting);
        let messages = Arc::clone(&self.shared);
        Some((self.connect)(Opening::new(request, messages, connection, started)))
    }

    fn poll(
        &mut self,
        config: &MethodConfig,
        attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        response: &mut Self::Slot,
    ) -> Poll<Step> {
        let opened = match attempt.as_pin_mut() {
            Some(opening) => ready!(opening.poll(cx)),
            None => Err(Panicked.into()),
        };
        Poll::Ready(Step::Ended(match opened {
            Ok(opened) => {
                *response = Poll::Ready(Ok(opened));
                AttemptResult::done()
            }
            Err(status) => refused(&mut self.at(config, context), status, Seen::Nothing),
        }))
    }

    fn expire(
        &mut self,
        config: &MethodConfig,
        _: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        self.at(config, context).timed_out(Seen::Nothing)
    }

    /// Its connections follow each other: two at once would be two subscriptions.
    fn is_hedgeable(&self, _: &MethodConfig) -> bool {
        false
    }

    fn before_wait(&mut self) {
        if let Some(failure) = &mut self.failure {
            failure.pack();
        }
    }
}

impl<S: SubscriptionStrategy<Response: Send> + 'static> Failing for Connector<S> {
    fn kept(&mut self) -> &mut Option<Box<Failure>> {
        &mut self.failure
    }
}
