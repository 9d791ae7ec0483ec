//! A service that is made when it is needed.

use crate::grpc::methods::Methods;
use crate::grpc::transport::handle::{Ready, ServiceHandle, offer};
use crate::grpc::transport::service::GrpcTransport;
use gax_driver::__private::Replaceable;
use gax_wire::__private::SharedService;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The part that clones of a service made by the layer share: one count, not two, goes up and down with each call and each clone.
pub(crate) struct SharedParts<S> {
    pub spare: SharedService<S>,
    pub methods: Replaceable<Methods>,
}

/// A service that is made when it is needed: by an operation that continues after its first attempt, or that
/// finds the service not ready.
///
/// The others save its cost, which exceeds their own: to clone a `Channel` counts half a dozen references up,
/// and down again. They don't take the lock either.
pub(crate) struct LazyService<S> {
    shared: Arc<SharedParts<S>>,
    /// One that has to be waited for. Few have, and those that are ready immediately are not kept, so that the future
    /// of a call is a service smaller (bench `speed`, instructions).
    own: Option<Box<S>>,
}

impl<S: GrpcTransport> LazyService<S> {
    #[inline]
    pub(crate) fn new(shared: Arc<SharedParts<S>>) -> Self {
        Self { shared, own: None }
    }
}

impl<S: GrpcTransport> ServiceHandle for LazyService<S> {
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
