//! The settings of a method, made ready to run calls by.

use crate::grpc::deadline;
use crate::settings::{CallOptions, CallSettings};
use gax_retry::{CodeSet, Compatibility, OperationState, Schedule};
use http::HeaderValue;
use std::sync::Arc;
use std::time::Duration;

/// What all calls of a method share. Made once; a call that brings settings of its own makes one more.
#[derive(Debug)]
pub(crate) struct MethodPlan {
    settings: CallSettings,
    compatibility: Compatibility,
    pub(crate) schedule: Schedule,
    /// The time that the caller allows, where that is less than the settings do.
    pub(crate) bound: Option<Duration>,
    /// The `grpc-timeout` of the first attempt.
    pub(crate) first_timeout: Option<HeaderValue>,
}

impl MethodPlan {
    pub(crate) fn new(settings: CallSettings, compatibility: Compatibility) -> Self {
        Self::bounded(settings, compatibility, None)
    }

    fn bounded(settings: CallSettings, compatibility: Compatibility, bound: Option<Duration>) -> Self {
        let retry_settings = settings.retry_settings().clone();
        let retry_settings = match bound {
            Some(timeout) => retry_settings.bounded_by(timeout),
            None => retry_settings,
        };
        let schedule =
            Schedule::with_compatibility(&retry_settings, settings.retryable_codes(), compatibility);
        let first_timeout = OperationState::default()
            .start(&schedule, Duration::ZERO)
            .ok()
            .and_then(gax_retry::Started::rpc_timeout)
            .map(deadline::header_value);
        Self { settings, compatibility, schedule, bound, first_timeout }
    }

    /// The plan of one call: this one, unless the call's options or the caller's deadline say otherwise.
    pub(crate) fn for_call(
        self: &Arc<Self>,
        options: Option<&CallOptions>,
        deadline: Option<Duration>,
    ) -> Arc<Self> {
        let options = options.filter(|options| options.changes_settings());
        if options.is_none() && deadline.is_none() {
            return Arc::clone(self);
        }
        let mut settings = self.settings.clone();
        let mut bound = deadline;
        if let Some(options) = options {
            if let Some(replaced) = &options.retry_settings {
                settings.set_retry_settings(replaced.clone());
            }
            if let Some(codes) = options.retryable_codes {
                settings.set_retryable_codes(codes);
            }
            if let Some(timeout) = options.attempt_timeout.filter(|timeout| !timeout.is_zero()) {
                let retry_settings = settings.retry_settings().clone();
                settings.set_retry_settings(retry_settings.with_attempt_timeout(timeout));
            }
            bound = match (bound, options.timeout) {
                (Some(deadline), Some(timeout)) => Some(deadline.min(timeout)),
                (deadline, timeout) => deadline.or(timeout),
            };
        }
        Arc::new(Self::bounded(settings, self.compatibility, bound))
    }

    pub(crate) fn retryable_codes(&self) -> CodeSet {
        self.settings.retryable_codes()
    }

    /// The time that a call may take in all.
    pub(crate) fn total_timeout(&self) -> Option<Duration> {
        let total = self.settings.retry_settings().total_timeout();
        match (total, self.bound) {
            (Some(total), Some(bound)) => Some(total.min(bound)),
            (total, bound) => total.or(bound),
        }
    }
}
