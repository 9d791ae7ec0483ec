//! The services that transfers go over.

use gax_http::{HttpService, ReplayBody};
use gax_wire::__private::BoxError;
use http_body::Body;

/// An HTTP service that transfers can go over: any that takes requests with a [`ReplayBody`], and can be cloned and sent to other
/// threads. hyper-util's client is one, and so is `gax_http::ReqwestService`.
///
/// It is implemented for everything that qualifies, so you never implement it yourself.
pub trait TransferService:
    HttpService<
        ReplayBody,
        Future: Send,
        ResponseBody: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
    > + Send
    + 'static
{
}

impl<S> TransferService for S where
    S: HttpService<
            ReplayBody,
            Future: Send,
            ResponseBody: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
        > + Send
        + 'static
{
}
