//! The settings of a method, made ready to run calls by.

use crate::grpc::deadline;
use crate::settings::{CallOptions, CallSettings};
use gax_retry::{Compatibility, OperationState, Schedule, Started};
use http::HeaderValue;
use std::sync::Arc;
use std::time::Duration;

/// What all calls of a method share. Made once; a call that brings settings of its own makes one more.
#[derive(Debug)]
pub(crate) struct MethodPlan {
    pub(crate) schedule: Schedule,
    /// The time that a call may take in all.
    pub(crate) total: Option<Duration>,
    /// The `grpc-timeout` of the first attempt.
    pub(crate) first_timeout: Option<HeaderValue>,
}

impl MethodPlan {
    pub(crate) fn new(settings: &CallSettings, compatibility: Compatibility) -> Self {
        let retry_settings = settings.retry_settings();
        let schedule =
            Schedule::with_compatibility(retry_settings, settings.retryable_codes(), compatibility);
        Self::of(schedule, retry_settings.total_timeout())
    }

    fn of(schedule: Schedule, total: Option<Duration>) -> Self {
        let first = OperationState::default().start(&schedule, Duration::ZERO).ok();
        let first_timeout = first.and_then(Started::rpc_timeout).map(deadline::header_value);
        Self { schedule, total, first_timeout }
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
        let mut schedule = self.schedule.clone();
        let mut total = self.total;
        let mut bound = deadline;
        if let Some(options) = options {
            if let Some(settings) = &options.retry_settings {
                schedule = schedule.with_retry_settings(settings);
                total = settings.total_timeout();
            }
            if let Some(codes) = options.retryable_codes {
                schedule = schedule.with_retryable_codes(codes);
            }
            if let Some(timeout) = options.attempt_timeout.filter(|timeout| !timeout.is_zero()) {
                schedule = schedule.with_attempt_timeout(timeout);
            }
            bound = super::shorter(bound, options.timeout);
        }
        if let Some(bound) = bound {
            schedule = schedule.bounded_by(bound);
        }
        Arc::new(Self::of(schedule, super::shorter(total, bound)))
    }
}
