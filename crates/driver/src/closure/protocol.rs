//! Attempts that call a closure.

use crate::closure::retryable::Retryable;
use crate::operation::{AttemptContext, Name, Protocol, Start, Step, Transport};
use crate::options::OperationConfig;
use gax_retry::operation::{AttemptResult, RetryFact};
use gax_retry::{Code, StartedAttempt, StopReason};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The results of a closure, as its operation sees them.
pub(super) struct Results<'a, T, E, R> {
    retryable: &'a R,
    pub(super) last: Option<E>,
    value: PhantomData<fn() -> T>,
}

impl<'a, T, E, R: Retryable<E>> Results<'a, T, E, R> {
    pub(super) fn new(retryable: &'a R) -> Self {
        Self { retryable, last: None, value: PhantomData }
    }

    /// The facts of an attempt that returned so. A value goes to `reply`; an error is kept.
    pub(super) fn keep(&mut self, result: Result<T, E>, reply: &mut Option<T>) -> AttemptResult {
        match result {
            Ok(value) => {
                *reply = Some(value);
                AttemptResult::done()
            }
            Err(error) => {
                let code = match self.retryable.code(&error) {
                    Code::Ok => Code::Unknown,
                    code => code,
                };
                let is_final = self.retryable.is_final(&error);
                self.last = Some(error);
                let result = AttemptResult::failed(code);
                if is_final { result.with_retry(RetryFact::No(StopReason::NonRetryable)) } else { result }
            }
        }
    }
}

/// Calls an async closure again for each attempt.
pub(super) struct Closure<'a, F, Fut, T, E, R> {
    attempt: F,
    pub(super) results: Results<'a, T, E, R>,
    name: Name,
    future: PhantomData<fn() -> Fut>,
}

impl<'a, F, Fut, T, E, R: Retryable<E>> Closure<'a, F, Fut, T, E, R> {
    pub(super) fn new(attempt: F, retryable: &'a R, name: Name) -> Self {
        Self { attempt, results: Results::new(retryable), name, future: PhantomData }
    }
}

impl<F, Fut, T, E, R> Protocol for Closure<'_, F, Fut, T, E, R>
where
    F: FnMut(StartedAttempt) -> Fut,
    Fut: Future<Output = Result<T, E>>,
    R: Retryable<E>,
{
    type Config = OperationConfig;
    type Attempt = Fut;
    type Slot = Option<T>;

    const TRANSPORT: &'static Transport = &Transport::CLOSURE;

    fn name(&self, _: &OperationConfig) -> Name {
        self.name.clone()
    }

    #[inline]
    fn start<'a>(&'a self, config: &'a OperationConfig) -> Start<'a> {
        config.start()
    }

    fn begin(&mut self, _: &OperationConfig, started: StartedAttempt, _: &mut AttemptContext<'_>) -> Fut {
        (self.attempt)(started)
    }

    fn poll(
        &mut self,
        _: &OperationConfig,
        attempt: Pin<&mut Fut>,
        _: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        reply: &mut Option<T>,
    ) -> Poll<Step> {
        attempt.poll(cx).map(|result| Step::Ended(self.results.keep(result, reply)))
    }
}
