//! The system's resolver.

use crate::resolver::address::Address;
use crate::resolver::resolve::{ResolveFuture, Resolver};
use tonic::codegen::StdError;

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
