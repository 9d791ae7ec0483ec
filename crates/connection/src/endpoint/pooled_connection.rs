//! A connection that takes calls.

use crate::endpoint::counts::{Counts, EndSignal};
use crate::endpoint::lifecycle::Loss;
use crate::endpoint::subchannel::Subchannel;
use crate::io::Traffic;
use crate::resolver::Address;
use gax_driver::__private::{Carrier, Clock, Locked};
use gax_driver::observe::{LostReason, Peer};
use hyper::client::conn::http2::SendRequest;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tonic::body::Body;

/// A connection that takes calls.
pub(crate) struct PooledConnection {
    sender: SendRequest<Body>,
    peer: Peer,
    address: Address,
    subchannel: Arc<Subchannel>,
    traffic: Arc<Traffic>,
    end: Arc<EndSignal>,
    in_flight: AtomicUsize,
    /// `true` if its call shares it with no other one.
    is_own: AtomicBool,
    /// `true` if it brought a call its response headers.
    has_served: AtomicBool,
    silence: Locked<Silence>,
    made: Clock,
}

/// Attempts that used up their time without a byte from the server.
#[derive(Debug, Default)]
struct Silence {
    /// How often bytes had arrived before the first of them.
    received: u64,
    attempts: u32,
}

impl PooledConnection {
    pub(crate) fn new(
        sender: SendRequest<Body>,
        address: Address,
        subchannel: Arc<Subchannel>,
        traffic: Arc<Traffic>,
    ) -> Self {
        Self {
            sender,
            peer: Peer::new(&address),
            address,
            subchannel,
            traffic,
            end: Arc::default(),
            in_flight: AtomicUsize::new(0),
            is_own: AtomicBool::new(false),
            has_served: AtomicBool::new(false),
            silence: Locked::default(),
            made: Clock::start(),
        }
    }

    pub(crate) fn sender(&self) -> SendRequest<Body> {
        self.sender.clone()
    }

    gax_text::getters! { self:
        pub(crate) peer: &Peer = &self.peer;

        pub(crate) address: &Address = &self.address;

        pub(crate) subchannel: &Arc<Subchannel> = &self.subchannel;

        pub(crate) end: &Arc<EndSignal> = &self.end;

        pub(crate) counts: &Counts = &self.subchannel.counts;

        pub(crate) traffic: &Arc<Traffic> = &self.traffic;
    }

    /// The time since it was made.
    pub(crate) fn age(&self) -> Duration {
        self.made.elapsed()
    }

    /// How many calls it carries.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// Returns whether another call would have to wait for a stream.
    pub(crate) fn is_full(&self) -> bool {
        self.in_flight() >= self.traffic.max_streams() || self.is_own.load(Ordering::SeqCst)
    }

    /// Returns whether it takes one more call, which may have to be the only one.
    pub(crate) fn has_room(&self, is_alone: bool) -> bool {
        if is_alone { self.in_flight() == 0 } else { !self.is_full() }
    }

    /// A call has its response headers. Returns whether that is news of a connection that takes no calls any longer.
    pub(crate) fn serve(&self) -> bool {
        let is_first = !self.has_served();
        if is_first {
            self.has_served.store(true, Ordering::Relaxed);
        }
        is_first && self.end.has_ended()
    }

    /// Returns whether it brought a call its response headers.
    pub(crate) fn has_served(&self) -> bool {
        self.has_served.load(Ordering::Relaxed)
    }

    /// Returns whether it takes calls. A connection that the server has closed or drains is found out here.
    pub(crate) fn is_usable(&self) -> bool {
        if self.end.has_ended() || !self.subchannel.health.is_good() {
            return false;
        }
        if self.sender.is_closed() {
            self.end.end(LostReason::Closed);
            return false;
        }
        true
    }

    /// Its end, as its endpoint counts it.
    pub(crate) fn loss(&self) -> Loss {
        let reason = self.end.reason().filter(|reason| is_of_server(reason)).cloned();
        let has_calls = self.in_flight() > 0 && !self.traffic.is_closed();
        Loss { made: self.made.began(), has_served: self.has_served(), has_calls, reason }
    }

    /// Looks at the error of a call: a server that finds too many pings gets fewer of them over the next connection (gRFC A8).
    pub(crate) fn learn_from(&self, error: &hyper::Error) {
        self.counts().learn_from(error, &self.end);
    }

    /// An attempt that began when bytes had arrived so often has used up its time. Returns how many have in a row, without
    /// a byte since before the first of them.
    fn timed_out(&self, received: u64) -> u32 {
        let mut silence = self.silence.lock();
        if self.traffic.received() != received {
            silence.attempts = 0;
        } else if silence.received == received {
            silence.attempts = silence.attempts.saturating_add(1);
        } else {
            *silence = Silence { received, attempts: 1 };
        }
        silence.attempts
    }
}

impl Carrier for PooledConnection {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn expire(&self, received: u64) -> bool {
        if let Some(supervisor) = self.subchannel.supervisor.upgrade() {
            supervisor.fail(&self.subchannel, &self.peer);
        }
        let attempts = self.timed_out(received);
        let settings = &self.subchannel.settings;
        let pause = settings.chosen.backoff.nth(self.counts().renewals());
        let is_dead = settings.chosen.silent_attempts.is_some_and(|most| attempts >= most);
        if !is_dead || self.end.has_ended() || self.age() < pause {
            return false;
        }
        let is_first = self.has_served() || self.age() > settings.chosen.backoff.longest();
        self.counts().renew(is_first);
        self.end.end(LostReason::Silent);
        true
    }
}

/// Returns whether the server ended a connection, or the network.
pub(crate) fn is_of_server(reason: &LostReason) -> bool {
    matches!(reason, LostReason::Closed | LostReason::Broken(_))
}

/// A call that a connection carries, until its response has ended: it has a stream.
pub(crate) struct InFlight {
    connection: Arc<PooledConnection>,
    is_alone: bool,
}

impl InFlight {
    /// It may have the connection for itself, which has no other call then.
    pub(crate) fn new(connection: Arc<PooledConnection>, is_alone: bool) -> Self {
        connection.in_flight.fetch_add(1, Ordering::SeqCst);
        if is_alone {
            connection.is_own.store(true, Ordering::SeqCst);
        }
        Self { connection, is_alone }
    }

    gax_text::getters! { self:
        pub(crate) connection: &Arc<PooledConnection> = &self.connection;

        /// Returns whether no other call shares the connection.
        pub(crate) is_alone: bool = self.is_alone;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let connection = &self.connection;
        if self.is_alone {
            connection.is_own.store(false, Ordering::SeqCst);
        }
        let was_last = connection.in_flight.fetch_sub(1, Ordering::SeqCst) == 1;
        connection.subchannel.backlog.free();
        // No caller waits for a goodbye that a dead server can't read.
        if was_last && matches!(connection.end.reason(), Some(LostReason::Silent)) {
            connection.traffic.cut();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::WatchedIo;
    use crate::pool::Pool;
    use crate::settings::{ChosenSettings, PoolSettings};
    use http::HeaderValue;
    use http::uri::{Authority, Scheme};
    use hyper_util::rt::TokioIo;
    use std::sync::Weak;

    fn settings() -> PoolSettings {
        PoolSettings {
            scheme: Scheme::HTTP,
            authority: Authority::from_static("library"),
            is_exposed: false,
            user_agent: HeaderValue::from_static("test"),
            chosen: ChosenSettings::default(),
        }
    }

    /// The connection is open all the time.
    #[tokio::test]
    async fn a_loss_has_calls_if_some_are_in_flight() {
        let pool: Weak<Pool> = Weak::new();
        let (stopped, backlog) = Default::default();
        let subchannel = Subchannel::new(0, Vec::new(), stopped, backlog, Arc::new(settings()), pool);
        let (client, _server) = tokio::io::duplex(1 << 10);
        let traffic = Arc::<Traffic>::default();
        let io = WatchedIo::new(Box::new(client), Arc::clone(&traffic));
        let handshake = settings().chosen.http2.builder(None).handshake(TokioIo::new(io)).await;
        let (sender, _driving) = handshake.unwrap();
        let address = Address::Tcp(([127, 0, 0, 1], 1).into());
        let connection = Arc::new(PooledConnection::new(sender, address, Arc::new(subchannel), traffic));
        let has_calls = || connection.loss().has_calls;
        assert!(!has_calls());
        let call = InFlight::new(Arc::clone(&connection), false);
        assert!(has_calls());
        drop(call);
        assert!(!has_calls());
    }
}
