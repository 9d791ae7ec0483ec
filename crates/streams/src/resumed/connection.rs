//! One connection of a stream: the response of one attempt.

use super::codec::{Measured, StreamCodec};
use bytes::Bytes;
use gax_driver::__private::{Locked, MessageCounter, PREFIX};
use gax_wire::__private::FrameBuffer;
use http::{HeaderMap, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio_stream::Stream as _;
use tonic::body::Body;
use tonic::codec::Streaming;
use tonic::{Code, Status};
use tonic_gax::__private::{ResponseBody, received};

/// The messages of an attempt's response.
pub struct Connection<M> {
    messages: Streaming<Measured<M>>,
    tap: Tap,
    is_observed: bool,
    /// The response's head, which has the status if there are no trailers.
    pub head: HeaderMap,
    pub status: StatusCode,
}

/// How a connection's messages end.
pub enum ConnectionEnd {
    /// As the body ended, behind whole messages or not.
    Body { end: BodyEnd, is_whole: bool },
    /// With a message that can't be read.
    Unreadable(Status),
}

impl<M: Send + 'static> Connection<M> {
    /// # Errors
    ///
    /// The response can't be read.
    pub fn open(
        response: http::Response<ResponseBody>,
        codec: &impl StreamCodec<Response = M>,
        is_observed: bool,
        max_message: usize,
    ) -> Result<Self, Status> {
        let tap = Tap::new(is_observed);
        let (head, status) = (response.headers().clone(), response.status());
        let tapped = |body| Body::new(TappedBody::new(body, tap.clone(), is_observed, max_message));
        let response = response.map(tapped);
        let messages = codec.open(response)?.into_inner();
        Ok(Self { messages, tap, is_observed, head, status })
    }

    /// The next message, or how they end.
    #[expect(clippy::result_large_err, reason = "moved once a connection, when its messages end")]
    #[inline]
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Measured<M>, ConnectionEnd>> {
        Pin::new(&mut self.messages).poll_next(cx).map(|message| match message {
            Some(Ok(message)) => Ok(message),
            Some(Err(status)) => Err(self.end(Some(status))),
            None => Err(self.end(None)),
        })
    }

    #[cold]
    fn end(&mut self, status: Option<Status>) -> ConnectionEnd {
        let end = self.tap.take_end();
        match (end, status) {
            (Some(end), status) => {
                let is_cut_off = status.is_some_and(|status| status.code() == Code::Internal);
                ConnectionEnd::Body { end, is_whole: !is_cut_off }
            }
            (None, Some(status)) => ConnectionEnd::Unreadable(status),
            (None, None) => ConnectionEnd::Body { end: BodyEnd::WithoutTrailers, is_whole: true },
        }
    }

    /// The data that has arrived, where observers want to know.
    #[inline]
    pub fn arrived(&self) -> Vec<Bytes> {
        if self.is_observed { self.tap.take_arrived() } else { Vec::new() }
    }
}

/// The end of a body, and the data that has come before it. tonic's decoder owns the body, and makes one status of every end.
#[derive(Debug, Default, Clone)]
struct Tap(Arc<Locked<Tapped>>);

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
    fn new(is_observed: bool) -> Self {
        let tapped = Tapped { end: None, arrived: is_observed.then(Vec::new) };
        Self(Arc::new(Locked::new(tapped)))
    }

    fn take_end(&self) -> Option<BodyEnd> {
        self.0.change(|tapped| tapped.end.take())
    }

    fn take_arrived(&self) -> Vec<Bytes> {
        self.0.change(|tapped| tapped.arrived.as_mut().map(std::mem::take).unwrap_or_default())
    }
}

/// A body that notes what has come of it.
#[derive(Debug)]
struct TappedBody {
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
    fn new(body: ResponseBody, tap: Tap, is_observed: bool, max_message: usize) -> Self {
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

impl HttpBody for TappedBody {
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
