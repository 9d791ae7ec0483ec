//! Options of a call, put into its request.

use crate::grpc::take_over::{TakeOver, TakenBy};
use gax_driver::CallOptions;
use std::sync::Arc;

/// Sets [`CallOptions`] on a request, or who takes its call over.
pub trait RequestExt {
    /// The request with these options in its extensions.
    #[must_use]
    fn with_call_options(self, options: CallOptions) -> Self;

    /// The request with somebody in its extensions who may run its call, instead of a [`RetryLayer`](crate::RetryLayer): a resumption of
    /// `gax-streams`, for one.
    #[must_use]
    fn with_take_over(self, take_over: Arc<dyn TakeOver>) -> Self;
}

impl<T> RequestExt for tonic::Request<T> {
    fn with_call_options(mut self, options: CallOptions) -> Self {
        self.extensions_mut().insert(options);
        self
    }

    fn with_take_over(mut self, take_over: Arc<dyn TakeOver>) -> Self {
        self.extensions_mut().insert(TakenBy(take_over));
        self
    }
}
