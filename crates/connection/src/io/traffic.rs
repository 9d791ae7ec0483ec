//! A connection's bytes as they are seen, and the switch that ends it.

use gax_driver::__private::Locked;
use gax_wire::__private::KnownProblem;
use gax_wire::ConnectProblem;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use tonic::codegen::StdError;

/// The traffic of one connection.
#[derive(Debug)]
pub(crate) struct Traffic {
    /// How often bytes have arrived.
    received: AtomicU64,
    /// The first ones.
    first: OnceLock<Vec<u8>>,
    is_cut: AtomicBool,
    is_closed: AtomicBool,
    /// How many streams the server allows at a time.
    max_streams: AtomicUsize,
    /// Who waits for the next ones.
    reader: Locked<Option<Waker>>,
    /// `true` if the connection's task wants to know that bytes have been read: its limit of streams may have changed.
    is_watched: AtomicBool,
    watcher: Locked<Option<Waker>>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            received: AtomicU64::new(0),
            first: OnceLock::new(),
            is_cut: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            max_streams: AtomicUsize::new(usize::MAX),
            reader: Locked::default(),
            is_watched: AtomicBool::new(false),
            watcher: Locked::default(),
        }
    }
}

fn set_waker(place: &Locked<Option<Waker>>, cx: &Context<'_>) {
    let mut waker = place.lock();
    match &mut *waker {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *waker = Some(cx.waker().clone()),
    }
}

impl Traffic {
    /// How often bytes have arrived. A silent server leaves it as it is.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(super) fn receive(&self, bytes: &[u8]) {
        if self.received.fetch_add(1, Ordering::Relaxed) == 0 {
            drop(self.first.set(bytes.iter().take(5).copied().collect()));
        }
    }

    /// That error of a server which speaks another protocol instead of HTTP/2, by its name if it is known. One that `spoke_http2` before
    /// may do so again.
    pub(crate) fn named(&self, error: StdError, spoke_http2: bool) -> StdError {
        match self.first.get().map(Vec::as_slice) {
            Some(b"HTTP/") => format!("the server speaks HTTP/1, not HTTP/2: {error}").into(),
            Some([0x15 | 0x16, 3, ..]) => {
                let text = format!("the server speaks TLS, not plain HTTP/2: {error}");
                if spoke_http2 {
                    return text.into();
                }
                KnownProblem::new(ConnectProblem::EncryptedServer, text).into()
            }
            _ => error,
        }
    }

    /// How many streams the server allows at a time.
    pub(crate) fn max_streams(&self) -> usize {
        self.max_streams.load(Ordering::Relaxed)
    }

    /// Returns whether that is news.
    pub(crate) fn set_max_streams(&self, streams: usize) -> bool {
        let has_changed = self.max_streams() != streams;
        if has_changed {
            self.max_streams.store(streams, Ordering::Relaxed);
        }
        has_changed
    }

    /// Wakes the connection's task whenever bytes have been read.
    pub(crate) fn watch(&self, cx: &Context<'_>) {
        set_waker(&self.watcher, cx);
        self.keep_watching(true);
    }

    pub(crate) fn keep_watching(&self, is_watched: bool) {
        self.is_watched.store(is_watched, Ordering::Relaxed);
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// Ends the connection: reads and writes return an error from now on.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Release);
        if let Some(reader) = self.reader.change(Option::take) {
            reader.wake();
        }
    }

    /// Nobody reads or writes any longer.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// The error of a connection that was cut.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.is_cut.load(Ordering::Acquire) {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the connection was given up"));
        }
        Ok(())
    }

    /// Somebody waits for bytes: those before have been understood.
    pub(super) fn park(&self, cx: &Context<'_>) -> io::Result<()> {
        set_waker(&self.reader, cx);
        if self.is_watched()
            && self.received() > 0
            && let Some(watcher) = self.watcher.change(|watcher| watcher.clone())
        {
            watcher.wake();
        }
        self.check()
    }
}
