//! The handle to a long-running operation.

use crate::client::lro::config::Config;
use crate::client::lro::error::{LongRunningEnd, LongRunningError, is_limit};
use crate::client::lro::generated::google::longrunning::{Operation, operation};
use crate::client::lro::protocol::{BoxCall, FirstCall, LastState, OperationsServer, Polling};
use crate::client::lro::types::MessageType;
use gax_driver::__private::Clock;
use gax_driver::OperationReport;
use gax_driver::protocol::{Driver, Output, Verdict};
use gax_retry::Code;
use gax_retry::operation::Stop;
use prost::{Message, Name};
use prost_types::Any;
use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio_stream::Stream;
use tonic::Status;

/// The most time that it takes to cancel an operation whose polling time has passed, and to poll it again.
const LAST_CALLS: Duration = Duration::from_secs(60);

/// A long-running operation. Awaiting it starts the operation, polls until it is done, and returns the response.
///
/// Nothing happens until it is polled. Its first call and each poll are separate operations with their own retries, observers and
/// metrics. Together they are one operation, whose [report](Self::report) has a row for each. The
/// [polling settings](crate::settings::OperationCallSettings::polling_settings) decide when polls are made: by default after 5 s,
/// 7.5 s, .. up to 45 s, for 5 min in all.
///
/// Generated clients return one for each RPC with `google.longrunning.operation_info`. For other clients, use
/// [`poll`](crate::longrunning::poll). `R` is the type of the response and `M` the type of the metadata, as in the RPC's proto.
///
/// # Errors
///
/// See [`LongRunningError`]. The end of the polling time is not an error of the server: the operation continues. If a handle is
/// awaited again after it returned its result, it returns [`ResultTaken`](LongRunningError::ResultTaken).
///
/// # Cancel safety
///
/// Awaiting `&mut handle` is cancel safe: the handle keeps its state and continues when it is polled again. Dropping the handle
/// stops polling without notifying the server, and the operation continues. [`cancel`](Self::cancel) asks the server to stop.
///
/// # Examples
///
/// ```
/// use gax_client::longrunning::{self, Operation, PollingSettings};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// // A server, in place of a client's call: done when it is asked for the third time.
/// let mut polls = 0;
/// let export = longrunning::poll("operations/7", PollingSettings::new(), move |name| {
///     polls += 1;
///     let done = polls == 3;
///     let response = longrunning::Any::from_msg(&41_i64).expect("it is encoded");
///     let result = done.then_some(longrunning::operation::Result::Response(response));
///     async move { Ok::<_, tonic::Status>(Operation { name, done, result, ..Operation::default() }) }
/// });
/// let response = export.typed::<i64, ()>().await?;
/// assert_eq!(response, 41);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is started or polled until it is awaited"]
pub struct LongRunning<R = Any, M = Any> {
    driver: Pin<Box<Driver<Polling>>>,
    known: LastState,
    response: MessageType<R>,
    metadata: MessageType<M>,
    stage: Stage,
    /// `None`: polling continues.
    ended: Option<PollingEnd>,
}

/// How polling ended.
struct PollingEnd {
    /// A limit of the polling settings ended it.
    is_over_time: bool,
    /// The status of the call that failed.
    status: Option<Status>,
    report: OperationReport,
    /// Somebody has the result.
    is_taken: bool,
}

/// How far the handle has come.
enum Stage {
    Polling,
    /// The polling time has passed, and the server is asked to cancel, then for the last time.
    Cancelling {
        stop: Stop,
        last: BoxCall<Operation>,
    },
    Over,
}

/// Nothing in it is pinned in its place.
impl<R, M> Unpin for LongRunning<R, M> {}

/// An operation that starts with that call when it is first polled.
pub(in crate::client) fn start(
    server: Box<dyn OperationsServer>,
    first: FirstCall,
    config: Arc<Config>,
) -> LongRunning {
    LongRunning::new(Polling::starting(server, first), LastState::default(), config)
}

/// An operation that was started before.
pub(in crate::client) fn resume(
    server: Box<dyn OperationsServer>,
    name: String,
    config: Arc<Config>,
) -> LongRunning {
    LongRunning::new(Polling::resuming(server, name.clone()), LastState::by_name(name), config)
}

impl LongRunning {
    fn new(polling: Polling, known: LastState, config: Arc<Config>) -> Self {
        let driver = Box::pin(Driver::new(polling, config));
        let (response, metadata) = (MessageType::any(), MessageType::any());
        Self { driver, known, response, metadata, stage: Stage::Polling, ended: None }
    }

    /// The operation with a response and metadata of these types, which implement `Name`. A finished operation returns its
    /// result again, with these types.
    pub fn typed<R: Message + Default + Name, M: Message + Default + Name>(self) -> LongRunning<R, M> {
        self.typed_as(R::full_name(), M::full_name())
    }

    /// The operation with a response and metadata of these types, by the full names of their messages.
    pub fn typed_as<R: Message + Default, M: Message + Default>(
        self,
        response: impl Into<Cow<'static, str>>,
        metadata: impl Into<Cow<'static, str>>,
    ) -> LongRunning<R, M> {
        let Self { driver, known, stage, ended, .. } = self;
        let ended = ended.map(|ended| PollingEnd { is_taken: false, ..ended });
        let (response, metadata) = (MessageType::of(response), MessageType::of(metadata));
        LongRunning { driver, known, response, metadata, stage, ended }
    }
}

impl<R, M> LongRunning<R, M> {
    /// The operation's name, with which it can be resumed in another process; `None` until the first call has replied.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        Some(self.known.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The last metadata; `None` if there is none yet, or if it has another type (read it from [`operation`](Self::operation)
    /// then).
    #[must_use]
    pub fn metadata(&self) -> Option<M> {
        let any = self.operation()?.metadata.as_ref()?;
        self.metadata.read(any).ok()
    }

    gax_text::getters! { self:
        /// Returns whether the server has reported that the operation is done.
        pub is_done: bool = self.known.is_done();

        /// The first call and each poll, a row for each; `None` until polling has ended. Await `&mut handle` to keep the handle.
        pub report: Option<&OperationReport> = self.ended.as_ref().map(|ended| &ended.report);

        /// The operation as its server described it last; `None` until it has.
        pub operation: Option<&Operation> = self.known.operation.as_ref();
    }

    /// Starts the operation and waits for its name; a resumed operation already has it. Store the name to [resume](Self)
    /// the operation after this process has ended.
    ///
    /// # Errors
    ///
    /// The first call failed; awaiting the handle returns the same error. Or the operation is done and the server gave it no name: await
    /// the handle for its result.
    ///
    /// # Cancel safety
    ///
    /// It is cancel safe: the call that starts the operation continues when the handle is polled again.
    pub async fn started(&mut self) -> Result<&str, LongRunningError> {
        while self.known.name.is_empty() && poll_fn(|cx| self.poll_reply(cx)).await.is_some() {}
        let Some(ended) = self.ended.as_ref().filter(|_| self.known.name.is_empty()) else {
            return Ok(&self.known.name);
        };
        if let Err(error @ LongRunningError::NotStarted(_)) = self.result(ended) {
            return Err(error);
        }
        let problem = "the server gave the operation no name: await its result";
        let end = self.end(Some(Status::failed_precondition(problem)), ended.report.clone());
        Err(LongRunningError::NotStarted(end))
    }

    /// The metadata of each reply from now on, until polling ends. Then await the handle for the response.
    ///
    /// Replies without metadata, or with some of another type, are left out. Nothing is lost by polls that no caller waits for:
    /// none are made.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(mut export: gax_client::longrunning::LongRunning<(), i64>) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut progress = export.progress();
    /// while let Some(percent) = progress.next().await {
    ///     println!("{percent} %");
    /// }
    /// let response = export.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn progress(&mut self) -> Progress<'_, R, M> {
        Progress { handle: self }
    }

    /// Asks the server to cancel the operation. Whether it does shows when the operation is done: with the error
    /// `CANCELLED`, or with a response. Nothing is sent for an operation that is known to be done.
    ///
    /// # Errors
    ///
    /// The server's status; or `FAILED_PRECONDITION` if the operation has no name yet ([`started`](Self::started) waits for
    /// it); or `UNIMPLEMENTED` over a closure without [`with_cancel`](crate::longrunning::PollingSettings::with_cancel).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the call; the server may have got it.
    pub async fn cancel(&mut self) -> Result<(), Status> {
        if self.is_done() {
            return Ok(());
        }
        let name = self.known_name()?;
        let call = self.driver.as_mut().protocol().server.cancel(&name, None);
        call.await
    }

    /// Notifies the server that no caller wants the result any longer. An operation that is not done continues, if the server does not
    /// end it; polls may fail with `NOT_FOUND` from then on.
    ///
    /// # Errors
    ///
    /// As [`cancel`](Self::cancel).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the call; the server may have got it.
    pub async fn delete(&mut self) -> Result<(), Status> {
        let name = self.known_name()?;
        let call = self.driver.as_mut().protocol().server.delete(&name);
        call.await
    }

    fn known_name(&self) -> Result<String, Status> {
        let name = self.name().map(str::to_owned);
        name.ok_or_else(|| {
            Status::failed_precondition("the operation has no name yet: wait for it with started()")
        })
    }

    /// Continues until the server has replied, or until polling has ended: `None`.
    fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        loop {
            if self.known.take_news() {
                return Poll::Ready(Some(()));
            }
            match &mut self.stage {
                Stage::Polling => match self.driver.as_mut().poll(cx, &mut self.known) {
                    Poll::Ready(Output::Failed(stop)) => self.ended(Some(stop)),
                    Poll::Ready(Output::Reply | Output::Item) => self.ended(None),
                    Poll::Pending if self.known.is_news => {}
                    Poll::Pending => return Poll::Pending,
                },
                Stage::Cancelling { stop, last } => {
                    let (stop, last) = (*stop, ready!(last.as_mut().poll(cx)));
                    self.stage = Stage::Over;
                    if let Ok(operation) = last {
                        self.known.learn(operation);
                    }
                    self.finish(Some(stop));
                }
                Stage::Over => return Poll::Ready(None),
            }
        }
    }

    /// Polling has ended.
    fn ended(&mut self, stop: Option<Stop>) {
        self.stage = Stage::Over;
        let is_over_time = stop.is_some_and(|stop| is_limit(stop.reason())) && !self.known.name.is_empty();
        if let Some(stop) = stop.filter(|_| is_over_time && self.driver.config().cancels) {
            let name = self.known.name.clone();
            let server = &mut self.driver.as_mut().protocol().server;
            let deadline = Clock::start().at(LAST_CALLS);
            let (cancel, get) = (server.cancel(&name, deadline), server.get(&name, deadline));
            let last = Box::pin(async move {
                // A server that can't cancel may have finished.
                drop(cancel.await);
                get.await
            });
            self.stage = Stage::Cancelling { stop, last };
        } else {
            self.finish(stop);
        }
    }

    /// Nothing else will be known.
    fn finish(&mut self, stop: Option<Stop>) {
        let status = self.driver.as_mut().protocol().failure.take();
        let verdict = self.verdict();
        let report = match stop {
            Some(stop) => self.driver.as_mut().failed(stop),
            None => self.driver.as_mut().finish(verdict),
        };
        let is_over_time = stop.is_some_and(|stop| is_limit(stop.reason()));
        // A poll that ran out of time is no failure.
        let status = status.filter(|status| !is_over_time || status.code() != tonic::Code::DeadlineExceeded);
        self.ended = Some(PollingEnd { is_over_time, status, report, is_taken: false });
    }

    /// The worth of the last reply, of an operation that is done.
    fn verdict(&self) -> Verdict {
        let response = &self.response;
        match self.operation().and_then(|operation| operation.result.as_ref()) {
            Some(operation::Result::Error(error)) => match Code::from_wire(error.code) {
                Code::Ok => Verdict::Failed(Code::Unknown),
                code => Verdict::Failed(code),
            },
            Some(operation::Result::Response(any)) if response.read(any).is_ok() => Verdict::Good,
            None if response.absent().is_some() => Verdict::Good,
            Some(operation::Result::Response(_)) | None => Verdict::Unreadable(Code::Internal),
        }
    }

    /// The result, now that polling has ended.
    fn result(&self, ended: &PollingEnd) -> Result<R, LongRunningError> {
        let end = || self.end(None, ended.report.clone());
        let Some(done) = self.operation().filter(|operation| operation.done) else {
            let end = self.end(ended.status.clone(), ended.report.clone());
            return Err(if self.known.name.is_empty() {
                LongRunningError::NotStarted(end)
            } else if ended.is_over_time {
                LongRunningError::PollingTimedOut(end)
            } else {
                LongRunningError::PollFailed(end)
            });
        };
        match &done.result {
            Some(operation::Result::Error(_)) => Err(LongRunningError::Failed(end())),
            Some(operation::Result::Response(response)) => self
                .response
                .read(response)
                .map_err(|wrong| LongRunningError::UnexpectedResponse(end().with_wrong_type(wrong))),
            None => self.response.absent().ok_or_else(|| LongRunningError::NoResult(end())),
        }
    }

    /// The last that is known, for an error.
    fn end(&self, status: Option<Status>, report: OperationReport) -> LongRunningEnd {
        LongRunningEnd::new(&self.known.name, self.operation(), status, report)
    }
}

impl<R, M> Future for LongRunning<R, M> {
    type Output = Result<R, LongRunningError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        while ready!(this.poll_reply(cx)).is_some() {}
        let Some(mut ended) = this.ended.take() else { return Poll::Pending };
        let result = if std::mem::replace(&mut ended.is_taken, true) {
            Err(LongRunningError::ResultTaken(this.end(None, ended.report.clone())))
        } else {
            this.result(&ended)
        };
        this.ended = Some(ended);
        Poll::Ready(result)
    }
}

gax_text::short_debug! { self: [R, M] LongRunning<R, M> { name: self.name(), is_done: self.is_done() } }

/// The metadata of each reply, until polling ends: see [`LongRunning::progress`].
///
/// # Cancel safety
///
/// Dropping it loses nothing: the handle continues.
#[must_use = "nothing is polled until it is"]
pub struct Progress<'a, R = Any, M = Any> {
    handle: &'a mut LongRunning<R, M>,
}

impl<R, M> Progress<'_, R, M> {
    /// The metadata of the next reply that has some; `None` once polling has ended.
    ///
    /// # Cancel safety
    ///
    /// It is cancel safe.
    pub async fn next(&mut self) -> Option<M> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<R, M> Stream for Progress<'_, R, M> {
    type Item = M;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<M>> {
        while ready!(self.handle.poll_reply(cx)).is_some() {
            if let Some(metadata) = self.handle.metadata() {
                return Poll::Ready(Some(metadata));
            }
        }
        Poll::Ready(None)
    }
}

gax_text::short_debug! { self: [R, M] Progress<'_, R, M> { handle: self.handle } }
