//! The connections that an operation's attempts went over, as far as they are known.

use crate::operation::report::delivered::Delivered;
use crate::operation::report::peer::Peer;

/// The endpoints of attempts, and the messages that came from them. Few operations know of any, and those that wait for an
/// attempt are kept small: so it is in a place of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Connections {
    /// By the numbers of their attempts.
    peers: Vec<(u32, Peer)>,
    /// Of a stream that resumes.
    delivered: Option<Delivered>,
}

impl Connections {
    /// The attempt of that number went to that endpoint. The first and the last are kept, as of attempts.
    #[cfg(feature = "connection")]
    pub(crate) fn went_to(&mut self, attempt: u32, peer: Peer) {
        self.peers.retain(|(number, _)| *number != attempt);
        if self.peers.len() >= 64 {
            self.peers.remove(32);
        }
        self.peers.push((attempt, peer));
    }

    /// The attempt of that number has delivered so many messages.
    pub(crate) fn delivered(&mut self, attempt: u32, messages: u64) {
        self.delivered.get_or_insert_default().push(attempt, messages);
    }

    pub(crate) fn peers(&self) -> &[(u32, Peer)] {
        &self.peers
    }

    pub(crate) fn messages(&self) -> Option<&Delivered> {
        self.delivered.as_ref()
    }
}
