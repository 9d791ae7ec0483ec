//! The connections that an operation's attempts went over, as far as they are known.

use crate::operation::report::delay::AttemptDelay;
use crate::operation::report::delivered::Delivered;
use std::fmt;
use std::sync::Arc;

/// The endpoints of attempts, and the messages that came from them. Few operations know of any, and those that wait for an
/// attempt are kept small: so it is in a separate place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Connections {
    /// By the numbers of their attempts.
    peers: Vec<(u32, Peer)>,
    delays: Vec<(u32, AttemptDelay)>,
    /// Of a stream that resumes.
    delivered: Option<Delivered>,
}

impl Connections {
    /// The attempt of that number went to that endpoint.
    pub(crate) fn went_to(&mut self, attempt: u32, peer: Peer) {
        keep(&mut self.peers, attempt, peer);
    }

    /// The attempt of that number waited.
    pub(crate) fn waited(&mut self, attempt: u32, delay: AttemptDelay) {
        keep(&mut self.delays, attempt, delay);
    }

    /// The attempt of that number has delivered so many messages.
    pub(crate) fn delivered(&mut self, attempt: u32, messages: u64) {
        self.delivered.get_or_insert_default().push(attempt, messages);
    }

    gax_text::getters! { self:
        pub(crate) peers: &[(u32, Peer)] = &self.peers;

        pub(crate) delays: &[(u32, AttemptDelay)] = &self.delays;

        pub(crate) messages: Option<&Delivered> = self.delivered.as_ref();
    }
}

/// Keeps what is known of an attempt: of the first and the last, as rows are.
fn keep<T>(known: &mut Vec<(u32, T)>, attempt: u32, value: T) {
    known.retain(|(number, _)| *number != attempt);
    if known.len() >= 64 {
        known.remove(32);
    }
    known.push((attempt, value));
}

/// The endpoint that an attempt went to, by its address: an event of the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Peer(Arc<str>);

impl Peer {
    /// The endpoint of that address.
    #[must_use]
    pub fn new(address: &impl fmt::Display) -> Self {
        Self(address.to_string().into())
    }

    /// Its address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
