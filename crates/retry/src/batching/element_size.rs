//! How large elements are.

/// How large an element is, or a batch: its entries and its bytes.
///
/// # Examples
///
/// ```
/// use gax_retry::batching::ElementSize;
///
/// assert_eq!(ElementSize::of_bytes(120).elements(), 1);
/// assert_eq!(ElementSize::new(3, 120).bytes(), 120);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub struct ElementSize {
    elements: u64,
    bytes: u64,
}

impl ElementSize {
    /// So many entries with so many bytes in all: a request that is an element may have several entries, or none.
    pub const fn new(elements: u64, bytes: u64) -> Self {
        Self { elements, bytes }
    }

    /// One entry with so many bytes.
    pub const fn of_bytes(bytes: u64) -> Self {
        Self::new(1, bytes)
    }

    /// The entries.
    #[must_use]
    pub const fn elements(self) -> u64 {
        self.elements
    }

    /// The bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.bytes
    }
}
