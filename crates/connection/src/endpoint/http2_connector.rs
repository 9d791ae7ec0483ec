//! Making the HTTP/2 connections of endpoints.

use crate::endpoint::counts::EndSignal;
use crate::endpoint::lifecycle::is_final;
use crate::endpoint::pooled_connection::PooledConnection;
use crate::endpoint::race::Race;
use crate::endpoint::subchannel::Subchannel;
use crate::guarded::guarded;
use crate::io::{BoxIo, Dialer, Traffic, WatchedIo, late};
use crate::resolver::Address;
use crate::settings::{BoxedTasks, Http2};
use crate::wait::{Either, before, either, moment_of};
use gax_driver::__private::{Clock, PanicGuard};
use gax_driver::observe::LostReason;
use gax_wire::__private::{chain, text_of};
use hyper::client::conn::http2;
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;
use tonic::body::Body;
use tonic::codegen::StdError;

/// The future that drives a connection.
pub(crate) type Driving = http2::Connection<TokioIo<WatchedIo>, Body, BoxedTasks>;

/// A connection, and what drives it.
type Connected = Result<(PooledConnection, Driving), StdError>;

type Connecting<'a> = Pin<Box<dyn Future<Output = Connected> + Send + 'a>>;

/// The limit of streams before the server's SETTINGS have come; no SETTINGS can say that.
const UNSET: usize = usize::MAX - 1;

/// Makes connections.
pub(crate) struct Http2Connector {
    pub(crate) dialer: Dialer,
    #[cfg(feature = "_tls")]
    pub(crate) tls: Option<crate::io::Encryption>,
    pub(crate) timeout: Duration,
    pub(crate) guard: PanicGuard,
}

impl Http2Connector {
    /// A connection to one of an endpoint's addresses: the first over which the server's SETTINGS have come. If the addresses change
    /// meanwhile, it follows.
    pub(crate) async fn connect(&self, subchannel: &Arc<Subchannel>, http2: &Http2) -> Connected {
        let now = || Clock::start().now().0;
        let mut race = Race::new(subchannel.in_order(now()), self.timeout, now());
        let mut running: Vec<(Address, Connecting<'_>)> = Vec::new();
        let mut failure = None;
        loop {
            while let Some((address, time)) = race.start(now()) {
                let to = address.clone();
                let begun = Box::pin(guarded(&self.guard, "a connector", move || {
                    Box::pin(self.connect_to(to, time, subchannel, http2))
                }));
                running.push((address, Box::pin(async { begun.await? })));
            }
            if running.is_empty() {
                let none =
                    || io::Error::new(io::ErrorKind::AddrNotAvailable, "there is no address to connect to");
                return Err(failure.unwrap_or_else(|| none().into()));
            }
            let ended = poll_fn(|cx| {
                let ended = running.iter_mut().enumerate().find_map(|(place, (_, connecting))| {
                    match connecting.as_mut().poll(cx) {
                        Poll::Ready(connected) => Some((place, connected)),
                        Poll::Pending => None,
                    }
                });
                ended.map_or(Poll::Pending, Poll::Ready)
            });
            let next = race.next();
            match either(ended, either(subchannel.moved.notified(), moment_of(next))).await {
                Either::One((_, Ok(connected))) => return Ok(connected),
                Either::One((place, Err(error))) => {
                    race.fail(running.swap_remove(place).0, now());
                    // The first one says why, unless another one may recover.
                    if failure
                        .as_ref()
                        .is_none_or(|failure: &StdError| is_final(&**failure) && !is_final(&*error))
                    {
                        failure = Some(error);
                    }
                }
                Either::Other(Either::One(())) => {
                    race.follow(subchannel.in_order(now()), now());
                    running.retain(|(address, _)| race.is_running(address));
                }
                Either::Other(Either::Other(())) => {}
            }
        }
    }

    async fn connect_to(
        &self,
        address: Address,
        time: Duration,
        subchannel: &Arc<Subchannel>,
        http2: &Http2,
    ) -> Connected {
        let deadline = Clock::start().at(time);
        let dialed = before(deadline, self.dialer.dial(&address)).await;
        let io = dialed.unwrap_or_else(|| Err(late("no connection was made").into()))?;
        let traffic = Arc::<Traffic>::default();
        let begun = before(deadline, self.begin(io, address, &traffic, subchannel, http2)).await;
        begun.unwrap_or_else(|| {
            let missing = if traffic.received() == 0 { "byte" } else { "SETTINGS frame" };
            Err(late(&format!("no {missing} came from the server")).into())
        })
    }

    /// Begins TLS and HTTP/2 on a connection, up to the server's SETTINGS.
    async fn begin(
        &self,
        io: BoxIo,
        address: Address,
        traffic: &Arc<Traffic>,
        subchannel: &Arc<Subchannel>,
        http2: &Http2,
    ) -> Connected {
        #[cfg(feature = "_tls")]
        let io = match &self.tls {
            Some(tls) => tls.connect(io).await?,
            None => io,
        };
        let io = TokioIo::new(WatchedIo::new(io, Arc::clone(traffic)));
        let factor = subchannel.counts.keep_alive_factor();
        let keep_alive = http2.keep_alive_interval.map(|interval| interval.saturating_mul(factor));
        let mut builder = http2.builder(keep_alive);
        let (sender, mut driving) = builder.initial_max_send_streams(UNSET).handshake(io).await?;
        poll_fn(|cx| {
            traffic.watch(cx);
            let error: StdError = match Pin::new(&mut driving).poll(cx) {
                Poll::Ready(Err(error)) => error.into(),
                Poll::Ready(Ok(())) => {
                    let closed = "the server closed the connection before it sent anything";
                    io::Error::new(io::ErrorKind::ConnectionReset, closed).into()
                }
                Poll::Pending if driving.current_max_send_streams() == UNSET => return Poll::Pending,
                Poll::Pending => return Poll::Ready(Ok(())),
            };
            Poll::Ready(Err(traffic.named(error, subchannel.was_connected.load(Ordering::Relaxed))))
        })
        .await?;
        traffic.set_max_streams(driving.current_max_send_streams());
        subchannel.was_connected.store(true, Ordering::Relaxed);
        Ok((PooledConnection::new(sender, address, Arc::clone(subchannel), Arc::clone(traffic)), driving))
    }
}

/// Drives a connection to its end.
pub(crate) async fn drive(
    mut driving: Driving,
    traffic: Arc<Traffic>,
    end: Arc<EndSignal>,
    subchannel: Arc<Subchannel>,
) {
    let backlog = &subchannel.backlog;
    let mut is_first = true;
    let result = poll_fn(|cx| {
        if std::mem::take(&mut is_first) {
            traffic.watch(cx);
        }
        let polled = Pin::new(&mut driving).poll(cx);
        if polled.is_pending() {
            let has_changed = traffic.set_max_streams(driving.current_max_send_streams());
            if traffic.is_watched() {
                traffic.keep_watching(!backlog.is_empty());
                if has_changed {
                    backlog.free();
                }
            }
        }
        polled
    })
    .await;
    end.end(match result {
        Ok(()) => LostReason::Closed,
        Err(error) => {
            subchannel.counts.learn_from(&error, &end);
            let mut text = text_of(&error);
            let timed_out = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
            if chain(&error).filter_map(|error| error.downcast_ref()).any(timed_out) {
                text += ": the operating system closed it, because sent bytes were not acknowledged (tcp_user_timeout)";
            }
            LostReason::Broken(text)
        }
    });
}
