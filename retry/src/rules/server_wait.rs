//! Waits that a server asks for, with back-off on top.

use super::Ask;
use crate::jitter::uniform;
use crate::{JitterSource, RetrySettings};
use std::time::Duration;

/// The longest such wait where nothing else says how long it may be.
const LONGEST: Duration = Duration::from_secs(60);

/// The longest that a server may ask for where no total bounds the operation: what is set, else the longest delay, but
/// a minute at least.
pub(crate) fn longest(set: Option<Duration>, max_delay: Option<Duration>) -> Duration {
    set.unwrap_or_else(|| max_delay.unwrap_or_default().max(LONGEST))
}

/// The same of settings.
pub(crate) fn longest_of(settings: &RetrySettings) -> Duration {
    longest(settings.max_server_delay, settings.max_retry_delay)
}

/// What a wait is made of besides the server's part, all in one unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) backoff: u64,
    /// Whether back-off is drawn at random.
    pub(super) is_drawn: bool,
    /// When it is too late for another attempt; `None`: never.
    pub(super) left: Option<u64>,
    pub(super) unit: fn(Duration) -> u64,
}

impl Ask {
    /// The server's delay with back-off on top, so that clients which are told the same moment don't come back
    /// together. Where there is no time for all of back-off, it is drawn from the first half of what the server's
    /// delay leaves, and the attempt has at least the other half. `None`: there is no time for the server's delay.
    pub(super) fn wait_after(
        self,
        server_delay: Duration,
        own: Own,
        jitter: &mut impl JitterSource,
    ) -> Option<u64> {
        let asked = (own.unit)(server_delay);
        let Some(left) = own.left else {
            return (server_delay <= self.longest).then(|| asked.saturating_add(own.backoff));
        };
        let room = left.checked_sub(asked).filter(|room| *room > 0)?;
        if own.backoff < room {
            return Some(asked.saturating_add(own.backoff));
        }
        let most = room / 2;
        let backoff = if own.is_drawn { uniform(0, most, jitter) } else { most };
        Some(asked.saturating_add(backoff))
    }
}
