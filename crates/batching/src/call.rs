//! How a batch is sent.

use crate::description::Batching;
use crate::element::ElementFailure;
use crate::outcome::{BoxFuture, Ended, Replies, one_each};
use gax_driver::closure::Retryable;
use gax_driver::{OperationError, OperationReport, Retryer};
use gax_retry::StartedAttempt;
use gax_retry::batching::ElementSize;
use std::future::Future;
use std::sync::Arc;
use tonic::{Response, Status};

type SendElements<T, M, E> = Box<dyn FnMut(Vec<T>) -> BoxFuture<Outcome<M, E>> + Send>;

/// The result of a batch's operation.
pub(crate) struct Outcome<M, E> {
    result: Result<M, Option<E>>,
    report: Option<OperationReport>,
}

/// How a batch is sent: by a closure or an RPC, which gets its elements. Each batch is one operation.
///
/// How its reply is split among the elements makes a [`Batching`] of it: [`replies_in_order`](Self::replies_in_order),
/// [`split_entries`](Self::split_entries), [`split`](Self::split) or [`without_replies`](Self::without_replies).
pub struct BatchCall<T, M, E> {
    send: SendElements<T, M, E>,
}

impl<T, M, E> BatchCall<T, M, E>
where
    T: Send + 'static,
    M: Send + 'static,
    E: Send + 'static,
{
    /// Batches that are sent by a closure, which a retryer runs. Each attempt gets the elements; they are not cloned.
    ///
    /// The element's error is the closure's last one, and has the operation's report.
    pub fn closure<K, F, Fut>(retryer: Retryer<K>, attempt: F) -> Self
    where
        T: Sync,
        K: Retryable<E> + Send + Sync + 'static,
        F: Fn(StartedAttempt, Arc<[T]>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<M, E>> + Send,
    {
        let shared = Arc::new((retryer, attempt));
        Self::new(move |elements| {
            let (shared, elements) = (Arc::clone(&shared), Arc::from(elements));
            async move {
                let (retryer, attempt) = &*shared;
                match retryer.run(|started| attempt(started, Arc::clone(&elements))).await {
                    Ok(retried) => {
                        let report = Some(retried.report().clone());
                        Outcome { result: Ok(retried.into_value()), report }
                    }
                    Err(error) => {
                        let report = Some(error.report().clone());
                        Outcome { result: Err(error.into_last()), report }
                    }
                }
            }
        })
    }

    fn new<F, Fut>(mut send: F) -> Self
    where
        F: FnMut(Vec<T>) -> Fut + Send + 'static,
        Fut: Future<Output = Outcome<M, E>> + Send + 'static,
    {
        Self { send: Box::new(move |elements| Box::pin(send(elements))) }
    }

    /// The reply is split by a closure, which gets the size of each element and returns a result for each, in their order: so
    /// some elements may fail although the batch didn't. Another number of results fails all elements with
    /// [`WrongReplies`](super::ElementFailure::WrongReplies).
    pub fn split<R, S>(self, split: S) -> Batching<T, R, E>
    where
        R: 'static,
        S: Fn(M, &[ElementSize]) -> Vec<Result<R, E>> + Send + Sync + 'static,
    {
        self.replied(move |reply, sizes| one_each(split(reply, sizes), sizes.len(), None))
    }

    /// For elements that are requests with several [entries](Batching::entries), and a reply that has a list with an item for each
    /// entry: `list` takes the list out of the reply, and `reply` builds an element's reply from its items. A list of another
    /// length fails all elements with [`WrongReplies`](super::ElementFailure::WrongReplies).
    pub fn split_entries<I, R>(
        self,
        list: impl Fn(M) -> Vec<I> + Send + Sync + 'static,
        reply: impl Fn(Vec<I>) -> R + Send + Sync + 'static,
    ) -> Batching<T, R, E>
    where
        R: 'static,
    {
        self.replied(move |message, sizes| {
            let items = list(message);
            let counts = sizes.iter().map(|size| usize::try_from(size.elements()).unwrap_or(usize::MAX));
            let entries = counts.clone().fold(0, usize::saturating_add);
            if items.len() != entries {
                let failure = ElementFailure::WrongReplies { elements: entries, replies: items.len() };
                return Err((failure, None));
            }
            let mut items = items.into_iter();
            Ok(counts.map(|count| Ok(reply(items.by_ref().take(count).collect()))).collect())
        })
    }

    fn replied<R, S>(mut self, split: S) -> Batching<T, R, E>
    where
        R: 'static,
        S: Fn(M, &[ElementSize]) -> Replies<R, E> + Send + Sync + 'static,
    {
        let split = Arc::new(split);
        Batching::new(Box::new(move |elements, sizes| {
            let (call, split) = ((self.send)(elements), Arc::clone(&split));
            Box::pin(async move {
                let Outcome { result, report } = call.await;
                let has_failed = result.is_err();
                let failed = |error| Err((ElementFailure::Batch, error));
                Ended {
                    replies: result.map_or_else(failed, |reply| split(reply, &sizes)),
                    has_failed,
                    report,
                }
            })
        }))
    }

    /// Elements have no replies: whatever the batch's reply is, each gets `()`.
    pub fn without_replies(self) -> Batching<T, (), E> {
        self.split(|_, sizes| sizes.iter().map(|_| Ok(())).collect())
    }
}

impl<T, R, E> BatchCall<T, Vec<R>, E>
where
    T: Send + 'static,
    R: Send + 'static,
    E: Send + 'static,
{
    /// The reply is a list with one reply for each element, in their order.
    pub fn replies_in_order(self) -> Batching<T, R, E> {
        self.split(|replies, _| replies.into_iter().map(Ok).collect())
    }
}

impl<T, M> BatchCall<T, M, Status>
where
    T: Send + 'static,
    M: Send + 'static,
{
    /// Batches that are sent by an RPC of a generated client, or of any client under a `RetryLayer`: the
    /// closure makes the request of the elements, and calls it.
    pub fn rpc<F, Fut>(mut call: F) -> Self
    where
        F: FnMut(Vec<T>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Response<M>, Status>> + Send + 'static,
    {
        Self::new(move |elements| {
            let call = call(elements);
            async move {
                match call.await {
                    Ok(mut response) => {
                        let report = response.extensions_mut().remove();
                        Outcome { result: Ok(response.into_inner()), report }
                    }
                    Err(status) => {
                        let report = OperationError::of(&status).map(|error| error.report().clone());
                        Outcome { result: Err(Some(status)), report }
                    }
                }
            }
        })
    }
}

gax_text::short_debug! { self: [T, M, E] BatchCall<T, M, E> {} }
