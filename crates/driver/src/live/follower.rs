//! The followers of a handle.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::live::known_methods::KnownMethods;
use arc_swap::{ArcSwap, Guard};
use gax_retry::RetryBudget;
use gax_table::RetryTable;
use std::sync::Arc;

/// The table that counts, and what all who follow it share.
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct CurrentTable {
    pub table: RetryTable,
    pub version: u64,
    pub budget: Option<RetryBudget>,
}

/// A value that is made of a handle's table, and made again whenever the table is replaced. Calls read it without a lock.
pub struct Follower<T> {
    current: ArcSwap<T>,
    make: Box<Make<T>>,
    /// The methods that it knows, for as long as it is there; `None`: it takes whatever is called.
    known: Option<Arc<KnownMethods>>,
}

/// Makes it of a table, and of what was made of the table before.
type Make<T> = dyn Fn(&CurrentTable, Option<&T>) -> T + Send + Sync;

impl<T> Follower<T> {
    pub(super) fn new(
        current: &CurrentTable,
        make: impl Fn(&CurrentTable, Option<&T>) -> T + Send + Sync + 'static,
        known: Option<Arc<KnownMethods>>,
    ) -> Self {
        let first = ArcSwap::from_pointee(make(current, None));
        Self { current: first, make: Box::new(make), known }
    }

    pub(crate) fn load(&self) -> Guard<Arc<T>> {
        self.current.load()
    }
}

/// A follower as its handle knows it.
pub(super) trait Follow: Send + Sync {
    /// Makes what the table leads to, and puts it in place once that is called.
    fn prepare(self: Arc<Self>, current: &CurrentTable) -> Box<dyn FnOnce()>;

    /// Whether it knows its methods.
    fn knows_methods(&self) -> bool;
}

impl<T: Send + Sync + 'static> Follow for Follower<T> {
    fn prepare(self: Arc<Self>, current: &CurrentTable) -> Box<dyn FnOnce()> {
        let next = Arc::new((self.make)(current, Some(&self.load())));
        Box::new(move || self.current.store(next))
    }

    fn knows_methods(&self) -> bool {
        self.known.is_some()
    }
}
