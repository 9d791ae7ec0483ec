//! What a server saw.

use crate::VirtualClock;
use bytes::Bytes;
use http::HeaderMap;
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
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The `grpc-timeout` header as it came.
    #[must_use]
    pub fn grpc_timeout(&self) -> Option<&str> {
        self.header("grpc-timeout")
    }

    /// The `grpc-timeout` in milliseconds; microseconds and nanoseconds must add up to whole ones.
    #[must_use]
    pub fn timeout(&self) -> Option<u64> {
        let text = self.grpc_timeout()?;
        let (digits, unit) = text.split_at(text.len() - 1);
        let number: u64 = digits.parse().unwrap();
        Some(match unit {
            "H" => number * 3_600_000,
            "M" => number * 60_000,
            "S" => number * 1000,
            "m" => number,
            "u" => whole(number, 1000),
            "n" => whole(number, 1_000_000),
            _ => panic!("{text} has no unit of the protocol"),
        })
    }
}

fn whole(number: u64, unit: u64) -> u64 {
    assert_eq!(number % unit, 0, "{number} is no whole number of milliseconds");
    number / unit
}

/// What a server saw, and when, from the log's making on.
#[derive(Debug, Clone)]
pub struct Log {
    clock: VirtualClock,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
}

impl Default for Log {
    fn default() -> Self {
        Self { clock: VirtualClock::start(), arrivals: Arc::default() }
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
        let at = |arrival: &Arrival| u64::try_from(arrival.at.as_millis()).unwrap();
        self.arrivals().iter().map(|arrival| (at(arrival), arrival.timeout())).collect()
    }

    /// How much time has passed since the log was made.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Arrival>) -> R) -> R {
        change(&mut self.arrivals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn arrive(&self, path: &str, headers: &HeaderMap) -> Watch {
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
        Watch { log: self.clone(), index, replied: false }
    }
}

/// Watches whether a request is replied to in full or given up.
#[derive(Debug)]
pub(crate) struct Watch {
    log: Log,
    index: usize,
    replied: bool,
}

impl Watch {
    pub(crate) fn read(&self, body: Bytes) {
        self.log.change(|arrivals| arrivals[self.index].body = body);
    }

    pub(crate) fn replied(&mut self) {
        self.replied = true;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.replied {
            let now = self.log.clock.elapsed();
            self.log.change(|arrivals| arrivals[self.index].gone = Some(now));
        }
    }
}
