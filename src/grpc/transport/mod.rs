//! The service that attempts are sent over.

mod handle;
mod lazy_service;
mod passthrough;
mod service;

pub(crate) use handle::ready_now;
pub use handle::{OwnService, ServiceHandle};
pub(crate) use lazy_service::{LazyService, SharedParts};
pub(crate) use passthrough::Passthrough;
pub use service::GrpcTransport;
pub(crate) use service::{is_bare_channel, may_have_connections};
