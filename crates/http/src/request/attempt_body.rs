//! The body of one attempt, which ends with it.

use bytes::Bytes;
use gax_driver::__private::Locked;
use gax_wire::__private::{BoxError, cancel};
use http::Request;
use http_body::{Body, Frame, SizeHint};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A body that an HTTP client holds, also while it does nothing with it: what is in it is shared with the attempt, and goes when
/// that is over.
pub(super) struct AttemptBody<B>(Arc<Locked<State<B>>>);

struct State<B> {
    /// Not here while it is polled.
    body: Option<B>,
    is_over: bool,
    waker: Option<Waker>,
}

/// The attempt has ended: to an HTTP/2 stream that is CANCEL.
#[derive(Debug)]
struct AttemptIsOver(Option<BoxError>);

gax_text::error_text! {
    self: AttemptIsOver => self.0.as_deref().map(|source| source as _),
    "the attempt is over: nothing more of its request is sent"
}

impl<B: Body + Send> Cut for Locked<State<B>> {
    fn cut(&self) -> bool {
        let mut state = self.lock();
        state.is_over = true;
        let (body, waker) = (state.body.take(), state.waker.take());
        // Neither is the client's code run nor the body dropped under the lock.
        drop(state);
        let is_early = body.as_ref().is_none_or(|body| !body.is_end_stream());
        drop(body);
        if let Some(waker) = waker {
            waker.wake();
        }
        is_early
    }
}

impl<B: Body + Send + 'static> AttemptBody<B> {
    pub(super) fn new(body: B) -> Self {
        Self(Arc::new(Locked::new(State { body: Some(body), is_over: false, waker: None })))
    }

    pub(super) fn cut(&self) -> Arc<dyn Cut> {
        Arc::clone(&self.0) as Arc<dyn Cut>
    }
}

impl<B> AttemptBody<B> {
    /// Looks at the body; `None`: it is gone.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut B) -> T) -> Option<T> {
        self.0.lock().body.as_mut().map(look)
    }
}

impl<B: Body<Data = Bytes, Error = BoxError> + Unpin> AttemptBody<B> {
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut state = self.0.lock();
        if state.is_over {
            return Poll::Ready(Some(Err(Box::new(AttemptIsOver(cancel())))));
        }
        let Some(mut body) = state.body.take() else { return Poll::Ready(None) };
        drop(state);
        let frame = Pin::new(&mut body).poll_frame(cx);
        let mut state = self.0.lock();
        if state.is_over {
            // It was over meanwhile: the body goes here.
            drop(state);
            drop(body);
            return self.poll_frame(cx);
        }
        state.body = Some(body);
        state.waker = frame.is_pending().then(|| cx.waker().clone());
        frame
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.with(|body| body.is_end_stream()).unwrap_or(false)
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.with(|body| body.size_hint()).unwrap_or_default()
    }
}

/// The window of an HTTP/2 connection, unless a server makes it larger.
const MIN_WINDOW: u64 = 65_535;

/// A body that can be ended from outside.
pub(super) trait Cut: Send + Sync {
    /// Nothing more of it is sent, and what it holds is let go. Returns whether that is before its end.
    fn cut(&self) -> bool;
}

/// Ends the body of a request when it is dropped, since its attempt has ended.
pub struct CutOff {
    body: Option<Arc<dyn Cut>>,
    /// The connection that hyper-util's client sends it over.
    connection: Option<CaptureConnection>,
}

impl CutOff {
    pub(super) fn of(body: Arc<dyn Cut>) -> Self {
        Self { body: Some(body), connection: None }
    }

    /// If the body is long, no other request goes over its connection once it is ended early: a server that has stopped to read it
    /// would keep the window of an HTTP/2 connection from them, since hyper resets no stream whose body waits for that window.
    pub(super) fn watch_connection<B: Body>(&mut self, request: &mut Request<B>) {
        let is_long = request.body().size_hint().exact().is_none_or(|bytes| bytes > MIN_WINDOW);
        self.connection = is_long.then(|| capture_connection(request));
    }

    /// The body is sent to its end.
    pub(crate) fn release(mut self) {
        self.body = None;
    }
}

impl Drop for CutOff {
    fn drop(&mut self) {
        if self.body.take().is_some_and(|body| body.cut())
            && let Some(connection) = &self.connection
            && let Some(connected) = &*connection.connection_metadata()
        {
            connected.poison();
        }
    }
}

gax_text::short_debug! { self: CutOff {} }
