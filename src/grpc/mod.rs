//! Operations over gRPC. The only module that knows tonic's transport.

mod call;
mod deadline_layer;
mod layer;
mod methods;
mod passthrough;
mod protocol;
mod request;
mod response;
mod response_future;
mod service;
mod status;
mod transport;

pub(crate) use call::Call;
pub use deadline_layer::{DeadlineFuture, DeadlineLayer, DeadlineService};
pub use layer::RetryLayer;
pub use methods::DescriptorError;
pub(crate) use methods::MethodPlan;
pub(crate) use protocol::{GrpcProtocol, Reply};
pub(crate) use request::timeout::{
    GRPC_TIMEOUT, from_headers as timeout_in, set_header as set_timeout, shorter,
};
pub(crate) use request::{ReplayableRequest, grpc_request, path_of, shrink, too_large};
pub use response::ResponseBody;
pub(crate) use response::{PREFIX, ReadExtent, Remainder, ResponseReader};
pub use response_future::ResponseFuture;
pub use service::RetryService;
pub(crate) use status::received::value as header;
pub(crate) use status::unsent;
pub use transport::Transport;
pub(crate) use transport::{OwnService, is_bare_channel};
