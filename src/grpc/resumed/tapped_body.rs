//! The body of a response whose end is kept beside what tonic makes of it.

use crate::grpc::response::ResponseBody;
use crate::grpc::status::received;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tonic::Status;

/// The end of a body, and the data that has come before it. tonic's decoder owns the body, and makes one status of every end.
#[derive(Debug, Default, Clone)]
pub(super) struct Tap(Arc<Mutex<Tapped>>);

#[derive(Debug, Default)]
struct Tapped {
    end: Option<BodyEnd>,
    /// Data that observers were not notified of; `None`: nobody wants it.
    arrived: Option<Vec<Bytes>>,
}

/// How a body ended.
#[derive(Debug)]
pub(super) enum BodyEnd {
    Trailers { trailers: HeaderMap, is_malformed: bool },
    WithoutTrailers,
    Broke(Status),
}

impl Tap {
    /// Whether observers want to know what arrives.
    pub(super) fn new(is_observed: bool) -> Self {
        let tapped = Tapped { end: None, arrived: is_observed.then(Vec::new) };
        Self(Arc::new(Mutex::new(tapped)))
    }

    fn with<T>(&self, look: impl FnOnce(&mut Tapped) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn take_end(&self) -> Option<BodyEnd> {
        self.with(|tapped| tapped.end.take())
    }

    pub(super) fn take_arrived(&self) -> Vec<Bytes> {
        self.with(|tapped| tapped.arrived.as_mut().map(std::mem::take).unwrap_or_default())
    }
}

/// A body that notes what has come of it.
#[derive(Debug)]
pub(super) struct TappedBody {
    body: ResponseBody,
    tap: Tap,
    is_observed: bool,
}

impl TappedBody {
    pub(super) fn new(body: ResponseBody, tap: Tap, is_observed: bool) -> Self {
        Self { body, tap, is_observed }
    }
}

impl Body for TappedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let end = match &mut frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    if self.is_observed {
                        let data = data.clone();
                        self.tap.with(|tapped| tapped.arrived.get_or_insert_default().push(data));
                    }
                    None
                } else {
                    frame.trailers_mut().map(|trailers| {
                        let is_malformed = received::sanitize(trailers);
                        BodyEnd::Trailers { trailers: trailers.clone(), is_malformed }
                    })
                }
            }
            Some(Err(status)) => Some(BodyEnd::Broke(status.clone())),
            None => Some(BodyEnd::WithoutTrailers),
        };
        if let Some(end) = end {
            self.tap.with(|tapped| {
                tapped.end.get_or_insert(end);
            });
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
