//! The service that attempts are sent over.

mod handle;
mod service;

pub(crate) use handle::{LazyService, OwnService, ServiceHandle, ready_now};
pub use service::Transport;
pub(crate) use service::is_bare_channel;
