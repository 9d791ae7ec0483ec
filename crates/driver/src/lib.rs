#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "closures")]
pub mod closure;
pub mod credentials;
mod follower;
mod live_policies;
mod locked;
pub mod observe;
mod operation;
mod options;
mod panics;
mod replaceable;
mod replay;
mod watch_state;

#[cfg(feature = "closures")]
pub use closure::{error::RetryError, retry::retry, retry::retry_blocking, retryer::Retryer};
pub use gax_retry::{
    Attempt, Code, CodeSet, Compatibility, Environment, Hedging, MethodFacts, MethodPolicies, MethodSettings,
    RetryBudget, RetrySettings, RetrySettingsBuilder, RetryThrottling, SettingsError, StartedAttempt,
    StopReason,
};
pub use live_policies::LivePolicies;
pub use operation::{Note, OperationError, OperationReport};
pub use options::{CallOptions, OperationOptions, RetryBudgets};
pub use replay::ReplayOptions;

/// The parts of a report, besides the [`OperationReport`] and its [`Attempt`]s.
pub mod report {
    pub use crate::operation::{AttemptDelay, DelayType};
    pub use gax_retry::{AttemptKind, Delivery, NotAttempted};
}

/// The request that a server's handler serves: what is done for it is bounded by its deadline, and ends with it.
pub mod inbound {
    pub use crate::operation::{Inbound, RequestEnded, Scope};
}

/// Operations over your own transport: the trait [`Protocol`](protocol::Protocol), and the driver that runs it.
///
/// Use it for a transport that is neither gRPC nor HTTP and for which a [closure](crate::retry) isn't enough. It is a preview and may
/// change in any release before 0.2.0. The guide [lists what a protocol must
/// do](https://tonic-gax.github.io/tonic-gax/closures.html#another-transport).
///
/// # Examples
///
/// An attempt sends a letter to another task and waits for the reply on a channel:
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::borrow::Cow;
/// use std::future::{Future, poll_fn};
/// use std::pin::{Pin, pin};
/// use std::sync::Arc;
/// use std::task::{Context, Poll, ready};
/// use std::time::Duration;
/// use tokio::sync::{mpsc, oneshot};
/// use gax_driver::observe::Transport;
/// use gax_driver::protocol::{AttemptContext, AttemptResult, Driver, Name, OperationConfig, Policy, Protocol, Start, Step};
/// use gax_driver::{Code, OperationOptions, RetrySettings, StartedAttempt};
///
/// type Reply = Result<String, Code>;
///
/// struct Mailbox {
///     letters: mpsc::UnboundedSender<(String, oneshot::Sender<Reply>)>,
///     text: String,
///     failure: Option<Code>,
/// }
///
/// impl Protocol for Mailbox {
///     type Config = OperationConfig;
///     type Attempt = oneshot::Receiver<Reply>;
///     type Slot = Option<String>;
///
///     const TRANSPORT: &'static Transport = &Transport::new("mailbox");
///
///     fn name(&self, _: &OperationConfig) -> Name {
///         Name::from(Cow::Borrowed("mailbox"))
///     }
///
///     fn start<'a>(&'a self, config: &'a OperationConfig) -> Start<'a> {
///         config.start()
///     }
///
///     fn begin(&mut self, _: &OperationConfig, _: StartedAttempt, _: &mut AttemptContext<'_>) -> Self::Attempt {
///         let (reply, attempt) = oneshot::channel();
///         let _gone = self.letters.send((self.text.clone(), reply)); // the attempt fails then
///         attempt
///     }
///
///     fn poll(
///         &mut self,
///         _: &OperationConfig,
///         attempt: Pin<&mut Self::Attempt>,
///         _: &mut AttemptContext<'_>,
///         cx: &mut Context<'_>,
///         slot: &mut Option<String>,
///     ) -> Poll<Step> {
///         let reply = ready!(attempt.poll(cx)).unwrap_or(Err(Code::Unavailable));
///         Poll::Ready(Step::Ended(match reply {
///             Ok(text) => {
///                 *slot = Some(text);
///                 AttemptResult::done()
///             }
///             Err(code) => {
///                 self.failure = Some(code);
///                 AttemptResult::failed(code)
///             }
///         }))
///     }
/// }
///
/// let (letters, mut arriving) = mpsc::unbounded_channel::<(String, oneshot::Sender<Reply>)>();
/// tokio::spawn(async move {
///     for reply in [Err(Code::Unavailable), Ok("hello yourself".to_owned())] {
///         let Some((_text, attempt)) = arriving.recv().await else { return };
///         let _given_up = attempt.send(reply);
///     }
/// });
///
/// let settings = RetrySettings::builder().total_timeout(Duration::from_secs(5)).build()?;
/// let config = OperationOptions::new().config(Policy::new(&settings, [Code::Unavailable]));
/// let mailbox = Mailbox { letters, text: "hello".to_owned(), failure: None };
/// let mut driver = pin!(Driver::new(mailbox, Arc::new(config)));
/// let mut reply = None;
/// let (stop, report) = poll_fn(|cx| driver.as_mut().poll_end(cx, &mut reply)).await;
/// assert_eq!((reply.as_deref(), stop), (Some("hello yourself"), None));
/// assert_eq!(report.attempt_count(), 2);
/// # Ok(())
/// # }
/// ```
pub mod protocol {
    pub use crate::operation::{
        AttemptContext, Driver, Name, Output, Protocol, RefusedCredentials, Start, Step, Unsendable, Verdict,
    };
    pub use crate::options::{MethodConfigs, OperationConfig};
    pub use gax_retry::Policy;
    pub use gax_retry::operation::{
        AttemptResult, CommitPoint, Repetition, Replayable, Resend, RetryFact, Seen, Stop,
    };
}

/// The back-off of other tools and libraries, for closures and HTTP requests.
#[cfg(feature = "strategy")]
pub mod strategy {
    pub use gax_retry::strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
}

/// For the crates of this repository alone: it changes with them, without notice.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "closures")]
    pub use crate::closure::AboveOwnLimit;
    #[cfg(feature = "credentials")]
    pub use crate::credentials::fetched::scope::{NoPlaintext, is_loopback, sent_in_plaintext};
    pub use crate::follower::{CurrentPolicies, Follower};
    pub use crate::locked::Locked;
    pub use crate::operation::{
        Carrier, Clock, ConnectionLink, Entered, FirstAndLast, JitterSeeds, MessageCounter, Observed,
        Observers, Outbound, Outgoing, PREFIX, RetryContext, Serving, Timer, broken_off, earlier,
        inbound_deadline, is_nested_retry, time_left, time_of_day, until,
    };
    pub use crate::options::{PolicyEntries, unused_names};
    #[cfg(feature = "serde")]
    pub use crate::options::{read_override, write_override};
    pub use crate::panics::PanicGuard;
    pub use crate::replaceable::{Loaded, Replaceable};
    pub use crate::replay::{Limit, ReplayMemory, Reserved};
    pub use crate::watch_state::WatchState;
}
