//! An observer that was installed.

use super::{OperationInfo, OperationObserver};
use crate::panics::PanicGuard;
use std::sync::Arc;

const WHO: &str = "an observer";

/// An observer that was installed on a client or layer, or the one that it has for an operation. Its panics end here.
#[derive(Clone)]
pub(super) struct Installed {
    observer: Arc<dyn OperationObserver>,
    guard: Arc<PanicGuard>,
}

impl Installed {
    pub(super) fn new(observer: Arc<dyn OperationObserver>) -> Self {
        Self { observer, guard: Arc::default() }
    }

    /// Who is notified of that operation in its place, if anybody is.
    pub(super) fn for_operation(&self, info: &OperationInfo) -> Self {
        let own = self.notify(|observer| observer.for_operation(info)).flatten();
        Self { observer: own.unwrap_or_else(|| Arc::clone(&self.observer)), guard: Arc::clone(&self.guard) }
    }

    /// Calls the observer. `None`: it panicked.
    #[inline]
    pub(super) fn notify<R>(&self, call: impl FnOnce(&(dyn OperationObserver + 'static)) -> R) -> Option<R> {
        self.guard.run(WHO, || call(&*self.observer))
    }

    /// Lets go of the observer, whose own code may run then.
    pub(super) fn release(self) {
        let Self { observer, guard } = self;
        guard.run(WHO, || drop(observer));
    }
}
