//! Operations over gRPC. What is public and not at the root is for the crates of this repository alone.
#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "not for users, except for the modules that warn of them"
)]

pub(crate) mod call;
pub(crate) mod deadline;
pub(crate) mod layer;
pub(crate) mod methods;
pub(crate) mod protocol;
pub(crate) mod request;
pub(crate) mod response;
mod response_future;
pub(crate) mod service;
pub(crate) mod status;
pub mod take_over;
pub(crate) mod template;
pub(crate) mod transport;

pub use protocol::GRPC;
pub use response::ResponseBody;
pub use response_future::ResponseFuture;
