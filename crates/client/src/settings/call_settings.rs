//! The settings of one RPC.

use crate::settings::stream_settings::StreamSettings;
use gax_retry::{
    BatchingSettings, CodeSet, Hedging, IntoCodes, MethodSettings, ParseCodeError, RetrySettings,
};
use gax_streams::resumption::Resumption;
use std::fmt;
use std::time::Duration;

/// The retryable codes and [`RetrySettings`] of one RPC.
///
/// Generated `StubSettings` builders have one for each RPC, which starts with the values of the retry table. Change it to override
/// the table for an RPC.
///
/// With the feature `serde` it can be stored and read, with the field names of tables in TOML: the retryable codes are `codes`, and
/// durations are texts such as `"1500ms"`. Absent fields are unset, unknown fields are errors, and settings are checked as by
/// [`build`](gax_retry::RetrySettingsBuilder::build).
///
/// # Examples
///
/// ```
/// use gax_client::CallSettings;
/// use tonic_gax::{Code, CodeSet, RetrySettings};
/// use std::time::Duration;
///
/// let mut call = CallSettings::new(RetrySettings::no_retry(Duration::from_secs(60)), CodeSet::EMPTY);
/// call.set_retry_settings(
///         RetrySettings::builder().total_timeout(Duration::from_secs(30)).max_attempts(3).build()?,
///     )
///     .set_retryable_codes([Code::Unavailable]);
/// assert!(call.retryable_codes().contains(Code::Unavailable));
/// # Ok::<(), tonic_gax::SettingsError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct CallSettings {
    retry_settings: RetrySettings,
    retryable_codes: CodeSet,
    /// A value that was given as a code and is none.
    wrong_code: Option<ParseCodeError>,
    batching: Option<BatchingSettings>,
    hedging: Option<Hedging>,
    stream: StreamSettings,
    wait_for_ready: Option<bool>,
}

/// Short: what is not set is left out.
impl fmt::Debug for CallSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("CallSettings");
        text.field("retry_settings", &self.retry_settings).field("retryable_codes", &self.retryable_codes);
        if let Some(wrong) = &self.wrong_code {
            text.field("wrong_code", wrong);
        }
        if let Some(batching) = &self.batching {
            text.field("batching", batching);
        }
        if let Some(hedging) = &self.hedging {
            text.field("hedging", hedging);
        }
        if let Some(waits) = self.wait_for_ready {
            text.field("wait_for_ready", &waits);
        }
        if !self.stream.is_empty() {
            text.field("stream", &self.stream);
        }
        text.finish()
    }
}

impl CallSettings {
    /// Settings made of these two. With a number that isn't a code nothing is retried, and the stub settings'
    /// `build()` returns an error.
    #[must_use]
    pub fn new<K>(retry_settings: RetrySettings, retryable_codes: impl IntoCodes<K>) -> Self {
        let mut settings = Self {
            retry_settings,
            retryable_codes: CodeSet::EMPTY,
            wrong_code: None,
            batching: None,
            hedging: None,
            stream: StreamSettings::default(),
            wait_for_ready: None,
        };
        settings.set_retryable_codes(retryable_codes);
        settings
    }

    /// The limits and back-off.
    #[must_use]
    pub fn retry_settings(&self) -> &RetrySettings {
        &self.retry_settings
    }

    /// The codes that are retried.
    #[must_use]
    pub fn retryable_codes(&self) -> CodeSet {
        self.retryable_codes
    }

    /// How requests are batched, as the table says; `None`: not at all. That is for a batcher of `gax-batching`: calls of
    /// the client itself are sent one by one in any case.
    #[must_use]
    pub fn batching_settings(&self) -> Option<&BatchingSettings> {
        self.batching.as_ref()
    }

    /// These settings as the data that layers take; batching and resumptions are no part of that.
    pub(crate) fn method_settings(&self) -> MethodSettings {
        let codes = self.wrong_code.clone().map_or(Ok(self.retryable_codes), Err);
        MethodSettings::new(self.retry_settings.clone(), codes)
            .hedging(self.hedging)
            .wait_for_ready(self.wait_for_ready)
            .stream_timeouts(self.stream.wait_timeout, self.stream.idle_timeout)
    }

    pub(crate) fn with_stream_timeouts(mut self, wait: Option<Duration>, idle: Option<Duration>) -> Self {
        self.stream.wait_timeout = wait;
        self.stream.idle_timeout = idle;
        self
    }

    pub(crate) fn waiting_for_ready(self, waits: Option<bool>) -> Self {
        Self { wait_for_ready: waits, ..self }
    }

    /// Returns whether calls wait if no connection can be made, until one can or their time is up; `None`: the connection
    /// decides. It applies over a `Connection` of `gax-connection`. tonic's channel always waits for one attempt to connect, and
    /// fails if that fails.
    #[must_use]
    pub fn wait_for_ready(&self) -> Option<bool> {
        self.wait_for_ready
    }

    /// Has calls [wait](Self::wait_for_ready) for a connection, or fail without one.
    pub fn set_wait_for_ready(&mut self, waits: impl Into<Option<bool>>) -> &mut Self {
        self.wait_for_ready = waits.into();
        self
    }

    /// These settings over others, if they are not what they were at first.
    pub(crate) fn over(&self, first: &Self, mut others: Self) -> Self {
        if self.retry_settings != first.retry_settings {
            others.retry_settings = self.retry_settings.clone();
        }
        if self.retryable_codes != first.retryable_codes || self.wrong_code.is_some() {
            others.retryable_codes = self.retryable_codes;
            others.wrong_code.clone_from(&self.wrong_code);
        }
        if self.hedging != first.hedging {
            others.hedging = self.hedging;
        }
        if self.wait_for_ready != first.wait_for_ready {
            others.wait_for_ready = self.wait_for_ready;
        }
        others.batching.clone_from(&self.batching);
        others.stream = self.stream.over(&first.stream, &others.stream);
        others
    }

    /// These settings, but hedged only if the hedging is for RPCs that are not idempotent too.
    pub(super) fn hedged_only_if_allowed(self) -> Self {
        let hedging = self.hedging().copied().filter(Hedging::allows_non_idempotent);
        self.with_hedging(hedging)
    }

    pub(crate) fn with_hedging(mut self, hedging: Option<Hedging>) -> Self {
        self.hedging = hedging;
        self
    }

    pub(crate) fn with_batching(mut self, batching: Option<BatchingSettings>) -> Self {
        self.batching = batching;
        self
    }

    /// How calls are hedged, instead of being retried; `None`: they aren't.
    #[must_use]
    pub fn hedging(&self) -> Option<&Hedging> {
        self.hedging.as_ref()
    }

    /// Hedges calls instead of retrying them (`None`: they are retried). The retryable codes have no part in it:
    /// [`Hedging::non_fatal_codes`] do. Stub settings refuse it for an RPC that neither the retry table nor the protos call
    /// idempotent, unless it [allows that](Hedging::allow_non_idempotent). The timeouts are treated as before, one RPC timeout
    /// for each attempt.
    pub fn set_hedging(&mut self, hedging: impl Into<Option<Hedging>>) -> &mut Self {
        self.hedging = hedging.into();
        self
    }

    /// Lets each stream of responses be resumed where it breaks off; `None`: a stream is final from its first message on. It is
    /// for RPCs that respond with a stream: stub settings refuse it for others, and for messages of other types.
    ///
    /// Without a total timeout or a number of attempts nothing is retried, unless the resumption is
    /// [without a total timeout](Resumption::without_total_timeout).
    pub fn set_resumption(&mut self, resumption: impl Into<Option<Resumption>>) -> &mut Self {
        self.stream.resumption = resumption.into();
        self
    }

    /// The longest time that a caller waits for a message of a stream, like gax-java's `setWaitTimeout`. Default: `None`, no
    /// limit.
    ///
    /// It runs while the caller waits, from the moment at which the stream is polled without success, and starts again with each
    /// message and each attempt. When it has passed, the attempt ends with `ABORTED`, which is retried whatever the retryable
    /// codes are, if the stream can be resumed or has delivered no message yet. A message that arrives at that moment is in
    /// time.
    pub fn set_wait_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.stream.wait_timeout = timeout.into();
        self
    }

    /// The longest that a caller may leave a stream alone, between two messages that it takes: gax-java's `setIdleTimeout`.
    /// `None`, as at first: no limit.
    ///
    /// The stream is dropped then, so that the server has no work with it any longer, and ends with `ABORTED` when it is polled
    /// again. A task of the runtime watches it.
    pub fn set_idle_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.stream.idle_timeout = timeout.into();
        self
    }

    /// The settings that only streams have.
    pub(crate) fn stream(&self) -> &StreamSettings {
        &self.stream
    }

    /// Replaces the limits and back-off whole.
    pub fn set_retry_settings(&mut self, settings: RetrySettings) -> &mut Self {
        self.retry_settings = settings;
        self
    }

    /// Replaces the codes that are retried: codes of this crate, of tonic, or their numbers. For none give
    /// [`CodeSet::EMPTY`].
    ///
    /// With a number that isn't a code nothing is retried, and the stub settings' `build()` returns an error.
    pub fn set_retryable_codes<K>(&mut self, codes: impl IntoCodes<K>) -> &mut Self {
        let codes = codes.into_codes();
        self.retryable_codes = codes.clone().unwrap_or_default();
        self.wrong_code = codes.err();
        self
    }

    /// The value that was given as a code and is none.
    pub(crate) fn wrong_code(&self) -> Option<&ParseCodeError> {
        self.wrong_code.as_ref()
    }

    /// One attempt that may take the whole timeout (see [`RetrySettings::logical_timeout`]); the delays and codes
    /// stay as they are. With a timeout of zero there is no time left: every call ends immediately, and nothing is
    /// sent.
    pub fn set_logical_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.retry_settings = self.retry_settings.clone().with_logical_timeout(timeout);
        self
    }

    /// One attempt with that timeout, and nothing is retried: gax-java's `setSimpleTimeoutNoRetries`. With a timeout
    /// of zero there is no time left: every call ends immediately, and nothing is sent.
    pub fn set_simple_timeout_no_retries(&mut self, timeout: Duration) -> &mut Self {
        self.retry_settings = RetrySettings::no_retry(timeout);
        self.hedging = None;
        self.set_retryable_codes(CodeSet::EMPTY)
    }
}

impl From<&CallSettings> for MethodSettings {
    fn from(settings: &CallSettings) -> Self {
        settings.method_settings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::Code;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn simple_timeout_replaces_everything() {
        let mut call = CallSettings::new(RetrySettings::default(), [Code::Unavailable]);
        call.set_simple_timeout_no_retries(SECOND);
        assert_eq!(call, CallSettings::new(RetrySettings::no_retry(SECOND), CodeSet::EMPTY));
    }

    #[test]
    fn a_logical_timeout_keeps_delays_and_codes() {
        let delays = RetrySettings::builder()
            .initial_retry_delay(SECOND)
            .retry_delay_multiplier(2.0)
            .max_retry_delay(8 * SECOND)
            .jittered(false)
            .build()
            .unwrap();
        let mut call = CallSettings::new(delays.clone(), [Code::Unavailable]);
        call.set_logical_timeout(5 * SECOND);
        let expected = delays.to_builder().logical_timeout(5 * SECOND).build().unwrap();
        assert_eq!(call, CallSettings::new(expected, [Code::Unavailable]));
    }
}
