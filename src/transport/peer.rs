//! The words of an operation to the connection below it, in the extensions of its requests.

use crate::operation::Peer;

/// The endpoints that attempts of an operation failed at: in the request of an attempt that comes after them.
#[derive(Debug, Clone)]
pub(crate) struct FailedPeers(Vec<Peer>);

impl FailedPeers {
    /// These endpoints. `None`: there are none.
    pub(crate) fn of<'a>(peers: impl Iterator<Item = &'a Peer>) -> Option<Self> {
        let peers: Vec<_> = peers.cloned().collect();
        (!peers.is_empty()).then_some(Self(peers))
    }

    pub(crate) fn contain(&self, peer: &Peer) -> bool {
        self.0.contains(peer)
    }
}

/// Whether a call waits for a connection where none can be made (gRPC's `wait_for_ready`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitForReady(pub(crate) bool);
