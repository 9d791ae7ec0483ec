//! How the addresses of a target are found.

use crate::resolver::address::Address;
use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::watch;
use tonic::codegen::StdError;

/// The future of a [`Resolver`].
pub type ResolveFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Finds the addresses of a connection's endpoints: in DNS, in a file, by a control plane.
///
/// It is called before the first connection is made, whenever a connection fails or is lost, regularly
/// ([`resolve_every`](crate::ConnectionBuilder::resolve_every)), and whenever it reports that something has
/// [changed](Self::changed), at most ten times a second. An endpoint that is also in the new list keeps its connections. An endpoint
/// that is missing from two lists in a row, or from a list that follows [`changed`](Self::changed), drains: as soon as another
/// endpoint has a connection, it gets no new calls, and its calls continue. A resolver may therefore return a part of its addresses at
/// a time. If a list lacks an address that is in use, the resolver is called again within 30 s.
///
/// [`AddressList`](super::AddressList) is a resolver whose addresses the program replaces.
///
/// # Errors
///
/// If it fails, the previous addresses stay. If there are none, calls fail with `UNAVAILABLE` and the error, unless they wait for
/// a connection; it is called again by the [back-off](crate::ConnectBackoff) of connections. A list without an address
/// is treated as a failure.
///
/// # Cancel safety
///
/// Both futures are dropped when the connection is no longer needed, `changed` also whenever the resolver is asked.
///
/// # Examples
///
/// ```
/// use std::net::SocketAddr;
/// use gax_connection::{Address, ResolveFuture, Resolver};
///
/// /// A file with an address on each line.
/// struct AddressFile(std::path::PathBuf);
///
/// type Error = Box<dyn std::error::Error + Send + Sync>;
///
/// impl Resolver for AddressFile {
///     fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, Error>> {
///         Box::pin(async {
///             let text = std::fs::read_to_string(&self.0)?;
///             text.lines().map(|line| Ok(line.parse::<SocketAddr>()?.into())).collect()
///         })
///     }
/// }
/// ```
pub trait Resolver: Send + Sync + 'static {
    /// The addresses as they are now, in the order of preference.
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, StdError>>;

    /// Ready when the addresses may have changed since they were last resolved. Never, unless overridden.
    fn changed(&self) -> ResolveFuture<'_, ()> {
        Box::pin(pending())
    }
}

/// Asks the system's resolver (`getaddrinfo`) for the addresses of both families, on a thread for blocking work.
///
/// It is the system's and not one in Rust such as hickory, because it reads what the machine is configured with:
/// `/etc/hosts`, `nsswitch.conf`, search domains, mDNS, a VPN's split DNS. It doesn't say how long an entry is valid; that
/// is why names are asked again by interval.
#[derive(Debug)]
pub(crate) struct Dns {
    host: String,
    port: u16,
}

impl Dns {
    pub(crate) fn new(host: String, port: u16) -> Self {
        Self { host, port }
    }
}

impl Resolver for Dns {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, StdError>> {
        Box::pin(async {
            let found = tokio::net::lookup_host((&*self.host, self.port)).await?;
            Ok(found.map(Address::Tcp).collect())
        })
    }
}

/// A list of addresses that a program knows, and replaces when they change. Clones share it.
///
/// # Examples
///
/// ```
/// use std::net::SocketAddr;
/// use gax_connection::{Address, AddressList, Connection};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let servers = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 50051)))]);
/// let connection = Connection::to("http://library").resolver(servers.clone()).connect_lazy()?;
/// servers.replace([Address::from(SocketAddr::from(([10, 0, 0, 2], 50051)))]);
/// # drop(connection);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AddressList(Arc<watch::Sender<Vec<Address>>>);

impl AddressList {
    /// A list of these addresses.
    #[must_use]
    pub fn new(addresses: impl IntoIterator<Item = Address>) -> Self {
        Self(Arc::new(watch::Sender::new(addresses.into_iter().collect())))
    }

    /// Replaces the addresses. Connections that use them follow immediately: an address that stays keeps its
    /// connections.
    pub fn replace(&self, addresses: impl IntoIterator<Item = Address>) {
        self.0.send_replace(addresses.into_iter().collect());
    }
}

impl fmt::Debug for AddressList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AddressList").field(&*self.0.borrow()).finish()
    }
}

impl Resolver for AddressList {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, StdError>> {
        let addresses = self.0.borrow().clone();
        Box::pin(ready(Ok(addresses)))
    }

    fn changed(&self) -> ResolveFuture<'_, ()> {
        let mut receiver = self.0.subscribe();
        Box::pin(async move {
            // The sender lives as long as this list.
            if receiver.changed().await.is_err() {
                pending::<()>().await;
            }
        })
    }
}
