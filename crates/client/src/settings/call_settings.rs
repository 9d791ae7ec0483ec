//! The settings of one RPC.

use gax_retry::{BatchingSettings, CodeSet, Hedging, IntoCodes, MethodSettings, RetrySettings};
use gax_streams::resumption::Resumption;
use std::mem::take;
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
#[derive(Clone, PartialEq, Default)]
pub struct CallSettings {
    /// The settings that layers take.
    pub(crate) method: MethodSettings,
    pub(super) batching: Option<BatchingSettings>,
    pub(crate) resumption: Option<Resumption>,
}

// Short: what is not set is left out.
gax_text::set_debug! {
    self: CallSettings {
        retry_settings: Some(self.retry_settings()),
        retryable_codes: Some(self.retryable_codes()),
        wrong_code: self.method.codes().err(),
        batching: self.batching.as_ref(),
        hedging: self.hedging(),
        wait_for_ready: self.wait_for_ready(),
        resumption: self.resumption.as_ref(),
        wait_timeout: self.method.wait_timeout(),
        idle_timeout: self.method.idle_timeout()
    }
}

impl CallSettings {
    /// Settings made of these two. With a number that isn't a code nothing is retried, and the stub settings'
    /// `build()` returns an error.
    #[must_use]
    pub fn new<K>(retry_settings: RetrySettings, retryable_codes: impl IntoCodes<K>) -> Self {
        MethodSettings::new(retry_settings, retryable_codes).into()
    }

    gax_text::getters! { self:
        /// The limits and back-off.
        pub retry_settings: &RetrySettings = self.method.retry_settings();
        /// The codes that are retried.
        pub retryable_codes: CodeSet = self.method.codes().unwrap_or_default();
        /// How requests are batched, as the table says; `None`: not at all. That is for a batcher of `gax-batching`: calls of
        /// the client itself are sent one by one in any case.
        pub batching_settings: Option<&BatchingSettings> = self.batching.as_ref();
        /// Returns whether calls wait if no connection can be made, until one can or their time is up; `None`: the connection
        /// decides. It applies over a `Connection` of `gax-connection`. tonic's channel always waits for one attempt to connect,
        /// and fails if that fails.
        pub wait_for_ready: Option<bool> = self.method.waits_for_ready();
        /// How calls are hedged, instead of being retried; `None`: they aren't.
        pub hedging: Option<Hedging> = self.method.own_hedging();
    }

    /// Changes what layers take.
    fn change(&mut self, change: impl FnOnce(MethodSettings) -> MethodSettings) -> &mut Self {
        self.method = change(take(&mut self.method));
        self
    }

    /// Has calls [wait](Self::wait_for_ready) for a connection, or fail without one.
    pub fn set_wait_for_ready(&mut self, waits: impl Into<Option<bool>>) -> &mut Self {
        self.change(|method| method.wait_for_ready(waits))
    }

    /// These settings over others, if they are not what they were at first. No table has a resumption.
    pub(crate) fn over(&self, first: &Self, others: &Self) -> Self {
        fn changed<T: PartialEq>([own, first, other]: [T; 3]) -> T {
            if own == first { other } else { own }
        }
        let all = [&self.method, &first.method, &others.method];
        let settings = changed(all.map(MethodSettings::retry_settings)).clone();
        let method = MethodSettings::new(settings, changed(all.map(MethodSettings::codes)))
            .hedging(changed(all.map(MethodSettings::own_hedging)))
            .wait_for_ready(changed(all.map(MethodSettings::waits_for_ready)))
            .stream_timeouts(
                changed(all.map(MethodSettings::wait_timeout)),
                changed(all.map(MethodSettings::idle_timeout)),
            );
        Self { method, ..self.clone() }
    }

    /// These settings, but hedged only if the hedging is for RPCs that are not idempotent too.
    pub(super) fn hedged_only_if_allowed(mut self) -> Self {
        let hedging = self.hedging().filter(Hedging::allows_non_idempotent);
        self.set_hedging(hedging);
        self
    }

    /// Hedges calls instead of retrying them (`None`: they are retried). The retryable codes have no part in it:
    /// [`Hedging::non_fatal_codes`] do. Stub settings refuse it for an RPC that neither the retry table nor the protos call
    /// idempotent, unless it [allows that](Hedging::allow_non_idempotent). The timeouts are treated as before, one RPC timeout
    /// for each attempt.
    pub fn set_hedging(&mut self, hedging: impl Into<Option<Hedging>>) -> &mut Self {
        self.change(|method| method.hedging(hedging))
    }

    /// Lets each stream of responses be resumed where it breaks off; `None`: a stream is final from its first message on. It is
    /// for RPCs that respond with a stream: stub settings refuse it for others, and for messages of other types.
    ///
    /// Without a total timeout or a number of attempts nothing is retried, unless the resumption is
    /// [without a total timeout](Resumption::without_total_timeout).
    pub fn set_resumption(&mut self, resumption: impl Into<Option<Resumption>>) -> &mut Self {
        self.resumption = resumption.into();
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
        let idle = self.method.idle_timeout();
        self.change(|method| method.stream_timeouts(timeout, idle))
    }

    /// The longest that a caller may leave a stream alone, between two messages that it takes: gax-java's `setIdleTimeout`.
    /// `None`, as at first: no limit.
    ///
    /// The stream is dropped then, so that the server has no work with it any longer, and ends with `ABORTED` when it is polled
    /// again. A task of the runtime watches it.
    pub fn set_idle_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        let wait = self.method.wait_timeout();
        self.change(|method| method.stream_timeouts(wait, timeout))
    }

    /// Replaces the limits and back-off whole.
    pub fn set_retry_settings(&mut self, settings: RetrySettings) -> &mut Self {
        let codes = self.method.codes();
        self.replace(settings, codes)
    }

    /// Replaces the codes that are retried: codes of this crate, of tonic, or their numbers. For none give
    /// [`CodeSet::EMPTY`].
    ///
    /// With a number that isn't a code nothing is retried, and the stub settings' `build()` returns an error.
    pub fn set_retryable_codes<K>(&mut self, codes: impl IntoCodes<K>) -> &mut Self {
        let settings = self.retry_settings().clone();
        self.replace(settings, codes)
    }

    fn replace<K>(&mut self, settings: RetrySettings, codes: impl IntoCodes<K>) -> &mut Self {
        self.change(|method| {
            MethodSettings::new(settings, codes)
                .hedging(method.own_hedging())
                .wait_for_ready(method.waits_for_ready())
                .stream_timeouts(method.wait_timeout(), method.idle_timeout())
        })
    }

    /// One attempt that may take the whole timeout (see [`RetrySettings::logical_timeout`]); the delays and codes
    /// stay as they are. With a timeout of zero there is no time left: every call ends immediately, and nothing is
    /// sent.
    pub fn set_logical_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.set_retry_settings(self.retry_settings().clone().with_logical_timeout(timeout))
    }

    /// One attempt with that timeout, and nothing is retried: gax-java's `setSimpleTimeoutNoRetries`. With a timeout
    /// of zero there is no time left: every call ends immediately, and nothing is sent.
    pub fn set_simple_timeout_no_retries(&mut self, timeout: Duration) -> &mut Self {
        self.set_hedging(None).replace(RetrySettings::no_retry(timeout), CodeSet::EMPTY)
    }
}

impl From<&CallSettings> for MethodSettings {
    fn from(settings: &CallSettings) -> Self {
        settings.method.clone()
    }
}

impl From<MethodSettings> for CallSettings {
    fn from(method: MethodSettings) -> Self {
        Self { method, ..Self::default() }
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
