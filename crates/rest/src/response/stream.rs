//! The body of a gRPC response that was made of an HTTP response: one message, or a stream.

use crate::problem::{too_long, unreadable};
use crate::response::array::{ArrayReader, NextPart, NoArray, Outside};
use crate::response::failure::Failed;
use crate::response::http_body::HttpBytes;
use crate::response::json::Reading;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use prost_reflect::DescriptorPool;
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tonic::Status;

/// The body of a response of a [`RestTransport`](crate::RestTransport): messages with their prefixes, and the status behind
/// them in trailers.
#[derive(Default)]
pub struct RestBody {
    content: Content,
}

#[derive(Default)]
enum Content {
    #[default]
    End,
    /// One message, and success behind it.
    Message(Bytes),
    Success,
    Stream(Box<StreamBody>),
}

impl RestBody {
    /// The body of a success with one message, whose frame that is.
    pub(crate) fn message(frame: Bytes) -> Self {
        Self { content: Content::Message(frame) }
    }

    /// The body of a stream.
    pub(crate) fn stream(stream: StreamBody) -> Self {
        Self { content: Content::Stream(Box::new(stream)) }
    }
}

gax_text::short_debug! { self: RestBody {} }

impl Body for RestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Content::Stream(stream) = &mut self.content {
            return stream.poll_frame(cx);
        }
        let frame = match std::mem::take(&mut self.content) {
            Content::Message(frame) => {
                self.content = Content::Success;
                Some(Ok(Frame::data(frame)))
            }
            Content::Success => Some(Ok(Frame::trailers(success()))),
            Content::End | Content::Stream(_) => None,
        };
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::End => true,
            Content::Message(_) | Content::Success => false,
            Content::Stream(stream) => stream.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Message(frame) => SizeHint::with_exact(frame.len() as u64),
            Content::End | Content::Success => SizeHint::with_exact(0),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

/// The trailers of a success.
fn success() -> HeaderMap {
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
    trailers
}

/// The elements of a JSON array, or objects one after the other, as gRPC messages in the order in which they come.
pub(crate) struct StreamBody {
    bytes: HttpBytes,
    array: ArrayReader,
    reading: Reading,
    pool: DescriptorPool,
    /// The longest element.
    limit: usize,
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Reading,
    /// The body has ended.
    Ended,
    Over,
}

type Item = Option<Result<Frame<Bytes>, Status>>;

impl StreamBody {
    pub(crate) fn new(bytes: HttpBytes, reading: Reading, pool: DescriptorPool, limit: usize) -> Self {
        Self { bytes, array: ArrayReader::default(), reading, pool, limit, progress: Progress::Reading }
    }

    pub(super) fn is_over(&self) -> bool {
        self.progress == Progress::Over
    }

    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Item> {
        loop {
            if self.is_over() {
                return Poll::Ready(None);
            }
            match self.array.next() {
                Ok(NextPart::Element(element)) => return Poll::Ready(self.element(&element)),
                Ok(NextPart::Outside(place, object)) => return Poll::Ready(self.outside(place, &object)),
                Ok(NextPart::More) => {}
                Err(NoArray(problem)) => return Poll::Ready(self.broken(&problem, false)),
            }
            if self.progress == Progress::Ended {
                return Poll::Ready(self.end());
            }
            if self.array.buffer.len() > self.limit {
                return Poll::Ready(self.over(Some(Err(too_long(self.limit)))));
            }
            match ready!(self.bytes.poll_append(cx, &mut self.array.buffer, self.limit)) {
                Ok(true) => {}
                Ok(false) => self.progress = Progress::Ended,
                Err(status) => return Poll::Ready(self.over(Some(Err(status)))),
            }
        }
    }

    /// The message of an element, or the error that is in its place.
    fn element(&mut self, element: &[u8]) -> Item {
        if self.has("error") {
            self.message(element)
        } else {
            self.failed(element).or_else(|| self.message(element))
        }
    }

    /// Behind an array stands an error. In place of one stand messages (of Envoy), each as `result` (of grpc-gateway), or an error.
    fn outside(&mut self, place: Outside, object: &[u8]) -> Item {
        let failed = self.failed(object);
        if failed.is_some() {
            return failed;
        }
        if place == Outside::Behind {
            return self.broken("it has an object outside of its array that is not an error", false);
        }
        let result = || {
            let mut object = serde_json::from_slice::<Value>(object).ok()?;
            let is_alone = object.as_object().is_some_and(|object| object.len() == 1);
            Some(object.get_mut("result").filter(|_| is_alone)?.take().to_string())
        };
        match if self.has("result") { None } else { result() } {
            Some(result) => self.message(result.as_bytes()),
            None => self.message(object),
        }
    }

    /// Returns whether messages have that field.
    fn has(&self, field: &str) -> bool {
        self.reading.method.output.get_field_by_json_name(field).is_some()
    }

    fn message(&mut self, element: &[u8]) -> Item {
        if element.len() > self.limit {
            return self.over(Some(Err(too_long(self.limit))));
        }
        match self.reading.frame(element) {
            Ok(frame) => Some(Ok(Frame::data(frame))),
            Err(status) => self.over(Some(Err(status))),
        }
    }

    /// The error that an object is; `None`: it is none.
    fn failed(&mut self, object: &[u8]) -> Item {
        let failed = Failed::in_stream(object, &self.pool, self.reading.is_java)?;
        self.over(Some(Ok(Frame::trailers(failed.into_headers(HeaderMap::new())))))
    }

    /// The end of the body.
    fn end(&mut self) -> Item {
        // A stream without messages has no body.
        if self.array.is_over() || self.array.is_blank() {
            return self.over(Some(Ok(Frame::trailers(success()))));
        }
        self.broken("it ends too early", true)
    }

    fn broken(&mut self, problem: &str, is_cut: bool) -> Item {
        let message =
            format!("the response is not a stream of {}: {problem}", self.reading.method.output.full_name());
        self.over(Some(Err(unreadable(message, is_cut, self.reading.is_java))))
    }

    fn over(&mut self, last: Item) -> Item {
        self.progress = Progress::Over;
        last
    }
}
