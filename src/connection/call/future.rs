//! A call over a connection.

use crate::connection::call::body::ConnectionBody;
use crate::connection::endpoint::{Host as _, InFlight, Live};
use crate::connection::error::ConnectionError;
use crate::connection::pool::{EndpointResult, Pick, Shared, grpc_status};
use crate::operation::{Clock, LostReason, Peer};
use crate::transport::FailedPeers;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::futures::OwnedNotified;
use tonic::body::Body;

/// How close to the end of its time a call may be dropped and still count as timed out.
const SLACK: Duration = Duration::from_millis(5);

/// How often a request that a connection gives back is handed to another one.
const HANDOVERS: u8 = 8;

type Sending = Pin<Box<dyn Future<Output = Result<Response<Incoming>, TrySendError<Request<Body>>>> + Send>>;

/// The future of a call over a [`Connection`](crate::connection::Connection).
///
/// # Cancel safety
///
/// Dropping it resets the call's stream. One that is dropped when the time in its `grpc-timeout` header is up counts as a sign
/// that the server may be dead.
#[must_use = "futures do nothing unless polled"]
pub struct ConnectionFuture {
    state: State,
    pool: Arc<Shared>,
    failed: Option<FailedPeers>,
    waits: bool,
    clock: Clock,
    /// The call's own time.
    timeout: Option<Duration>,
    handovers: u8,
    /// The endpoint that it was handed to.
    peer: Option<Peer>,
    /// Whether its end counts as a time-out already.
    is_expired: AtomicBool,
}

enum State {
    /// There is no connection yet.
    Waiting {
        request: Box<Request<Body>>,
        change: Pin<Box<OwnedNotified>>,
    },
    /// A connection has it. So often had bytes come in before.
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
    pub(crate) fn new(
        pool: Arc<Shared>,
        request: Request<Body>,
        failed: Option<FailedPeers>,
        waits: bool,
        timeout: Option<Duration>,
    ) -> Self {
        let clock = Clock::start();
        let mut future = Self {
            state: State::Done,
            pool,
            failed,
            waits,
            clock,
            timeout,
            handovers: HANDOVERS,
            peer: None,
            is_expired: AtomicBool::new(false),
        };
        future.send(request);
        future
    }

    /// The endpoint that it was handed to; `None`: to none.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// Its time is up, and it is going to be dropped. Returns whether its connection is given up by that.
    pub(crate) fn expire(&self) -> bool {
        match &self.state {
            State::Sent { call, received, .. } if !self.is_expired.swap(true, Ordering::Relaxed) => {
                self.pool.timed_out(call.live(), *received)
            }
            _ => false,
        }
    }

    /// Hands the request to a connection, if there is one.
    fn send(&mut self, request: Request<Body>) {
        let mut pick = self.pool.pick(self.failed.as_ref(), self.waits);
        if matches!(pick, Pick::Wait) {
            let change = Box::pin(self.pool.change());
            // It may have come in between.
            pick = self.pool.pick(self.failed.as_ref(), self.waits);
            if matches!(pick, Pick::Wait) {
                self.state = State::Waiting { request: Box::new(request), change };
                return;
            }
        }
        self.state = match pick {
            Pick::To(live) => {
                self.peer = Some(live.peer().clone());
                sent(live, request)
            }
            Pick::None(error) => State::Failed { error: ConnectionError::unconnected(&error) },
            Pick::Wait => State::Done,
        };
    }

    /// Whether the call's time is up.
    fn is_timed_out(&self) -> bool {
        self.timeout.is_some_and(|timeout| self.clock.elapsed().saturating_add(SLACK) >= timeout)
    }
}

fn sent(live: Arc<Live>, request: Request<Body>) -> State {
    let received = live.traffic().received();
    let sending = Box::pin(live.sender().try_send_request(request));
    State::Sent { sending, call: InFlight::new(live), received }
}

impl Future for ConnectionFuture {
    type Output = Result<Response<Body>, ConnectionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let result = match &mut self.state {
                State::Waiting { change, .. } => {
                    ready!(change.as_mut().poll(cx));
                    None
                }
                State::Sent { sending, .. } => Some(ready!(sending.as_mut().poll(cx))),
                State::Failed { .. } | State::Done => None,
            };
            match (std::mem::replace(&mut self.state, State::Done), result) {
                (State::Waiting { request, .. }, _) => self.send(*request),
                (State::Sent { call, .. }, Some(Ok(mut response))) => {
                    let status = grpc_status(response.headers());
                    self.pool.count(call.live(), EndpointResult::of_head(&response, status));
                    if status.is_some_and(|status| status != 0) {
                        response.extensions_mut().insert(call.live().peer().clone());
                    }
                    let pool = self.pool.settings().ejection.map(|_| Arc::clone(&self.pool));
                    let body = |body| Body::new(ConnectionBody::new(body, call, pool));
                    return Poll::Ready(Ok(response.map(body)));
                }
                (State::Sent { call, .. }, Some(Err(mut error))) => match error.take_message() {
                    // The connection has ended, or takes no more calls, and has not sent it.
                    Some(request) if self.handovers > 0 => {
                        call.live().fate().end(LostReason::Closed);
                        self.handovers -= 1;
                        drop(call);
                        self.send(request);
                    }
                    _ => {
                        let error = error.into_error();
                        call.live().learn_from(&error);
                        self.pool.count(call.live(), EndpointResult::Bad);
                        return Poll::Ready(Err(ConnectionError::of(call.live().peer(), error)));
                    }
                },
                (State::Failed { error }, _) => return Poll::Ready(Err(error)),
                (State::Sent { .. } | State::Done, _) => return Poll::Pending,
            }
        }
    }
}

impl Drop for ConnectionFuture {
    fn drop(&mut self) {
        if matches!(self.state, State::Sent { .. }) && self.is_timed_out() {
            self.expire();
        }
    }
}

impl fmt::Debug for ConnectionFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionFuture").field("peer", &self.peer()).finish_non_exhaustive()
    }
}
