//! The options of a single call, and its report.

use gax_driver::__private::Locked;
use gax_driver::{CallOptions, OperationReport};
use grpc::client::interceptor::Intercept;
use grpc::client::{CallOptions as GrpcOptions, InvokeOnce};
use grpc::core::RequestHeaders;
use std::fmt;
use std::sync::Arc;

tokio::task_local! {
    /// The call that is being made.
    static CURRENT: RetriedCall;
}

/// The options and the report of one call: an interceptor for that call alone, in front of a channel with a
/// [`RetryInterceptor`](crate::RetryInterceptor).
///
/// The [`CallOptions`] have the same effects as over tonic. They reach the `RetryInterceptor` through any interceptors in between that
/// call the next one in the same task. They are not sent to the server. Without a `RetryInterceptor` they have no effect.
///
/// # Examples
///
/// ```
/// use gax_grpc::RetriedCall;
/// use std::time::Duration;
/// use gax_driver::CallOptions;
///
/// let call = RetriedCall::new(CallOptions::new().timeout(Duration::from_secs(2)).report(true));
/// // let reply = client.list_assets(request).with_interceptor(call.clone()).await;
/// assert!(call.report().is_none()); // until the call has ended
/// ```
#[derive(Clone)]
pub struct RetriedCall(Arc<Shared>);

struct Shared {
    options: CallOptions,
    report: Locked<Option<OperationReport>>,
}

impl RetriedCall {
    /// The call with these options.
    #[must_use]
    pub fn new(options: CallOptions) -> Self {
        Self(Arc::new(Shared { options, report: Locked::new(None) }))
    }

    /// The report of the call that ended last, among those that were made with this value or a clone. There is one after a failure,
    /// after more than one attempt, if the report has a note, and if the [options](CallOptions::report) ask for it; otherwise
    /// `None`. A call ends when its trailers are read.
    #[must_use]
    pub fn report(&self) -> Option<OperationReport> {
        self.0.report.lock().clone()
    }

    pub(crate) fn reported(&self, report: Option<OperationReport>) {
        *self.0.report.lock() = report;
    }

    pub(crate) fn options(&self) -> &CallOptions {
        &self.0.options
    }

    /// The call that this task is making, if it is made with options.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }
}

impl<I: InvokeOnce> Intercept<I> for RetriedCall {
    type SendStream = I::SendStream;
    type RecvStream = I::RecvStream;

    async fn intercept(
        &self,
        headers: RequestHeaders,
        options: GrpcOptions,
        next: I,
    ) -> (Self::SendStream, Self::RecvStream) {
        CURRENT.scope(self.clone(), next.invoke_once(headers, options)).await
    }
}

impl fmt::Debug for RetriedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetriedCall").field("options", &self.0.options).finish_non_exhaustive()
    }
}
