//! Making a connection to one of several addresses.

use crate::connection::io::custom::{BoxIo, Custom};
use crate::connection::resolver::Address;
use crate::transport::dead_peers;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use std::future::{Ready, ready};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll};
use std::time::Duration;
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
#[derive(Debug, Clone)]
pub(crate) enum Dialer {
    Sockets(SocketOptions),
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
        let sockets = match self {
            Self::Sockets(options) => Some(options),
            Self::Custom(_) => None,
        };
        let tcp: Vec<_> = addresses.iter().filter_map(socket_address).collect();
        if let Some(options) = sockets.filter(|_| !tcp.is_empty()) {
            match options.dial(tcp, time).await {
                Ok(dialed) => return Ok(dialed),
                Err(error) => failure = error,
            }
        }
        for address in addresses {
            let dialed = match (self, address) {
                (Self::Custom(custom), address) => custom.dial(address.clone()).await,
                (Self::Sockets(_), Address::Unix(path)) => unix(path).await,
                (Self::Sockets(_), Address::Tcp(_)) => continue,
            };
            match dialed {
                Ok(io) => return Ok((io, address.clone())),
                Err(error) => failure = error.into(),
            }
        }
        Err(failure)
    }
}

fn socket_address(address: &Address) -> Option<SocketAddr> {
    match address {
        Address::Tcp(address) => Some(*address),
        Address::Unix(_) => None,
    }
}

impl SocketOptions {
    async fn dial(&self, addresses: Vec<SocketAddr>, time: Duration) -> Result<(BoxIo, Address), StdError> {
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
        Ok((Box::new(stream), Address::Tcp(address)))
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
