//! Connections over memory, for hyper-util's client.

use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::mpsc;
use tower_service::Service;

/// Connects by handing one end of a pipe to the server.
#[derive(Debug, Clone)]
pub struct MemoryConnector {
    accept: mpsc::UnboundedSender<DuplexStream>,
    refusals: Arc<AtomicU32>,
}

impl MemoryConnector {
    /// Connects to whoever takes the other ends of its pipes.
    #[must_use]
    pub fn to(accept: mpsc::UnboundedSender<DuplexStream>) -> Self {
        Self { accept, refusals: Arc::default() }
    }

    /// Refuses so many connections from now on.
    pub fn refuse(&self, connections: u32) {
        self.refusals.store(connections, Ordering::SeqCst);
    }
}

impl Service<http::Uri> for MemoryConnector {
    type Response = TokioIo<Pipe>;
    type Error = io::Error;
    type Future = Ready<io::Result<TokioIo<Pipe>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let left = self.refusals.load(Ordering::SeqCst);
        if left > 0 {
            self.refusals.store(left - 1, Ordering::SeqCst);
            return ready(Err(io::ErrorKind::ConnectionRefused.into()));
        }
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        ready(match self.accept.send(theirs) {
            Ok(()) => Ok(TokioIo::new(Pipe(ours))),
            Err(_) => Err(io::ErrorKind::ConnectionRefused.into()),
        })
    }
}

/// One end of a pipe.
#[derive(Debug)]
pub struct Pipe(DuplexStream);

impl Connection for Pipe {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
