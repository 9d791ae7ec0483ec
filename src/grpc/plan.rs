//! The settings of a method, made ready to run calls by.

use super::deadline::{self, shorter};
use crate::operation::JitterSeeds;
use crate::settings::{CallOptions, CallSettings, Limits};
use gax_retry::{Compatibility, OperationState, Schedule, Started, Stop};
use http::HeaderValue;
use std::sync::Arc;
use std::time::Duration;

/// What all calls of a method share. Made once; a call that brings settings of its own makes one more.
#[derive(Debug, Clone)]
pub(crate) struct MethodPlan {
    pub(crate) schedule: Schedule,
    /// The time that a call may take in all.
    pub(crate) total: Option<Duration>,
    /// The first attempt, if there is time for it.
    pub(crate) first: Result<Started, Stop>,
    /// The `grpc-timeout` of the first attempt.
    pub(crate) first_timeout: Option<HeaderValue>,
    pub(crate) limits: Limits,
    pub(crate) jitter: JitterSeeds,
    /// Whether the RPC answers with a stream, to which RPC timeouts don't apply.
    is_stream: bool,
    /// Whether no other attempt follows one whose response has headers, as gRFC A6 has it.
    pub(crate) headers_commit: bool,
}

impl MethodPlan {
    pub(crate) fn new(
        settings: &CallSettings,
        compatibility: Compatibility,
        limits: Limits,
        jitter: &JitterSeeds,
    ) -> Self {
        let retry_settings = settings.retry_settings();
        let schedule =
            Schedule::with_compatibility(retry_settings, settings.retryable_codes(), compatibility);
        let first = OperationState::default().start(&schedule, Duration::ZERO);
        let plan = Self {
            schedule,
            total: retry_settings.total_timeout(),
            first,
            first_timeout: None,
            limits,
            jitter: jitter.clone(),
            is_stream: false,
            headers_commit: compatibility == Compatibility::Grpc,
        };
        plan.started()
    }

    /// The same for an RPC that answers with a stream.
    pub(crate) fn for_stream(&self) -> Self {
        let schedule = self.schedule.clone().without_rpc_timeouts();
        Self { schedule, is_stream: true, ..self.clone() }.started()
    }

    /// The same, with a first attempt by its schedule.
    fn started(mut self) -> Self {
        self.first = OperationState::default().start(&self.schedule, Duration::ZERO);
        self.first_timeout = self.first.ok().and_then(Started::rpc_timeout).map(deadline::header_value);
        self
    }

    /// The plan of one call: `None` for this one, unless the call's options or its caller's deadline say
    /// otherwise.
    #[inline]
    pub(crate) fn of_call(
        &self,
        options: Option<&CallOptions>,
        deadline: Option<Duration>,
    ) -> Option<Arc<Self>> {
        let options = options.filter(|options| options.changes_settings());
        (options.is_some() || deadline.is_some()).then(|| self.changed(options, deadline))
    }

    #[cold]
    fn changed(&self, options: Option<&CallOptions>, deadline: Option<Duration>) -> Arc<Self> {
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
            if let Some(timeout) = options.attempt_timeout {
                schedule = schedule.with_attempt_timeout(timeout);
            }
            bound = shorter(bound, options.timeout);
            // No time for an attempt is none for the call, a stream's included.
            bound = shorter(bound, options.attempt_timeout.filter(Duration::is_zero));
        }
        if self.is_stream {
            schedule = schedule.without_rpc_timeouts();
        }
        if let Some(bound) = bound {
            schedule = schedule.bounded_by(bound);
        }
        Arc::new(Self { schedule, total: shorter(total, bound), ..self.clone() }.started())
    }
}
