//! The facts that descriptors have of a method.

use crate::MethodKind;

/// The facts that are known of a method from its descriptor. They don't change with its settings.
///
/// # Examples
///
/// ```
/// use gax_retry::{MethodFacts, MethodKind};
///
/// let get_book = MethodFacts::new(MethodKind::Unary).read_only(true);
/// assert!(get_book.is_idempotent());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct MethodFacts {
    kind: MethodKind,
    is_idempotent: bool,
    is_read_only: bool,
}

impl MethodFacts {
    /// The facts of a method of that kind, which isn't known to be idempotent.
    pub fn new(kind: MethodKind) -> Self {
        Self { kind, is_idempotent: false, is_read_only: false }
    }

    /// Sets whether the service may carry out a call more than once. Default: false.
    pub fn idempotent(self, is_idempotent: bool) -> Self {
        Self { is_idempotent, ..self }
    }

    /// Sets whether a call changes nothing; then it is idempotent too. Default: false.
    pub fn read_only(self, is_read_only: bool) -> Self {
        Self { is_read_only, is_idempotent: self.is_idempotent || is_read_only, ..self }
    }

    gax_text::getters! {
        /// Returns which sides of a call stream.
        kind: MethodKind;

        /// Returns whether the service may carry out a call more than once.
        is_idempotent: bool;

        /// Returns whether a call changes nothing.
        is_read_only: bool;
    }
}
