//! The services that transfers go over.

use crate::http::ReplayBody;
use crate::transport::BoxError;
use http_body::Body;
use tower_service::Service;

/// An HTTP service that transfers can go over: any that takes requests with a [`ReplayBody`], and can be cloned and sent to other
/// threads. hyper-util's client is one, and so is [`ReqwestService`](crate::http::ReqwestService).
///
/// It is implemented for everything that qualifies, so you never implement it yourself.
pub trait TransferService:
    Service<
        http::Request<ReplayBody>,
        Response = http::Response<Self::ResponseBody>,
        Error: Into<BoxError>,
        Future: Send,
    > + Clone
    + Send
    + 'static
{
    /// The bodies of its responses.
    type ResponseBody: Body<Data: Send, Error: Into<BoxError>> + Send + 'static;
}

impl<S, R> TransferService for S
where
    S: Service<http::Request<ReplayBody>, Response = http::Response<R>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    R: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type ResponseBody = R;
}
