//! A reqwest client as a tower service.

use super::BoxError;
use ::reqwest::{Body, Client, Request};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use tower_service::Service;

/// A [`reqwest::Client`](Client) as a service of [`http::Request`]s, for [`HttpRetryLayer`](crate::HttpRetryLayer).
///
/// # Examples
///
/// ```
/// use tonic_gax::{HttpRetryLayer, ReplayBody, ReqwestService, presets};
/// use tower_layer::Layer;
/// use tower_service::Service;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ReqwestService::new(reqwest::Client::new());
/// let mut client = HttpRetryLayer::preset(&presets::storage()).layer(client);
/// let request = http::Request::get("http://localhost:9000/storage/v1/b").body(ReplayBody::empty())?;
/// let response = client.call(request).await?;
/// # drop(response);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReqwestService {
    client: Client,
}

impl ReqwestService {
    /// A service over the client.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}

impl<B> Service<http::Request<B>> for ReqwestService
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    type Response = http::Response<Body>;
    type Error = ::reqwest::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let request = request.map(|body| Body::wrap(Shared(Mutex::new(body))));
        let client = self.client.clone();
        Box::pin(async move {
            let response = client.execute(Request::try_from(request)?).await?;
            Ok(response.into())
        })
    }
}

/// A body that may be shared between threads, since nobody reaches it but by a unique reference.
struct Shared<B>(Mutex<B>);

impl<B: HttpBody + Unpin> HttpBody for Shared<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

impl<B> fmt::Debug for Shared<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
