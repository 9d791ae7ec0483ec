//! Waiting for one of two things.

use gax_driver::__private::Timer;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use tokio::time::Instant;

/// Whichever of two futures is ready first.
pub(crate) enum Either<A, B> {
    One(A),
    Other(B),
}

/// Waits for the first of two futures, of which the first one counts if both are ready.
pub(crate) async fn either<A: Future, B: Future>(one: A, other: B) -> Either<A::Output, B::Output> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|cx| match one.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Either::One(output)),
        Poll::Pending => other.as_mut().poll(cx).map(Either::Other),
    })
    .await
}

/// The future's output. `None`: the moment came first, if there is one.
pub(crate) async fn before<F: Future>(moment: Option<Instant>, future: F) -> Option<F::Output> {
    match either(future, moment_of(moment)).await {
        Either::One(output) => Some(output),
        Either::Other(()) => None,
    }
}

/// Waits for a moment. `None` never comes.
pub(crate) async fn moment_of(moment: Option<Instant>) {
    let mut timer = Timer::default();
    poll_fn(|cx| timer.poll_at(moment, cx)).await;
}
