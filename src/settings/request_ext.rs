//! Options of a call, put into its request.

use crate::resumption::Resumption;
use gax_driver::CallOptions;

/// Sets [`CallOptions`] and a [`Resumption`] on a request.
pub trait RequestExt {
    /// The request with these options in its extensions.
    #[must_use]
    fn with_call_options(self, options: CallOptions) -> Self;

    /// The request with this resumption in its extensions: the stream of responses is resumed where it breaks off, instead of
    /// the [method's resumption](crate::CallSettings::set_resumption).
    ///
    /// It works with generated clients and with any other client over a [`RetryLayer`](crate::RetryLayer). A generated client
    /// ends the call with `INVALID_ARGUMENT` if it is for messages of other types. The layer knows no types: it reads the
    /// request as the resumption's, and passes the stream on unchanged if that can't be done, or if the response is
    /// compressed ([`RESUMPTION_UNUSED`](crate::note::RESUMPTION_UNUSED)).
    #[must_use]
    fn with_resumption(self, resumption: Resumption) -> Self;
}

impl<T> RequestExt for tonic::Request<T> {
    fn with_call_options(mut self, options: CallOptions) -> Self {
        self.extensions_mut().insert(options);
        self
    }

    fn with_resumption(mut self, resumption: Resumption) -> Self {
        self.extensions_mut().insert(resumption);
        self
    }
}
