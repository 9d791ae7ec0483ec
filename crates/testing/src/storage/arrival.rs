//! The requests that an emulator saw.

use super::StorageCall;
use http::{HeaderMap, Method};
use std::time::Duration;

/// A request that reached a [`StorageEmulator`](super::StorageEmulator), and how far the reply to it has got.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StorageArrival {
    /// How many requests came before it.
    pub index: usize,
    /// When, from the emulator's start on.
    pub at: Duration,
    /// The kind of the request.
    pub call: StorageCall,
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// How many bytes of the request's body have been read.
    pub received: u64,
    /// The status of the reply; `None`: there is none yet, or there never was one.
    pub status: Option<u16>,
    /// How many bytes of the reply's body have been sent.
    pub sent: u64,
    /// `true` if the reply has been sent in full.
    pub is_whole: bool,
}

impl StorageArrival {
    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
