//! The HTTP services that requests are sent over.

use gax_wire::__private::BoxError;
use http_body::Body as HttpBody;
use tonic::body::Body;

/// An HTTP client that a [`RestTransport`](crate::RestTransport) sends requests over: hyper-util's, or with the feature
/// `reqwest` a `gax_http::ReqwestService`, each also with tower layers around it.
///
/// It is implemented for everything that qualifies, so you never implement it yourself. The client should follow no redirects: a
/// request that is redirected is another request.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't send the requests of a REST client",
    label = "not an `RestHttpService`",
    note = "an HTTP service is a `tower::Service<http::Request<tonic::body::Body>>` that is `Clone`, `Send` and `'static`, \
            whose future and response body are `Send`, and whose errors turn into a boxed error"
)]
pub trait RestHttpService:
    gax_http::HttpService<
        Body,
        Future: Send,
        ResponseBody: HttpBody<Data: Send, Error: Into<BoxError>> + Send + 'static,
    > + Send
    + 'static
{
}

#[diagnostic::do_not_recommend]
impl<S> RestHttpService for S where
    S: gax_http::HttpService<
            Body,
            Future: Send,
            ResponseBody: HttpBody<Data: Send, Error: Into<BoxError>> + Send + 'static,
        > + Send
        + 'static
{
}
