//! A reqwest client as a tower service.

use crate::http::BoxError;
use ::reqwest::{Body, Client, Request};
use bytes::Bytes;
use http::Method;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower_service::Service;

/// A [`reqwest::Client`](Client) as a service of [`http::Request`]s, for [`HttpRetryLayer`](crate::HttpRetryLayer).
///
/// The client follows redirects by itself, unless it was built with
/// [`Policy::none`](::reqwest::redirect::Policy::none), and its errors don't say which hop they speak of. So a request
/// counts as not carried out, which makes any method safe to send again, only where not even its first hop was begun.
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
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        // What is always safe to send again needs no proof that it was not sent.
        let is_safe = [Method::GET, Method::HEAD].contains(request.method());
        let begun = (!is_safe).then(|| Arc::new(AtomicBool::new(false)));
        let begins = begun.clone();
        let request = request.map(|body| Body::wrap(Shared { body: Mutex::new(body), begins }));
        let client = self.client.clone();
        Box::pin(async move {
            match client.execute(Request::try_from(request)?).await {
                Ok(response) => Ok(response.into()),
                Err(error) if begun.is_some_and(|begun| !begun.load(Ordering::Relaxed)) => {
                    Err(NotBegun(error).into())
                }
                Err(error) => Err(error.into()),
            }
        })
    }
}

/// The error of a request that no connection has begun to write, not for its first hop either.
#[derive(Debug)]
pub(super) struct NotBegun(::reqwest::Error);

impl NotBegun {
    /// The error as the client gave it.
    pub(super) fn unwrap(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(error) => Box::new(error.0),
            Err(error) => error,
        }
    }
}

impl fmt::Display for NotBegun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for NotBegun {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// A body that may be shared between threads, since nobody reaches it but by a unique reference.
struct Shared<B> {
    body: Mutex<B>,
    /// Told when a connection takes the request. That looks first whether there is a body.
    begins: Option<Arc<AtomicBool>>,
}

impl<B> Shared<B> {
    fn begin(&self) {
        if let Some(begins) = &self.begins {
            begins.store(true, Ordering::Relaxed);
        }
    }
}

impl<B: HttpBody + Unpin> HttpBody for Shared<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.begin();
        Pin::new(self.body.get_mut().unwrap_or_else(PoisonError::into_inner)).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.begin();
        self.body.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

impl<B> fmt::Debug for Shared<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
