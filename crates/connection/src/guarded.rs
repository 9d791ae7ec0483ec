//! Futures of the program's own code, whose panics end here.

use gax_driver::__private::PanicGuard;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use tonic::codegen::StdError;

/// Makes a future that runs the program's own code, and runs it.
///
/// # Errors
///
/// It panicked.
pub(crate) fn guarded<'a, F: Future + 'a>(
    guard: &'a PanicGuard,
    who: &'static str,
    make: impl FnOnce() -> F,
) -> impl Future<Output = Result<F::Output, StdError>> {
    let future = guard.run(who, make);
    async move {
        let panicked = || StdError::from(format!("{who} panicked"));
        let mut future = pin!(future.ok_or_else(panicked)?);
        poll_fn(|cx| match guard.run(who, || future.as_mut().poll(cx)) {
            Some(Poll::Pending) => Poll::Pending,
            Some(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            None => Poll::Ready(Err(panicked())),
        })
        .await
    }
}
