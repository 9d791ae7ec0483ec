//! Bodies that may have to be opened first.

use bytes::Bytes;
use gax_wire::__private::BoxError;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A body that may have to be opened first.
pub(super) trait OpenBody: Body<Data = Bytes, Error = BoxError> + Send {
    fn poll_open(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }
}

impl<B> OpenBody for http_body_util::combinators::MapErr<B, fn(B::Error) -> BoxError> where
    B: Body<Data = Bytes> + Send
{
}

pin_project! {
    /// A body that a future opens.
    #[project = OpeningProj]
    pub(super) enum Opening<F, B> {
        Closed { #[pin] future: F },
        Open { #[pin] body: B },
        // It could not be opened.
        Failed,
    }
}

impl<F, B> Opening<F, B> {
    pub(super) fn new(future: F) -> Self {
        Self::Closed { future }
    }
}

impl<F, B, E> OpenBody for Opening<F, B>
where
    F: Future<Output = Result<B, E>> + Send,
    B: Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
    E: Into<BoxError>,
{
    fn poll_open(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let OpeningProj::Closed { future } = self.as_mut().project() else { return Poll::Ready(Ok(())) };
        match ready!(future.poll(cx)) {
            Ok(body) => {
                self.set(Opening::Open { body });
                Poll::Ready(Ok(()))
            }
            Err(error) => {
                self.set(Opening::Failed);
                Poll::Ready(Err(error.into()))
            }
        }
    }
}

impl<F, B, E> Body for Opening<F, B>
where
    F: Future<Output = Result<B, E>> + Send,
    B: Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
    E: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Err(error) = ready!(self.as_mut().poll_open(cx)) {
            return Poll::Ready(Some(Err(error)));
        }
        match self.project() {
            OpeningProj::Open { body } => {
                body.poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(Into::into)))
            }
            OpeningProj::Closed { .. } | OpeningProj::Failed => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Opening::Closed { .. } => false,
            Opening::Open { body } => body.is_end_stream(),
            Opening::Failed => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Opening::Closed { .. } => SizeHint::default(),
            Opening::Open { body } => body.size_hint(),
            Opening::Failed => SizeHint::with_exact(0),
        }
    }
}
