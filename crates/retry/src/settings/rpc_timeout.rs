//! An RPC timeout, and where it came from.

use std::time::Duration;

/// A limit of the RPC timeouts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RpcTimeout {
    value: Option<Duration>,
    /// The value was given once, for the whole operation and each of its attempts. Only gax-java's rules know it as a limit by
    /// itself, which stays where the total timeout is changed.
    is_of_total: bool,
}

/// Equal is what has the same value, wherever that came from.
impl PartialEq for RpcTimeout {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl RpcTimeout {
    pub(crate) const UNSET: Self = Self::written(None);

    /// One that was written for attempts.
    pub(crate) const fn written(value: Option<Duration>) -> Self {
        Self { value, is_of_total: false }
    }

    /// That of settings with one value for all timeouts.
    pub(crate) const fn of_total(total: Option<Duration>) -> Self {
        Self { value: total, is_of_total: true }
    }

    /// Returns whether it is nothing but the total timeout.
    pub(crate) const fn is_of_total(self) -> bool {
        self.is_of_total
    }

    /// The limit that there is besides the total timeout.
    pub(crate) fn own(self) -> Option<Duration> {
        self.value.filter(|_| !self.is_of_total)
    }

    /// The limit in settings with that total timeout.
    pub(crate) fn with_total(self, total: Option<Duration>) -> Option<Duration> {
        if self.is_of_total { total } else { self.value }
    }

    /// The limit as Java holds it.
    pub(crate) const fn as_given(self) -> Option<Duration> {
        self.value
    }
}
