//! How a program is notified of its operations while they run.

#[cfg(feature = "batching")]
mod batch;
#[cfg(feature = "connection")]
mod connection_event;
mod entered;
mod event;
mod in_flight;
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
#[cfg(feature = "connection")]
pub use connection_event::{ConnectionChange, ConnectionEvent, LostReason};
pub(crate) use entered::Entered;
pub use event::Event;
pub use info::{OperationInfo, Transport};
pub(crate) use observed::Observed;
pub use observer::{OperationObserver, OutgoingHeaders};
pub(crate) use observers::Observers;
pub use on_retry::Retry;
pub(crate) use outgoing::{Outbound, Outgoing};
pub use summary::OperationSummary;
pub use transfer::{AttemptTransfer, WireMessage};
pub(crate) use transfer::{MessageCounter, PREFIX};
