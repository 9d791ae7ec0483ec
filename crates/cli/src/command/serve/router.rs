//! The service: reflection, and the script for everything else.

use gax_testing::{Empty, Scripted};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::service::Routes;
use tonic_reflection::server::{Builder, Error};
use tower_service::Service;

#[derive(Clone)]
pub(super) struct Router {
    reflection: Routes,
    scripted: Scripted<Empty>,
}

impl Router {
    /// Reflection knows what the encoded descriptors describe.
    pub(super) fn new(descriptors: &[u8], scripted: Scripted<Empty>) -> Result<Self, Error> {
        let builder = || Builder::configure().register_encoded_file_descriptor_set(descriptors);
        let reflection = Routes::new(builder().build_v1()?).add_service(builder().build_v1alpha()?).prepare();
        Ok(Self { reflection, scripted })
    }
}

impl Service<http::Request<Body>> for Router {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if request.uri().path().starts_with("/grpc.reflection.") {
            Box::pin(Service::call(&mut self.reflection, request))
        } else {
            self.scripted.call(request)
        }
    }
}
