//! The service that attempts are sent over.

mod handle;
mod passthrough;
mod service;

#[cfg(feature = "tables")]
pub(crate) use handle::{LazyService, SharedParts};
pub(crate) use handle::{OwnService, ServiceHandle, ready_now};
pub(crate) use passthrough::Passthrough;
pub use service::Transport;
pub(crate) use service::{is_bare_channel, is_channel};
