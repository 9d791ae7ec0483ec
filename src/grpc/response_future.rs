//! The future of a call through the layer.
#![warn(missing_docs, missing_debug_implementations, clippy::missing_errors_doc, clippy::must_use_candidate)]

use crate::grpc::call::Call;
use crate::grpc::response::ResponseBody;
use crate::grpc::transport::{GrpcTransport, LazyService};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;

pin_project! {
    /// The future of [`RetryService`](crate::RetryService).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S: GrpcTransport> {
        #[pin]
        pub(super) call: Call<LazyService<S>>,
    }
}

impl<S: GrpcTransport> fmt::Debug for ResponseFuture<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

impl<S: GrpcTransport> Future for ResponseFuture<S> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().call.poll(cx)
    }
}
