//! A connector that does what was drawn.

use super::{Connecting, RandomConnections};
use gax_testing::{Pipe, Pipes};
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use std::vec::IntoIter;
use tokio::io::DuplexStream;
use tokio::sync::watch;
use tonic::transport::{Channel, Endpoint};
use tower_service::Service;

/// Connects by pipes, and stalls, refuses and is silent as it was drawn. Clones go on where the others are.
#[derive(Debug, Clone)]
pub struct RandomConnector {
    pipes: Pipes,
    connect_timeout: Duration,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    steps: Mutex<IntoIter<Connecting>>,
    /// The other ends of the connections on which nobody says a word.
    silent: Mutex<Vec<DuplexStream>>,
    /// Connections that stall end with the last clone.
    lives: watch::Sender<()>,
}

type Connection = TokioIo<Pipe<DuplexStream>>;

impl RandomConnector {
    /// Connects to whoever takes the other ends of these pipes.
    #[must_use]
    pub fn to(pipes: Pipes, connections: &RandomConnections) -> Self {
        let shared = Shared {
            steps: Mutex::new(connections.steps.clone().into_iter()),
            silent: Mutex::default(),
            lives: watch::Sender::new(()),
        };
        Self { pipes, connect_timeout: connections.connect_timeout, shared: Arc::new(shared) }
    }

    /// A channel that connects so. Without a connect timeout tonic's never gives up, even when it is dropped.
    #[must_use]
    pub fn channel(self) -> Channel {
        let endpoint = Endpoint::from_static("http://virtual.test").connect_timeout(self.connect_timeout);
        endpoint.connect_with_connector_lazy(self)
    }

    fn next(&self) -> Connecting {
        let mut steps = self.shared.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.next().unwrap_or(Connecting::Made(Duration::ZERO))
    }

    /// A connection that leads nowhere; its other end.
    fn nowhere() -> (Connection, DuplexStream) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        (TokioIo::new(Pipe::new(near)), far)
    }
}

fn refused() -> io::Error {
    io::ErrorKind::ConnectionRefused.into()
}

async fn after(time: Duration) {
    // Even a wait of nothing would take a millisecond.
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

impl Service<http::Uri> for RandomConnector {
    type Response = Connection;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Connection>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        match self.next() {
            Connecting::Made(time) => {
                let pipes = self.pipes.clone();
                Box::pin(async move {
                    after(time).await;
                    pipes.connect()
                })
            }
            Connecting::Refused(time) => Box::pin(async move {
                after(time).await;
                Err(refused())
            }),
            Connecting::Stalled => {
                let mut life = self.shared.lives.subscribe();
                Box::pin(async move {
                    while life.changed().await.is_ok() {}
                    Err(refused())
                })
            }
            Connecting::Silent => {
                let (near, far) = Self::nowhere();
                self.shared.silent.lock().unwrap_or_else(PoisonError::into_inner).push(far);
                Box::pin(async { Ok(near) })
            }
            Connecting::Closed => {
                let (near, _) = Self::nowhere();
                Box::pin(async { Ok(near) })
            }
        }
    }
}
