//! What a program can be told of its operations while they run.

mod headers;
mod info;
mod installed;
mod observed;
mod observer;
mod observers;
mod on_retry;
mod summary;
mod transfer;

pub use headers::OutgoingHeaders;
pub use info::{OperationInfo, Transport};
pub(crate) use observed::{Observed, Outbound, Outgoing};
pub use observer::OperationObserver;
pub(crate) use observers::Observers;
pub(crate) use on_retry::OnRetry;
pub use on_retry::Retry;
pub use summary::OperationSummary;
pub use transfer::{AttemptTransfer, WireMessage};
pub(crate) use transfer::{MessageCounter, PREFIX};
