//! A report being written.

use crate::operation::report::connections::{Connections, Peer};
use crate::operation::report::delay::AttemptDelay;
use crate::operation::report::delivered::Delivered;
use crate::operation::report::note::Note;
use crate::operation::report::rows::Rows;
use gax_retry::{Attempt, Delivery};

/// A report being written. An operation that waits holds it, so that it has nothing which is known elsewhere, or only at the end
/// (bench `memory`, parked).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ledger {
    pub(super) attempts: Rows,
    pub(crate) transparent_retries: u32,
    /// The retries of operations inside the attempts.
    retries_inside: u32,
    /// How far the request got, over all attempts.
    pub(super) delivery: Delivery,
    connections: Option<Box<Connections>>,
    /// Few operations have any, and most of those one: a vector would be a word larger.
    pub(crate) notes: Box<[Note]>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            attempts: Rows::default(),
            transparent_retries: 0,
            retries_inside: 0,
            delivery: Delivery::NotSent,
            connections: None,
            notes: Box::default(),
        }
    }
}

impl Ledger {
    pub(crate) fn push(&mut self, attempt: Attempt, delivery: Delivery) {
        self.attempts.push(attempt);
        self.reached(delivery);
    }

    /// A request got that far.
    pub(crate) fn reached(&mut self, delivery: Delivery) {
        self.delivery = self.delivery.max(delivery);
    }

    /// The attempt of that number has delivered so many messages of a stream.
    pub(crate) fn delivered(&mut self, attempt: u32, messages: u64) {
        self.connections.get_or_insert_default().delivered(attempt, messages);
    }

    /// Returns whether it is recorded that the attempt went to that endpoint.
    pub(crate) fn has_peer(&self, attempt: u32, peer: &Peer) -> bool {
        self.peers().iter().any(|(number, other)| *number == attempt && other == peer)
    }

    /// That attempt went to that endpoint.
    pub(crate) fn went_to(&mut self, attempt: u32, peer: Peer) {
        self.connections.get_or_insert_default().went_to(attempt, peer);
    }

    /// That attempt waited.
    pub(crate) fn waited(&mut self, attempt: u32, delay: AttemptDelay) {
        self.connections.get_or_insert_default().waited(attempt, delay);
    }

    gax_text::getters! { self:
        /// How long attempts waited, by their numbers.
        pub(crate) delays: &[(u32, AttemptDelay)] = self.connections.as_deref().map_or(&[], Connections::delays);

        /// The endpoints that attempts went to, by the numbers of the attempts.
        pub(crate) peers: &[(u32, Peer)] = self.connections.as_deref().map_or(&[], Connections::peers);

        /// How many requests the attempts made, with those of operations inside them.
        pub(crate) request_count: u32 = self.attempt_count().saturating_add(self.retries_inside);

        /// The attempts that are kept.
        pub(crate) attempts: &[Attempt] = self.attempts.as_slice();
    }

    /// The messages that a stream which resumes has delivered.
    pub(super) fn messages(&self) -> Option<&Delivered> {
        self.connections.as_deref()?.messages()
    }

    /// Puts attempts that overlapped into the order in which they were sent.
    pub(crate) fn sort(&mut self) {
        self.attempts.sort();
    }

    /// Attempts were themselves retried, so often.
    pub(crate) fn retried_inside(&mut self, retries: u32) {
        self.retries_inside = self.retries_inside.saturating_add(retries);
        self.note(Note::RETRIED_INSIDE);
    }

    /// Returns whether the note is new.
    pub(crate) fn note(&mut self, note: Note) -> bool {
        let is_new = !self.notes.contains(&note);
        if is_new {
            let mut notes = std::mem::take(&mut self.notes).into_vec();
            notes.push(note);
            self.notes = notes.into_boxed_slice();
        }
        is_new
    }

    /// How many attempts were made.
    pub(crate) fn attempt_count(&self) -> u32 {
        // No more than 64 are kept.
        let kept = u32::try_from(self.attempts().len()).unwrap_or(u32::MAX);
        kept.saturating_add(self.attempts.left_out())
    }
}
