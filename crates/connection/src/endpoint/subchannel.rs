//! The parts of an endpoint that its task, its connections and the pool share.

use crate::endpoint::counts::Counts;
use crate::endpoint::health::Health;
use crate::resolver::{Address, AddressBook};
use crate::settings::PoolSettings;
use gax_driver::__private::Locked;
use gax_driver::observe::Peer;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Those who know of the other endpoints.
pub(crate) trait Supervisor: Send + Sync {
    /// A call to that endpoint has failed it.
    fn fail(&self, subchannel: &Subchannel, peer: &Peer);
}

/// The parts of an endpoint that its task, its connections and the pool share (gRPC's subchannel).
#[derive(Debug)]
pub(crate) struct Subchannel {
    pub(crate) number: u64,
    book: Locked<AddressBook>,
    /// Its task has something to decide.
    pub(crate) wanted: Notify,
    /// Its addresses have changed.
    pub(crate) moved: Notify,
    /// Nobody needs the endpoint any longer.
    pub(crate) stopped: CancellationToken,
    pub(crate) counts: Counts,
    pub(crate) health: Health,
    /// `true` if it ever had a connection: what is wrong now may pass.
    pub(crate) was_connected: AtomicBool,
    pub(crate) backlog: Arc<Backlog>,
    pub(crate) settings: Arc<PoolSettings>,
    pub(crate) supervisor: Weak<dyn Supervisor>,
}

impl Subchannel {
    pub(crate) fn new(
        number: u64,
        addresses: Vec<Address>,
        stopped: CancellationToken,
        backlog: Arc<Backlog>,
        settings: Arc<PoolSettings>,
        supervisor: Weak<dyn Supervisor>,
    ) -> Self {
        Self {
            number,
            book: Locked::new(AddressBook::new(addresses)),
            wanted: Notify::new(),
            moved: Notify::new(),
            stopped,
            counts: Counts::default(),
            health: Health::new(settings.chosen.health.is_some()),
            was_connected: AtomicBool::new(false),
            backlog,
            settings,
            supervisor,
        }
    }

    pub(crate) fn addresses(&self) -> Arc<[Address]> {
        Arc::clone(self.book.lock().addresses())
    }

    /// In the order in which they are tried.
    pub(crate) fn in_order(&self, now: Instant) -> VecDeque<Address> {
        self.book.lock().in_order(now)
    }

    /// These are its addresses from now on. Returns whether one of them is new.
    pub(crate) fn follow(&self, addresses: Vec<Address>) -> bool {
        let before = self.addresses();
        let is_new = self.book.lock().follow(addresses);
        if *before != *self.addresses() {
            self.moved.notify_one();
        }
        is_new
    }

    /// The connection to that address was given up: it stays behind the others until then.
    pub(crate) fn give_up(&self, address: Address, until: Option<Instant>) {
        self.book.lock().give_up(address, until);
    }

    /// The endpoint as events name it.
    pub(crate) fn name(&self) -> String {
        self.addresses().first().map_or_else(String::new, ToString::to_string)
    }
}

/// How many calls wait in the pool, and the bell that says that one of them may go.
///
/// A call that is about to wait counts itself before it looks for a stream again, and a stream is free before its call looks here: one
/// of the two sees the other.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: AtomicUsize,
    freed: Notify,
}

impl Backlog {
    pub(crate) fn set(&self, waiting: usize) {
        self.waiting.store(waiting, Ordering::SeqCst);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0
    }

    /// A stream is free, or may be.
    pub(super) fn free(&self) {
        if !self.is_empty() {
            self.freed.notify_one();
        }
    }

    /// Waits until a stream may be free for a call that waits.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}
