//! The body of a response, while its request is still being served.

use gax_driver::__private::Serving;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The body of a response from [`DeadlineService`](crate::deadline::DeadlineService). A stream of responses makes calls while it
    /// is read, which the request's deadline bounds like those of the handler; the request ends as the body is dropped.
    pub struct DeadlineBody<B> {
        // It is dropped first: what is done for the request stops before what waits for it.
        serving: Serving,
        #[pin]
        body: B,
    }
}

impl<B> DeadlineBody<B> {
    pub(super) fn new(serving: Serving, body: B) -> Self {
        Self { serving, body }
    }
}

impl<B: Body> Body for DeadlineBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.project();
        this.serving.inbound().enter(|| this.body.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> fmt::Debug for DeadlineBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadlineBody").finish_non_exhaustive()
    }
}
