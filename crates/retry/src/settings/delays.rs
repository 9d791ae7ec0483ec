//! The delays that settings come to.

use super::RetrySettings;
use crate::Compatibility;
use std::time::Duration;

/// The delay before the second attempt if none is set.
const INITIAL: Duration = Duration::from_millis(100);
/// How delays grow if that isn't set.
const MULTIPLIER: f64 = 1.3;
/// The longest delay if none is set, unless the first one is longer.
const MAX: Duration = Duration::from_secs(60);

/// The delays between attempts, with the defaults for fields that [`RetrySettings`] leave unset.
///
/// # Defaults
///
/// Each default applies separately: writing a default explicitly changes nothing.
///
/// | unset | is |
/// | --- | --- |
/// | `initial_retry_delay` | 100 ms, or the maximum if that is shorter |
/// | `retry_delay_multiplier` | 1.3; a constant delay is written as 1.0 |
/// | `max_retry_delay` | 60 s, or the initial delay if that is longer |
///
/// gax-java has other defaults: an unset delay is 0 there, an unset multiplier 1.0, and there is no cap, so that
/// retries follow immediately ([`Compatibility::GaxJava`]).
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::{Compatibility, RetrySettings};
/// use std::time::Duration;
///
/// let delays = RetrySettings::default().retry_delays(Compatibility::Documented);
/// assert_eq!(delays.initial(), Duration::from_millis(100));
/// assert_eq!(delays.multiplier(), 1.3);
/// assert_eq!(delays.max(), Some(Duration::from_secs(60)));
///
/// let settings = RetrySettings::builder().initial_retry_delay(Duration::from_secs(1)).build()?;
/// let delays = settings.retry_delays(Compatibility::Documented);
/// assert_eq!((delays.multiplier(), delays.max()), (1.3, Some(Duration::from_secs(60))));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryDelays {
    initial: Duration,
    multiplier: f64,
    max: Option<Duration>,
}

impl RetryDelays {
    gax_text::getters! {
        /// The delay before the second attempt, before jitter. Zero: immediately.
        initial: Duration;

        /// The factor from one delay to the next.
        multiplier: f64;

        /// The longest delay; `None`: no cap.
        max: Option<Duration>;
    }
}

impl RetrySettings {
    /// The delays that these settings come to by that library's rules.
    #[must_use]
    pub fn retry_delays(&self, compatibility: Compatibility) -> RetryDelays {
        let (initial, multiplier, max) = match compatibility {
            Compatibility::GaxJava => (Duration::ZERO, 1.0, None),
            _ => (INITIAL, MULTIPLIER, Some(self.initial_retry_delay.unwrap_or_default().max(MAX))),
        };
        let max = self.max_retry_delay.or(max);
        let initial = self.initial_retry_delay.unwrap_or(initial);
        RetryDelays {
            initial: max.map_or(initial, |max| initial.min(max)),
            multiplier: self.retry_delay_multiplier.unwrap_or(multiplier),
            max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RetrySettingsBuilder;

    const MS: Duration = Duration::from_millis(1);

    fn delays(builder: RetrySettingsBuilder) -> (Duration, f64, Option<Duration>) {
        let delays = builder.build().unwrap().retry_delays(Compatibility::Documented);
        (delays.initial(), delays.multiplier(), delays.max())
    }

    #[test]
    fn an_unset_first_delay_is_a_tenth_of_a_second_or_the_maximum() {
        let unset = RetrySettings::builder();
        assert_eq!(delays(unset.clone()), (100 * MS, 1.3, Some(60_000 * MS)));
        assert_eq!(delays(unset.clone().max_retry_delay(5000 * MS)), (100 * MS, 1.3, Some(5000 * MS)));
        assert_eq!(delays(unset.clone().max_retry_delay(40 * MS)), (40 * MS, 1.3, Some(40 * MS)));
        assert_eq!(delays(unset.retry_delay_multiplier(2.0)), (100 * MS, 2.0, Some(60_000 * MS)));
    }

    #[test]
    fn each_default_stands_by_itself() {
        let set = RetrySettings::builder().initial_retry_delay(70 * MS);
        assert_eq!(delays(set.clone()), (70 * MS, 1.3, Some(60_000 * MS)));
        assert_eq!(delays(set.clone().retry_delay_multiplier(2.0)), (70 * MS, 2.0, Some(60_000 * MS)));
        assert_eq!(delays(set.clone().max_retry_delay(90 * MS)), (70 * MS, 1.3, Some(90 * MS)));
        assert_eq!(delays(set.retry_delay_multiplier(1.0)), (70 * MS, 1.0, Some(60_000 * MS)));
        let long = RetrySettings::builder().initial_retry_delay(90_000 * MS);
        assert_eq!(delays(long), (90_000 * MS, 1.3, Some(90_000 * MS)));
        let at_once = RetrySettings::builder().initial_retry_delay(Duration::ZERO);
        assert_eq!(delays(at_once), (Duration::ZERO, 1.3, Some(60_000 * MS)));
    }

    #[test]
    fn by_grpcs_rules_the_maximum_cuts_the_first_delay() {
        let builder = RetrySettings::builder().initial_retry_delay(300 * MS).max_retry_delay(200 * MS);
        let settings = builder.retry_delay_multiplier(0.5).build_for_grpc().unwrap();
        let delays = settings.retry_delays(Compatibility::Grpc);
        assert_eq!((delays.initial(), delays.multiplier()), (200 * MS, 0.5));
    }

    #[test]
    fn by_javas_rules_an_unset_delay_is_zero() {
        let delays = RetrySettings::default().retry_delays(Compatibility::GaxJava);
        assert_eq!((delays.initial(), delays.multiplier(), delays.max()), (Duration::ZERO, 1.0, None));
        let set = RetrySettings::builder().initial_retry_delay(70 * MS).build().unwrap();
        let delays = set.retry_delays(Compatibility::GaxJava);
        assert_eq!((delays.initial(), delays.multiplier(), delays.max()), (70 * MS, 1.0, None));
    }
}
