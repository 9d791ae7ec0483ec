//! When a batch is sent.

use crate::SettingsError;
use crate::batching::decisions::element::Sum;
use crate::batching::settings::BatchTrigger;
use crate::batching::settings::{BatchingSettings, LimitExceeded};
use crate::settings::SettingsProblem;
use std::time::Duration;

/// How thresholds and the delay of [`BatchingSettings`] are read. Google's Java library has two batchers, which read them
/// differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "the two that gax-java has")]
pub enum BatchingRules {
    /// For settings that are made in code (gax-java's `BatcherImpl`): if an element would make the open batch *exceed* a
    /// threshold, the batch is sent first, and the element is added to the next one; a batch that just reaches a threshold
    /// stays open. All open batches are sent at each multiple of the delay, counted from the creation of the batcher.
    #[default]
    Exceeded,
    /// For the `batch_descriptor` of a method in GAPIC YAML (gax-java's `ThresholdBatcher`): a batch is sent as soon as it has
    /// *reached* a threshold, with the element that did it, or once its first element has waited for the delay.
    Reached,
}

/// Settings that were checked, and how they are read.
///
/// # Examples
///
/// ```
/// use gax_retry::batching::{BatchingPolicy, BatchingRules};
/// use gax_retry::{BatchingSettings, LimitExceeded};
///
/// let settings = BatchingSettings::builder()
///     .element_count_threshold(100)
///     .max_outstanding_elements(10)
///     .limit_exceeded(LimitExceeded::Block)
///     .build();
/// let error = BatchingPolicy::new(settings, BatchingRules::Exceeded).unwrap_err();
/// assert_eq!(error.problems()[0].field(), "max_outstanding_elements");
/// ```
#[derive(Debug, Clone)]
pub struct BatchingPolicy {
    settings: BatchingSettings,
    rules: BatchingRules,
}

impl BatchingPolicy {
    /// Checks settings.
    ///
    /// # Errors
    ///
    /// A threshold is zero. A limit on what may be outstanding is zero or below the threshold for a batch, which could then never
    /// fill up; where the limits are [ignored](LimitExceeded::Ignore), they may be anything.
    pub fn new(settings: BatchingSettings, rules: BatchingRules) -> Result<Self, SettingsError> {
        let mut problems = Vec::new();
        let limits_count = settings.limit_exceeded() != LimitExceeded::Ignore;
        let limits = [
            (
                ("max_outstanding_elements", settings.max_outstanding_elements()),
                ("element_count_threshold", settings.element_count_threshold()),
            ),
            (
                ("max_outstanding_bytes", settings.max_outstanding_bytes()),
                ("request_byte_threshold", settings.request_byte_threshold()),
            ),
        ];
        for ((field, limit), (threshold_field, threshold)) in limits {
            if threshold == 0 {
                problems.push(SettingsProblem::new(threshold_field, "0", "must be at least 1"));
            }
            match limit.filter(|_| limits_count) {
                Some(0) => problems.push(SettingsProblem::new(field, "0", "must be at least 1")),
                Some(limit) if limit < threshold && threshold != u64::MAX => {
                    let reason = format!("must not be below {threshold_field} ({threshold})");
                    problems.push(SettingsProblem::new(field, limit.to_string(), reason));
                }
                _ => {}
            }
        }
        SettingsError::check_batching(problems)?;
        Ok(Self { settings, rules })
    }

    gax_text::getters! { self:
        /// The settings.
        pub settings: &BatchingSettings = &self.settings;

        /// How they are read.
        pub rules: BatchingRules = self.rules;
    }

    /// The threshold for which a batch of that size is sent before more of that size comes.
    pub(super) fn sends_before(&self, open: Sum, more: Sum) -> Option<BatchTrigger> {
        let with = open.and(more);
        let elements = with.elements > self.settings.element_count_threshold().into();
        let bytes = with.bytes > self.settings.request_byte_threshold().into();
        (self.rules == BatchingRules::Exceeded).then(|| BatchTrigger::of(elements, bytes))?
    }

    /// The threshold for which a batch of that size is sent with what it has.
    pub(super) fn sends_with(&self, open: Sum) -> Option<BatchTrigger> {
        let elements = open.elements >= self.settings.element_count_threshold().into();
        let bytes = open.bytes >= self.settings.request_byte_threshold().into();
        (self.rules == BatchingRules::Reached).then(|| BatchTrigger::of(elements, bytes))?
    }

    /// When a batch is sent that was opened then; `None`: never because of its age.
    pub(super) fn due_at(&self, opened: Duration) -> Option<Duration> {
        let delay = self.settings.delay_threshold();
        let since = match self.rules {
            BatchingRules::Exceeded if !delay.is_zero() => last_multiple(opened, delay),
            _ => opened,
        };
        since.checked_add(delay)
    }
}

/// The last multiple of the period until that moment.
fn last_multiple(moment: Duration, period: Duration) -> Duration {
    const NANOS_PER_SECOND: u128 = 1_000_000_000;
    let beyond = moment.as_nanos() % period.as_nanos();
    // It is at most the moment, so that both parts fit.
    let seconds = u64::try_from(beyond / NANOS_PER_SECOND).unwrap_or(u64::MAX);
    let nanos = u32::try_from(beyond % NANOS_PER_SECOND).unwrap_or(0);
    moment.saturating_sub(Duration::new(seconds, nanos))
}
