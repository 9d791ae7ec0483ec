//! What callers and services see of a policy.

use gax_retry::{BatchingSettings, CodeSet, Impact, RetrySettings};
use gax_table::{HedgingPolicy, MethodPolicy, PolicyField, RetryTable, SourceLocation};
use std::time::Duration;

/// What a method does by a table.
#[derive(Debug, Clone)]
pub(super) struct Behaviour {
    pub(super) has_entry: bool,
    /// The codes that another attempt follows.
    pub(super) codes: CodeSet,
    pub(super) total_timeout: Option<Duration>,
    /// `None`: a call may take any time.
    pub(super) worst_case: Option<Duration>,
    /// How many attempts an outage makes of an operation, on average.
    pub(super) load: f64,
    pub(super) first_retry: Option<Duration>,
    pub(super) max_attempts: Option<u32>,
    pub(super) polling: Option<RetrySettings>,
    pub(super) batching: Option<BatchingSettings>,
    pub(super) hedging: Option<HedgingPolicy>,
    /// `None`: the table doesn't say.
    pub(super) idempotent: Option<bool>,
    pub(super) places: Places,
}

/// Where a table says so.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    pub(super) entry: Option<SourceLocation>,
    pub(super) codes: Option<SourceLocation>,
    pub(super) total_timeout: Option<SourceLocation>,
    pub(super) max_attempts: Option<SourceLocation>,
    pub(super) hedging: Option<SourceLocation>,
    pub(super) idempotent: Option<SourceLocation>,
}

impl Behaviour {
    /// What the table says of the method, if it says anything.
    pub(super) fn of(table: &RetryTable, service: &str, method: &str) -> Self {
        let policy = table.lookup(service, method).filter(|policy| policy.entry().is_some());
        let retries = policy.map_or_else(Self::nothing, |policy| Self::of_policy(policy, table));
        Self {
            polling: table.polling(service, method).cloned(),
            batching: table.batching(service, method).cloned(),
            idempotent: table.idempotent(service, method),
            ..retries
        }
    }

    fn nothing() -> Self {
        Self {
            has_entry: false,
            codes: CodeSet::EMPTY,
            total_timeout: None,
            worst_case: None,
            load: 1.0,
            first_retry: None,
            max_attempts: None,
            polling: None,
            batching: None,
            hedging: None,
            idempotent: None,
            places: Places::default(),
        }
    }

    fn of_policy(policy: MethodPolicy<'_>, table: &RetryTable) -> Self {
        let settings = policy.settings();
        let resolved = policy.to_policy(table.dialect().compatibility());
        let (codes, impact) = (resolved.recoverable_codes(), Impact::of(&resolved));
        let max_attempts = match policy.hedging() {
            Some(_) => Some(impact.load_of_silence()),
            None => settings.max_attempts().filter(|_| !codes.is_empty()),
        };
        let place = |field| policy.origin_of(field).cloned();
        Self {
            has_entry: true,
            codes,
            total_timeout: settings.total_timeout(),
            worst_case: impact.worst_case(),
            load: impact.load(),
            first_retry: impact.refused().get(1).copied(),
            max_attempts,
            hedging: policy.hedging().cloned(),
            places: Places {
                entry: policy.origin().cloned(),
                codes: place(PolicyField::RetryableCodes),
                total_timeout: place(PolicyField::TotalTimeout),
                max_attempts: place(PolicyField::MaxAttempts),
                hedging: place(PolicyField::Hedging),
                idempotent: place(PolicyField::Idempotent),
            },
            ..Self::nothing()
        }
    }
}
