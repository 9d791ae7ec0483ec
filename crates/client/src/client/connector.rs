//! TCP connections that are given up if they stall.

use gax_driver::__private::{Clock, Timer};
use gax_wire::__private::KnownProblem;
use gax_wire::__private::dead_peers::{self, KEEPALIVE, KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES, USER_TIMEOUT};
use http::Uri;
use http::uri::Scheme;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::HttpConnector;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tonic::codegen::StdError;
use tonic::transport::Endpoint;
use tower_service::Service;

/// The most time that connecting may take, if nothing says otherwise.
pub(super) const LONGEST: Duration = Duration::from_secs(20);

/// Makes the TCP connections of a channel, and closes those that stall.
///
/// The name has to be resolved, the connection made, and the server's first byte read, all within the connect
/// timeout. The first byte is that of the TLS handshake or, without TLS, of HTTP/2's. tonic's own connector waits for
/// the latter two without a limit, and all calls of the channel wait with it.
///
/// [`connect`](super::connect) and [`connect_lazy`](super::connect_lazy) use it. An [`Endpoint`] that you connect yourself
/// takes it in [`connect_with_connector`](Endpoint::connect_with_connector). Set the endpoint's
/// [`connect_timeout`](Endpoint::connect_timeout) too, to bound a TLS handshake that stalls after its first byte.
///
/// # Defaults
///
/// The connect timeout is the endpoint's own, or else 20 s. The system closes a connection whose bytes are not acknowledged for 20
/// s, and probes one that is quiet for 60 s, three times in 30 s; the endpoint's own TCP keep-alive options take precedence. This
/// doesn't detect a proxy that acknowledges everything and forwards nothing; a
/// [`Connection`](https://tonic-gax.github.io/tonic-gax/connecting.html) does.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), tonic::transport::Error> {
/// use tonic::transport::Endpoint;
/// use gax_client::Connector;
///
/// let endpoint = Endpoint::from_static("http://[::1]:50051");
/// let connector = Connector::new(&endpoint).local_address("::1".parse().ok());
/// let channel = endpoint.connect_with_connector(connector).await?;
/// # drop(channel);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Connector {
    tcp: HttpConnector,
    timeout: Duration,
}

impl Connector {
    /// A connector with an endpoint's TCP options, except for its local address, which tonic doesn't expose.
    pub fn new(endpoint: &Endpoint) -> Self {
        let mut tcp = HttpConnector::new();
        // TLS is put on top by the endpoint.
        tcp.enforce_http(false);
        tcp.set_nodelay(endpoint.get_tcp_nodelay());
        tcp.set_keepalive(endpoint.get_tcp_keepalive().or(Some(KEEPALIVE)));
        tcp.set_keepalive_interval(endpoint.get_tcp_keepalive_interval().or(Some(KEEPALIVE_INTERVAL)));
        tcp.set_keepalive_retries(endpoint.get_tcp_keepalive_retries().or(Some(KEEPALIVE_RETRIES)));
        dead_peers::set_user_timeout(&mut tcp, Some(USER_TIMEOUT));
        Self { tcp, timeout: LONGEST }.connect_timeout(endpoint.get_connect_timeout().unwrap_or(LONGEST))
    }

    /// The most time until the server's first byte.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        // Divided among the addresses of a host, so that each has its turn.
        self.tcp.set_connect_timeout(Some(timeout));
        self.timeout = timeout;
        self
    }

    /// For how long sent bytes may stay without an acknowledgement until the system ends the connection (`TCP_USER_TIMEOUT`, on
    /// Linux and Android); `None`: the system's own time, of some 15 minutes.
    pub fn tcp_user_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        dead_peers::set_user_timeout(&mut self.tcp, timeout.into());
        self
    }

    /// The address that connections are made from.
    pub fn local_address(mut self, address: Option<IpAddr>) -> Self {
        self.tcp.set_local_address(address);
        self
    }
}

impl Service<Uri> for Connector {
    type Response = ConnectorIo;
    type Error = StdError;
    type Future = Pin<Box<dyn Future<Output = Result<ConnectorIo, StdError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.tcp.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (deadline, awaits_tls) = (Clock::start().at(self.timeout), uri.scheme() == Some(&Scheme::HTTPS));
        let connecting = self.tcp.call(uri);
        Box::pin(async move {
            let (mut connecting, mut timer) = (pin!(connecting), Timer::default());
            let io = poll_fn(|cx| match connecting.as_mut().poll(cx) {
                Poll::Ready(io) => Poll::Ready(io.map_err(StdError::from)),
                Poll::Pending => timer.poll_at(deadline, cx).map(|()| Err(stalled("no connection").into())),
            });
            Ok(ConnectorIo { io: io.await?, waits_until: deadline, timer: Timer::default(), awaits_tls })
        })
    }
}

/// A connection that [`Connector`] has made.
pub struct ConnectorIo {
    io: <HttpConnector as Service<Uri>>::Response,
    /// Until when the server's first byte is waited for; `None` once it is there.
    waits_until: Option<Instant>,
    timer: Timer,
    /// `true` if the first byte to be sent has to be that of a TLS handshake. tonic without TLS speaks plain text to `https`.
    awaits_tls: bool,
}

/// The type of the first record that a client sends over TLS.
const TLS_HANDSHAKE: u8 = 22;

impl ConnectorIo {
    fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(first) = bytes.first() else { return Ok(()) };
        if self.awaits_tls && *first != TLS_HANDSHAKE {
            return Err(io::Error::new(io::ErrorKind::Unsupported, KnownProblem::NO_TLS));
        }
        self.awaits_tls = false;
        Ok(())
    }

    /// Returns an error if the server has not said anything in time.
    fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        self.timer.poll_at(self.waits_until, cx).map(|()| stalled("no byte"))
    }
}

fn stalled(what: &str) -> io::Error {
    let text = format!("{what} came from the server within the connect timeout");
    io::Error::new(io::ErrorKind::TimedOut, text)
}

gax_text::short_debug! { self: ConnectorIo {} }

impl Read for ConnectorIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.io).poll_read(cx, buf) {
            Poll::Ready(read) => {
                (self.waits_until, self.timer) = (None, Timer::default());
                Poll::Ready(read)
            }
            Poll::Pending => self.poll_stalled(cx).map(Err),
        }
    }
}

impl Write for ConnectorIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check(buf)?;
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        bufs.iter().try_for_each(|buf| self.check(buf))?;
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }
}
