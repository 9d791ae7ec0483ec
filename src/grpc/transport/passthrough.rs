//! A call of a method that no table knows: it passes through, and nothing is added to it.

use crate::grpc::response::{OpenBody, ResponseBody};
use crate::grpc::status::received;
use crate::grpc::transport::handle::{ServiceHandle, ready_now};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::StdError;

pin_project! {
    /// A call as it came, and its response as it comes.
    pub struct Passthrough<A: ServiceHandle> {
        handle: A,
        #[pin]
        sending: Sending<<A::Service as GrpcService<Body>>::Future>,
    }
}

pin_project! {
    #[project = SendingProj]
    enum Sending<F> {
        // It waits until the service is ready.
        Ready { request: Box<http::Request<Body>> },
        // The response's headers are awaited.
        Sent { #[pin] future: F },
        // The service has failed.
        Failed { error: Option<StdError> },
    }
}

impl<A: ServiceHandle> Passthrough<A> {
    /// Sends the request now if the service takes it.
    pub fn new(handle: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        let sending = match ready_now(service) {
            Poll::Ready(Ok(())) => Sending::Sent { future: service.call(request) },
            Poll::Ready(Err(error)) => Sending::Failed { error: Some(error.into()) },
            Poll::Pending => Sending::Ready { request: Box::new(request) },
        };
        Self { handle, sending }
    }
}

impl<A: ServiceHandle> Future for Passthrough<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.sending.as_mut().project() {
                SendingProj::Ready { request } => {
                    let mut sent = None;
                    let call =
                        |service: &mut A::Service| sent = Some(service.call(std::mem::take(&mut **request)));
                    match (ready!(this.handle.when_ready(cx, call)), sent) {
                        (Ok(()), Some(future)) => this.sending.set(Sending::Sent { future }),
                        (Ok(()), None) => return Poll::Pending,
                        (Err(error), _) => return Poll::Ready(Err(Status::from_error(error.into()))),
                    }
                }
                SendingProj::Sent { future } => {
                    return Poll::Ready(match ready!(future.poll(cx)) {
                        Ok(mut response) => {
                            // Without what tonic would panic on.
                            received::sanitize(response.headers_mut());
                            let open = |body| ResponseBody::open(OpenBody::new(Body::new(body), None, false));
                            Ok(response.map(open))
                        }
                        Err(error) => Err(Status::from_error(error.into())),
                    });
                }
                SendingProj::Failed { error } => {
                    return match error.take() {
                        Some(error) => Poll::Ready(Err(Status::from_error(error))),
                        None => Poll::Pending,
                    };
                }
            }
        }
    }
}
