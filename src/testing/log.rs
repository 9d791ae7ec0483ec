//! What a server saw.

use crate::grpc::timeout_in;
use crate::operation::Clock;
use bytes::Bytes;
use http::HeaderMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A request that reached the server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Arrival {
    /// When.
    pub at: Duration,
    /// The path.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, where the script reads it.
    pub body: Bytes,
    /// When the server was told to stop, if it had not replied in full.
    pub gone: Option<Duration>,
}

impl Arrival {
    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The `grpc-timeout` header as it came.
    #[must_use]
    pub fn grpc_timeout(&self) -> Option<&str> {
        self.header("grpc-timeout")
    }

    /// The `grpc-timeout` in milliseconds.
    ///
    /// # Panics
    ///
    /// It is no whole number of milliseconds: virtual time counts exactly.
    #[must_use]
    pub fn timeout(&self) -> Option<u64> {
        timeout_in(&self.headers).map(milliseconds)
    }
}

fn milliseconds(time: Duration) -> u64 {
    let whole = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    assert_eq!(Duration::from_millis(whole), time, "not a whole number of milliseconds");
    whole
}

/// What a server saw, and when, from the log's making on.
#[derive(Debug, Clone)]
pub struct Log {
    clock: Clock,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
    open: Arc<AtomicUsize>,
}

impl Default for Log {
    fn default() -> Self {
        Self { clock: Clock::start(), arrivals: Arc::default(), open: Arc::default() }
    }
}

impl Log {
    /// All arrivals so far.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When each request came, and the timeout that it brought, in milliseconds.
    #[must_use]
    pub fn seen(&self) -> Vec<(u64, Option<u64>)> {
        let at = |arrival: &Arrival| u64::try_from(arrival.at.as_millis()).unwrap_or(u64::MAX);
        self.arrivals().iter().map(|arrival| (at(arrival), arrival.timeout())).collect()
    }

    /// How many requests the server is busy with: they came, and were neither replied to in full nor given up.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::testing::{Script, VirtualServer};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let server = VirtualServer::start(Script::new());
    /// // After the calls of a test, none of them may go on at the server.
    /// assert_eq!(server.log().open(), 0);
    /// # }
    /// ```
    #[must_use]
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// How much time has passed since the log was made.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Arrival>) -> R) -> R {
        change(&mut self.arrivals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn arrive(&self, path: &str, headers: &HeaderMap) -> Watch {
        let arrival = Arrival {
            at: self.clock.elapsed(),
            path: path.to_owned(),
            headers: headers.clone(),
            body: Bytes::new(),
            gone: None,
        };
        let index = self.change(|arrivals| {
            arrivals.push(arrival);
            arrivals.len() - 1
        });
        self.open.fetch_add(1, Ordering::Relaxed);
        Watch { log: self.clone(), index, replied: false }
    }
}

/// Watches whether a request is replied to in full or given up.
#[derive(Debug)]
pub(super) struct Watch {
    log: Log,
    index: usize,
    replied: bool,
}

impl Watch {
    pub(super) fn read(&self, body: Bytes) {
        self.log.change(|arrivals| {
            if let Some(arrival) = arrivals.get_mut(self.index) {
                arrival.body = body;
            }
        });
    }

    pub(super) fn replied(&mut self) {
        self.replied = true;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.log.open.fetch_sub(1, Ordering::Relaxed);
        if !self.replied {
            let now = self.log.clock.elapsed();
            self.log.change(|arrivals| {
                if let Some(arrival) = arrivals.get_mut(self.index) {
                    arrival.gone = Some(now);
                }
            });
        }
    }
}
