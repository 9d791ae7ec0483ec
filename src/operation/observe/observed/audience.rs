//! Those who are told of one operation.

use crate::operation::observe::installed::Installed;
use crate::operation::observe::{OperationInfo, OperationObserver};

/// Those who are told of one operation, and which it is. Connections that read its requests have it too.
pub(super) struct Audience {
    observers: Vec<Installed>,
    info: OperationInfo,
}

impl Audience {
    pub(super) fn new(observers: Vec<Installed>, info: OperationInfo) -> Self {
        Self { observers, info }
    }

    pub(super) fn info(&self) -> &OperationInfo {
        &self.info
    }

    /// Whether somebody wants to know what goes over the wire.
    pub(super) fn watches_transfers(&self) -> bool {
        let watches =
            |observer: &Installed| observer.notify(|observer| observer.watches_transfers(&self.info));
        self.observers.iter().any(|observer| watches(observer).unwrap_or_default())
    }

    pub(super) fn each(&self, mut tell: impl FnMut(&(dyn OperationObserver + 'static), &OperationInfo)) {
        for observer in &self.observers {
            observer.notify(|observer| tell(observer, &self.info));
        }
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        self.observers.drain(..).for_each(Installed::release);
    }
}
