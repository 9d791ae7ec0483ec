//! The settings of one call.

use gax_retry::{CodeSet, RetrySettings};
use std::time::Duration;

/// Settings of a single call, put into the request's extensions.
///
/// What is not set is taken from the client's or the layer's settings of the method. The two timeouts
/// have two names, never one: `timeout` is the whole operation, `attempt_timeout` one try.
///
/// # Examples
///
/// ```
/// use tonic_gax::{CallOptions, Code, RequestExt};
/// use std::time::Duration;
///
/// let mut request = tonic::Request::new(());
/// request.extensions_mut().insert(CallOptions::new().timeout(Duration::from_secs(2)));
/// // or, the same:
/// let request = tonic::Request::new(())
///     .with_call_options(CallOptions::new().timeout(Duration::from_secs(2)).retryable_codes([Code::Aborted]));
/// # let _ = request;
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "call options do nothing until they are in a request"]
pub struct CallOptions {
    pub(crate) retry_settings: Option<RetrySettings>,
    pub(crate) retryable_codes: Option<CodeSet>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) report: bool,
}

impl CallOptions {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the method's settings whole, for this call.
    pub fn retry_settings(mut self, settings: RetrySettings) -> Self {
        self.retry_settings = Some(settings);
        self
    }

    /// Replaces the method's retryable codes, for this call.
    pub fn retryable_codes(mut self, codes: impl Into<CodeSet>) -> Self {
        self.retryable_codes = Some(codes.into());
        self
    }

    /// Bounds the whole operation, attempts and waits. The shorter of this, the settings' total timeout and
    /// the request's own `grpc-timeout` counts. Zero: no time is left, the call ends at once and nothing is sent.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Gives every attempt this timeout, in place of the settings' initial and maximum RPC timeouts; still
    /// clamped to what is left of the operation. Zero: no time is left, the call ends at once and nothing is sent.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = Some(timeout);
        self
    }

    /// Asks for the [`OperationReport`](crate::OperationReport) in the response's extensions even where one
    /// attempt was enough. Otherwise it is there only if there is more to tell: another attempt, a transparent
    /// retry, a note.
    pub fn report(mut self, report: bool) -> Self {
        self.report = report;
        self
    }

    /// Whether the settings of the method are changed at all.
    pub(crate) fn changes_settings(&self) -> bool {
        self.retry_settings.is_some()
            || self.retryable_codes.is_some()
            || self.timeout.is_some()
            || self.attempt_timeout.is_some()
    }
}

/// Sets [`CallOptions`] on a request in passing.
pub trait RequestExt {
    /// The request with these options in its extensions.
    #[must_use]
    fn with_call_options(self, options: CallOptions) -> Self;
}

impl<T> RequestExt for tonic::Request<T> {
    fn with_call_options(mut self, options: CallOptions) -> Self {
        self.extensions_mut().insert(options);
        self
    }
}
