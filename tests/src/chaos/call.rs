//! A random call.

use super::Draw;
use std::time::Duration;

/// Which RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallKind {
    /// One message for one; of HTTP, a request.
    Unary,
    /// Many for one.
    ServerStreaming,
}

/// A call that was drawn: its kind, its length, its timeout, and how patient the caller is.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "tests change what was drawn")]
pub struct RandomCall {
    /// Which RPC.
    pub kind: CallKind,
    /// So long after the run's start.
    pub starts: Duration,
    /// The total timeout that it sets itself.
    pub timeout: Option<Duration>,
    /// When it is dropped, from its start on, unless it is over.
    pub patience: Duration,
    /// How many messages of a stream it reads before it drops it.
    pub reads: u32,
    /// The length of what it says.
    pub length: usize,
    /// The method of an HTTP request.
    pub method: &'static str,
}

/// The longest request that is kept to be sent again, unless a policy says otherwise.
pub(super) const MAX_KEPT: usize = (4 * 1024 + 64) * 1024;

/// Longer than anything that a policy allows.
const PATIENT: Duration = Duration::from_secs(3600);

impl RandomCall {
    /// Draws one.
    #[must_use]
    pub fn draw(draw: &mut Draw) -> Self {
        Self {
            kind: if draw.percent(70) { CallKind::Unary } else { CallKind::ServerStreaming },
            starts: if draw.percent(40) { Duration::ZERO } else { draw.ms(0, 1500) },
            timeout: draw
                .sometimes(25, |draw| if draw.percent(4) { Duration::ZERO } else { draw.ms(0, 3000) }),
            patience: if draw.percent(20) { draw.ms(0, 1500) } else { PATIENT },
            reads: draw.pick(&[0, 1, 2, 100, 100]),
            // The last one is longer than servers decode, and than what is kept to be sent again.
            length: if draw.percent(2) { MAX_KEPT + 1 } else { draw.pick(&[0, 1, 20, 100, 3000]) },
            method: draw.pick(&["GET", "GET", "PUT", "PUT", "DELETE", "POST"]),
        }
    }
}
