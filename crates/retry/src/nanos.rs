//! Integer nanoseconds, in which all times are computed.

use std::time::Duration;

/// The duration in nanoseconds; what does not fit (more than 584 years) is treated as the greatest number.
#[inline]
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// No limit.
pub(crate) const FOREVER: u64 = u64::MAX;

/// A duration that is set, however long, is not forever.
#[inline]
pub(crate) fn limited(duration: Duration) -> u64 {
    nanos(duration).min(FOREVER - 1)
}

/// The longest timeout: 584 years, in whole seconds.
const MAX_TIMEOUT: u64 = u64::MAX / 1_000_000_000 * 1_000_000_000;

/// A timeout; one that is not set is forever. What is longer than 584 years is treated as that long: a whole number of
/// milliseconds stays one.
#[inline]
pub(crate) fn timeout_or_forever(timeout: Option<Duration>) -> u64 {
    timeout.map_or(FOREVER, |timeout| nanos(timeout).min(MAX_TIMEOUT))
}

/// A timeout that is counted in nanoseconds already.
#[inline]
pub(crate) fn timeout(nanos: u64) -> u64 {
    if nanos == FOREVER { FOREVER } else { nanos.min(MAX_TIMEOUT) }
}

/// A limit in nanoseconds; one that is not set is forever.
#[inline]
pub(crate) fn nanos_or_forever(limit: Option<Duration>) -> u64 {
    limit.map_or(FOREVER, limited)
}

/// The time that a limit leaves at `now`.
#[inline]
pub(crate) fn remaining(limit: u64, now: u64) -> u64 {
    if limit == FOREVER { FOREVER } else { limit.saturating_sub(now) }
}

/// The moment so long after another one. However late it is, it comes.
#[inline]
pub(crate) fn after(moment: u64, wait: u64) -> u64 {
    moment.saturating_add(wait).min(FOREVER - 1)
}

/// A limit as a duration; `None` is forever.
#[inline]
pub(crate) fn bounded(limit: u64) -> Option<Duration> {
    (limit != FOREVER).then(|| Duration::from_nanos(limit))
}

/// The whole milliseconds of a duration.
pub(crate) fn whole_milliseconds(duration: Duration) -> Duration {
    duration.saturating_sub(Duration::from_nanos(u64::from(duration.subsec_nanos() % 1_000_000)))
}

/// A number of nanoseconds times a multiplier, to the nearest nanosecond, never past the greatest number.
///
/// A multiplier of exactly 1 changes nothing, however great the number: `f64` holds 53 bits only.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a cast of f64 to u64 saturates and makes 0 of NaN, which is what is wanted here"
)]
pub(crate) fn scaled(nanos: u64, multiplier: f64) -> u64 {
    if multiplier == 1.0 {
        return nanos;
    }
    // The cast cuts towards zero. `f64::round` would be a call into the maths library.
    (nanos as f64 * multiplier + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_that_is_too_long_is_a_whole_number_of_milliseconds() {
        assert_eq!(timeout_or_forever(None), FOREVER);
        assert_eq!(timeout_or_forever(Some(Duration::from_nanos(7))), 7);
        for too_long in [Duration::MAX, Duration::from_nanos(u64::MAX)] {
            assert_eq!(timeout_or_forever(Some(too_long)), 18_446_744_073_000_000_000);
        }
    }

    #[test]
    fn a_moment_comes_however_late_it_is() {
        assert_eq!(after(2, 3), 5);
        assert_eq!([after(FOREVER - 2, 1), after(7, FOREVER)], [FOREVER - 1; 2]);
        assert_eq!([remaining(5, 3), remaining(3, 5), remaining(FOREVER, 5)], [2, 0, FOREVER]);
    }

    #[test]
    fn products_are_rounded_and_saturate() {
        assert_eq!(scaled(100_000_000, 1.3), 130_000_000);
        assert_eq!(scaled(u64::MAX - 1, 1.0), u64::MAX - 1);
        assert_eq!(scaled(u64::MAX, 2.0), u64::MAX);
        assert_eq!(scaled(0, f64::MAX), 0);
        assert_eq!(scaled(5, f64::NAN), 0);
        assert_eq!(nanos(Duration::MAX), u64::MAX);
    }
}
