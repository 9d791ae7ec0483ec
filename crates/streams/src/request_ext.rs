//! A resumption, put into a request.

use crate::resumption::Resumption;
use std::sync::Arc;
use tonic_gax::RequestExt as _;

/// Sets a [`Resumption`] on a request.
pub trait ResumptionExt {
    /// The request with this resumption in its extensions: the stream of responses is resumed where it breaks off, instead of
    /// the method's resumption, if a generated client has one.
    ///
    /// It works with generated clients and with any other client over a [`RetryLayer`](tonic_gax::RetryLayer). A generated client
    /// ends the call with `INVALID_ARGUMENT` if it is for messages of other types. The layer knows no types: it reads the
    /// request as the resumption's, and passes the stream on unchanged if that can't be done, or if the response is
    /// compressed ([`RESUMPTION_UNUSED`](tonic_gax::note::RESUMPTION_UNUSED)).
    #[must_use]
    fn with_resumption(self, resumption: Resumption) -> Self;
}

impl<T> ResumptionExt for tonic::Request<T> {
    fn with_resumption(self, resumption: Resumption) -> Self {
        self.with_take_over(Arc::new(resumption))
    }
}
