//! The trait that resolvers implement.

use crate::resolver::address::Address;
use std::future::{Future, pending};
use std::pin::Pin;
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
