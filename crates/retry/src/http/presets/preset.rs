//! One named configuration.

use crate::http::{
    HttpFailure, IdempotencyRule, IdempotencyStrategy, IdempotencyTable, OperationClass, Precondition,
    StatusSet, TransportFailures,
};
use crate::strategy::{Backoff, BackoffStrategy, Limits, TimeRule};
use crate::{Code, CodeSet, Policy};
use std::borrow::Cow;
use std::time::Duration;

/// A named configuration: how long to wait, when to give up, what to retry and whether it is safe.
///
/// The `with_` methods make changed copies, as the Python library's do.
///
/// # Examples
///
/// The samples of the document's Python tab:
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::{IdempotencyStrategy, StatusSet, presets};
/// use std::time::Duration;
///
/// let twenty_seconds = presets::python_default_retry().with_deadline(Duration::from_secs(20));
/// let own_delays = presets::python_default_retry()
///     .with_delay(Duration::from_millis(1500), 1.2, Duration::from_secs(45));
/// let only_503 = presets::python_default_retry().with_statuses(StatusSet::from([503]));
/// let none = presets::python_default_retry().without_retry();
/// assert_eq!(twenty_seconds.backoff_strategy().backoff(), presets::python().backoff_strategy().backoff());
/// assert_eq!(none.strategy(), IdempotencyStrategy::Never);
/// # drop((own_delays, only_503));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Preset {
    name: &'static str,
    source: &'static str,
    backoff_strategy: BackoffStrategy,
    statuses: StatusSet,
    transport: TransportFailures,
    table: IdempotencyTable,
    strategy: IdempotencyStrategy,
    server_delays: bool,
    note: Option<&'static str>,
}

impl Preset {
    /// With the six statuses, every transport failure, and Cloud Storage's own table; `Retry-After` is not applied.
    pub(super) fn new(name: &'static str, source: &'static str, backoff_strategy: BackoffStrategy) -> Self {
        Self {
            name,
            source,
            backoff_strategy,
            statuses: StatusSet::SIX,
            transport: TransportFailures::ALL,
            table: IdempotencyTable::storage(),
            strategy: IdempotencyStrategy::Conditional,
            server_delays: false,
            note: None,
        }
    }

    gax_text::getters! { self:
        /// The name that [`named`](super::named) knows.
        pub name: &'static str = self.name;

        /// Where the numbers come from.
        pub source: &'static str = self.source;

        /// Where it differs from its source, or what to watch out for, in one line.
        pub note: Option<&'static str> = self.note;

        /// The waits and the limits.
        pub backoff_strategy: BackoffStrategy = self.backoff_strategy;

        /// The HTTP statuses that are retried.
        pub statuses: StatusSet = self.statuses;

        /// The failures without a complete response that are retried.
        pub transport_failures: TransportFailures = self.transport;

        /// Which requests are safe to retry.
        pub idempotency_table: &IdempotencyTable = &self.table;

        /// How far the idempotency table applies.
        pub strategy: IdempotencyStrategy = self.strategy;

        /// Returns whether `Retry-After` is applied: by the presets of documents it is; by those of libraries it isn't, since none
        /// of them reads it when it retries.
        pub applies_server_delays: bool = self.server_delays;
    }

    /// Returns whether an attempt that failed so may be followed by another, if the request is safe.
    #[must_use]
    pub fn retries(&self, failure: HttpFailure) -> bool {
        match failure {
            HttpFailure::Status(status) => self.statuses.contains(status),
            HttpFailure::Transport(failure) => self.transport.contains(failure),
        }
    }

    /// The codes that correspond to what is retried, for calls that only have codes: those of the statuses, 408 as
    /// `DEADLINE_EXCEEDED`; `UNAVAILABLE` if any transport failure is retried.
    #[must_use]
    pub fn retryable_codes(&self) -> CodeSet {
        let of_statuses = self.statuses.iter().map(|status| match status {
            408 => Code::DeadlineExceeded,
            _ => Code::from_http_status(status),
        });
        let of_transport = (!self.transport.is_empty()).then_some(Code::Unavailable);
        of_statuses.chain(of_transport).collect()
    }

    /// The policy that runs operations by this preset.
    pub fn policy(&self) -> Policy {
        Policy::from_strategy(&self.backoff_strategy, self.retryable_codes())
            .with_server_delays(self.server_delays)
    }

    gax_text::setters! { self:
        /// A copy with other waits and limits.
        pub with_backoff_strategy(backoff_strategy: BackoffStrategy) => self.backoff_strategy = backoff_strategy;

        /// A copy that retries these statuses.
        pub with_statuses(statuses: StatusSet) => self.statuses = statuses;

        /// A copy that retries these failures of the transport.
        pub with_transport_failures(transport: TransportFailures) => self.transport = transport;

        /// A copy with another idempotency table.
        pub with_idempotency_table(table: IdempotencyTable) => self.table = table;

        /// A copy with another strategy, which decides how far the idempotency table applies.
        pub with_strategy(strategy: IdempotencyStrategy) => self.strategy = strategy;

        /// A copy that applies `Retry-After`, or not.
        pub with_server_delays(heeded: bool) => self.server_delays = heeded;

        /// A copy with another limit to what `Retry-After` may ask for, if no limit by time bounds the operation.
        pub with_max_server_delay(delay: impl Into<Option<Duration>>) =>
            self.backoff_strategy = self.backoff_strategy.with_max_server_delay(delay);

        /// The preset whose rules of Cloud Storage also apply to that host: see [`IdempotencyTable::with_host`].
        pub with_host(host: impl Into<Cow<'static, str>>) => self.table = self.table.with_host(host);

        pub(super) with_note(note: &'static str) => self.note = Some(note);

        /// A copy with another limit by time, treated as before; strictly, if there was none.
        pub with_deadline(deadline: Duration) => self.change_limits(|limits| {
            limits.with_time(deadline, limits.time().map_or(TimeRule::Strict, |(_, rule)| rule))
        });

        /// A copy with that number of attempts, the first included.
        pub with_max_attempts(attempts: u32) => self.change_limits(|limits| limits.with_max_attempts(attempts));

        /// A copy with another first delay, multiplier and maximum. What is added at random, and the least wait, change by the
        /// same factor as the first delay: with 10 ms instead of 1 s, 0 to 1000 ms on top become 0 to 10 ms.
        pub with_delay(initial: Duration, multiplier: f64, max: Duration) => self.change_backoff(|backoff| {
            backoff.scaled_to(initial).with_multiplier(multiplier).with_max(max)
        });

        /// A copy with another maximum of the waits.
        pub with_max_backoff(max: Duration) => self.change_backoff(|backoff| backoff.with_max(max));
    }

    /// A copy without any limit by time: the number of attempts, if it is limited, and the caller's own timeout end the
    /// operation.
    pub fn without_deadline(mut self) -> Self {
        self.change_limits(Limits::without_time);
        self
    }

    fn change_limits(&mut self, change: impl FnOnce(Limits) -> Limits) {
        self.backoff_strategy = self.backoff_strategy.with_limits(change(self.backoff_strategy.limits()));
    }

    fn change_backoff(&mut self, change: impl FnOnce(Backoff) -> Backoff) {
        self.backoff_strategy = self.backoff_strategy.with_backoff(change(self.backoff_strategy.backoff()));
    }

    /// A copy that never retries: Python's `retry=None`.
    pub fn without_retry(self) -> Self {
        self.with_strategy(IdempotencyStrategy::Never).with_max_attempts(1)
    }

    /// A copy that retries every request that meets one of the conditions, and no other: Python's
    /// `ConditionalRetryPolicy`.
    pub fn with_condition(self, preconditions: impl IntoIterator<Item = Precondition>) -> Self {
        let class = OperationClass::conditional(preconditions);
        let rule = IdempotencyRule::new("any request", "*", "/**", class);
        let table =
            rule.map_or_else(|_| IdempotencyTable::new(), |rule| IdempotencyTable::new().with_rule(rule));
        Self { table, strategy: IdempotencyStrategy::Conditional, ..self }
    }
}
