//! Making the connections of endpoints.

use crate::connection::endpoint::counts::Counts;
use crate::connection::endpoint::fate::Fate;
use crate::connection::endpoint::live::Live;
use crate::connection::guarded::guarded;
use crate::connection::io::{BoxIo, Dialer, Traffic, WatchedIo, late};
use crate::connection::resolver::Address;
use crate::connection::settings::Http2;
use crate::connection::wait::{Either, before, either};
use crate::operation::{Clock, LostReason, Peer};
use crate::panics::PanicGuard;
use crate::transport::chain;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tonic::body::Body;
use tonic::codegen::StdError;

/// The future that drives a connection.
pub(crate) type Driving = http2::Connection<TokioIo<WatchedIo>, Body, TokioExecutor>;

/// Makes connections.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) dialer: Dialer,
    #[cfg(feature = "_tls")]
    pub(crate) tls: Option<crate::connection::io::Encryption>,
    pub(crate) timeout: Duration,
    pub(crate) guard: PanicGuard,
}

/// That a connection is made for.
pub(super) struct Order<'a> {
    pub(super) endpoint: u64,
    pub(super) counts: &'a Arc<Counts>,
    pub(super) http2: &'a Http2,
}

impl Maker {
    /// A connection to one of the addresses: the server has said something over it.
    pub(super) async fn make(
        &self,
        addresses: &[Address],
        order: &Order<'_>,
    ) -> Result<(Live, Driving), StdError> {
        guarded(&self.guard, "a connector", || Box::pin(self.connect(addresses, order))).await?
    }

    /// Tries each of the addresses, with an equal share of the time for TLS and the server's first byte.
    async fn connect(&self, addresses: &[Address], order: &Order<'_>) -> Result<(Live, Driving), StdError> {
        let clock = Clock::start();
        let left = || self.timeout.saturating_sub(clock.elapsed());
        let mut others = addresses.to_vec();
        let mut failure = None;
        loop {
            let dialing = self.dialer.dial(&others, left());
            let (io, address) = match before(clock.at(self.timeout), dialing).await {
                Some(Ok(dialed)) => dialed,
                Some(Err(error)) => return Err(failure.unwrap_or(error)),
                None => return Err(failure.unwrap_or_else(|| late("no connection was made").into())),
            };
            let share = left() / u32::try_from(others.len()).unwrap_or(u32::MAX).max(1);
            others.retain(|other| *other != address);
            let error = match before(Clock::start().at(share), self.begin(io, &address, order)).await {
                Some(Ok(made)) => return Ok(made),
                Some(Err(error)) => error,
                None => late("no byte came from the server").into(),
            };
            if others.is_empty() {
                return Err(failure.unwrap_or(error));
            }
            failure.get_or_insert(error);
        }
    }

    /// Begins TLS and HTTP/2 on a connection, up to the server's first byte.
    async fn begin(
        &self,
        io: BoxIo,
        address: &Address,
        order: &Order<'_>,
    ) -> Result<(Live, Driving), StdError> {
        #[cfg(feature = "_tls")]
        let io = match &self.tls {
            Some(tls) => tls.connect(io).await?,
            None => io,
        };
        let Order { endpoint, counts, http2 } = order;
        let traffic = Arc::<Traffic>::default();
        let io = TokioIo::new(WatchedIo::new(io, Arc::clone(&traffic)));
        let keep_alive =
            http2.keep_alive_interval.map(|interval| interval.saturating_mul(counts.keep_alive_factor()));
        let (sender, mut driving) = http2.builder(keep_alive).handshake(io).await?;
        let polled = poll_fn(|cx| Pin::new(&mut driving).poll(cx));
        match either(polled, traffic.begin()).await {
            Either::Other(()) => {}
            Either::One(Err(error)) => return Err(error.into()),
            Either::One(Ok(())) => {
                let closed = "the server closed the connection before it said anything";
                return Err(io::Error::new(io::ErrorKind::ConnectionReset, closed).into());
            }
        }
        Ok((Live::new(sender, Peer::new(address), *endpoint, traffic, Arc::clone(counts)), driving))
    }
}

/// Drives a connection to its end.
pub(crate) async fn drive(mut driving: Driving, traffic: Arc<Traffic>, fate: Arc<Fate>, counts: Arc<Counts>) {
    let result = poll_fn(|cx| {
        let polled = Pin::new(&mut driving).poll(cx);
        if polled.is_pending() {
            traffic.set_max_streams(driving.current_max_send_streams());
        }
        polled
    })
    .await;
    fate.end(match result {
        Ok(()) => LostReason::Closed,
        Err(error) => {
            counts.learn_from(&error, &fate);
            let texts: Vec<_> = chain(&error).map(ToString::to_string).collect();
            LostReason::Broken(texts.join(": "))
        }
    });
}
