//! What both forms write in the same way.

use crate::table::document::{Kind, Member, Node};
use crate::table::write::json::{member, number_text, string, value};
use crate::{CodeSet, RetrySettings};
use std::time::Duration;

/// The fields of params; a time of zero is one that is not set.
pub(super) fn seven_fields(settings: &RetrySettings) -> Vec<Member> {
    let time = |time: Option<Duration>| millis(time.unwrap_or_default());
    vec![
        member("initial_retry_delay_millis", millis(settings.initial_retry_delay())),
        member("retry_delay_multiplier", number(settings.retry_delay_multiplier())),
        member("max_retry_delay_millis", time(settings.max_retry_delay())),
        member("initial_rpc_timeout_millis", time(settings.initial_rpc_timeout())),
        member("rpc_timeout_multiplier", number(settings.rpc_timeout_multiplier())),
        member("max_rpc_timeout_millis", time(settings.max_rpc_timeout())),
        member("total_timeout_millis", time(settings.total_timeout())),
    ]
}

/// Whether the delays grow without a limit, which these forms can't say: zero is their smallest cap.
pub(super) fn lacks_cap(settings: &RetrySettings) -> bool {
    settings.max_retry_delay().is_none() && !settings.initial_retry_delay().is_zero()
}

pub(super) fn code_list(codes: CodeSet) -> Node {
    value(Kind::Array(codes.iter().map(|code| string(code.name())).collect()))
}

pub(super) fn millis(duration: Duration) -> Node {
    if duration.subsec_nanos().is_multiple_of(1_000_000) {
        return value(Kind::Number(duration.as_millis().to_string()));
    }
    number(duration.as_secs_f64() * 1000.0)
}

pub(super) fn number(number: f64) -> Node {
    value(Kind::Number(number_text(number)))
}

pub(super) fn object(members: Vec<Member>) -> Node {
    value(Kind::Object(members))
}
