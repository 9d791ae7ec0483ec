//! Errors of elements that were taken.

use gax_driver::OperationReport;
use gax_text::Escaped;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why an element that was taken has no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElementFailure {
    /// Its batch failed.
    Batch,
    /// Its batch did not fail, or not as a whole: this is the error of the element alone.
    Element,
    /// There is another number of replies than the batch has elements.
    WrongReplies {
        /// How many elements the batch has, or entries where it is these that have replies.
        elements: usize,
        /// How many replies there were.
        replies: usize,
    },
    /// The call of its batch panicked.
    Panicked,
    /// It was not sent, and [given back](crate::Batcher::give_back).
    GivenBack,
    /// The batcher was [aborted](crate::Batcher::abort). It may have been sent.
    Aborted,
    /// The batcher's task has ended before its time: the runtime was shut down, or the [`BatchDriver`](crate::BatchDriver)
    /// dropped. It may have been sent.
    TaskGone,
}

/// An element that was taken and has no reply.
#[derive(Debug)]
pub struct ElementError<E> {
    failure: ElementFailure,
    cause: Option<Arc<E>>,
    batch: Option<Arc<BatchDetail>>,
}

impl<E> ElementError<E> {
    pub(crate) fn new(
        failure: ElementFailure,
        cause: Option<Arc<E>>,
        batch: Option<Arc<BatchDetail>>,
    ) -> Self {
        Self { failure, cause, batch }
    }

    pub(crate) fn without_cause(failure: ElementFailure) -> Self {
        Self::new(failure, None, None)
    }

    gax_text::getters! { self:
        /// Why it has no reply.
        pub failure: ElementFailure = self.failure;

        /// The error of its batch, which it shares with the others of the batch, or its own. `None`: there is none, also where
        /// every attempt of the batch ran into its RPC timeout.
        pub cause: Option<&E> = self.cause.as_deref();

        /// The report of the batch's operation. Over an RPC: where the failure came from an operation, or the report was
        /// [asked for](gax_driver::CallOptions::report).
        pub report: Option<&OperationReport> = self.batch.as_ref()?.report();
    }
}

/// All elements of a batch share its error.
impl<E> Clone for ElementError<E> {
    fn clone(&self) -> Self {
        Self { failure: self.failure, cause: self.cause.clone(), batch: self.batch.clone() }
    }
}

impl<E: fmt::Display> fmt::Display for ElementError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failure {
            ElementFailure::Batch => {
                f.write_str("the batch of the element failed")?;
                if let Some(report) = self.report() {
                    f.write_str(": ")?;
                    report.write_outcome(f)?;
                }
            }
            ElementFailure::Element => f.write_str("the element failed")?,
            ElementFailure::WrongReplies { elements, replies } => {
                write!(
                    f,
                    "the batch of {elements} elements has {replies} replies: the server omitted some, or the response is \
                     split incorrectly"
                )?;
            }
            ElementFailure::Panicked => f.write_str("the call of the element's batch panicked")?,
            ElementFailure::GivenBack => f.write_str("the element was not sent and given back")?,
            ElementFailure::Aborted => {
                f.write_str("the batcher was aborted before the element had a reply")?;
            }
            ElementFailure::TaskGone => {
                f.write_str("the batcher's task has ended before the element had a reply")?;
            }
        }
        match &self.cause {
            Some(cause) => write!(f, ": {}", Escaped(&cause.to_string())),
            None => Ok(()),
        }
    }
}

impl<E: Error + 'static> Error for ElementError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The error itself is in the text.
        self.cause.as_deref().and_then(Error::source)
    }
}

/// Shared by the elements of a batch.
#[derive(Debug)]
pub(crate) struct BatchDetail {
    pub(crate) elements: usize,
    pub(crate) report: Option<OperationReport>,
}

impl BatchDetail {
    pub(crate) fn report(&self) -> Option<&OperationReport> {
        self.report.as_ref()
    }
}
