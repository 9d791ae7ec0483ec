//! Waits that a server asks for, with back-off on top.

use super::Ask;
use crate::RetrySettings;
use crate::jitter::{JitterSource, uniform};
use std::time::Duration;

/// The longest such wait if nothing else says how long it may be.
const LONGEST: Duration = Duration::from_secs(60);

/// The longest that a server may ask for if no total bounds the operation: what is set, else the longest delay, but a
/// minute at least.
pub(crate) fn longest(set: Option<Duration>, max_delay: Option<Duration>) -> Duration {
    set.unwrap_or_else(|| max_delay.unwrap_or_default().max(LONGEST))
}

/// The longest that a server may ask for by these settings.
pub(crate) fn longest_of(settings: &RetrySettings) -> Duration {
    longest(settings.max_server_delay, settings.max_retry_delay)
}

/// The parts of a wait besides the server's, all in one unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    /// The back-off, before anything is drawn.
    pub(crate) backoff: u64,
    /// `true` if waits are drawn at random.
    pub(crate) is_drawn: bool,
    /// When it is too late for another attempt; `None`: never.
    pub(crate) left: Option<u64>,
    pub(crate) unit: fn(Duration) -> u64,
}

impl Ask {
    /// The server's delay and a draw on top, so that clients which are given the same moment don't come back together: up to the
    /// back-off or half of the server's delay, whichever is longer, as Envoy's clients spread over half of it. If there is no
    /// time for the longest draw, up to half of what the server's delay leaves, so that the attempt has at least the other half.
    /// Without jitter back-off comes on top. `None`: there is no time for the server's delay.
    pub(crate) fn wait_after(
        self,
        server_delay: Duration,
        own: Own,
        mut jitter: &mut dyn JitterSource,
    ) -> Option<u64> {
        let asked = (own.unit)(server_delay);
        let spread = if own.is_drawn { own.backoff.max(asked / 2) } else { own.backoff };
        let most = match own.left {
            None if server_delay > self.longest => return None,
            None => spread,
            Some(left) => {
                let room = left.checked_sub(asked).filter(|room| *room > 0)?;
                if spread < room { spread } else { room / 2 }
            }
        };
        let on_top = if own.is_drawn { uniform(0, most, &mut jitter) } else { most };
        Some(asked.saturating_add(on_top))
    }
}
