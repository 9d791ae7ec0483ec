//! The HTTP services that requests are sent over.

use crate::transport::BoxError;
use http_body::Body as HttpBody;
use std::future::Future;
use tonic::body::Body;
use tower_service::Service;

/// An HTTP client that a [`RestTransport`](crate::rest::RestTransport) sends requests over: hyper-util's, or with the feature
/// `reqwest` a [`ReqwestService`](crate::http::ReqwestService), each also with tower layers around it.
///
/// It is implemented for everything that qualifies, so you never implement it yourself. The client should follow no redirects: a
/// request that is redirected is another request.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't send the requests of a REST client",
    label = "not an `HttpService`",
    note = "an HTTP service is a `tower::Service<http::Request<tonic::body::Body>>` that is `Clone`, `Send` and `'static`, \
            whose future and response body are `Send`, and whose errors turn into a boxed error"
)]
pub trait HttpService:
    Service<
        http::Request<Body>,
        Response = http::Response<Self::ResponseBody>,
        Error: Into<BoxError>,
        Future: Future<Output = Result<http::Response<Self::ResponseBody>, Self::Error>> + Send,
    > + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type ResponseBody: HttpBody<Data: Send, Error: Into<BoxError>> + Send + 'static;
}

#[diagnostic::do_not_recommend]
impl<S, B> HttpService for S
where
    S: Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: HttpBody<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type ResponseBody = B;
}
