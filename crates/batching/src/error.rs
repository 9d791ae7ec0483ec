//! Errors of batchers, and of elements that were not taken.

use crate::element::ElementFuture;
use gax_retry::SettingsError;
use gax_retry::batching::{OutstandingLimit, Refusal};
use std::error::Error;
use std::fmt;

/// Why there is no batcher.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatcherError {
    /// The settings can't work.
    Settings(SettingsError),
    /// There is no tokio runtime here that could run the batcher's task.
    NoRuntime,
}

impl fmt::Display for BatcherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatcherError::Settings(error) => write!(f, "{error}"),
            BatcherError::NoRuntime => {
                f.write_str("a batcher's task needs a tokio runtime: call Batcher::spawn inside one, or use Batcher::pair")
            }
        }
    }
}

impl Error for BatcherError {}

impl From<SettingsError> for BatcherError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
}

/// An element that a batcher did not take. It was not sent, and it is here.
pub struct AddError<T> {
    element: T,
    reason: AddRefusal,
}

/// Why a batcher did not take an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddRefusal {
    /// As much is outstanding as may be.
    Full(OutstandingLimit),
    /// It has more entries than may ever be outstanding.
    NeverHasRoom,
    /// The batcher is closed, or was closed while the element waited for room.
    Closed,
    /// The batcher's task has ended before its time: the runtime was shut down, or the [`BatchDriver`](super::BatchDriver)
    /// dropped.
    TaskGone,
}

impl From<Refusal> for AddRefusal {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Full(limit) => Self::Full(limit),
            Refusal::NeverHasRoom => Self::NeverHasRoom,
            _ => Self::Closed,
        }
    }
}

/// How adding an element ends.
pub(crate) type AddResult<T, R, E> = Result<ElementFuture<R, E>, AddError<T>>;

impl<T> AddError<T> {
    pub(crate) fn new(element: T, reason: AddRefusal) -> Self {
        Self { element, reason }
    }

    /// Why it was not taken.
    #[must_use]
    pub fn reason(&self) -> AddRefusal {
        self.reason
    }

    /// The element.
    #[must_use]
    pub fn into_element(self) -> T {
        self.element
    }
}

gax_text::short_debug! { self: [T] AddError<T> { reason: self.reason } }

impl<T> fmt::Display for AddError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            AddRefusal::Full(limit) => {
                write!(f, "the batcher is full ({limit}): add the element again later")
            }
            AddRefusal::NeverHasRoom => f.write_str(
                "the element has more entries than max_outstanding_elements: split it, or raise the limit",
            ),
            AddRefusal::Closed => f.write_str("the batcher is closed"),
            AddRefusal::TaskGone => f.write_str("the batcher's task has ended before it was closed"),
        }
    }
}

impl<T> Error for AddError<T> {}
