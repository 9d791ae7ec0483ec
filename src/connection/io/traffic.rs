//! A connection's bytes as they are seen, and the switch that ends it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};
use tokio::sync::Notify;

/// The traffic of one connection.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// How often bytes have come in.
    received: AtomicU64,
    /// The first ones have.
    begun: Notify,
    is_cut: AtomicBool,
    /// How many streams the server allows at a time; 0: it has not said.
    max_streams: AtomicUsize,
    /// Who waits for the next ones.
    reader: Mutex<Option<Waker>>,
}

impl Traffic {
    /// How often bytes have come in. A silent server leaves it as it is.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(super) fn receive(&self) {
        if self.received.fetch_add(1, Ordering::Relaxed) == 0 {
            self.begun.notify_one();
        }
    }

    /// Waits until the server has said something.
    pub(crate) async fn begin(&self) {
        while self.received() == 0 {
            self.begun.notified().await;
        }
    }

    /// How many streams the server allows at a time.
    pub(crate) fn max_streams(&self) -> usize {
        match self.max_streams.load(Ordering::Relaxed) {
            0 => usize::MAX,
            streams => streams,
        }
    }

    pub(crate) fn set_max_streams(&self, streams: usize) {
        self.max_streams.store(streams, Ordering::Relaxed);
    }

    /// Ends the connection: whoever reads or writes gets an error from now on.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Release);
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// The error of a connection that was cut.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.is_cut.load(Ordering::Acquire) {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the connection was given up"));
        }
        Ok(())
    }

    /// Somebody waits for bytes.
    pub(super) fn park(&self, cx: &Context<'_>) -> io::Result<()> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *reader {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *reader = Some(cx.waker().clone()),
        }
        drop(reader);
        self.check()
    }
}
