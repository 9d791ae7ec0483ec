//! A service config as Google's Java generator turns it into `StubSettings`.

use super::entry::{codes, duration, entry, with_own_fields};
use super::form::Words;
use crate::document::{Located, Source};
use crate::model::Entry;
use crate::model::written::{MethodConfig, RetryPolicy};
use crate::values::Values;
use crate::{PolicyField, TableError};
use gax_retry::{RetrySettings, RetrySettingsBuilder};
use std::time::Duration;

/// The total timeout of a policy whose entry has none.
const POLICY_WITHOUT_TIMEOUT: Duration = Duration::from_secs(5);

/// An entry with the settings that the generated Java client holds. What stops the generator, or the
/// client when it starts, is an error.
pub(super) fn resolve(
    values: &Values<'_>,
    method: &MethodConfig,
    words: &Words,
) -> Result<Entry, TableError> {
    let source = values.source;
    let mut entry = entry(source, method);
    entry.origins.retain(|(field, _)| *field != PolicyField::MaxAttempts);
    let timeout = method.timeout.map(|timeout| millis(source, timeout)).transpose()?;
    let timeout = timeout.or(method.retry.as_ref().map(|_| POLICY_WITHOUT_TIMEOUT));
    let mut settings = RetrySettings::builder();
    if let Some(policy) = &method.retry {
        settings = back_off(values, policy, words, settings)?;
        entry.codes = codes(policy.codes.as_ref());
    }
    settings = with_own_fields(settings, timeout, &method.own, |nanos| millis(source, nanos))?;
    entry.settings = settings.build().map_err(|error| {
        source.fault(method.span, &format!("makes the Java client fail: {error}"), "correct these values")
    })?;
    Ok(entry)
}

fn back_off(
    values: &Values<'_>,
    policy: &RetryPolicy,
    Words { initial_delay, max_delay, delay_multiplier, .. }: &Words,
    settings: RetrySettingsBuilder,
) -> Result<RetrySettingsBuilder, TableError> {
    let source = values.source;
    let missing = |name: &str, effect: &str| {
        // Java never reads a form of our own, but by its rules there are no defaults either.
        let problem = if values.is_own {
            format!("has no {name}, for which the dialect gax-java has no default")
        } else {
            format!("has no {name}, which {effect}")
        };
        source.fault(policy.span, &problem, format!("add {name}"))
    };
    let stops = "stops Google's Java generator";
    let initial = policy.initial_backoff.ok_or_else(|| missing(initial_delay, stops))?;
    let max = policy.max_backoff.ok_or_else(|| missing(max_delay, stops))?;
    let fails = "makes the Java client fail when it starts";
    let multiplier = policy.multiplier.ok_or_else(|| missing(delay_multiplier, fails))?;
    let rounded = one_decimal(multiplier.value);
    if rounded < 1.0 {
        let problem = format!("is the multiplier {rounded:.1} in Java, which {fails}");
        return Err(source.fault(multiplier.span, &problem, "write a number of at least 1, such as 1.3"));
    }
    let initial = millis(source, initial)?;
    let cap = millis(source, max)?;
    if cap < initial {
        let problem = format!("is a {max_delay} below {initial_delay} ({initial:?}), which {fails}");
        return Err(source.fault(max.span, &problem, format!("write at least {initial_delay}")));
    }
    let [initial, cap] =
        [initial, cap].map(|delay| Some(delay).filter(|delay| values.is_own || !delay.is_zero()));
    Ok(settings.initial_retry_delay(initial).retry_delay_multiplier(rounded).max_retry_delay(cap))
}

/// Whole milliseconds, cut off towards zero.
fn millis(source: &Source, nanos: Located<i128>) -> Result<Duration, TableError> {
    duration(nanos.value / 1_000_000 * 1_000_000).ok_or_else(|| {
        let problem = "is negative, which makes the Java client fail when it starts";
        source.fault(nanos.span, problem, "write a time of zero or more")
    })
}

/// The number with one decimal as Java prints the nearest `float`: half up, on the shortest decimal form
/// of the float widened to a double.
#[expect(clippy::cast_possible_truncation, reason = "that the number is cut to a float is the rule")]
pub(crate) fn one_decimal(value: f64) -> f64 {
    let shortest = f64::from(value as f32).to_string();
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let mut digits = fraction.bytes().map(|byte| byte - b'0');
    let tenths = digits.next().unwrap_or(0);
    let up = digits.next().unwrap_or(0) >= 5;
    let (Ok(whole), tenths) = (whole.parse::<f64>(), f64::from(tenths + u8::from(up))) else {
        return value;
    };
    // Written and read again, so that 1.3 is the same number as the literal 1.3.
    format!("{:.1}", whole + tenths / 10.0).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_have_one_decimal() {
        for (written, java) in [
            (1.3, 1.3),
            (1.25, 1.3),
            (1.35, 1.4),
            (1.45, 1.5),
            (1.15, 1.1),
            (1.05, 1.0),
            (1.349, 1.3),
            (1.95, 2.0),
            (0.04, 0.0),
            (2.0, 2.0),
            (9.0, 9.0),
            (100_000_000.0, 100_000_000.0),
        ] {
            assert_eq!(one_decimal(written).to_bits(), f64::to_bits(java), "{written}");
        }
    }
}
