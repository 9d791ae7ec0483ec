//! Where an operation has its service from.

use super::service::Transport;
#[cfg(feature = "tables")]
use crate::transport::SharedService;
use std::task::{Context, Poll, Waker};

/// The way to a service.
pub(crate) trait ServiceHandle {
    type Service: Transport;

    /// The operation's own service.
    fn service(&mut self) -> &mut Self::Service;

    /// Puts another service in its place: of one that holds a place in a queue, or has failed.
    fn renew(&mut self);
}

/// A service of the operation's own from the start.
#[derive(Debug)]
pub(crate) struct OwnService<S>(pub(crate) S);

impl<S: Transport> ServiceHandle for OwnService<S> {
    type Service = S;

    #[inline]
    fn service(&mut self) -> &mut S {
        &mut self.0
    }

    fn renew(&mut self) {
        self.0 = self.0.clone();
    }
}

/// A service that is made when it is needed: by an operation that goes on after its first attempt, or that
/// finds the service not ready.
///
/// The others save its cost, which exceeds their own: to clone a `Channel` counts half a dozen references up,
/// and down again. They don't take the lock either.
#[cfg(feature = "tables")]
#[derive(Debug)]
pub(crate) struct LazyService<S> {
    spare: SharedService<S>,
    own: Option<S>,
}

#[cfg(feature = "tables")]
impl<S: Transport> LazyService<S> {
    #[inline]
    pub(crate) fn new(spare: SharedService<S>) -> Self {
        Self { spare, own: None }
    }
}

#[cfg(feature = "tables")]
impl<S: Transport> ServiceHandle for LazyService<S> {
    type Service = S;

    fn service(&mut self) -> &mut S {
        self.own.get_or_insert_with(|| self.spare.copy())
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
