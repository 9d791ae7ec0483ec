//! The policies of most operations in these tests, and a result.

use crate::operation::AttemptResult;
use crate::{Code, Compatibility, Policy, RetrySettings};
use std::time::Duration;

pub(super) const MS: Duration = Duration::from_millis(1);

/// gRFC A6's base policy: UNAVAILABLE is retried after 100 ms x 2 up to 1 s, four attempts in all.
pub(super) fn grpc() -> Policy {
    Policy::with_compatibility(&base(), Code::Unavailable, Compatibility::Grpc)
}

/// Those settings by the documented rules.
pub(super) fn documented() -> Policy {
    Policy::new(&base(), Code::Unavailable)
}

pub(super) fn base() -> RetrySettings {
    RetrySettings::builder()
        .max_attempts(4)
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(1000 * MS)
        .build()
        .unwrap()
}

pub(super) fn unavailable() -> AttemptResult {
    AttemptResult::failed(Code::Unavailable)
}
