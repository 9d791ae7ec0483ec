//! Operations over gRPC.

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
