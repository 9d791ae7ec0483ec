//! The HTTP services that the layer can send requests over.

use gax_wire::__private::BoxError;
use http_body::Body;
use tower_service::Service;

/// An HTTP service that the layer can send requests with such bodies over.
///
/// It is implemented for everything that qualifies, so you never implement it yourself.
pub trait HttpService<B>:
    Service<http::Request<B>, Response = http::Response<Self::ResponseBody>, Error: Into<BoxError>> + Clone
{
    /// The bodies of its responses.
    type ResponseBody: Body<Error: Into<BoxError>>;
}

#[diagnostic::do_not_recommend]
impl<S, B, R> HttpService<B> for S
where
    S: Service<http::Request<B>, Response = http::Response<R>, Error: Into<BoxError>> + Clone,
    R: Body<Error: Into<BoxError>>,
{
    type ResponseBody = R;
}
