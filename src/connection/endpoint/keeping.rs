//! The parts of an endpoint that its task and those who use it share.

use crate::connection::endpoint::counts::Counts;
use crate::connection::resolver::Address;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The parts of an endpoint that its task and those who use it share.
#[derive(Debug)]
pub(crate) struct Keeping {
    pub(crate) number: u64,
    addresses: Mutex<Arc<[Address]>>,
    /// A call needs a connection.
    pub(crate) wanted: Notify,
    /// There are addresses that there were not before.
    pub(crate) moved: Notify,
    /// Nobody needs the endpoint any more.
    pub(crate) stopped: CancellationToken,
    pub(crate) counts: Arc<Counts>,
}

impl Keeping {
    pub(crate) fn new(number: u64, addresses: Vec<Address>, stopped: CancellationToken) -> Self {
        Self {
            number,
            addresses: Mutex::new(addresses.into()),
            wanted: Notify::new(),
            moved: Notify::new(),
            stopped,
            counts: Arc::default(),
        }
    }

    pub(crate) fn addresses(&self) -> Arc<[Address]> {
        Arc::clone(&self.addresses.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// These are its addresses from now on.
    pub(crate) fn follow(&self, addresses: Vec<Address>) {
        let known = self.addresses();
        let is_new = addresses.iter().any(|address| !known.contains(address));
        self.set_addresses(addresses);
        if is_new {
            self.moved.notify_one();
        }
    }

    fn set_addresses(&self, addresses: Vec<Address>) {
        *self.addresses.lock().unwrap_or_else(PoisonError::into_inner) = addresses.into();
    }

    /// The address that was lost is tried last from now on.
    pub(super) fn put_last(&self, peer: &str) {
        let mut addresses = self.addresses().to_vec();
        addresses.sort_by_key(|address| address.to_string() == peer);
        self.set_addresses(addresses);
    }

    /// The endpoint as events name it.
    pub(super) fn name(&self) -> String {
        self.addresses().first().map_or_else(String::new, ToString::to_string)
    }
}
