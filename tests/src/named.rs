//! A scripted service with a name, as a server of tonic's own wants one.

use crate::{Log, Script, Scripted};
use std::convert::Infallible;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::server::NamedService;
use tower_service::Service;

/// A service that follows a script, under the name of the service that it is made of.
#[derive(Debug, Clone)]
pub struct NamedScripted<S> {
    scripted: Scripted<S>,
}

impl<S> NamedScripted<S> {
    /// The script around a real service.
    #[must_use]
    pub fn new(inner: S, script: Script, log: Log) -> Self {
        Self { scripted: Scripted::new(inner, script, log) }
    }
}

impl<S: NamedService> NamedService for NamedScripted<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for NamedScripted<S>
where
    Scripted<S>: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = <Scripted<S> as Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.scripted.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        self.scripted.call(request)
    }
}
