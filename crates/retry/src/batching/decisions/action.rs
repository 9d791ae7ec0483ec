//! Actions: the fate of elements and batches.

use crate::batching::decisions::flow_control::OutstandingLimit;
use crate::batching::element_size::ElementSize;
use crate::batching::settings::BatchTrigger;
use std::time::Duration;

/// Which batch; those that are opened later have greater ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub(super) u64);

impl BatchId {
    /// The batch's number: the first one is 1.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The place in the queue of an element that waits for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(super) u64);

/// Why an element is refused. It is in no batch then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// As much is outstanding as may be.
    Full(OutstandingLimit),
    /// It has more entries than may ever be outstanding.
    NeverHasRoom,
    /// No more elements are taken.
    Closed,
}

/// The fate of an element that asks to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "who adds an element handles each")]
#[must_use = "an accepted element has to be put into its batch"]
pub enum Added {
    /// It is in that batch.
    Accepted(BatchId),
    /// It waits for room: an action accepts or refuses it later.
    Held(Ticket),
    /// It is not taken.
    Refused(Refusal),
}

impl BatchTrigger {
    /// The first of the thresholds.
    pub(super) fn of(elements: bool, bytes: bool) -> Option<Self> {
        if elements { Some(Self::Elements) } else { bytes.then_some(Self::Bytes) }
    }
}

/// A batch that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyBatch {
    pub(super) id: BatchId,
    pub(super) size: ElementSize,
    pub(super) opened: Duration,
    pub(super) trigger: BatchTrigger,
}

impl ReadyBatch {
    gax_text::getters! { move self:
        /// Which batch.
        pub id: BatchId = self.id;

        /// Its entries and bytes.
        pub size: ElementSize = self.size;

        /// When it got its first element.
        pub opened: Duration = self.opened;

        /// Why it is sent.
        pub trigger: BatchTrigger = self.trigger;
    }
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver performs each")]
#[must_use = "an action is there to be performed"]
pub enum BatchAction {
    /// An element that waited is in that batch now.
    Accept(Ticket, BatchId),
    /// An element that waited is in no batch and never will be, since no more are taken.
    Refuse(Ticket),
    /// Send that batch. It gets no more elements.
    Send(ReadyBatch),
    /// Nothing until another fact comes, or that moment; `None`: only a fact changes anything.
    Wait(Option<Duration>),
    /// No more elements are taken, and every batch has ended.
    Finish,
}
