//! The settings that only streams of responses have.

use crate::resumption::Resumption;
use std::time::Duration;

/// The settings of an RPC that responds with a stream, beside those that all RPCs have.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StreamSettings {
    pub(crate) resumption: Option<Resumption>,
    pub(crate) wait_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
}

impl StreamSettings {
    /// Whether none of them is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.resumption.is_none() && self.wait_timeout.is_none() && self.idle_timeout.is_none()
    }
}
