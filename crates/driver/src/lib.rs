#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod closure;
pub mod credentials;
pub mod live;
pub mod observe;
mod operation;
mod options;
mod panics;
mod without_drop;

pub use closure::{RetryError, Retryer, retry, retry_blocking};
pub use gax_retry::{
    Attempt, Code, CodeSet, Compatibility, Environment, Hedging, RetryBudget, RetrySettings,
    RetrySettingsBuilder, SettingsError, StartedAttempt, StopReason,
};
pub use operation::{Note, OperationError, OperationReport};
pub use options::{CallOptions, OperationOptions};

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
/// change in any release before 0.2.0. The guide has a [complete
/// example](https://tonic-gax.github.io/tonic-gax/closures.html#another-transport).
pub mod protocol {
    pub use crate::operation::{
        AttemptContext, Driver, Name, Output, Protocol, Start, Step, Unsendable, Verdict,
    };
    pub use crate::options::OperationConfig;
    pub use gax_retry::Policy;
    pub use gax_retry::operation::{
        AttemptResult, CommitPoint, Repetition, Replayable, Resend, RetryFact, Seen, Stop,
    };
}

/// The back-off of other tools and libraries, for closures and HTTP requests.
pub mod strategy {
    pub use gax_retry::strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
}

/// For the crates of this repository alone: it changes with them, without notice.
#[doc(hidden)]
pub mod __house {
    pub use crate::credentials::scope::{NoPlaintext, is_loopback};
    pub use crate::credentials::used::UsedCredentials;
    pub use crate::live::replaceable::{Loaded, Replaceable};
    #[cfg(feature = "tables")]
    pub use crate::live::unknown_methods::unknown_names;
    #[cfg(feature = "live")]
    pub use crate::live::{follower::CurrentTable, known_methods::KnownMethods};
    pub use crate::operation::{
        Clock, ConnectionLink, Entered, FirstAndLast, JitterSeeds, MessageCounter, Observed, Observers,
        Outbound, Outgoing, PREFIX, RetryContext, Serving, Timer, earlier, inbound_deadline, is_nested_retry,
        time_left, time_of_day, until,
    };
    #[cfg(feature = "serde")]
    pub use crate::options::{read_override, write_override};
    pub use crate::panics::PanicGuard;
    pub use crate::without_drop::put_without_drop;
}
