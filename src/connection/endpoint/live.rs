//! A connection that takes calls.

use crate::connection::endpoint::counts::Counts;
use crate::connection::endpoint::fate::Fate;
use crate::connection::io::Traffic;
use crate::operation::{Clock, LostReason, Peer};
use crate::transport::chain;
use hyper::client::conn::http2::SendRequest;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tonic::body::Body;

/// A connection that takes calls.
pub(crate) struct Live {
    sender: SendRequest<Body>,
    peer: Peer,
    endpoint: u64,
    traffic: Arc<Traffic>,
    fate: Arc<Fate>,
    counts: Arc<Counts>,
    in_flight: AtomicUsize,
    silence: Mutex<Silence>,
    made: Clock,
}

/// Attempts that used up their time without a byte from the server.
#[derive(Debug, Default)]
struct Silence {
    /// How often bytes had come in before the first of them.
    received: u64,
    attempts: u32,
}

impl Live {
    pub(crate) fn new(
        sender: SendRequest<Body>,
        peer: Peer,
        endpoint: u64,
        traffic: Arc<Traffic>,
        counts: Arc<Counts>,
    ) -> Self {
        Self {
            sender,
            peer,
            endpoint,
            traffic,
            fate: Arc::default(),
            counts,
            in_flight: AtomicUsize::new(0),
            silence: Mutex::default(),
            made: Clock::start(),
        }
    }

    pub(crate) fn sender(&self) -> SendRequest<Body> {
        self.sender.clone()
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The number of its endpoint.
    pub(crate) fn endpoint(&self) -> u64 {
        self.endpoint
    }

    pub(crate) fn fate(&self) -> &Arc<Fate> {
        &self.fate
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn traffic(&self) -> &Arc<Traffic> {
        &self.traffic
    }

    /// The time since it was made.
    pub(crate) fn age(&self) -> Duration {
        self.made.elapsed()
    }

    /// How many calls it carries.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Whether another call would have to wait for a stream.
    pub(crate) fn is_full(&self) -> bool {
        self.in_flight() >= self.traffic.max_streams()
    }

    /// Whether it takes calls. A connection that the server has closed or drains is found out here.
    pub(crate) fn is_usable(&self) -> bool {
        if self.fate.is_over() {
            return false;
        }
        if self.sender.is_closed() {
            self.fate.end(LostReason::Closed);
            return false;
        }
        true
    }

    /// Looks at the error of a call: a server that finds too many pings gets fewer of them over the next connection (gRFC A8).
    pub(crate) fn learn_from(&self, error: &hyper::Error) {
        let is_too_many_pings =
            chain(error).filter_map(<dyn Error>::downcast_ref::<h2::Error>).any(|error| {
                error.is_go_away()
                    && error.is_remote()
                    && error.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM)
            });
        if is_too_many_pings && self.fate.take_blame() {
            self.counts.calm();
        }
    }

    /// An attempt that began when bytes had come in so often has used up its time. Returns how many have in a row, without a
    /// byte since before the first of them.
    pub(crate) fn timed_out(&self, received: u64) -> u32 {
        let mut silence = self.silence.lock().unwrap_or_else(PoisonError::into_inner);
        if self.traffic.received() != received {
            silence.attempts = 0;
        } else if silence.attempts > 0 && silence.received == received {
            silence.attempts = silence.attempts.saturating_add(1);
        } else {
            *silence = Silence { received, attempts: 1 };
        }
        silence.attempts
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// A call that a connection carries, until its response has ended.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Live>);

impl InFlight {
    pub(crate) fn new(live: Arc<Live>) -> Self {
        live.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(live)
    }

    pub(crate) fn live(&self) -> &Arc<Live> {
        &self.0
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let was_last = self.0.in_flight.fetch_sub(1, Ordering::Relaxed) == 1;
        // Nobody waits for a goodbye that a dead server can't read.
        if was_last && matches!(self.0.fate.reason(), Some(LostReason::Silent)) {
            self.0.traffic.cut();
        }
    }
}
