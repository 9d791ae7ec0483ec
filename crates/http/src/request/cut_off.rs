//! A request's body ends with its attempt.

use http::Request;
use http_body::Body;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use std::sync::Arc;

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
