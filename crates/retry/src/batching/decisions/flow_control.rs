//! How much may be outstanding.

use crate::batching::decisions::element::Sum;
use crate::batching::element_size::ElementSize;
use crate::batching::settings::{BatchingSettings, LimitExceeded};

/// A limit on what may be outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the two that settings have")]
pub enum OutstandingLimit {
    /// [`max_outstanding_elements`](BatchingSettings::max_outstanding_elements).
    Elements,
    /// [`max_outstanding_bytes`](BatchingSettings::max_outstanding_bytes).
    Bytes,
}

gax_text::names! {
    /// The name of the setting.
    fn name for OutstandingLimit {
        Elements = "max_outstanding_elements",
        Bytes = "max_outstanding_bytes",
    }
}

/// Elements are outstanding from when they are accepted until their batch has ended.
#[derive(Debug)]
pub(super) struct FlowControl {
    max_elements: Option<u64>,
    max_bytes: Option<u64>,
    outstanding: Sum,
}

impl FlowControl {
    pub(super) fn new(settings: &BatchingSettings) -> Self {
        let limits_count = settings.limit_exceeded() != LimitExceeded::Ignore;
        Self {
            max_elements: settings.max_outstanding_elements().filter(|_| limits_count),
            max_bytes: settings.max_outstanding_bytes().filter(|_| limits_count),
            outstanding: Sum::default(),
        }
    }

    /// The limit that has no room for an element: first elements are counted, then bytes.
    ///
    /// An element with more bytes than the limit has room if no other bytes are outstanding: otherwise it would wait forever (gax-java's
    /// `Semaphore64::acquirePartial`). The number of elements never goes beyond its limit.
    pub(super) fn exceeded_by(&self, size: ElementSize) -> Option<OutstandingLimit> {
        let Sum { elements, bytes } = self.outstanding;
        let exceeds = |limit: Option<u64>, outstanding: u128, more: u64| {
            limit.is_some_and(|limit| outstanding.saturating_add(more.into()) > limit.into())
        };
        let counted_bytes = self.max_bytes.map_or(size.bytes(), |limit| size.bytes().min(limit));
        if exceeds(self.max_elements, elements, size.elements()) {
            return Some(OutstandingLimit::Elements);
        }
        exceeds(self.max_bytes, bytes, counted_bytes).then_some(OutstandingLimit::Bytes)
    }

    /// Returns whether an element has more entries than may ever be outstanding.
    pub(super) fn never_has_room(&self, size: ElementSize) -> bool {
        self.max_elements.is_some_and(|limit| size.elements() > limit)
    }

    pub(super) fn reserve(&mut self, size: ElementSize) {
        self.outstanding = self.outstanding.plus(size);
    }

    pub(super) fn release(&mut self, sum: Sum) {
        self.outstanding = self.outstanding.minus(sum);
    }

    pub(super) fn outstanding(&self) -> Sum {
        self.outstanding
    }
}
