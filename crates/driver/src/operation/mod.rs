//! One operation: the driver with its clock and timer, the attempt in flight, and the report.

mod attempts;
#[cfg(feature = "closures")]
mod blocking;
mod clock;
mod connection_link;
mod driver;
mod in_progress;
mod inbound;
mod jitter;
mod observe;
mod protocol;
mod refused_credentials;
mod report;
mod stacked;
#[cfg(test)]
mod tests;
mod timer;

#[cfg(feature = "closures")]
pub(crate) use blocking::run_blocking;
pub use clock::{Clock, earlier, time_of_day, until};
pub use connection_link::{Carrier, ConnectionLink, RetryContext};
pub use driver::Driver;
#[cfg(feature = "closures")]
pub(crate) use in_progress::InProgress;
pub use inbound::{Inbound, RequestEnded, Scope, Serving, inbound_deadline, is_nested_retry, time_left};
#[cfg(test)]
pub(crate) use jitter::Jitter;
pub use jitter::JitterSeeds;
#[cfg(feature = "batching")]
pub use observe::BatchInfo;
pub use observe::{
    AttemptTransfer, Event, OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders, Retry,
    Transport, WireMessage,
};
pub use observe::{ConnectionChange, ConnectionEvent, LostReason};
pub use observe::{Entered, MessageCounter, Observed, Observers, Outbound, Outgoing, PREFIX};
pub use protocol::{AttemptContext, Output, Protocol, Start, Step, Unsendable, Verdict};
pub use refused_credentials::RefusedCredentials;
pub use report::{AttemptDelay, DelayType, Name, Note, OperationError, OperationReport, Peer};
pub use report::{FirstAndLast, broken_off};
#[cfg(feature = "credentials")]
pub(crate) use stacked::uncounted;
pub use timer::Timer;
