//! A call over a connection.

use crate::endpoint::InFlight;
use crate::error::ConnectionError;
use crate::pool::{CallTerms, EndpointResult, Pick, Place, Placement, SharedPool, grpc_status};
use bytes::Bytes;
use gax_driver::__private::{Carrier, Clock, ConnectionLink, Timer};
use gax_driver::observe::LostReason;
use gax_retry::ThreadJitter;
use gax_wire::__private::grpc_timeout;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
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
    /// A connection has it, since then. The number of times that bytes had arrived before.
    Sent {
        sending: Sending,
        call: InFlight,
        received: u64,
        since: Clock,
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
    ) -> Self {
        let clock = Clock::start();
        let mut future = Self { state: State::Done, pool, terms, clock, timeout, handovers: HANDOVERS };
        match request {
            Ok(request) => future.send(request, clock),
            Err(error) => future.state = State::Failed { error },
        }
        future
    }

    /// Hands the request to a connection with a free stream, or has it wait for one.
    fn send(&mut self, request: Request<Body>, now: Clock) {
        match self.pool.pick(&self.terms, || request.body().size_hint().lower()) {
            Pick::Placed(placement) => self.place(request, placement, now),
            Pick::Wait(waits_for, place) => {
                if let Some(link) = &self.terms.link {
                    link.waits(waits_for);
                }
                self.state = State::Waiting { request: Box::new(request), place };
            }
        }
    }

    fn place(&mut self, mut request: Request<Body>, placement: Placement, now: Clock) {
        self.state = match placement {
            Placement::To(call) => {
                let received = call.connection().traffic().received();
                if let Some(link) = &self.terms.link {
                    let carrier = Arc::clone(call.connection()) as Arc<dyn Carrier>;
                    if let Some(left) = link.carried(carrier, received, now, call.is_alone()) {
                        self.clock = now;
                        self.timeout = self.timeout.map(|timeout| shortened(&mut request, timeout, left));
                    }
                }
                let sending = Box::pin(call.connection().sender().try_send_request(request));
                State::Sent { sending, call, received, since: now }
            }
            Placement::Later => {
                let left = self.terms.link.as_ref().and_then(ConnectionLink::postponed);
                let spread =
                    self.terms.retry.as_mut().map(|retry| retry.spread(now, left, &mut ThreadJitter));
                let until = now.at(spread.unwrap_or_default());
                State::Spread { request: Box::new(request), until, timer: Timer::default() }
            }
            Placement::None(error) => State::Failed { error: ConnectionError::unconnected(&error) },
            Placement::Ready => State::Done,
        };
    }

    /// Returns whether the call's time is up.
    fn is_timed_out(&self) -> bool {
        self.timeout.is_some_and(|timeout| self.clock.elapsed().saturating_add(SLACK) >= timeout)
    }
}

/// The timeout that a request's header gives the server, at most what is left of the operation's time.
#[cold]
fn shortened(request: &mut Request<Body>, timeout: Duration, left: Duration) -> Duration {
    if left < timeout {
        request.headers_mut().insert(grpc_timeout::GRPC_TIMEOUT, grpc_timeout::header_value(left));
    }
    timeout.min(left)
}

impl Future for ConnectionFuture {
    type Output = Result<Response<Body>, ConnectionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let (result, placement) = match &mut self.state {
                State::Waiting { place, .. } => (None, Some(ready!(Pin::new(place).poll(cx)))),
                State::Sent { sending, .. } => {
                    let result = ready!(sending.as_mut().poll(cx));
                    if let Some(link) = &self.terms.link {
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
                    Some(Ok(placement)) => self.place(*request, placement, Clock::start()),
                    // Nobody decides: it asks again.
                    _ => self.send(*request, Clock::start()),
                },
                (State::Sent { call, .. }, Some(Ok(response))) => {
                    if call.connection().serve() {
                        self.pool.served(call.connection());
                    }
                    let status = grpc_status(response.headers());
                    self.pool.count(call.connection(), EndpointResult::of_head(&response, status));
                    let pool = self.pool.settings().chosen.ejection.map(|_| Arc::clone(&self.pool));
                    let body = |body| Body::new(ConnectionBody::new(body, call, pool));
                    return Poll::Ready(Ok(response.map(body)));
                }
                (State::Sent { call, .. }, Some(Err(mut error))) => match error.take_message() {
                    // The connection has ended, or takes no more calls, and has not sent it.
                    Some(request) if self.handovers > 0 => {
                        call.connection().end().end(LostReason::Closed);
                        self.handovers -= 1;
                        drop(call);
                        self.terms.is_counted =
                            self.terms.link.as_ref().and_then(ConnectionLink::postponed).is_some();
                        self.send(request, Clock::start());
                    }
                    _ => {
                        let error = error.into_error();
                        call.connection().learn_from(&error);
                        self.pool.count(call.connection(), EndpointResult::Bad);
                        return Poll::Ready(Err(ConnectionError::of(call.connection().peer(), error)));
                    }
                },
                (State::Spread { request, .. }, _) => self.send(*request, Clock::start()),
                (State::Failed { error }, _) => return Poll::Ready(Err(error)),
                (State::Sent { .. } | State::Done, _) => return Poll::Pending,
            }
        }
    }
}

impl Drop for ConnectionFuture {
    fn drop(&mut self) {
        let State::Sent { call, received, since, .. } = &self.state else { return };
        if self.is_timed_out() {
            let time = self.clock.elapsed();
            match &self.terms.link {
                Some(link) => link.expire(time),
                None => since.elapsed() >= time / 2 && call.connection().expire(*received),
            };
        }
    }
}

gax_text::short_debug! { self: ConnectionFuture { link: self.terms.link } }

/// The body of a response. Until it has ended, its call is treated as in flight.
struct ConnectionBody {
    body: Incoming,
    /// `None`: it has ended.
    call: Option<InFlight>,
    /// Who wants to know how it ends, if endpoints are ejected.
    pool: Option<Arc<SharedPool>>,
}

impl ConnectionBody {
    fn new(body: Incoming, call: InFlight, pool: Option<Arc<SharedPool>>) -> Self {
        Self { body, call: Some(call), pool }
    }
}

impl HttpBody for ConnectionBody {
    type Data = Bytes;
    type Error = ConnectionError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let is_last = !matches!(&frame, Some(Ok(frame)) if frame.is_data());
        let Some(call) = &self.call else { return Poll::Ready(frame.and_then(Result::ok).map(Ok)) };
        let connection = call.connection();
        if let Some(pool) = &self.pool {
            let result = match &frame {
                Some(Ok(frame)) => {
                    frame.trailers_ref().map_or(EndpointResult::Open, EndpointResult::of_trailers)
                }
                Some(Err(_)) => EndpointResult::Bad,
                None => EndpointResult::Open,
            };
            pool.count(connection, result);
        }
        let frame = frame.map(|frame| {
            frame.map_err(|error| {
                connection.learn_from(&error);
                ConnectionError::of(connection.peer(), error)
            })
        });
        if is_last {
            self.call = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
