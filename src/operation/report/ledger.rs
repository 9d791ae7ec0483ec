//! A report being written.

use super::rows::Rows;
use super::{Detail, Note};
use gax_retry::{Attempt, Delivery, NotAttempted, StopReason};
use std::num::NonZeroU64;

/// A report being written, but for what its operation is called: that is known, and would take room while it waits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ledger {
    pub(super) attempts: Rows,
    pub(crate) stop_reason: Option<StopReason>,
    pub(crate) not_attempted: Option<NotAttempted>,
    pub(crate) transparent_retries: u32,
    /// How far the request got, over all attempts.
    pub(super) delivery: Delivery,
    /// Of settings that can be replaced.
    pub(crate) settings_version: Option<NonZeroU64>,
    pub(super) detail: Option<Detail>,
    pub(super) notes: Vec<Note>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            attempts: Rows::default(),
            stop_reason: None,
            not_attempted: None,
            transparent_retries: 0,
            delivery: Delivery::NotSent,
            settings_version: None,
            detail: None,
            notes: Vec::new(),
        }
    }
}

impl Ledger {
    pub(crate) fn push(&mut self, attempt: Attempt, delivery: Delivery) {
        self.attempts.push(attempt);
        self.delivery = self.delivery.max(delivery);
    }

    /// Puts attempts that overlapped into the order in which they were sent.
    pub(crate) fn sort(&mut self) {
        self.attempts.sort();
    }

    /// Returns whether the note is new.
    pub(crate) fn note(&mut self, note: Note) -> bool {
        let is_new = !self.notes.contains(&note);
        if is_new {
            self.notes.push(note);
        }
        is_new
    }

    /// The attempts that are kept.
    pub(crate) fn attempts(&self) -> &[Attempt] {
        self.attempts.as_slice()
    }

    /// How many attempts were made.
    pub(crate) fn attempt_count(&self) -> u32 {
        // No more than 64 are kept.
        let kept = u32::try_from(self.attempts().len()).unwrap_or(u32::MAX);
        kept.saturating_add(self.attempts.left_out())
    }
}
