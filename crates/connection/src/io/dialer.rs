//! Making a connection to an address.

use crate::io::proxy::Tunnel;
use crate::resolver::{Address, check_path};
use gax_wire::__private::{KnownProblem, dead_peers};
use gax_wire::ConnectProblem;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use std::future::{Future, Ready, ready};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tonic::codegen::StdError;
use tower_service::Service;

/// Anything that bytes go over.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

pub(crate) type BoxIo = Box<dyn Io>;

type Dialing = Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send>>;

/// A function of the program that connects.
pub(crate) type Custom = Arc<dyn Fn(Address) -> Dialing + Send + Sync>;

pub(crate) fn custom<F, T>(connect: impl Fn(Address) -> F + Send + Sync + 'static) -> Custom
where
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    Arc::new(move |address| {
        let connecting = connect(address);
        Box::pin(async move { connecting.await.map(|io| Box::new(io) as BoxIo) })
    })
}

/// The options of sockets.
#[derive(Debug, Clone)]
pub(crate) struct SocketOptions {
    pub(crate) user_timeout: Option<Duration>,
    pub(crate) keepalive: Option<Duration>,
    pub(crate) keepalive_interval: Option<Duration>,
    pub(crate) keepalive_retries: Option<u32>,
    pub(crate) nodelay: bool,
    pub(crate) local_address: Option<IpAddr>,
}

/// Makes the connections of an endpoint.
pub(crate) enum Dialer {
    Sockets { options: SocketOptions, tunnel: Option<Box<Tunnel>> },
    Custom(Custom),
}

impl Dialer {
    /// A connection to that address, which it is named by.
    pub(crate) async fn dial(&self, address: &Address) -> Result<BoxIo, StdError> {
        match (self, address) {
            (Self::Custom(custom), address) => Ok(custom(address.clone()).await?),
            (Self::Sockets { .. }, Address::Unix(path)) => Ok(unix(path).await?),
            (Self::Sockets { options, tunnel }, Address::Tcp(address)) => match tunnel.as_deref() {
                // The addresses are the proxy's own.
                Some(Tunnel { proxy, host: Some(host), .. }) => {
                    Ok(Box::new(proxy.open(options.dial(vec![*address]).await?, host).await?))
                }
                Some(tunnel) if tunnel.is_for(&address.ip().to_string()) => {
                    let proxy = &tunnel.proxy;
                    let found = tokio::net::lookup_host((&*proxy.host, proxy.port)).await;
                    let found =
                        found.map_err(|error| format!("the proxy {proxy} can't be found: {error}"))?;
                    let stream = options.dial(found.collect()).await?;
                    Ok(Box::new(proxy.open(stream, &address.to_string()).await?))
                }
                _ => Ok(Box::new(options.dial(vec![*address]).await?)),
            },
        }
    }
}

/// It took too long.
pub(crate) fn late(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{what} within the connect timeout"))
}

impl SocketOptions {
    /// A connection to the first of these addresses of one host that takes it.
    async fn dial(&self, addresses: Vec<SocketAddr>) -> Result<TcpStream, StdError> {
        let mut tcp = HttpConnector::new_with_resolver(Resolved(addresses));
        // TLS is put on top.
        tcp.enforce_http(false);
        tcp.set_nodelay(self.nodelay);
        tcp.set_keepalive(self.keepalive);
        tcp.set_keepalive_interval(self.keepalive_interval);
        tcp.set_keepalive_retries(self.keepalive_retries);
        tcp.set_local_address(self.local_address);
        dead_peers::set_user_timeout(&mut tcp, self.user_timeout);
        // The addresses have their own ports, so that none is named.
        Ok(tcp.call(Uri::from_static("http://resolved")).await?.into_inner())
    }
}

/// Addresses that need no resolver any longer.
#[derive(Clone)]
struct Resolved(Vec<SocketAddr>);

impl Service<Name> for Resolved {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Name) -> Self::Future {
        ready(Ok(self.0.clone().into_iter()))
    }
}

#[cfg(unix)]
async fn unix(path: &std::path::Path) -> io::Result<BoxIo> {
    match check_path(path) {
        Ok(()) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
        Err(text) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            KnownProblem::new(ConnectProblem::UnusableAddress, text),
        )),
    }
}

#[cfg(not(unix))]
async fn unix(_: &std::path::Path) -> io::Result<BoxIo> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no sockets in the file system"))
}
