//! The state that all calls of a layer or of a generated client share.

use crate::google::ClientHeaders;
use gax_driver::__house::{BufferLimits, Observers, ReplayMemory};
use gax_driver::OperationOptions;
use gax_driver::protocol::Start;
use gax_retry::{Compatibility, RetryBudget};
use std::sync::Arc;

/// The state that all calls of a layer or of a generated client share, whatever their method is. Settings that can be replaced
/// have one for each version.
#[derive(Debug, Clone)]
pub(crate) struct SharedState {
    pub(crate) options: OperationOptions,
    pub(crate) compatibility: Compatibility,
    pub(crate) limits: BufferLimits,
    /// The headers that requests have in addition to those of gRPC.
    pub(crate) headers: ClientHeaders,
    /// The observers of the calls; `None`: there are none.
    pub(crate) observers: Option<Arc<Observers>>,
    /// The memory that streams of requests are buffered in; `None`: they are sent once.
    pub(crate) replay_memory: Option<ReplayMemory>,
    /// The budget of the table.
    pub(crate) table_budget: Option<RetryBudget>,
    /// The version of settings that can be replaced.
    pub(crate) version: Option<u64>,
}

impl SharedState {
    /// The start of each operation: its observers, and the source of its jitter.
    #[inline]
    pub(crate) fn start(&self) -> Start<'_> {
        Start::new(self.observers.as_deref(), &self.options.jitter)
    }

    /// For calls that are attempts of another operation, which notifies its own observers.
    pub(crate) fn without_observers(&self) -> Self {
        Self { observers: None, ..self.clone() }
    }
}

#[cfg(test)]
impl SharedState {
    /// Defaults, by those rules.
    pub(crate) fn by(compatibility: Compatibility) -> Arc<Self> {
        Arc::new(Self {
            options: OperationOptions::default(),
            compatibility,
            limits: BufferLimits::default(),
            headers: ClientHeaders::default(),
            observers: None,
            replay_memory: None,
            table_budget: None,
            version: None,
        })
    }
}
