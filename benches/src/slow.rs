//! A service of which a few replies take very long.

use crate::canned::{Canned, Reply};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// Replies within 5 to 15 ms, and takes 100 times as long for every n-th reply. Its times are tokio's.
#[derive(Debug, Clone)]
pub struct Slow {
    canned: Canned,
    every: u64,
    attempts: Arc<AtomicU64>,
}

impl Slow {
    /// Every n-th reply is slow; `every` is n, which must not be 0.
    #[must_use]
    pub fn new(every: u64) -> Self {
        Self { canned: Canned::new(), every, attempts: Arc::default() }
    }

    /// How many attempts it has seen.
    #[must_use]
    pub fn attempts(&self) -> u64 {
        self.attempts.load(Ordering::Relaxed)
    }
}

impl Service<http::Request<Body>> for Slow {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = <Reply as Future>::Output> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let number = self.attempts.fetch_add(1, Ordering::Relaxed);
        // Any order would do that neither repeats itself soon nor keeps step with the slow ones.
        let micros = 5000 + number.wrapping_mul(7919) % 10_007;
        let times = if number % self.every == self.every - 1 { 100 } else { 1 };
        let reply = self.canned.call(request);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_micros(micros * times)).await;
            reply.await
        })
    }
}
