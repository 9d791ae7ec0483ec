//! A batch that is sent, in numbers.

use gax_retry::batching::{BatchTrigger, ElementSize};
use std::time::Duration;

/// A batch that a batcher sends.
#[derive(Debug, Clone)]
pub struct BatchInfo<'a> {
    batcher: &'a str,
    sizes: &'a [ElementSize],
    trigger: BatchTrigger,
    waited: Duration,
    throttled: Duration,
}

impl<'a> BatchInfo<'a> {
    /// A batch of that batcher with elements of these sizes, for tests of observers: why it is sent, how long it has waited for that,
    /// and how long its elements had waited before they could be added.
    #[must_use]
    pub fn new(
        batcher: &'a str,
        sizes: &'a [ElementSize],
        trigger: BatchTrigger,
        waited: Duration,
        throttled: Duration,
    ) -> Self {
        Self { batcher, sizes, trigger, waited, throttled }
    }

    gax_text::getters! { self:
        /// The name of the batcher.
        pub batcher: &str = self.batcher;

        /// How many elements were added to it.
        pub elements: usize = self.sizes.len();
    }

    /// How many entries they have; one each, unless the batcher counts them.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.sizes.iter().fold(0, |sum, size| sum.saturating_add(size.elements()))
    }

    /// How many bytes they have; none, unless the batcher counts them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().fold(0, |sum, size| sum.saturating_add(size.bytes()))
    }

    gax_text::getters! { self:
        /// How long its first element has waited in it.
        pub waited: Duration = self.waited;

        /// How long its elements had waited for room before they were taken, added up.
        pub throttled: Duration = self.throttled;

        /// Why it is sent.
        pub trigger: BatchTrigger = self.trigger;
    }
}
