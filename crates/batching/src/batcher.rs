//! The handle of a batcher.

use crate::description::Batching;
use crate::driver::BatchDriver;
use crate::element::ElementFuture;
use crate::error::{AddError, AddResult, BatcherError};
use crate::shared::Shared;
use crate::state::{Entered, State};
use crate::totals::BatcherTotals;
use gax_retry::batching::{BatchingPolicy, ElementSize, Ticket};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Accepts elements one at a time, and sends them in batches. Use it for log entries, messages or rows that many tasks produce.
///
/// A clone is another handle of the same batcher. A separate task ([`BatchDriver`]) sends the batches, so an accepted element is
/// sent even if no caller waits for its reply.
///
/// # Endings
///
/// | | elements that were not sent | batches in flight |
/// | --- | --- | --- |
/// | [`close`](Self::close) | are sent | are waited for |
/// | [`give_back`](Self::give_back) | are returned | continue |
/// | [`abort`](Self::abort) | end with an error | are dropped |
/// | the last handle is dropped | are sent, with an event at the level WARN (feature `tracing`) | continue |
/// | the driver is dropped, or its runtime shut down | end with [`TaskGone`](super::ElementFailure::TaskGone) | are dropped |
///
/// In each case no more elements are accepted. Elements that wait for space are rejected and returned in their
/// [`AddError`](super::AddError).
///
/// # Examples
///
/// ```
/// use gax_batching::{BatchCall, Batcher};
/// use gax_batching::BatchingSettings;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let call = BatchCall::rpc(|rows: Vec<u32>| async move { Ok(tonic::Response::new(rows)) });
/// let settings = BatchingSettings::builder().element_count_threshold(100).delay_threshold(std::time::Duration::from_millis(10));
/// let batcher = Batcher::spawn(call.replies_in_order().settings(settings.build()))?;
/// let row = batcher.add(7).await?;
/// assert_eq!(*row.await?.value(), 7);
/// batcher.close().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// See also [Batching](https://tonic-gax.github.io/tonic-gax/paging.html#batching) in the guide.
pub struct Batcher<T, R, E> {
    handle: Arc<OpenHandle<T, R, E>>,
}

/// All handles of a batcher.
struct OpenHandle<T, R, E> {
    shared: Arc<Shared<T, R, E>>,
}

impl<T, R, E> Drop for OpenHandle<T, R, E> {
    fn drop(&mut self) {
        self.shared.abandon();
    }
}

impl<T, R, E> Batcher<T, R, E> {
    /// Makes a batcher and its driver, which has to be polled.
    ///
    /// # Errors
    ///
    /// The settings can't work.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_batching::{BatchCall, Batcher};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
    /// let call = BatchCall::rpc(|numbers: Vec<u64>| async move { Ok(tonic::Response::new(numbers)) });
    /// let (batcher, driver) = Batcher::pair(call.replies_in_order())?;
    /// let work = async {
    ///     let reply = batcher.add(7).await?.await?.into_value();
    ///     batcher.close().await;
    ///     Ok::<_, Box<dyn std::error::Error>>(reply)
    /// };
    /// let (reply, ()) = tokio::join!(work, driver);
    /// assert_eq!(reply?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pair(batching: Batching<T, R, E>) -> Result<(Self, BatchDriver<T, R, E>), BatcherError> {
        let Batching { send, settings, rules, reader, name, observers } = batching;
        let state = State::new(BatchingPolicy::new(settings, rules)?);
        let shared = Arc::new(Shared::new(state, reader, name, &observers));
        let driver = BatchDriver::new(Arc::clone(&shared), send);
        Ok((Self { handle: Arc::new(OpenHandle { shared }) }, driver))
    }

    /// Makes a batcher whose driver is a task of this runtime.
    ///
    /// # Errors
    ///
    /// The settings can't work, or there is no runtime.
    pub fn spawn(batching: Batching<T, R, E>) -> Result<Self, BatcherError>
    where
        T: Send + 'static,
        R: Send + 'static,
        E: Send + Sync + 'static,
    {
        let runtime = Handle::try_current().map_err(|_| BatcherError::NoRuntime)?;
        let (batcher, driver) = Self::pair(batching)?;
        runtime.spawn(driver);
        Ok(batcher)
    }

    fn shared(&self) -> &Shared<T, R, E> {
        &self.handle.shared
    }

    /// Adds an element. If there is no room and the settings say [`Block`](gax_retry::LimitExceeded::Block), it waits
    /// until there is, after the callers that are already waiting.
    ///
    /// Once this returns the future of its reply, the element is in a batch that will be sent.
    ///
    /// # Errors
    ///
    /// The element was not accepted: there is no room for it and the settings say
    /// [`ThrowException`](gax_retry::LimitExceeded::ThrowException), or there can never be room; or the batcher is closed.
    /// The error contains the element.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it returns, it drops the element, which is not sent. The one exception is a batch that got the element and was
    /// sent before the caller was polled again.
    pub async fn add(&self, element: T) -> Result<ElementFuture<R, E>, AddError<T>> {
        match self.shared().add(element) {
            Entered::Now(result) => result,
            Entered::Waits(ticket, receiver) => {
                Waiting { shared: self.shared(), ticket: Some(ticket), receiver }.await
            }
        }
    }

    /// Adds an element, or refuses it immediately if there is no room: for threads and callbacks that can't wait.
    ///
    /// # Errors
    ///
    /// The element was not accepted; the error contains it.
    pub fn try_add(&self, element: T) -> Result<ElementFuture<R, E>, AddError<T>> {
        self.shared().try_add(element)
    }

    /// Sends what is open, and waits until every element that was taken until now has ended, with a reply or an error. Elements
    /// that wait for room are not among them.
    ///
    /// # Cancel safety
    ///
    /// Open batches are sent when this is first polled.
    pub async fn flush(&self) {
        // An error means that there is nothing to wait for.
        let _ended = self.shared().change(State::flush).await;
    }

    /// Takes no more elements, sends what is open, and waits until every batch has ended.
    ///
    /// # Cancel safety
    ///
    /// The batcher is closed when this is first polled. To wait again, call it again.
    pub async fn close(&self) -> BatcherTotals {
        // An error means that there is nothing to wait for.
        let _ended = self.shared().change(State::close).await;
        self.totals()
    }

    /// Takes no more elements, and returns those that were taken and not sent; their futures end with
    /// [`GivenBack`](super::ElementFailure::GivenBack). Batches in flight continue; [`close`](Self::close) waits for them.
    #[must_use = "these elements are not sent"]
    pub fn give_back(&self) -> Vec<T> {
        self.shared().change(State::give_back)
    }

    /// Takes no more elements, and ends all that have no reply with [`Aborted`](super::ElementFailure::Aborted). The calls of
    /// batches in flight are dropped; servers may have carried them out.
    pub fn abort(&self) {
        self.shared().change(State::abort);
    }

    /// The entries and bytes of the elements that were taken and have no reply yet, such as after a [`close`](Self::close) that
    /// its caller did not wait for to the end. Elements that wait for room are not among them.
    pub fn outstanding(&self) -> ElementSize {
        self.shared().change(|state, _, _| state.outstanding())
    }

    /// Counts of batches and elements that have ended.
    #[must_use]
    pub fn totals(&self) -> BatcherTotals {
        self.shared().change(|state, _, _| state.totals())
    }
}

impl<T, R, E> Clone for Batcher<T, R, E> {
    fn clone(&self) -> Self {
        Self { handle: Arc::clone(&self.handle) }
    }
}

gax_text::short_debug! { self: [T, R, E] Batcher<T, R, E> { name: self.shared().name } }

/// Waits until the batcher has taken the element or refuses it. Dropped before that, it takes the element with it.
struct Waiting<'a, T, R, E> {
    shared: &'a Shared<T, R, E>,
    /// `None`: the result has been returned.
    ticket: Option<Ticket>,
    receiver: oneshot::Receiver<AddResult<T, R, E>>,
}

impl<T, R, E> Future for Waiting<'_, T, R, E> {
    type Output = AddResult<T, R, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut self.receiver).poll(cx) {
            Poll::Ready(Ok(result)) => {
                self.ticket = None;
                Poll::Ready(result)
            }
            // The state that has the element sends its result before it drops the sender.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T, R, E> Drop for Waiting<'_, T, R, E> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.shared.change(|state, now, after| state.withdraw(ticket, now, after));
        }
    }
}
