//! Making a connection to one of several addresses.

use crate::connection::io::custom::{BoxIo, Custom};
use crate::connection::io::proxy::ProxyRule;
use crate::connection::io::tunnel::Tunnel;
use crate::connection::resolver::Address;
use crate::connection::wait::before;
use crate::operation::Clock;
use crate::transport::dead_peers;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use std::future::{Ready, ready};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tonic::codegen::StdError;
use tower_service::Service;

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
#[derive(Debug)]
pub(crate) enum Dialer {
    Sockets { options: SocketOptions, tunnel: Option<Box<Tunnel>> },
    Custom(Custom),
}

impl Dialer {
    /// A connection to one of the addresses, and to which. Of addresses of two families the second is tried while the first
    /// makes one wait (RFC 8305, by hyper-util's connector). They share the time.
    pub(crate) async fn dial(
        &self,
        addresses: &[Address],
        time: Duration,
    ) -> Result<(BoxIo, Address), StdError> {
        let mut failure: StdError =
            io::Error::new(io::ErrorKind::AddrNotAvailable, "there is no address to connect to").into();
        let clock = Clock::start();
        let (together, others): (Vec<_>, Vec<_>) =
            addresses.iter().partition(|address| self.is_dialed_with_others(address));
        if let Self::Sockets { options, tunnel } = self
            && !together.is_empty()
        {
            match options.dial(together.into_iter().filter_map(socket_address).collect(), time).await {
                Ok((stream, address)) => {
                    let stream =
                        match tunnel.as_ref().and_then(|tunnel| Some((tunnel, tunnel.host.as_ref()?))) {
                            Some((tunnel, host)) => tunnel.rule.proxy.open(stream, host).await?,
                            None => stream,
                        };
                    return Ok((Box::new(stream), Address::Tcp(address)));
                }
                Err(error) => failure = error,
            }
        }
        let mut left = u32::try_from(others.len()).unwrap_or(u32::MAX);
        for address in others {
            // Each has its share of the time that those before it left.
            let share = time.saturating_sub(clock.elapsed()) / left.max(1);
            left = left.saturating_sub(1);
            match before(Clock::start().at(share), self.dial_one(address, share)).await {
                Some(Ok(io)) => return Ok((io, address.clone())),
                Some(Err(error)) => failure = error,
                None => failure = late("no connection was made").into(),
            }
        }
        Err(failure)
    }

    /// Whether an address is one of those that hyper-util's connector chooses from.
    fn is_dialed_with_others(&self, address: &Address) -> bool {
        match (self, address) {
            (Self::Sockets { tunnel, .. }, Address::Tcp(address)) => tunnel
                .as_ref()
                .is_none_or(|tunnel| tunnel.host.is_some() || !tunnel.rule.is_for(&address.ip().to_string())),
            _ => false,
        }
    }

    async fn dial_one(&self, address: &Address, time: Duration) -> Result<BoxIo, StdError> {
        match (self, address) {
            (Self::Custom(custom), address) => Ok(custom.dial(address.clone()).await?),
            (Self::Sockets { .. }, Address::Unix(path)) => Ok(unix(path).await?),
            (Self::Sockets { options, tunnel }, Address::Tcp(address)) => {
                let Some(Tunnel { rule: ProxyRule { proxy, .. }, .. }) = tunnel.as_deref() else {
                    return Ok(Box::new(options.dial(vec![*address], time).await?.0));
                };
                let found = tokio::net::lookup_host((&*proxy.host, proxy.port)).await;
                let found =
                    found.map_err(|error| format!("the proxy {proxy} can't be found: {error}"))?.collect();
                let (stream, _) = options.dial(found, time).await?;
                Ok(Box::new(proxy.open(stream, &address.to_string()).await?))
            }
        }
    }
}

/// It took too long.
pub(crate) fn late(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{what} within the connect timeout"))
}

fn socket_address(address: &Address) -> Option<SocketAddr> {
    match address {
        Address::Tcp(address) => Some(*address),
        Address::Unix(_) => None,
    }
}

impl SocketOptions {
    async fn dial(
        &self,
        addresses: Vec<SocketAddr>,
        time: Duration,
    ) -> Result<(TcpStream, SocketAddr), StdError> {
        let mut tcp = HttpConnector::new_with_resolver(Resolved(addresses));
        // TLS is put on top.
        tcp.enforce_http(false);
        tcp.set_nodelay(self.nodelay);
        tcp.set_keepalive(self.keepalive);
        tcp.set_keepalive_interval(self.keepalive_interval);
        tcp.set_keepalive_retries(self.keepalive_retries);
        tcp.set_local_address(self.local_address);
        tcp.set_connect_timeout(Some(time));
        dead_peers::set_user_timeout(&mut tcp, self.user_timeout);
        // The addresses have ports of their own, so that none is named.
        let stream = tcp.call(Uri::from_static("http://resolved")).await?.into_inner();
        let address = stream.peer_addr()?;
        Ok((stream, address))
    }
}

/// Addresses that need no resolver any more.
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
    Ok(Box::new(tokio::net::UnixStream::connect(path).await?))
}

#[cfg(not(unix))]
async fn unix(_: &std::path::Path) -> io::Result<BoxIo> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no sockets in the file system"))
}
