//! The service that attempts are sent over.

mod handle;
#[cfg(feature = "tables")]
mod lazy_service;
mod passthrough;
mod service;

pub(crate) use handle::{OwnService, ServiceHandle, ready_now};
#[cfg(feature = "tables")]
pub(crate) use lazy_service::{LazyService, SharedParts};
pub(crate) use passthrough::Passthrough;
pub use service::Transport;
pub(crate) use service::is_bare_channel;
