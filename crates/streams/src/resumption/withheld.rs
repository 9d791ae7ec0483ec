//! Messages that wait for a later one.

use crate::resumption::strategy::Processed;
use std::collections::VecDeque;

/// The messages of a stream that the caller does not get yet, in their order. Those at the front may have been released.
#[derive(Debug)]
pub(super) struct Withheld<M> {
    messages: VecDeque<(M, usize)>,
    released: usize,
    bytes: usize,
    limits: WithheldLimits,
}

/// How much of a stream may be withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WithheldLimits {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

impl Default for WithheldLimits {
    fn default() -> Self {
        Self { messages: 10_000, bytes: 16 * 1024 * 1024 }
    }
}

/// There is no room for another message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

impl<M> Withheld<M> {
    pub(super) fn new(limits: WithheldLimits) -> Self {
        Self { messages: VecDeque::new(), released: 0, bytes: 0, limits }
    }

    /// A message, and the decision on it. Returns one that goes to the caller now, if any does.
    pub(super) fn take(&mut self, message: M, size: usize, processed: Processed) -> Result<Option<M>, Full> {
        match processed {
            Processed::Skip => return Ok(None),
            Processed::Deliver | Processed::Replaced | Processed::Release if self.messages.is_empty() => {
                return Ok(Some(message));
            }
            Processed::Deliver | Processed::Replaced | Processed::Withhold => {}
            Processed::Release => {
                self.messages.push_back((message, size));
                self.bytes += size;
                self.release();
                return Ok(self.pop());
            }
        }
        let limits = self.limits;
        if self.messages.len() >= limits.messages || self.bytes.saturating_add(size) > limits.bytes {
            return Err(Full);
        }
        self.bytes += size;
        self.messages.push_back((message, size));
        Ok(None)
    }

    /// All that is there goes to the caller.
    pub(super) fn release(&mut self) {
        self.released = self.messages.len();
    }

    /// The next message that was released.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<M> {
        self.released = self.released.checked_sub(1)?;
        let (message, size) = self.messages.pop_front()?;
        self.bytes -= size;
        Some(message)
    }

    /// Messages that were not released are forgotten.
    pub(super) fn forget(&mut self) {
        self.messages.truncate(self.released);
        self.bytes = self.messages.iter().map(|(_, size)| size).sum();
    }
}
