//! The followers of a handle.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::live::known_methods::KnownMethods;
use gax_retry::RetryBudget;
use gax_table::RetryTable;
use std::sync::{Arc, PoisonError, RwLock};

/// The table that counts, and what all who follow it share.
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct CurrentTable {
    pub table: RetryTable,
    pub version: u64,
    pub budget: Option<RetryBudget>,
}

/// A value that is made of a handle's table, and made again whenever the table is replaced. Its lock is held only while
/// a reference is counted or exchanged.
pub struct Follower<T> {
    current: RwLock<Arc<T>>,
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
        let first = Arc::new(make(current, None));
        Self { current: RwLock::new(first), make: Box::new(make), known }
    }

    pub(crate) fn load(&self) -> Arc<T> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
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
        Box::new(move || {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            let former = std::mem::replace(&mut *current, next);
            drop(current);
            // Outside of the lock, since it may be the last reference.
            drop(former);
        })
    }

    fn knows_methods(&self) -> bool {
        self.known.is_some()
    }
}
