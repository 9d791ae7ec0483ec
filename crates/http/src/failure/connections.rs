//! Which connections have been used.

use gax_wire::__private::chain;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpInfo;
use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many connections are remembered, at most one of each slot.
const SLOTS: usize = 64;

/// The connections that responses have come over, as far as they are remembered.
///
/// A server may close a connection that is kept for another request at any moment, also while that is on its way.
/// The client's errors don't say whether a connection is new; its addresses tell. One that is forgotten
/// is treated as new.
#[derive(Debug)]
pub(crate) struct Connections([AtomicU64; SLOTS]);

impl Default for Connections {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; SLOTS])
    }
}

impl Connections {
    /// A response has come, with what the client says of its connection.
    pub(crate) fn remember(&self, extensions: &http::Extensions) {
        let Some(info) = extensions.get::<HttpInfo>() else { return };
        let (slot, mark) = self.place(info);
        // Most often it is there already, and a store would only slow other threads down.
        if slot.load(Ordering::Relaxed) != mark {
            slot.store(mark, Ordering::Relaxed);
        }
    }

    /// Returns whether the connection that a response came over has brought another one before.
    pub(crate) fn knows(&self, extensions: &http::Extensions) -> bool {
        extensions.get::<HttpInfo>().is_some_and(|info| {
            let (slot, mark) = self.place(info);
            slot.load(Ordering::Relaxed) == mark
        })
    }

    /// Returns whether the connection that an error came over has brought a response before.
    pub(crate) fn remembers(&self, error: &(dyn Error + 'static)) -> bool {
        let Some(error) = chain(error).find_map(|link| link.downcast_ref::<legacy::Error>()) else {
            return false;
        };
        let mut extras = http::Extensions::new();
        if let Some(connected) = error.connect_info() {
            connected.get_extras(&mut extras);
        }
        self.knows(&extras)
    }

    fn place(&self, info: &HttpInfo) -> (&AtomicU64, u64) {
        let [first, ..] = &self.0;
        let slot = self.0.get(usize::from(info.local_addr().port()) % SLOTS).unwrap_or(first);
        (slot, mark(info.local_addr(), info.remote_addr()))
    }
}

/// A number for a connection's addresses, which is never 0.
fn mark(local: SocketAddr, remote: SocketAddr) -> u64 {
    let mut hasher = DefaultHasher::new();
    (local, remote).hash(&mut hasher);
    hasher.finish() | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_differ() {
        let marks = ["1.2.3.4:80", "1.2.3.4:81", "1.2.3.5:80", "[::1]:80", "[1::1]:80", "[1::]:80"]
            .map(|address| mark("[::1]:1".parse().unwrap(), address.parse().unwrap()));
        for (number, mark) in marks.iter().enumerate() {
            assert!(!marks[..number].contains(mark), "{number}");
        }
    }
}
