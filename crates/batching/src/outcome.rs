//! How the call of a batch ends.

use crate::element::ElementFailure;
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
