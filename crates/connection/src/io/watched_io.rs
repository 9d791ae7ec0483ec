//! A connection whose bytes are seen, and that can be ended from outside.

use crate::io::dialer::BoxIo;
use crate::io::traffic::Traffic;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The bytes above TLS.
pub(crate) struct WatchedIo {
    io: BoxIo,
    traffic: Arc<Traffic>,
}

impl WatchedIo {
    pub(crate) fn new(io: BoxIo, traffic: Arc<Traffic>) -> Self {
        Self { io, traffic }
    }
}

impl Drop for WatchedIo {
    fn drop(&mut self) {
        self.traffic.close();
    }
}

impl AsyncRead for WatchedIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.traffic.check()?;
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        match &read {
            Poll::Ready(Ok(())) if buffer.filled().len() > before => {
                self.traffic.receive(buffer.filled().get(before..).unwrap_or_default());
            }
            Poll::Ready(_) => {}
            Poll::Pending => self.traffic.park(cx)?,
        }
        read
    }
}

impl AsyncWrite for WatchedIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.traffic.check()?;
        Pin::new(&mut self.io).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.traffic.check()?;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.traffic.check()?;
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.traffic.check()?;
        Pin::new(&mut self.io).poll_write_vectored(cx, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}
