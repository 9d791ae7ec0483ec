//! A call of a method that no table knows: it is passed on, and nothing is added to it.

use super::access::{Access, ready_now};
use super::answer;
use super::response_body::ResponseBody;
use super::rest::Rest;
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
    pub(crate) struct Passing<A: Access> {
        access: A,
        #[pin]
        sending: Sending<<A::Service as GrpcService<Body>>::Future>,
    }
}

pin_project! {
    #[project = SendingProj]
    enum Sending<F> {
        // The service is asked whether it takes the request.
        Ready { request: Option<Box<http::Request<Body>>> },
        // The head of the response is awaited.
        Sent { #[pin] future: F },
        // The service takes no request any more.
        Failed { error: Option<StdError> },
    }
}

impl<A: Access> Passing<A> {
    /// Sends the request now if the service takes it.
    pub(crate) fn new(access: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        let sending = match ready_now(service) {
            Poll::Ready(Ok(())) => Sending::Sent { future: service.call(request) },
            Poll::Ready(Err(error)) => Sending::Failed { error: Some(error.into()) },
            Poll::Pending => Sending::Ready { request: Some(Box::new(request)) },
        };
        Self { access, sending }
    }
}

impl<A: Access> Future for Passing<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.sending.as_mut().project() {
                SendingProj::Ready { request } => match ready!(this.access.service().poll_ready(cx)) {
                    Ok(()) => {
                        let Some(request) = request.take() else {
                            return Poll::Pending;
                        };
                        let future = this.access.service().call(*request);
                        this.sending.set(Sending::Sent { future });
                    }
                    Err(error) => {
                        // A service that has failed is neither called nor asked again.
                        this.access.renew();
                        return Poll::Ready(Err(Status::from_error(error.into())));
                    }
                },
                SendingProj::Sent { future } => {
                    return Poll::Ready(match ready!(future.poll(cx)) {
                        Ok(mut response) => {
                            // What tonic would panic on.
                            answer::sanitize(response.headers_mut());
                            let open = |body| ResponseBody::open(Rest::new(Body::new(body), None, false));
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
