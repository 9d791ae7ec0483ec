//! An element's future, and its reply.

use crate::element::error::{BatchDetail, ElementError, ElementFailure};
use gax_driver::OperationReport;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// How an element ends.
pub(crate) type ElementResult<R, E> = Result<Batched<R>, ElementError<E>>;

/// The reply to an element, and what its batch took.
#[derive(Debug, Clone)]
pub struct Batched<R> {
    value: R,
    batch: Arc<BatchDetail>,
}

impl<R> Batched<R> {
    pub(crate) fn new(value: R, batch: Arc<BatchDetail>) -> Self {
        Self { value, batch }
    }

    /// The reply.
    #[must_use]
    pub fn value(&self) -> &R {
        &self.value
    }

    /// The reply, by value.
    #[must_use]
    pub fn into_value(self) -> R {
        self.value
    }

    gax_text::getters! { self:
        /// How many elements its batch had.
        pub batch_elements: usize = self.batch.elements;

        /// The report of the batch's operation. Over an RPC: if there is more to report than that the first attempt succeeded, or
        /// if it was [asked for](gax_driver::CallOptions::report).
        pub report: Option<&OperationReport> = self.batch.report();
    }
}

/// Waits for the reply to an element that a batcher has taken.
///
/// # Cancel safety
///
/// The element is in a batch, and is sent whether this is polled or not: dropping it loses the reply alone.
#[must_use = "the element's error is here"]
pub struct ElementFuture<R, E> {
    receiver: oneshot::Receiver<ElementResult<R, E>>,
}

impl<R, E> ElementFuture<R, E> {
    /// The future, and where its result is put.
    pub(crate) fn pair() -> (oneshot::Sender<ElementResult<R, E>>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self { receiver })
    }
}

impl<R, E> Future for ElementFuture<R, E> {
    type Output = Result<Batched<R>, ElementError<E>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let gone = |_| Err(ElementError::without_cause(ElementFailure::TaskGone));
        Pin::new(&mut self.receiver).poll(cx).map(|result| result.unwrap_or_else(gone))
    }
}

gax_text::short_debug! { self: [R, E] ElementFuture<R, E> {} }
