//! Responses that tonic's own client decodes for its type, without a call.

use http::uri::PathAndQuery;
use std::future::{Future, Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// A service that responds once, with a response that is there already.
#[derive(Debug)]
pub struct Canned {
    response: Option<http::Response<Body>>,
}

impl Canned {
    pub fn new(response: http::Response<Body>) -> Self {
        Self { response: Some(response) }
    }

    /// The path of its method, which is not used.
    pub fn path() -> PathAndQuery {
        PathAndQuery::from_static("/")
    }
}

impl Service<http::Request<Body>> for Canned {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        ready(self.response.take().ok_or_else(|| Status::internal("the response was read twice")))
    }
}

/// The result of a call over such a service, whose response is there as far as it is read.
pub fn now<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Status::internal("a collected response did not end")),
    }
}
