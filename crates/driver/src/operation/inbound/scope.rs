//! Work that is dropped with the request that it is done for.

use crate::operation::inbound::handle::Inbound;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::futures::TaskLocalFuture;
use tokio_util::sync::WaitForCancellationFutureOwned;

pin_project! {
    /// A future that runs for a request and is dropped when that has ended; made by [`Inbound::scope`].
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops what it runs.
    #[must_use = "futures do nothing unless polled"]
    pub struct Scope<F> {
        inbound: Inbound,
        // `None` once it has ended.
        #[pin]
        work: Option<TaskLocalFuture<Inbound, F>>,
        // Made when the work has to wait for the first time.
        #[pin]
        end: Option<WaitForCancellationFutureOwned>,
    }
}

impl Inbound {
    /// Runs a future for the request, in any task: to be spawned, as a rule.
    ///
    /// # Errors
    ///
    /// The future resolves to [`RequestEnded`] if the request ends first; what it ran is dropped by then.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops what it runs.
    ///
    /// # Examples
    ///
    /// See [`Inbound`].
    pub fn scope<F: Future>(self, work: F) -> Scope<F> {
        Scope { work: Some(self.clone().around(work)), inbound: self, end: None }
    }
}

impl<F: Future> Future for Scope<F> {
    type Output = Result<F::Output, RequestEnded>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(work) = this.work.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        if this.inbound.is_ended() {
            this.work.set(None);
            return Poll::Ready(Err(RequestEnded));
        }
        if let Poll::Ready(output) = work.poll(cx) {
            this.work.set(None);
            return Poll::Ready(Ok(output));
        }
        if this.end.is_none() {
            this.end.set(this.inbound.end());
        }
        match this.end.as_pin_mut().map(|end| end.poll(cx)) {
            Some(Poll::Ready(())) => {
                this.work.set(None);
                Poll::Ready(Err(RequestEnded))
            }
            Some(Poll::Pending) | None => Poll::Pending,
        }
    }
}

gax_text::short_debug! { self: [F] Scope<F> { inbound: self.inbound } }

/// The request that the work was done for has ended, so that the work was stopped.
///
/// As a [`tonic::Status`] it is `CANCELLED`.
///
/// # Examples
///
/// ```
/// use gax_driver::inbound::Inbound;
///
/// # async fn handler() -> Result<(), tonic::Status> {
/// let lookup = tokio::spawn(Inbound::current().scope(async { "found" }));
/// let found = lookup.await.map_err(|error| tonic::Status::internal(error.to_string()))??;
/// # assert_eq!(found, "found");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestEnded;

gax_text::error_text! { RequestEnded {}, "the request that this belongs to has ended" }

#[cfg(feature = "tonic")]
impl From<RequestEnded> for tonic::Status {
    fn from(ended: RequestEnded) -> Self {
        Self::cancelled(ended.to_string())
    }
}
