//! Fields that both forms write in the same way.

use crate::Dialect;
use crate::convert::losses::{Losses, Subject};
use crate::convert::text::{Field, Value, field, number_text, string};
use gax_retry::{CodeSet, Compatibility, RetrySettings};
use std::time::Duration;

/// The fields of params; a time of zero is one that is not set.
pub(super) fn seven_fields<'v>(settings: &RetrySettings) -> Vec<Field<'v>> {
    let time = |time: Option<Duration>| millis(time.unwrap_or_default());
    vec![
        field("initial_retry_delay_millis", time(settings.initial_retry_delay())),
        field("retry_delay_multiplier", number(settings.retry_delay_multiplier().unwrap_or(1.0))),
        field("max_retry_delay_millis", time(settings.max_retry_delay())),
        field("initial_rpc_timeout_millis", time(settings.initial_rpc_timeout())),
        field("rpc_timeout_multiplier", number(settings.rpc_timeout_multiplier())),
        field("max_rpc_timeout_millis", time(settings.max_rpc_timeout())),
        field("total_timeout_millis", time(settings.total_timeout())),
    ]
}

/// The settings of a method that is retried, with the delays written out that aren't set: other readers take zero for
/// no delay at all. In the dialect of such a reader zero is meant.
pub(super) fn with_delays(
    subject: &Subject,
    settings: &RetrySettings,
    losses: &mut Losses<'_>,
) -> RetrySettings {
    if settings.initial_retry_delay().is_some_and(|delay| delay.is_zero()) {
        losses.lose_of(
            subject,
            "a retry without a delay",
            "when it is read again, zero means an unset delay",
        );
        return settings.clone();
    }
    let is_whole = settings.initial_retry_delay().is_some()
        && settings.retry_delay_multiplier().is_some()
        && settings.max_retry_delay().is_some();
    if is_whole || losses.dialect() == Dialect::GaxJava {
        return settings.clone();
    }
    let delays = settings.retry_delays(Compatibility::Documented);
    let help = "other readers of the format have no such defaults: for them, zero is no delay";
    losses.approximate(subject, "default delays are written out", help);
    let builder = settings.to_builder().initial_retry_delay(delays.initial());
    builder.retry_delay_multiplier(delays.multiplier()).max_retry_delay(delays.max()).build_unchecked()
}

/// Returns whether the delays grow without a limit, which these forms can't say: zero is their smallest cap.
pub(super) fn lacks_cap(settings: &RetrySettings) -> bool {
    settings.max_retry_delay().is_none()
        && settings.initial_retry_delay().is_some_and(|delay| !delay.is_zero())
}

pub(super) fn code_list<'v>(codes: CodeSet) -> Value<'v> {
    Value::Array(codes.iter().map(|code| string(code.name())).collect())
}

pub(super) fn millis<'v>(duration: Duration) -> Value<'v> {
    if duration.subsec_nanos().is_multiple_of(1_000_000) {
        return Value::Number(duration.as_millis().to_string().into());
    }
    number(duration.as_secs_f64() * 1000.0)
}

pub(super) fn number<'v>(number: f64) -> Value<'v> {
    Value::Number(number_text(number).into())
}
