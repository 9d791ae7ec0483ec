//! Those who are told of one operation.

use crate::operation::observe::{OperationInfo, OperationObserver};
use std::sync::Arc;

/// Those who are told of one operation, and which it is. Connections that read its requests have it too.
pub(super) struct Audience {
    observers: Vec<Arc<dyn OperationObserver>>,
    info: OperationInfo,
}

impl Audience {
    pub(super) fn new(observers: Vec<Arc<dyn OperationObserver>>, info: OperationInfo) -> Self {
        Self { observers, info }
    }

    pub(super) fn info(&self) -> &OperationInfo {
        &self.info
    }

    /// Whether somebody wants to know what goes over the wire.
    pub(super) fn watches_transfers(&self) -> bool {
        self.observers.iter().any(|observer| observer.watches_transfers(&self.info))
    }

    pub(super) fn each(&self, mut tell: impl FnMut(&(dyn OperationObserver + 'static), &OperationInfo)) {
        for observer in &self.observers {
            tell(&**observer, &self.info);
        }
    }
}
