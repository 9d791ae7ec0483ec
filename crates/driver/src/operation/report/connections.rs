//! The connections that an operation's attempts went over, as far as they are known.

use crate::operation::report::delay::AttemptDelay;
use crate::operation::report::delivered::Delivered;
use crate::operation::report::peer::Peer;

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
