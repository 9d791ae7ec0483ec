//! How the call of a batch ends.

use crate::element::{BatchDetail, Batched, ElementError, ElementFailure, ElementResult};
use gax_driver::OperationReport;
use gax_retry::batching::ElementSize;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) type BoxFuture<V> = Pin<Box<dyn Future<Output = V> + Send>>;

/// A reply for each element of a batch, or why there is none, with the batch's own error.
pub(crate) type Replies<R, E> = Result<Vec<Result<R, E>>, (ElementFailure, Option<E>)>;

/// These replies, if each element has one. `error` is the batch's own.
pub(crate) fn one_each<R, E>(replies: Vec<Result<R, E>>, elements: usize, error: Option<E>) -> Replies<R, E> {
    let failure = ElementFailure::WrongReplies { elements, replies: replies.len() };
    if replies.len() == elements { Ok(replies) } else { Err((failure, error)) }
}

/// The result of a batch.
pub(crate) struct Ended<R, E> {
    pub(crate) replies: Replies<R, E>,
    pub(crate) has_failed: bool,
    pub(crate) report: Option<OperationReport>,
}

/// Sends a batch. It gets the elements and their sizes.
pub(crate) type SendBatch<T, R, E> =
    Box<dyn FnMut(Vec<T>, Arc<[ElementSize]>) -> BoxFuture<Ended<R, E>> + Send>;

/// How each element of a batch ends.
pub(crate) fn results<R, E>(ended: Option<Ended<R, E>>, elements: usize) -> Vec<ElementResult<R, E>> {
    let Some(Ended { replies, report, .. }) = ended else {
        let error = ElementError::without_cause(ElementFailure::Panicked);
        return std::iter::repeat_with(|| Err(error.clone())).take(elements).collect();
    };
    let batch = Arc::new(BatchDetail { elements, report });
    let failed = |failure, cause: Option<E>| {
        let error = ElementError::new(failure, cause.map(Arc::new), Some(Arc::clone(&batch)));
        std::iter::repeat_with(|| Err(error.clone())).take(elements).collect()
    };
    match replies {
        Ok(replies) => {
            let result = |result| match result {
                Ok(value) => Ok(Batched::new(value, Arc::clone(&batch))),
                Err(own) => {
                    let (own, batch) = (Some(Arc::new(own)), Some(Arc::clone(&batch)));
                    Err(ElementError::new(ElementFailure::Element, own, batch))
                }
            };
            replies.into_iter().map(result).collect()
        }
        Err((failure, cause)) => failed(failure, cause),
    }
}
