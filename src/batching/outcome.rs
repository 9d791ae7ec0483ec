//! How the call of a batch ends.

use crate::operation::OperationReport;
use gax_retry::batching::ElementSize;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) type BoxFuture<V> = Pin<Box<dyn Future<Output = V> + Send>>;

/// The result of a batch, with a reply for each element.
pub(crate) struct Ended<R, E> {
    pub(crate) replies: Result<Vec<Result<R, E>>, Option<E>>,
    pub(crate) has_failed: bool,
    pub(crate) report: Option<OperationReport>,
}

/// Sends a batch. It gets the elements and their sizes.
pub(crate) type SendBatch<T, R, E> =
    Box<dyn FnMut(Vec<T>, Arc<[ElementSize]>) -> BoxFuture<Ended<R, E>> + Send>;
