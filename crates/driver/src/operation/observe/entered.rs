//! An attempt that is worked on.
#![allow(missing_debug_implementations, reason = "for the crates of this repository alone")]

use crate::operation::observe::observers::Recipients;
use gax_retry::StartedAttempt;
use std::sync::Arc;

/// The thread works on an attempt, until this is dropped.
pub struct Entered {
    recipients: Arc<Recipients>,
    attempt: StartedAttempt,
}

impl Entered {
    pub(super) fn new(recipients: &Arc<Recipients>, attempt: StartedAttempt) -> Self {
        recipients.each(|observer, info| observer.attempt_entered(info, attempt));
        Self { recipients: Arc::clone(recipients), attempt }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.recipients.each(|observer, info| observer.attempt_exited(info, self.attempt));
    }
}
