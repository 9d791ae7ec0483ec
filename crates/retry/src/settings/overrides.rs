//! Single fields of settings, changed for one call.

use super::{RetrySettings, RpcTimeout, SettingsProblem};
use std::time::Duration;

/// One field of a method's settings, as a call changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a field is left alone, set, or turned off")]
pub enum Override<T> {
    /// It stays as it is.
    #[default]
    Unset,
    /// It has this value.
    Set(T),
    /// There is no such limit, whatever the settings say.
    Disabled,
}

impl<T> Override<T> {
    /// The field, where `own` is what the settings say.
    pub fn over(self, own: Option<T>) -> Option<T> {
        match self {
            Override::Unset => own,
            Override::Set(value) => Some(value),
            Override::Disabled => None,
        }
    }

    /// The override, unless it leaves its field as it is.
    fn set(&self) -> Option<&Self> {
        (!matches!(self, Override::Unset)).then_some(self)
    }
}

/// Single fields that one call changes of its method's settings; see
/// [`Policy::with_overrides`](crate::Policy::with_overrides). The others stay as they are.
///
/// # Defaults
///
/// Every field is unset.
///
/// # Examples
///
/// ```
/// use gax_retry::{Code, Policy, RetrySettings};
/// use gax_retry::settings::{Override, SettingsOverrides};
/// use std::time::Duration;
///
/// let policy = Policy::new(&RetrySettings::no_retry(Duration::from_secs(60)), Code::Unavailable);
/// let overrides = SettingsOverrides::default()
///     .with_total_timeout(Override::Set(Duration::from_secs(5)))
///     .with_rpc_timeout(Override::Disabled);
/// let first = policy.with_overrides(&overrides).first_attempt().unwrap();
/// assert_eq!(first.rpc_timeout(), Some(Duration::from_secs(5)));
/// ```
#[derive(Clone, Copy, PartialEq, Default)]
#[must_use]
pub struct SettingsOverrides {
    total_timeout: Override<Duration>,
    rpc_timeout: Override<Duration>,
    max_attempts: Override<u32>,
    initial_retry_delay: Option<Duration>,
    retry_delay_multiplier: Option<f64>,
    max_retry_delay: Option<Duration>,
}

// Short: fields that stay as they are have no place in it.
gax_text::set_debug! {
    self: SettingsOverrides {
        total_timeout: self.total_timeout.set(),
        rpc_timeout: self.rpc_timeout.set(),
        max_attempts: self.max_attempts.set(),
        initial_retry_delay: self.initial_retry_delay,
        retry_delay_multiplier: self.retry_delay_multiplier,
        max_retry_delay: self.max_retry_delay
    }
}

impl SettingsOverrides {
    gax_text::setters! { self:
        /// Another total timeout, or none. Zero: no time is left.
        pub with_total_timeout(timeout: Override<Duration>) => self.total_timeout = timeout;

        /// One RPC timeout for every attempt instead of the settings' three fields, or none. Zero: no time is left.
        pub with_rpc_timeout(timeout: Override<Duration>) => self.rpc_timeout = timeout;

        /// Another number of attempts, including the first and at least 1, or no limit by count.
        pub with_max_attempts(attempts: Override<u32>) => self.max_attempts = attempts;

        /// Another delay before the second attempt. Zero: immediately.
        pub with_initial_retry_delay(delay: Duration) => self.initial_retry_delay = Some(delay);

        /// Another factor between delays, at least 1.
        pub with_retry_delay_multiplier(multiplier: f64) => self.retry_delay_multiplier = Some(multiplier);

        /// Another longest delay, not below the first one.
        pub with_max_retry_delay(delay: Duration) => self.max_retry_delay = Some(delay);
    }

    gax_text::getters! {
        /// The total timeout.
        total_timeout: Override<Duration>;

        /// The RPC timeout of every attempt.
        rpc_timeout: Override<Duration>;

        /// The number of attempts.
        max_attempts: Override<u32>;

        /// The delay before the second attempt.
        initial_retry_delay: Option<Duration>;

        /// The factor between delays.
        retry_delay_multiplier: Option<f64>;

        /// The longest delay.
        max_retry_delay: Option<Duration>;
    }

    /// Returns whether every field stays as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether nothing but timeouts is set: of the operation, of each attempt, or of both.
    pub(crate) fn is_timeouts_only(&self) -> bool {
        let (total_timeout, rpc_timeout) = (self.total_timeout, self.rpc_timeout);
        *self == Self { total_timeout, rpc_timeout, ..Self::default() }
    }

    /// The fields that can't work over settings with that first and that longest delay.
    #[must_use]
    pub fn problems(&self, initial: Option<Duration>, max: Option<Duration>) -> Vec<SettingsProblem> {
        let changes_delays = self.initial_retry_delay.is_some() || self.max_retry_delay.is_some();
        let (initial, max) = (self.initial_retry_delay.or(initial), self.max_retry_delay.or(max));
        let problems = [
            self.retry_delay_multiplier
                .and_then(|value| SettingsProblem::of_multiplier("retry_delay_multiplier", value)),
            SettingsProblem::of_cap(("max_retry_delay", max), ("initial_retry_delay", initial))
                .filter(|_| changes_delays),
            match self.max_attempts {
                Override::Set(attempts) => SettingsProblem::of_attempts(Some(attempts)),
                Override::Unset | Override::Disabled => None,
            },
        ];
        problems.into_iter().flatten().collect()
    }

    /// The settings with these fields; an RPC timeout that is set is none of them.
    pub(crate) fn over(&self, own: &RetrySettings) -> RetrySettings {
        let settings = RetrySettings {
            total_timeout: self.total_timeout.over(own.total_timeout),
            max_attempts: self.max_attempts.over(own.max_attempts),
            initial_retry_delay: self.initial_retry_delay.or(own.initial_retry_delay),
            retry_delay_multiplier: self.retry_delay_multiplier.or(own.retry_delay_multiplier),
            max_retry_delay: self.max_retry_delay.or(own.max_retry_delay),
            ..own.clone()
        };
        match self.rpc_timeout {
            Override::Unset | Override::Set(_) => settings,
            Override::Disabled => RetrySettings {
                initial_rpc_timeout: RpcTimeout::UNSET,
                rpc_timeout_multiplier: 1.0,
                max_rpc_timeout: RpcTimeout::UNSET,
                ..settings
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn own() -> RetrySettings {
        RetrySettings::builder()
            .total_timeout(1000 * MS)
            .max_attempts(4)
            .initial_retry_delay(20 * MS)
            .retry_delay_multiplier(1.5)
            .max_retry_delay(90 * MS)
            .initial_rpc_timeout(100 * MS)
            .rpc_timeout_multiplier(2.0)
            .max_rpc_timeout(300 * MS)
            .build()
            .unwrap()
    }

    #[test]
    fn unset_set_and_disabled_are_three_things() {
        assert_eq!(Override::Unset.over(Some(1)), Some(1));
        assert_eq!(Override::Set(2).over(Some(1)), Some(2));
        assert_eq!(Override::Set(2).over(None), Some(2));
        assert_eq!(Override::Disabled.over(Some(1)), None);
        assert_eq!(SettingsOverrides::default().over(&own()), own());
    }

    #[test]
    fn each_field_is_changed_alone() {
        let none = SettingsOverrides::default();
        let expect = |overrides: SettingsOverrides, expected: crate::RetrySettingsBuilder| {
            assert_eq!(overrides.over(&own()), expected.build().unwrap());
        };
        expect(
            none.with_total_timeout(Override::Set(9000 * MS)),
            own().to_builder().total_timeout(9000 * MS),
        );
        expect(none.with_total_timeout(Override::Disabled), own().to_builder().total_timeout(None));
        expect(none.with_max_attempts(Override::Set(2)), own().to_builder().max_attempts(2));
        expect(none.with_max_attempts(Override::Disabled), own().to_builder().max_attempts(None));
        expect(none.with_initial_retry_delay(30 * MS), own().to_builder().initial_retry_delay(30 * MS));
        expect(none.with_retry_delay_multiplier(3.0), own().to_builder().retry_delay_multiplier(3.0));
        expect(none.with_max_retry_delay(50 * MS), own().to_builder().max_retry_delay(50 * MS));
        let without = own().to_builder().initial_rpc_timeout(None).rpc_timeout_multiplier(1.0);
        expect(none.with_rpc_timeout(Override::Disabled), without.max_rpc_timeout(None));
    }

    #[test]
    fn problems_name_what_the_call_has_set() {
        let none = SettingsOverrides::default();
        let fields = |overrides: SettingsOverrides| {
            let problems = overrides.problems(Some(20 * MS), Some(10 * MS));
            problems.iter().map(SettingsProblem::field).collect::<Vec<_>>()
        };
        // The settings' own delays are wrong too, but the call did not set them.
        assert_eq!(fields(none.with_max_attempts(Override::Set(1))), [""; 0]);
        assert_eq!(fields(none.with_max_attempts(Override::Set(0))), ["max_attempts"]);
        for multiplier in [f64::NAN, f64::INFINITY, 1.0_f64.next_down(), -1.0] {
            assert_eq!(fields(none.with_retry_delay_multiplier(multiplier)), ["retry_delay_multiplier"]);
        }
        assert_eq!(fields(none.with_max_retry_delay(19 * MS)), ["max_retry_delay"]);
        assert_eq!(fields(none.with_max_retry_delay(20 * MS)), [""; 0]);
        assert_eq!(fields(none.with_initial_retry_delay(11 * MS)), ["max_retry_delay"]);
        assert!(none.with_max_retry_delay(MS).problems(None, None).is_empty());
    }
}
