//! How a program is notified of its operations while they run.

#[cfg(feature = "batching")]
mod batch;
mod connection_event;
mod info;
mod observed;
mod observer;
mod observers;
mod on_retry;
mod outgoing;
mod summary;
mod transfer;

#[cfg(feature = "batching")]
pub use batch::BatchInfo;
pub use connection_event::{ConnectionChange, ConnectionEvent, LostReason};
pub use info::{OperationInfo, Transport};
pub use observed::Observed;
pub use observer::{Event, OperationObserver, OutgoingHeaders};
pub use observers::{Entered, Observers};
pub use on_retry::Retry;
pub use outgoing::{Outbound, Outgoing};
pub use summary::OperationSummary;
pub use transfer::{AttemptTransfer, MessageCounter, PREFIX, WireMessage};
