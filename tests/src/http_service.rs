//! Services below the HTTP layer.

use gax_http::{HttpError, HttpRetryService, Replay};
use http_body::Body;
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Any service that the HTTP layer takes, for requests with that body.
pub trait HttpService<B>:
    Service<
        http::Request<B>,
        Response = http::Response<Self::ResponseBody>,
        Error: Into<BoxError>,
        Future: 'static,
    > + Clone
{
    /// The bodies of its responses.
    type ResponseBody: Body<Error: Into<BoxError>>;
}

impl<S, B, R> HttpService<B> for S
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    S::Future: 'static,
    R: Body<Error: Into<BoxError>>,
{
    type ResponseBody = R;
}

/// The error of a `GET` that has to fail.
pub async fn failed<S, B>(client: &mut HttpRetryService<S>, url: &str) -> HttpError
where
    S: HttpService<B>,
    B: Replay + Default,
{
    let request = http::Request::get(url).body(B::default()).unwrap();
    client.call(request).await.map(|response| response.status()).unwrap_err()
}
