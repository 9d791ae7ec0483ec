//! Where a server listens.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a server listens: what a [`Resolver`](super::Resolver) finds, and what a connection is made to.
///
/// # Examples
///
/// ```
/// use std::net::SocketAddr;
/// use gax_connection::Address;
///
/// let address = Address::from(SocketAddr::from(([10, 0, 0, 1], 443)));
/// assert_eq!(address.to_string(), "10.0.0.1:443");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// A socket in the file system. Only Unix has them.
    Unix(PathBuf),
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Checks that the system can have a socket of that path.
///
/// # Errors
///
/// Why not.
#[cfg(unix)]
pub(crate) fn check_path(path: &std::path::Path) -> Result<(), String> {
    let check = std::os::unix::net::SocketAddr::from_pathname(path);
    check.map(drop).map_err(|error| format!("the path of a Unix socket can't be {}: {error}", path.display()))
}

#[cfg(not(unix))]
pub(crate) fn check_path(_: &std::path::Path) -> Result<(), String> {
    Ok(())
}
