//! Counts of a batcher.

/// Counts of what a batcher has done so far.
///
/// Each added element counts once, whatever number of entries it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatcherTotals {
    pub(crate) batches: u64,
    pub(crate) failed_batches: u64,
    pub(crate) elements: u64,
    pub(crate) failed_elements: u64,
}

impl BatcherTotals {
    gax_text::getters! { self:
        /// How many batches were sent and have ended.
        pub batches: u64 = self.batches;

        /// How many of them failed as a whole.
        pub failed_batches: u64 = self.failed_batches;

        /// How many elements have ended, with a reply or an error. Those that were refused are not counted.
        pub elements: u64 = self.elements;

        /// How many of them ended with an error, or were given back.
        pub failed_elements: u64 = self.failed_elements;
    }

    /// Counts elements that end without a reply.
    pub(crate) fn lost(&mut self, elements: usize) {
        let elements = u64::try_from(elements).unwrap_or(u64::MAX);
        self.elements = self.elements.saturating_add(elements);
        self.failed_elements = self.failed_elements.saturating_add(elements);
    }

    /// Counts a batch that was sent, and its elements.
    pub(crate) fn ended(&mut self, has_failed: bool, elements: usize, failed: usize) {
        let count = |number| u64::try_from(number).unwrap_or(u64::MAX);
        self.batches += 1;
        self.failed_batches += u64::from(has_failed);
        self.elements = self.elements.saturating_add(count(elements));
        self.failed_elements = self.failed_elements.saturating_add(count(failed));
    }
}
