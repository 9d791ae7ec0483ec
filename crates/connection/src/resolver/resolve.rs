//! The trait that resolvers implement.

use crate::resolver::address::Address;
use std::future::{Future, pending};
use std::pin::Pin;
use tonic::codegen::StdError;

/// The future of a [`Resolver`].
pub type ResolveFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Finds the addresses of a connection's endpoints: in DNS, in a file, by a control plane.
///
/// It is asked before the first connection is made, again whenever a connection fails or is lost, after a while
/// ([`resolve_every`](crate::ConnectionBuilder::resolve_every)), and whenever it says that something has
/// [changed](Self::changed), ten times a second at most. An endpoint that is in the new list too keeps its connections. One that is
/// missing from two lists in a row, or from one that follows [`changed`](Self::changed), is gone: once another endpoint has a
/// connection it gets no more calls, and those that it has end as they would have. So a resolver may give a part of its addresses at a
/// time. After an list without an address that is in use it is asked again within 30 s.
///
/// [`AddressList`](super::AddressList) is a resolver that a program replaces the addresses of.
///
/// # Errors
///
/// If it fails, the addresses of before stay. If there are none, calls fail with `UNAVAILABLE` and the error, unless they
/// wait for a connection; it is asked again by the [back-off](crate::ConnectBackoff) of connections. A list without an
/// address is treated as a failure.
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
