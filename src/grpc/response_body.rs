//! The body of a response that has come through the layer.

use super::collect::Collected;
use super::engine::Rest;
use super::{answer, cause};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Sleep, sleep_until};
use tonic::Status;
use tonic::body::Body;

/// The body of a response that has come through [`RetryService`](crate::RetryService): held back and
/// judged, or passed on while it still comes in, under the attempt's deadline. The default is empty: tonic's
/// interceptors answer so in its place.
#[derive(Debug, Default)]
pub struct ResponseBody {
    collected: Collected,
    rest: Option<Box<Open>>,
}

/// The part that still comes in.
#[derive(Debug)]
struct Open {
    rest: Rest,
    timer: Option<Pin<Box<Sleep>>>,
}

impl ResponseBody {
    /// A body that has ended.
    pub(crate) fn whole(collected: Collected) -> Self {
        Self { collected, rest: None }
    }

    /// A body that goes on after what was held back.
    pub(crate) fn open(collected: Collected, rest: Rest) -> Self {
        Self { collected, rest: Some(Box::new(Open { rest, timer: None })) }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.get_mut();
        if let Some(data) = this.collected.pop() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if let Some(trailers) = this.collected.trailers.take() {
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        match &mut this.rest {
            Some(open) => open.poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.collected.is_empty()
            && self.collected.trailers.is_none()
            && self.rest.as_ref().is_none_or(|open| open.rest.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.rest {
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(u64::try_from(self.collected.len()).unwrap_or(u64::MAX)),
        }
    }
}

impl Open {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match Pin::new(&mut self.rest.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(mut frame))) => {
                if let Some(trailers) = frame.trailers_mut() {
                    answer::sanitize(trailers);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(status))) if self.rest.names_errors => Poll::Ready(Some(Err(named(status)))),
            Poll::Ready(Some(Err(status))) => Poll::Ready(Some(Err(status))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => self.poll_deadline(cx),
        }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(deadline) = self.rest.deadline else {
            return Poll::Pending;
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => {
                self.rest.deadline = None;
                self.rest.body = Body::empty();
                let status = Status::deadline_exceeded("the response did not end before the call's deadline");
                Poll::Ready(Some(Err(status)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// The same status under the code that its cause has, where tonic says UNKNOWN or CANCELLED of a broken
/// connection.
fn named(status: Status) -> Status {
    let code = answer::tonic_code(cause::classify(&status, true).code);
    if status.code() == code {
        return status;
    }
    let mut renamed = Status::with_details_and_metadata(
        code,
        status.message().to_owned(),
        Bytes::copy_from_slice(status.details()),
        status.metadata().clone(),
    );
    renamed.set_source(std::sync::Arc::new(status));
    renamed
}
