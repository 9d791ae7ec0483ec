//! A random server that never runs out of replies.

use super::{Draw, RandomServer};
use crate::{Log, Script};
use gax_testing::{Reply, Scripted};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::server::NamedService;
use tower_service::Service;

/// A service whose replies are drawn as requests come, and which keeps nothing of these but their number. Clones draw from
/// the same sequence.
#[derive(Debug, Clone)]
pub struct EndlessService<S> {
    inner: S,
    draw: Arc<Mutex<Draw>>,
    breaks: bool,
    arrived: Arc<AtomicU64>,
}

impl<S> EndlessService<S> {
    /// The real service serves seven of ten requests; the others meet with what a [`RandomServer`] does, breaks among it or
    /// not.
    #[must_use]
    pub fn new(inner: S, draw: Arc<Mutex<Draw>>, breaks: bool, arrived: Arc<AtomicU64>) -> Self {
        Self { inner, draw, breaks, arrived }
    }
}

impl<S: NamedService> NamedService for EndlessService<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for EndlessService<S>
where
    Scripted<S>: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible> + Clone,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = <Scripted<S> as Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        self.arrived.fetch_add(1, Ordering::SeqCst);
        let script = {
            let mut draw = self.draw.lock().unwrap_or_else(PoisonError::into_inner);
            if draw.percent(70) {
                Script::always(Reply::Serve)
            } else {
                let (after, reply) = RandomServer::step(&mut draw, self.breaks);
                Script::new().then_always(after, reply)
            }
        };
        Scripted::new(self.inner.clone(), script, Log::default()).call(request)
    }
}
