//! The deadline of the request that a task serves, which bounds the operations that it starts.

use super::{Clock, until};
use std::time::Duration;
use tokio::task::futures::TaskLocalFuture;
use tokio::time::Instant;

tokio::task_local! {
    static DEADLINE: Option<Instant>;
}

/// The deadline of the request that this task serves.
pub(crate) fn inbound_deadline() -> Option<Instant> {
    DEADLINE.try_with(|deadline| *deadline).ok().flatten()
}

/// The time that is left until the deadline of the request that this task serves.
#[inline]
pub(crate) fn time_left() -> Option<Duration> {
    inbound_deadline().map(until)
}

/// What serves a request serves it within that time from now on.
pub(crate) fn serve_within<F: Future>(
    timeout: Option<Duration>,
    serving: F,
) -> TaskLocalFuture<Option<Instant>, F> {
    let deadline = timeout.and_then(|timeout| Clock::start().at(timeout));
    DEADLINE.scope(deadline, serving)
}
