//! Addresses that a program replaces.

use crate::resolver::address::Address;
use crate::resolver::resolve::{ResolveFuture, Resolver};
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;
use tonic::codegen::StdError;

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
        Box::pin(std::future::ready(Ok(addresses)))
    }

    fn changed(&self) -> ResolveFuture<'_, ()> {
        let mut receiver = self.0.subscribe();
        Box::pin(async move {
            // The sender lives as long as this list.
            if receiver.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
