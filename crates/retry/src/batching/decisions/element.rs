//! Elements, and their sizes added up.

use crate::batching::element_size::ElementSize;

/// An element that is to be added: which batches it may go into, and its size.
#[derive(Debug, Clone)]
pub struct NewElement<K> {
    pub(super) key: K,
    pub(super) size: ElementSize,
    pub(super) is_ordered: bool,
}

impl<K> NewElement<K> {
    /// An element of that size, which goes into a batch with elements of the same key alone.
    pub fn new(key: K, size: ElementSize) -> Self {
        Self { key, size, is_ordered: false }
    }

    /// Batches of its key are sent one after the other: the next one once this one has ended.
    #[must_use]
    pub fn ordered(self) -> Self {
        Self { is_ordered: true, ..self }
    }

    /// Its size.
    pub fn size(&self) -> ElementSize {
        self.size
    }
}

/// Sizes added up. Sixty-four bits of them never overflow here, however large elements say that they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sum {
    pub(super) elements: u128,
    pub(super) bytes: u128,
}

impl Sum {
    pub(super) fn plus(self, size: ElementSize) -> Self {
        Self {
            elements: self.elements.saturating_add(size.elements().into()),
            bytes: self.bytes.saturating_add(size.bytes().into()),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            elements: self.elements.saturating_add(other.elements),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            elements: self.elements.saturating_sub(other.elements),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    pub(super) fn size(self) -> ElementSize {
        let whole = |sum| u64::try_from(sum).unwrap_or(u64::MAX);
        ElementSize::new(whole(self.elements), whole(self.bytes))
    }
}

impl From<ElementSize> for Sum {
    fn from(size: ElementSize) -> Self {
        Self::default().plus(size)
    }
}
