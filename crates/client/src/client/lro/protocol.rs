//! Attempts that ask for a long-running operation until it is done.

use crate::client::lro::config::Config;
use crate::client::lro::generated::google::longrunning::Operation;
use gax_driver::__private::{Clock, earlier, time_left};
use gax_driver::OperationError;
use gax_driver::observe::Transport;
use gax_driver::protocol::{AttemptContext, Name, Protocol, Start, Step};
use gax_retry::operation::{AttemptResult, Next, RetryFact};
use gax_retry::{Code, NotAttempted, StartedAttempt, StopReason};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic_gax::CodeExt as _;

/// A long-running operation as observers see it, from its first call until it is done: each of its attempts is an operation over
/// gRPC, or of a closure.
pub const LONG_RUNNING: Transport = Transport::new("long-running").with_rpc_names();

/// The longest that the server is asked to wait by one call: well below the RPC timeout of that.
const MAX_SERVER_WAIT: Duration = Duration::from_secs(60);

/// A server that has waited so long may be asked again immediately.
const MIN_SERVER_WAIT: Duration = Duration::from_secs(1);

/// A call on its way. It is an operation with its own retries.
pub(in crate::client) type BoxCall<T> = Pin<Box<dyn Future<Output = Result<T, Status>> + Send>>;

/// Calls the server of a long-running operation by the operation's name. No call outlives its deadline.
pub(in crate::client) trait OperationsServer: Send {
    /// Asks for the operation as it is now.
    fn get(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<Operation>;

    /// Asks for the operation once it is done, or after that time.
    fn wait(&mut self, name: &str, time: Duration, deadline: Option<Instant>) -> BoxCall<Operation>;

    /// Asks the server to stop it.
    fn cancel(&mut self, name: &str, deadline: Option<Instant>) -> BoxCall<()>;

    /// Says that no caller wants its result any longer.
    fn delete(&mut self, name: &str) -> BoxCall<()>;
}

/// The call that starts an operation, by its deadline.
pub(in crate::client) type FirstCall = Box<dyn FnOnce(Option<Instant>) -> BoxCall<Operation> + Send>;

/// An operation as it was when its server spoke of it last.
#[derive(Debug, Default)]
pub(super) struct LastState {
    /// Empty until the first call has replied.
    pub(super) name: String,
    pub(super) operation: Option<Operation>,
    /// `true` if the known state has not been reported yet.
    pub(super) is_news: bool,
}

impl LastState {
    pub(super) fn by_name(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// The server has replied.
    pub(super) fn learn(&mut self, operation: Operation) {
        if self.name.is_empty() {
            self.name.clone_from(&operation.name);
        }
        self.operation = Some(operation);
        self.is_news = true;
    }

    pub(super) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.is_news)
    }

    pub(super) fn is_done(&self) -> bool {
        self.operation.as_ref().is_some_and(|operation| operation.done)
    }
}

/// Starts an operation, or resumes it by its name, and polls.
pub(super) struct Polling {
    pub(super) server: Box<dyn OperationsServer>,
    start: Option<FirstCall>,
    name: String,
    /// The server, or the transport, has no call that waits.
    cannot_wait: bool,
    /// The status of the call that ended the polling.
    pub(super) failure: Option<Status>,
}

impl Polling {
    pub(super) fn starting(server: Box<dyn OperationsServer>, start: FirstCall) -> Self {
        Self { start: Some(start), ..Self::resuming(server, String::new()) }
    }

    pub(super) fn resuming(server: Box<dyn OperationsServer>, name: String) -> Self {
        Self { server, start: None, name, cannot_wait: false, failure: None }
    }

    /// Asks for the operation: as it is now or, from the second time on, when it is done.
    fn ask(&mut self, config: &Config, context: &AttemptContext<'_>) -> PollAttempt {
        let clock = Clock::start();
        let deadline = earlier(context.deadline(), config.poll_timeout.and_then(|time| clock.at(time)));
        let waits = config.waits && !self.cannot_wait && context.number() > 1;
        let call = if waits {
            self.server.wait(&self.name, MAX_SERVER_WAIT, deadline)
        } else {
            self.server.get(&self.name, deadline)
        };
        PollAttempt { call, waits_since: waits.then_some(clock) }
    }

    /// The facts of a reply.
    fn facts(&mut self, operation: &Operation, next: Next) -> AttemptResult {
        if self.name.is_empty() {
            self.name.clone_from(&operation.name);
        }
        if operation.done {
            return AttemptResult::done();
        }
        if self.name.is_empty() {
            self.failure =
                Some(Status::internal("the server started an operation without a name: it can't be polled"));
            let failed = AttemptResult::failed(Code::Internal);
            return failed.with_retry(RetryFact::No(StopReason::NonRetryable));
        }
        AttemptResult::not_done(next).with_progress(next == Next::Now)
    }
}

/// Returns whether a call that failed had no more time than until that deadline: it ends itself there, or with the last attempt before,
/// if there is no time for another one.
fn is_over(status: &Status, clock: Clock, deadline: Instant) -> bool {
    let refused = OperationError::of(status).and_then(|error| error.report().not_attempted());
    let wait = refused.map_or(Duration::ZERO, NotAttempted::delay);
    clock.has_reached(deadline.checked_sub(wait).unwrap_or(deadline))
}

/// A call in flight.
pub(super) struct PollAttempt {
    call: BoxCall<Operation>,
    /// Since when the server waits for the operation's end, if it was asked to.
    waits_since: Option<Clock>,
}

impl Protocol for Polling {
    type Config = Config;
    type Attempt = PollAttempt;
    type Slot = LastState;

    const TRANSPORT: &'static Transport = &LONG_RUNNING;
    const POLLS: bool = true;

    fn name(&self, config: &Config) -> Name {
        config.name.clone()
    }

    fn start<'a>(&'a self, config: &'a Config) -> Start<'a> {
        Start::new(config.observers.as_deref(), &config.seeds).within(time_left())
    }

    fn begin(&mut self, config: &Config, _: StartedAttempt, context: &mut AttemptContext<'_>) -> PollAttempt {
        let Some(start) = self.start.take() else {
            return self.ask(config, context);
        };
        PollAttempt { call: start(context.deadline()), waits_since: None }
    }

    fn poll(
        &mut self,
        config: &Config,
        mut attempt: Pin<&mut PollAttempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        known: &mut LastState,
    ) -> Poll<Step> {
        let mut polled = ready!(attempt.call.as_mut().poll(cx));
        if attempt.waits_since.is_some()
            && polled.as_ref().is_err_and(|status| status.code() == tonic::Code::Unimplemented)
        {
            self.cannot_wait = true;
            attempt.set(self.ask(config, context));
            polled = ready!(attempt.call.as_mut().poll(cx));
        }
        let result = match polled {
            Ok(operation) => {
                let has_waited = attempt.waits_since.is_some_and(|since| since.elapsed() >= MIN_SERVER_WAIT);
                let result = self.facts(&operation, if has_waited { config.after_wait } else { Next::Later });
                known.learn(operation);
                result
            }
            Err(status) => {
                let code = status.code().to_gax();
                self.failure = Some(status);
                let result = AttemptResult::failed(if code == Code::Ok { Code::Unknown } else { code });
                let is_over = context.deadline().is_some_and(|deadline| {
                    self.failure.as_ref().is_some_and(|status| is_over(status, context.clock(), deadline))
                });
                if is_over { result.with_timed_out() } else { result }
            }
        };
        Poll::Ready(Step::Ended(result))
    }

    fn expire(
        &mut self,
        _: &Config,
        _: Option<Pin<&mut PollAttempt>>,
        _: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        AttemptResult::failed(Code::DeadlineExceeded).with_timed_out()
    }
}
