//! A place between an operation and its channel where a test can look at what is sent.

use bytes::Bytes;
use gax_client::GrpcTransport;
use http::HeaderMap;
use http_body_util::{BodyExt as _, Full};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::StdError;
use tower_service::Service;

/// A request as it was sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sent {
    /// Its headers.
    pub headers: HeaderMap,
    /// Its extensions.
    pub extensions: http::Extensions,
    /// Its URI.
    pub uri: http::Uri,
    /// Its body, the very buffer.
    pub body: Bytes,
}

/// A service that keeps what goes through it.
#[derive(Debug, Clone)]
pub struct Tap<S> {
    inner: S,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl<S> Tap<S> {
    /// A tap before a service.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self { inner, sent: Arc::default() }
    }

    /// The requests that were sent.
    #[must_use]
    pub fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<S: GrpcTransport> Service<http::Request<Body>> for Tap<S> {
    type Response = http::Response<Body>;
    type Error = StdError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, StdError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        // The service that was found ready makes the call.
        let clone = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, clone);
        let sent = Arc::clone(&self.sent);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(|status: Status| StdError::from(status))?.to_bytes();
            sent.lock().unwrap_or_else(PoisonError::into_inner).push(Sent {
                headers: parts.headers.clone(),
                extensions: parts.extensions.clone(),
                uri: parts.uri.clone(),
                body: body.clone(),
            });
            let request = http::Request::from_parts(parts, Body::new(Full::new(body)));
            let response = ready.call(request).await.map_err(Into::into)?;
            Ok(response.map(Body::new))
        })
    }
}
