//! The service that attempts are sent over.
#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "for the crates of this repository alone"
)]

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
