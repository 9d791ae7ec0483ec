//! Where a server listens.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::Instant;

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

/// The addresses of an endpoint.
#[derive(Debug)]
pub(crate) struct AddressBook {
    addresses: Arc<[Address]>,
    /// Those whose connection was given up, and until when they stay behind the others; `None`: forever.
    given_up: Vec<(Address, Option<Instant>)>,
}

impl AddressBook {
    pub(crate) fn new(addresses: Vec<Address>) -> Self {
        Self { addresses: addresses.into(), given_up: Vec::new() }
    }

    /// As the resolver gave them.
    pub(crate) fn addresses(&self) -> &Arc<[Address]> {
        &self.addresses
    }

    /// These are its addresses from now on. Returns whether one of them is new.
    pub(crate) fn follow(&mut self, addresses: Vec<Address>) -> bool {
        let is_new = addresses.iter().any(|address| !self.addresses.contains(address));
        self.given_up.retain(|(address, _)| addresses.contains(address));
        self.addresses = addresses.into();
        is_new
    }

    pub(crate) fn give_up(&mut self, address: Address, until: Option<Instant>) {
        self.given_up.retain(|(other, _)| *other != address);
        self.given_up.push((address, until));
    }

    /// In the order in which they are tried: those that were given up last, and the families in turn (RFC 8305).
    pub(crate) fn in_order(&mut self, now: Instant) -> VecDeque<Address> {
        self.given_up.retain(|(_, until)| until.is_none_or(|until| until > now));
        let is_given_up = |address: &&Address| self.given_up.iter().any(|(other, _)| other == *address);
        let (bad, good): (Vec<_>, Vec<_>) = self.addresses.iter().partition(is_given_up);
        alternating(good).chain(alternating(bad)).cloned().collect()
    }
}

/// One address of the first one's family, one of another, and so on.
fn alternating(addresses: Vec<&Address>) -> impl Iterator<Item = &Address> {
    let is_v6 = |address: &Address| matches!(address, Address::Tcp(address) if address.is_ipv6());
    let first = addresses.first().copied().is_some_and(is_v6);
    let (mut ones, mut others): (VecDeque<_>, VecDeque<_>) =
        addresses.into_iter().partition(|address| is_v6(address) == first);
    std::iter::from_fn(move || {
        std::mem::swap(&mut ones, &mut others);
        others.pop_front().or_else(|| ones.pop_front())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_driver::__private::Clock;
    use std::time::Duration;

    fn addresses(texts: &[&str]) -> Vec<Address> {
        texts.iter().map(|text| Address::Tcp(text.parse().unwrap())).collect()
    }

    fn order(book: &mut AddressBook, now: Instant) -> Vec<String> {
        book.in_order(now).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn families_take_turns() {
        let now = Clock::start().now().0;
        let mut book =
            AddressBook::new(addresses(&["[::1]:1", "[::1]:2", "[::1]:3", "127.0.0.1:4", "127.0.0.1:5"]));
        assert_eq!(order(&mut book, now), ["[::1]:1", "127.0.0.1:4", "[::1]:2", "127.0.0.1:5", "[::1]:3"]);
    }

    #[test]
    fn an_address_that_was_given_up_stays_behind_until_its_time_or_the_resolver_drops_it() {
        let now = Clock::start().now().0;
        let all = addresses(&["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
        let mut book = AddressBook::new(all.clone());
        let until = now + Duration::from_secs(120);
        book.give_up(all[0].clone(), Some(until));
        assert!(!book.follow(all.clone()), "the resolver gives the same addresses");
        assert_eq!(order(&mut book, now), ["127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:1"]);
        assert_eq!(order(&mut book, until), ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
        book.give_up(all[1].clone(), None);
        book.follow(all[..1].to_vec());
        assert!(book.follow(all));
        assert_eq!(order(&mut book, now), ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
    }
}
