//! A call over a connection.

use crate::call::body::ConnectionBody;
use crate::endpoint::{InFlight, Owner as _};
use crate::error::ConnectionError;
use crate::pool::{CallTerms, EndpointResult, Pick, Place, Placement, SharedPool, grpc_status};
use gax_driver::__house::{Carrier, Clock, ConnectionLink, Timer};
use gax_driver::observe::LostReason;
use gax_retry::ThreadJitter;
use http::{Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tonic::body::Body;

/// How close to the end of its time a call may be dropped and still are treated as timed out.
const SLACK: Duration = Duration::from_millis(5);

/// How often a request that a connection gives back is handed to another one.
const HANDOVERS: u8 = 8;

type Sending = Pin<Box<dyn Future<Output = Result<Response<Incoming>, TrySendError<Request<Body>>>> + Send>>;

/// The future of a call over a [`Connection`](crate::Connection).
///
/// # Cancel safety
///
/// Dropping it resets the call's stream. One that is dropped when the time in its `grpc-timeout` header is up is treated as a sign
/// that the server may be dead.
#[must_use = "futures do nothing unless polled"]
pub struct ConnectionFuture {
    state: State,
    pool: Arc<SharedPool>,
    terms: CallTerms,
    clock: Clock,
    /// The call's own time.
    timeout: Option<Duration>,
    handovers: u8,
    /// `None`: its attempt does not look for the endpoint.
    link: Option<ConnectionLink>,
}

enum State {
    /// There is no stream for it yet.
    Waiting {
        request: Box<Request<Body>>,
        place: Place,
    },
    /// There is a connection, and other retries wait for it too.
    Spread {
        request: Box<Request<Body>>,
        until: Option<Instant>,
        timer: Timer,
    },
    /// A connection has it. The number of times that bytes had arrived before.
    Sent {
        sending: Sending,
        call: InFlight,
        received: u64,
    },
    Failed {
        error: ConnectionError,
    },
    Done,
}

impl ConnectionFuture {
    /// A call with that request, or one that is not sent.
    pub(crate) fn new(
        pool: Arc<SharedPool>,
        request: Result<Request<Body>, ConnectionError>,
        terms: CallTerms,
        timeout: Option<Duration>,
        link: Option<ConnectionLink>,
    ) -> Self {
        let clock = Clock::start();
        let mut future = Self { state: State::Done, pool, terms, clock, timeout, handovers: HANDOVERS, link };
        match request {
            Ok(request) => future.send(request),
            Err(error) => future.state = State::Failed { error },
        }
        future
    }

    /// Hands the request to a connection with a free stream, or has it wait for one.
    fn send(&mut self, request: Request<Body>) {
        match self.pool.pick(&self.terms, || request.body().size_hint().lower()) {
            Pick::Placed(placement) => self.place(request, placement),
            Pick::Wait(waits_for, place) => {
                if let Some(link) = &self.link {
                    link.waits(waits_for);
                }
                self.state = State::Waiting { request: Box::new(request), place };
            }
        }
    }

    fn place(&mut self, request: Request<Body>, placement: Placement) {
        self.state = match placement {
            Placement::To(call) => {
                let received = call.connection().traffic().received();
                if let Some(link) = &self.link {
                    link.carried(Arc::clone(call.connection()) as Arc<dyn Carrier>, received);
                }
                let sending = Box::pin(call.connection().sender().try_send_request(request));
                State::Sent { sending, call, received }
            }
            Placement::Later => {
                let now = Clock::start();
                let spread = self.terms.retry.as_mut().map(|retry| retry.spread(now, &mut ThreadJitter));
                let until = now.at(spread.unwrap_or_default());
                State::Spread { request: Box::new(request), until, timer: Timer::default() }
            }
            Placement::None(error) => State::Failed { error: ConnectionError::unconnected(&error) },
            Placement::Ready => State::Done,
        };
    }

    /// Whether the call's time is up.
    fn is_timed_out(&self) -> bool {
        self.timeout.is_some_and(|timeout| self.clock.elapsed().saturating_add(SLACK) >= timeout)
    }
}

impl Future for ConnectionFuture {
    type Output = Result<Response<Body>, ConnectionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let (result, placement) = match &mut self.state {
                State::Waiting { place, .. } => (None, Some(ready!(Pin::new(place).poll(cx)))),
                State::Sent { sending, .. } => {
                    let result = ready!(sending.as_mut().poll(cx));
                    if let Some(link) = &self.link {
                        link.responded();
                    }
                    (Some(result), None)
                }
                State::Spread { until, timer, .. } => {
                    ready!(timer.poll_at(*until, cx));
                    (None, None)
                }
                State::Failed { .. } | State::Done => (None, None),
            };
            match (std::mem::replace(&mut self.state, State::Done), result) {
                (State::Waiting { request, .. }, _) => match placement {
                    Some(Ok(placement)) => self.place(*request, placement),
                    // Nobody decides: it asks again.
                    _ => self.send(*request),
                },
                (State::Sent { call, .. }, Some(Ok(response))) => {
                    if call.connection().serve() {
                        self.pool.served(call.connection());
                    }
                    let status = grpc_status(response.headers());
                    self.pool.count(call.connection(), EndpointResult::of_head(&response, status));
                    let pool = self.pool.settings().ejection.map(|_| Arc::clone(&self.pool));
                    let body = |body| Body::new(ConnectionBody::new(body, call, pool));
                    return Poll::Ready(Ok(response.map(body)));
                }
                (State::Sent { call, .. }, Some(Err(mut error))) => match error.take_message() {
                    // The connection has ended, or takes no more calls, and has not sent it.
                    Some(request) if self.handovers > 0 => {
                        call.connection().end().end(LostReason::Closed);
                        self.handovers -= 1;
                        drop(call);
                        self.send(request);
                    }
                    _ => {
                        let error = error.into_error();
                        call.connection().learn_from(&error);
                        self.pool.count(call.connection(), EndpointResult::Bad);
                        return Poll::Ready(Err(ConnectionError::of(call.connection().peer(), error)));
                    }
                },
                (State::Spread { request, .. }, _) => self.send(*request),
                (State::Failed { error }, _) => return Poll::Ready(Err(error)),
                (State::Sent { .. } | State::Done, _) => return Poll::Pending,
            }
        }
    }
}

impl Drop for ConnectionFuture {
    fn drop(&mut self) {
        let State::Sent { call, received, .. } = &self.state else { return };
        if self.is_timed_out() {
            match &self.link {
                Some(link) => link.expire(),
                None => call.connection().expire(*received),
            };
        }
    }
}

impl fmt::Debug for ConnectionFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionFuture").field("link", &self.link).finish_non_exhaustive()
    }
}
