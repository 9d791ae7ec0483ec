//! Making the connections of endpoints.

use crate::connection::endpoint::counts::Counts;
use crate::connection::endpoint::fate::Fate;
use crate::connection::endpoint::live::Live;
use crate::connection::io::{Dialer, Traffic, WatchedIo};
use crate::connection::resolver::Address;
use crate::connection::settings::Http2;
use crate::connection::wait::{Either, before, either};
use crate::operation::{Clock, LostReason, Peer};
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
}

impl Maker {
    /// A connection to one of the addresses: the server has said something over it.
    pub(crate) async fn make(
        &self,
        addresses: &[Address],
        endpoint: u64,
        counts: &Arc<Counts>,
        http2: &Http2,
    ) -> Result<(Live, Driving), StdError> {
        let deadline = Clock::start().at(self.timeout);
        match before(deadline, self.connect(addresses, endpoint, counts, http2)).await {
            Some(made) => made,
            None => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "no byte came from the server within the connect timeout",
            )
            .into()),
        }
    }

    async fn connect(
        &self,
        addresses: &[Address],
        endpoint: u64,
        counts: &Arc<Counts>,
        http2: &Http2,
    ) -> Result<(Live, Driving), StdError> {
        let (io, address) = self.dialer.dial(addresses, self.timeout).await?;
        #[cfg(feature = "_tls")]
        let io = match &self.tls {
            Some(tls) => tls.connect(io).await?,
            None => io,
        };
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
        Ok((Live::new(sender, Peer::new(&address), endpoint, traffic, Arc::clone(counts)), driving))
    }
}

/// Drives a connection to its end.
pub(crate) async fn drive(mut driving: Driving, traffic: Arc<Traffic>, fate: Arc<Fate>) {
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
            let texts: Vec<_> = chain(&error).map(ToString::to_string).collect();
            LostReason::Broken(texts.join(": "))
        }
    });
}
