//! The parts of an endpoint that its task, its connections and the pool share.

use crate::endpoint::backlog::Backlog;
use crate::endpoint::counts::Counts;
use crate::endpoint::health::Health;
use crate::resolver::{Address, AddressBook};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The parts of an endpoint that its task, its connections and the pool share (gRPC's subchannel).
#[derive(Debug)]
pub(crate) struct Subchannel {
    pub(crate) number: u64,
    book: Mutex<AddressBook>,
    /// Its task has something to decide.
    pub(crate) wanted: Notify,
    /// Its addresses have changed.
    pub(super) moved: Notify,
    /// Nobody needs the endpoint any longer.
    pub(crate) stopped: CancellationToken,
    pub(super) counts: Counts,
    pub(super) health: Health,
    pub(super) backlog: Arc<Backlog>,
}

impl Subchannel {
    pub(crate) fn new(
        number: u64,
        addresses: Vec<Address>,
        stopped: CancellationToken,
        backlog: Arc<Backlog>,
        is_checked: bool,
    ) -> Self {
        Self {
            number,
            book: Mutex::new(AddressBook::new(addresses)),
            wanted: Notify::new(),
            moved: Notify::new(),
            stopped,
            counts: Counts::default(),
            health: Health::new(is_checked),
            backlog,
        }
    }

    fn book(&self) -> MutexGuard<'_, AddressBook> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn addresses(&self) -> Arc<[Address]> {
        Arc::clone(self.book().addresses())
    }

    /// In the order in which they are tried.
    pub(super) fn in_order(&self, now: Instant) -> VecDeque<Address> {
        self.book().in_order(now)
    }

    /// These are its addresses from now on. Returns whether one of them is new.
    pub(crate) fn follow(&self, addresses: Vec<Address>) -> bool {
        let before = self.addresses();
        let is_new = self.book().follow(addresses);
        if *before != *self.addresses() {
            self.moved.notify_one();
        }
        is_new
    }

    /// The connection to that address was given up: it stays behind the others until then.
    pub(super) fn give_up(&self, address: Address, until: Option<Instant>) {
        self.book().give_up(address, until);
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    /// The endpoint as events name it.
    pub(super) fn name(&self) -> String {
        self.addresses().first().map_or_else(String::new, ToString::to_string)
    }
}
