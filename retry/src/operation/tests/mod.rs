//! Operations stepped by hand.

mod attempts;
mod begin;
mod budget;
mod by_hand;
mod cancel;
mod closed;
mod commit;
mod gates;
mod hedging;
mod polls;
mod repetition;
mod resends;
mod server_delays;
mod streams;

pub(crate) use by_hand::ByHand;

use crate::operation::AttemptResult;
use crate::{Code, Compatibility, Policy, RetrySettings};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// gRFC A6's base policy: UNAVAILABLE is retried after 100 ms x 2 up to 1 s, four attempts in all.
fn grpc() -> Policy {
    Policy::with_compatibility(&base(), Code::Unavailable, Compatibility::Grpc)
}

/// Those settings by the documented rules.
fn documented() -> Policy {
    Policy::new(&base(), Code::Unavailable)
}

fn base() -> RetrySettings {
    RetrySettings::builder()
        .max_attempts(4)
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(1000 * MS)
        .build()
        .unwrap()
}

fn unavailable() -> AttemptResult {
    AttemptResult::failed(Code::Unavailable)
}
