//! Where an operation has its service from.

use crate::grpc::transport::service::GrpcTransport;
use std::task::{Context, Poll, Waker};
use tonic::body::Body;
use tonic::client::GrpcService;

/// The way to a service.
pub trait ServiceHandle: Send + 'static {
    type Service: GrpcTransport;

    /// Hands the operation's own service to `send` once it takes a request. One that has failed is neither called nor asked
    /// again.
    fn when_ready(
        &mut self,
        cx: &mut Context<'_>,
        send: impl FnOnce(&mut Self::Service),
    ) -> Ready<Self::Service>;

    /// Puts another service in its place: of one that holds a place in a queue.
    fn renew(&mut self);
}

/// The readiness of a service to take a request.
pub(super) type Ready<S> = Poll<Result<(), <S as GrpcService<Body>>::Error>>;

/// Hands a service to `send` if it takes a request.
#[inline]
pub(super) fn offer<S: GrpcTransport>(
    service: &mut S,
    cx: &mut Context<'_>,
    send: impl FnOnce(&mut S),
) -> Ready<S> {
    let ready = service.poll_ready(cx);
    if let Poll::Ready(Ok(())) = ready {
        send(service);
    }
    ready
}

/// A service of the operation's own from the start.
#[derive(Debug)]
pub struct OwnService<S>(pub S);

impl<S: GrpcTransport> ServiceHandle for OwnService<S> {
    type Service = S;

    #[inline]
    fn when_ready(&mut self, cx: &mut Context<'_>, send: impl FnOnce(&mut S)) -> Ready<S> {
        let ready = offer(&mut self.0, cx, send);
        if let Poll::Ready(Err(_)) = ready {
            self.renew();
        }
        ready
    }

    fn renew(&mut self) {
        self.0 = self.0.clone();
    }
}

/// Asks a service once whether it takes a request now.
///
/// One that does not is exchanged for a clone. It has taken a place in a queue, which would come up with nobody
/// there to use it; or it has failed, and may not be asked again.
#[inline]
pub(crate) fn ready_now<S: GrpcTransport>(service: &mut S) -> Poll<Result<(), S::Error>> {
    let ready = service.poll_ready(&mut Context::from_waker(Waker::noop()));
    if !matches!(ready, Poll::Ready(Ok(()))) {
        *service = service.clone();
    }
    ready
}
