//! One operation: the driver with its clock and timer, the attempt in flight, and the report.

mod attempts;
mod blocking;
mod clock;
#[cfg(feature = "connection")]
mod connection_link;
mod driver;
mod in_progress;
mod inbound;
mod jitter;
mod observe;
mod protocol;
mod report;
#[cfg(test)]
mod tests;
mod timer;

pub(crate) use blocking::run_blocking;
pub(crate) use clock::{Clock, earlier, time_of_day, until};
#[cfg(feature = "connection")]
pub(crate) use connection_link::{ConnectionLink, RetryContext};
pub use driver::Driver;
pub(crate) use in_progress::InProgress;
pub use inbound::{Inbound, RequestEnded, Scope};
pub(crate) use inbound::{Serving, inbound_deadline, is_nested_retry, time_left};
#[cfg(test)]
pub(crate) use jitter::Jitter;
pub(crate) use jitter::JitterSeeds;
#[cfg(feature = "batching")]
pub use observe::BatchInfo;
pub use observe::{
    AttemptTransfer, Event, OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders, Retry,
    Transport as ObservedTransport, WireMessage,
};
#[cfg(feature = "connection")]
pub use observe::{ConnectionChange, ConnectionEvent, LostReason};
pub(crate) use observe::{Entered, MessageCounter, Observed, Observers, Outbound, Outgoing, PREFIX};
pub use protocol::{AttemptContext, Output, Protocol, Start, Step, Unsendable, Verdict};
#[cfg(feature = "http")]
pub(crate) use report::FirstAndLast;
pub use report::{AttemptDelay, DelayType, Name, Note, OperationError, OperationReport, Peer};
pub(crate) use timer::Timer;
