//! The service that adds credentials.

use super::cache::Fetched;
use super::future::{BoxError, CredentialsFuture, Used};
use super::hook::{Credentials, RequestCredentials};
use http::HeaderMap;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A channel that adds [`Credentials`] to each request. Metadata that the caller has set takes precedence.
///
/// Put it inside the retries, so that every attempt is sent with current credentials: pass it to a generated client instead of a
/// channel, or put `RetryLayer` around it.
///
/// # Where credentials are sent
///
/// To the server that the channel is connected to. They are not sent
///
/// * to [another origin](crate::credentials::OtherOrigin) to which a redirect or the session of an upload leads a transfer: such a request goes
///   without them, unless its host is one of [`for_hosts`](Credentials::for_hosts)
/// * in plain text, except to this machine, if that is known: from a
///   [`Connection`](https://tonic-gax.github.io/tonic-gax/connecting.html), or from the URI of an HTTP request. Such a request fails with
///   `FAILED_PRECONDITION`, unless [`allow_plaintext`](Credentials::allow_plaintext) is set. tonic's `Channel` doesn't expose whether it
///   uses TLS: check that its URI has the scheme `https`.
///
/// # Cancel safety
///
/// Dropping a request's future drops the request. A fetch of credentials that it waits for continues for other
/// requests.
#[derive(Debug, Clone)]
pub struct CredentialsService<S> {
    inner: S,
    credentials: Credentials,
}

impl<S> CredentialsService<S> {
    /// A channel with these credentials.
    #[must_use]
    pub fn new(inner: S, credentials: Credentials) -> Self {
        Self { inner, credentials }
    }
}

impl<S, B, R> Service<http::Request<B>> for CredentialsService<S>
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    B: Send + 'static,
{
    type Response = http::Response<R>;
    type Error = BoxError;
    type Future = CredentialsFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: http::Request<B>) -> Self::Future {
        let credentials = self.credentials.clone();
        match credentials.look(&mut request) {
            Ok(RequestCredentials::None) => CredentialsFuture::sent(self.inner.call(request), None),
            Ok(RequestCredentials::Fetched(fetched)) => {
                let used = put(credentials, &fetched, request.headers_mut());
                CredentialsFuture::sent(self.inner.call(request), used)
            }
            Ok(RequestCredentials::Coming(flight)) => {
                // The service that is ready waits with the request; another one takes its place.
                let next = self.inner.clone();
                let mut service = std::mem::replace(&mut self.inner, next);
                CredentialsFuture::waiting(async move {
                    let fetched = credentials.landed(flight).await?;
                    let used = put(credentials, &fetched, request.headers_mut());
                    Ok((service.call(request), used))
                })
            }
            Err(error) => CredentialsFuture::failed(error),
        }
    }
}

/// Adds credentials to a request. `None`: its server authenticates it by its caller's own.
fn put(credentials: Credentials, fetched: &Fetched, headers: &mut HeaderMap) -> Option<Used> {
    fetched.headers.add_to(headers).then_some((credentials, fetched.number))
}

/// Puts [`Credentials`] into requests, as a tower layer: see [`CredentialsService`].
#[derive(Debug, Clone)]
pub struct CredentialsLayer {
    credentials: Credentials,
}

impl CredentialsLayer {
    /// A layer that adds these.
    #[must_use]
    pub fn new(credentials: Credentials) -> Self {
        Self { credentials }
    }
}

impl<S> Layer<S> for CredentialsLayer {
    type Service = CredentialsService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        CredentialsService::new(inner, self.credentials.clone())
    }
}
