//! Everything that remains to be done once the lock is released.

use crate::element::ElementResult;
use crate::error::AddResult;
use std::task::Waker;
use tokio::sync::oneshot;

/// The channel by which a caller that waits for room gets the result for its element.
pub(crate) type Waiter<T, R, E> = oneshot::Sender<AddResult<T, R, E>>;

/// One who waited, and the result of the element.
type Decided<T, R, E> = (Waiter<T, R, E>, AddResult<T, R, E>);

/// Where an element's result goes.
pub(crate) type Reply<R, E> = oneshot::Sender<ElementResult<R, E>>;

/// Everything that remains to be done once the lock is released.
pub(crate) struct Deferred<T, R, E> {
    pub(super) ends: Vec<(Reply<R, E>, ElementResult<R, E>)>,
    pub(super) results: Vec<Decided<T, R, E>>,
    pub(super) dropped: Vec<T>,
    pub(super) flushed: Vec<oneshot::Sender<()>>,
    pub(super) driver: Option<Waker>,
}

impl<T, R, E> Deferred<T, R, E> {
    pub(crate) fn new() -> Self {
        let (ends, results, dropped, flushed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { ends, results, dropped, flushed, driver: None }
    }

    /// Wakes those who wait. Nobody needs to be there any longer.
    pub(crate) fn perform(self) {
        for (reply, end) in self.ends {
            drop(reply.send(end));
        }
        for (sender, result) in self.results {
            drop(sender.send(result));
        }
        for flushed in self.flushed {
            let _ = flushed.send(());
        }
        if let Some(driver) = self.driver {
            driver.wake();
        }
        drop(self.dropped);
    }
}
