//! Where an operation has its service from.

#[cfg(feature = "tables")]
use crate::grpc::methods::Methods;
use crate::grpc::transport::service::Transport;
#[cfg(feature = "tables")]
use gax_driver::__house::Replaceable;
#[cfg(feature = "tables")]
use gax_wire::__house::SharedService;
#[cfg(feature = "tables")]
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tonic::body::Body;
use tonic::client::GrpcService;

/// The way to a service.
pub(crate) trait ServiceHandle: Send + 'static {
    type Service: Transport;

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

/// Whether a service takes a request.
type Ready<S> = Poll<Result<(), <S as GrpcService<Body>>::Error>>;

/// Hands a service to `send` if it takes a request.
#[inline]
fn offer<S: Transport>(service: &mut S, cx: &mut Context<'_>, send: impl FnOnce(&mut S)) -> Ready<S> {
    let ready = service.poll_ready(cx);
    if let Poll::Ready(Ok(())) = ready {
        send(service);
    }
    ready
}

/// A service of the operation's own from the start.
#[derive(Debug)]
pub(crate) struct OwnService<S>(pub(crate) S);

impl<S: Transport> ServiceHandle for OwnService<S> {
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

/// The part that clones of a service made by the layer share: one count, not two, goes up and down with each call and each clone.
#[cfg(feature = "tables")]
pub(crate) struct SharedParts<S> {
    pub(crate) spare: SharedService<S>,
    pub(crate) methods: Replaceable<Methods>,
}

/// A service that is made when it is needed: by an operation that continues after its first attempt, or that
/// finds the service not ready.
///
/// The others save its cost, which exceeds their own: to clone a `Channel` counts half a dozen references up,
/// and down again. They don't take the lock either.
#[cfg(feature = "tables")]
pub(crate) struct LazyService<S> {
    shared: Arc<SharedParts<S>>,
    /// One that has to be waited for. Few have, and those that are ready immediately are not kept, so that the future
    /// of a call is a service smaller (bench `speed`, instructions).
    own: Option<Box<S>>,
}

#[cfg(feature = "tables")]
impl<S: Transport> LazyService<S> {
    #[inline]
    pub(crate) fn new(shared: Arc<SharedParts<S>>) -> Self {
        Self { shared, own: None }
    }
}

#[cfg(feature = "tables")]
impl<S: Transport> ServiceHandle for LazyService<S> {
    type Service = S;

    fn when_ready(&mut self, cx: &mut Context<'_>, send: impl FnOnce(&mut S)) -> Ready<S> {
        let Some(own) = &mut self.own else {
            let mut service = self.shared.spare.copy();
            let ready = offer(&mut service, cx, send);
            if ready.is_pending() {
                self.own = Some(Box::new(service));
            }
            return ready;
        };
        let ready = offer(&mut **own, cx, send);
        if let Poll::Ready(Err(_)) = ready {
            self.renew();
        }
        ready
    }

    fn renew(&mut self) {
        self.own = None;
    }
}

/// Asks a service once whether it takes a request now.
///
/// One that does not is exchanged for a clone. It has taken a place in a queue, which would come up with nobody
/// there to use it; or it has failed, and may not be asked again.
#[inline]
pub(crate) fn ready_now<S: Transport>(service: &mut S) -> Poll<Result<(), S::Error>> {
    let ready = service.poll_ready(&mut Context::from_waker(Waker::noop()));
    if !matches!(ready, Poll::Ready(Ok(()))) {
        *service = service.clone();
    }
    ready
}
