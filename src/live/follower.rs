//! What follows a handle.

use arc_swap::{ArcSwap, Guard};
use gax_retry::RetryBudget;
use gax_table::RetryTable;
use std::error::Error;
use std::sync::Arc;

/// The table that counts, and what all who follow it share.
pub(crate) struct CurrentTable {
    pub(crate) table: RetryTable,
    pub(crate) version: u64,
    pub(crate) budget: Option<RetryBudget>,
}

/// What is made of a handle's table, and made anew whenever the table is replaced. Calls read it without a lock.
pub(crate) struct Follower<T> {
    current: ArcSwap<T>,
    make: Box<dyn Fn(&CurrentTable) -> T + Send + Sync>,
    check: Box<Check>,
}

/// Says whether a table can be used.
type Check = dyn Fn(&CurrentTable) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync;

impl<T> Follower<T> {
    pub(super) fn new(
        current: &CurrentTable,
        make: impl Fn(&CurrentTable) -> T + Send + Sync + 'static,
        check: impl Fn(&CurrentTable) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
    ) -> Self {
        let first = ArcSwap::from_pointee(make(current));
        Self { current: first, make: Box::new(make), check: Box::new(check) }
    }

    pub(super) fn load(&self) -> Guard<Arc<T>> {
        self.current.load()
    }
}

/// What a handle knows of those who follow it.
pub(super) trait Follow: Send + Sync {
    /// Makes what the table leads to, and puts it in place once that is called.
    fn prepare(
        self: Arc<Self>,
        current: &CurrentTable,
    ) -> Result<Box<dyn FnOnce()>, Box<dyn Error + Send + Sync>>;
}

impl<T: Send + Sync + 'static> Follow for Follower<T> {
    fn prepare(
        self: Arc<Self>,
        current: &CurrentTable,
    ) -> Result<Box<dyn FnOnce()>, Box<dyn Error + Send + Sync>> {
        (self.check)(current)?;
        let next = Arc::new((self.make)(current));
        Ok(Box::new(move || self.current.store(next)))
    }
}
