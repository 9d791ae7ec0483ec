//! Connections over memory, for hyper-util's client.

use hyper_util::rt::TokioIo;
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tokio::io::DuplexStream;
use tonic_gax::testing::{Pipe, Pipes};
use tower_service::Service;

/// Connects by pipes, and refuses to while a test wants it.
#[derive(Debug, Clone)]
pub struct MemoryConnector {
    pipes: Pipes,
    refusals: Arc<AtomicU32>,
}

impl MemoryConnector {
    /// Connects to whoever takes the other ends of its pipes.
    #[must_use]
    pub fn to(pipes: Pipes) -> Self {
        Self { pipes, refusals: Arc::default() }
    }

    /// Its pipes.
    #[must_use]
    pub fn pipes(&self) -> Pipes {
        self.pipes.clone()
    }

    /// Refuses so many connections from now on.
    pub fn refuse(&self, connections: u32) {
        self.refusals.store(connections, Ordering::SeqCst);
    }
}

impl Service<http::Uri> for MemoryConnector {
    type Response = TokioIo<Pipe<DuplexStream>>;
    type Error = io::Error;
    type Future = Ready<io::Result<TokioIo<Pipe<DuplexStream>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let left = self.refusals.load(Ordering::SeqCst);
        if left > 0 {
            self.refusals.store(left - 1, Ordering::SeqCst);
            return ready(Err(io::ErrorKind::ConnectionRefused.into()));
        }
        ready(self.pipes.connect())
    }
}
