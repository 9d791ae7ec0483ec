//! The body of a response whose end is kept next to what tonic makes of it.

use bytes::Bytes;
use gax_driver::__private::{Locked, MessageCounter, PREFIX};
use gax_wire::__private::FrameBuffer;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic_gax::__private::{ResponseBody, received};

/// The end of a body, and the data that has come before it. tonic's decoder owns the body, and makes one status of every end.
#[derive(Debug, Default, Clone)]
pub(super) struct Tap(Arc<Locked<Tapped>>);

#[derive(Debug, Default)]
struct Tapped {
    end: Option<BodyEnd>,
    /// Data that observers were not notified of; `None`: no caller wants it.
    arrived: Option<Vec<Bytes>>,
}

/// How a body ended.
#[derive(Debug)]
pub enum BodyEnd {
    Trailers {
        trailers: HeaderMap,
        is_malformed: bool,
    },
    WithoutTrailers,
    Broke(Status),
    /// A message is longer than may be held: the body from its prefix on.
    TooLong(ResponseBody),
}

impl Tap {
    /// Creates an empty tap. `is_observed`: observers want to know what arrives.
    pub(super) fn new(is_observed: bool) -> Self {
        let tapped = Tapped { end: None, arrived: is_observed.then(Vec::new) };
        Self(Arc::new(Locked::new(tapped)))
    }

    pub(super) fn take_end(&self) -> Option<BodyEnd> {
        self.0.change(|tapped| tapped.end.take())
    }

    pub(super) fn take_arrived(&self) -> Vec<Bytes> {
        self.0.change(|tapped| tapped.arrived.as_mut().map(std::mem::take).unwrap_or_default())
    }
}

/// A body that notes what has come of it.
#[derive(Debug)]
pub(super) struct TappedBody {
    body: ResponseBody,
    tap: Tap,
    is_observed: bool,
    /// The longest message that is handed to the decoder.
    max_message: usize,
    messages: MessageCounter,
    /// A longer one and all that follows.
    rest: Option<ResponseBody>,
}

impl TappedBody {
    pub(super) fn new(body: ResponseBody, tap: Tap, is_observed: bool, max_message: usize) -> Self {
        Self { body, tap, is_observed, max_message, messages: MessageCounter::default(), rest: None }
    }

    /// Keeps back a message that is too long, and all that follows it. Without its whole prefix it is unknown how long it is,
    /// so that the decoder may have seen a part of that.
    fn keep_rest(&mut self, data: &mut Bytes) {
        let Some((prefix, rest)) = self.messages.find_longer(data, self.max_message) else { return };
        let mut body = std::mem::take(&mut self.body);
        let mut frames = FrameBuffer::from(Bytes::copy_from_slice(&prefix));
        frames.push(data.slice_ref(rest));
        while let Some(more) = body.0.frames.pop() {
            frames.push(more);
        }
        data.truncate((data.len() - rest.len()).saturating_sub(PREFIX));
        body.0.frames = frames;
        self.rest = Some(body);
    }
}

impl Body for TappedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Some(rest) = self.rest.take() {
            self.tap.0.change(|tapped| tapped.end = Some(BodyEnd::TooLong(rest)));
            return Poll::Ready(None);
        }
        let mut frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let end = match &mut frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_mut() {
                    if self.is_observed {
                        let data = data.clone();
                        self.tap.0.change(|tapped| tapped.arrived.get_or_insert_default().push(data));
                    }
                    self.keep_rest(data);
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
            self.tap.0.change(|tapped| {
                tapped.end.get_or_insert(end);
            });
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
