//! Streams of responses.

use crate::rest::problem::{too_long, unreadable};
use crate::rest::response::array::{ArrayReader, NextPart, NoArray};
use crate::rest::response::failure::Failed;
use crate::rest::response::http_body::HttpBytes;
use crate::rest::response::json::Reading;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use prost_reflect::DescriptorPool;
use std::fmt;
use std::task::{Context, Poll, ready};
use tonic::Status;

/// The elements of a JSON array as gRPC messages, in the order in which they come.
pub(crate) struct StreamBody {
    bytes: HttpBytes,
    array: ArrayReader,
    reading: Reading,
    pool: DescriptorPool,
    /// The longest element.
    limit: usize,
    progress: Progress,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Progress {
    Reading,
    /// The server has begun to say why the stream failed.
    Failing(Vec<u8>),
    /// The body has ended.
    Ended,
    Over,
}

impl fmt::Debug for StreamBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamBody").field("progress", &self.progress).finish_non_exhaustive()
    }
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
            match &mut self.progress {
                Progress::Over => return Poll::Ready(None),
                Progress::Failing(error) => {
                    let more = ready!(self.bytes.poll_append(cx, error, self.limit));
                    if !matches!(more, Ok(true)) || error.len() > self.limit {
                        let error = std::mem::take(error);
                        return Poll::Ready(self.failed(&error));
                    }
                }
                Progress::Reading | Progress::Ended => {
                    match self.array.next() {
                        Ok(NextPart::Element(element)) => return Poll::Ready(self.element(&element)),
                        Ok(NextPart::Outside(error)) if self.progress == Progress::Ended => {
                            return Poll::Ready(self.failed(&error));
                        }
                        Ok(NextPart::Outside(error)) => {
                            self.progress = Progress::Failing(error);
                            continue;
                        }
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
        }
    }

    /// The message of an element, or the error that stands in its place.
    fn element(&mut self, element: &[u8]) -> Item {
        if element.len() > self.limit {
            return self.over(Some(Err(too_long(self.limit))));
        }
        let has_error = self.reading.method.output.get_field_by_json_name("error").is_some();
        if !has_error && let Some(failed) = Failed::in_stream(element, &self.pool) {
            return self.over(Some(Ok(Frame::trailers(failed.into_headers(HeaderMap::new())))));
        }
        match self.reading.frame(element) {
            Ok(frame) => Some(Ok(Frame::data(frame))),
            Err(status) => self.over(Some(Err(status))),
        }
    }

    /// The error that stands outside of the array.
    fn failed(&mut self, error: &[u8]) -> Item {
        match Failed::in_stream(error, &self.pool) {
            Some(failed) => self.over(Some(Ok(Frame::trailers(failed.into_headers(HeaderMap::new()))))),
            None => self.broken("it has an object outside of its array that is no error", false),
        }
    }

    /// The end of the body.
    fn end(&mut self) -> Item {
        // A stream without messages has no body.
        if self.array.is_over() || self.array.is_blank() {
            let mut trailers = HeaderMap::with_capacity(1);
            trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
            return self.over(Some(Ok(Frame::trailers(trailers))));
        }
        self.broken("it ends within its array", true)
    }

    fn broken(&mut self, problem: &str, is_cut: bool) -> Item {
        let message =
            format!("the response is no stream of {}: {problem}", self.reading.method.output.full_name());
        self.over(Some(Err(unreadable(message, is_cut, self.reading.is_java))))
    }

    fn over(&mut self, last: Item) -> Item {
        self.progress = Progress::Over;
        last
    }
}
