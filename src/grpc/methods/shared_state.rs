//! The state that all calls of a layer or of a generated client share.

use crate::grpc::take_over::TakeOver;
use gax_driver::__private::{Observers, ReplayMemory};
use gax_driver::OperationOptions;
use gax_driver::ReplayOptions;
use gax_driver::protocol::Start;
use gax_retry::{Compatibility, RetryBudget};
use std::fmt;
use std::sync::Arc;

/// The state that all calls of a layer or of a generated client share, whatever their method is. Settings that can be replaced
/// have one for each version.
#[derive(Clone)]
pub struct SharedState {
    pub options: OperationOptions,
    pub compatibility: Compatibility,
    pub replay: ReplayOptions,
    /// Who runs the calls of methods whose settings have timeouts of streams.
    pub streams: Option<Arc<dyn TakeOver>>,
    /// The observers of the calls; `None`: there are none.
    pub observers: Option<Arc<Observers>>,
    /// The memory that streams of requests are buffered in; `None`: they are sent once.
    pub replay_memory: Option<ReplayMemory>,
    /// The budget of the settings.
    pub table_budget: Option<RetryBudget>,
    /// The version of settings that can be replaced.
    pub version: Option<u64>,
}

impl SharedState {
    /// Defaults, by those rules.
    pub fn new(compatibility: Compatibility) -> Self {
        Self {
            options: OperationOptions::default(),
            compatibility,
            replay: ReplayOptions::default(),
            streams: None,
            observers: None,
            replay_memory: None,
            table_budget: None,
            version: None,
        }
    }

    /// The start of each operation: its observers, and the source of its jitter.
    #[inline]
    pub fn start(&self) -> Start<'_> {
        Start::new(self.observers.as_deref(), &self.options.jitter)
    }

    /// For calls that are attempts of another operation, which notifies its own observers.
    pub fn without_observers(&self) -> Self {
        Self { observers: None, ..self.clone() }
    }
}

/// Short: each method's config has it.
impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedState").field("version", &self.version).finish_non_exhaustive()
    }
}
