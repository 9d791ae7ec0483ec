//! Operations over gRPC.

mod call;
mod deadline;
#[cfg(feature = "tables")]
mod layer;
mod methods;
mod protocol;
mod request;
mod response;
#[cfg(feature = "tables")]
mod response_future;
mod resumed;
#[cfg(feature = "tables")]
mod service;
mod status;
mod template;
mod transport;

pub(crate) use call::Call;
pub use deadline::{DeadlineBody, DeadlineFuture, DeadlineLayer, DeadlineService};
#[cfg(feature = "tables")]
pub use layer::RetryLayer;
#[cfg(feature = "tables")]
pub use methods::DescriptorError;
pub(crate) use methods::{MethodConfig, MethodMatch, SharedState};
pub use protocol::GRPC;
pub(crate) use protocol::{AttemptParts, Failing, GrpcProtocol, end_status, time_is_up};
pub(crate) use request::{ReplayableRequest, one_frame, shrink, too_large};
pub use response::ResponseBody;
pub(crate) use response::{Canned, RawCodec, ReadExtent, Remainder, now};
#[cfg(feature = "tables")]
pub use response_future::ResponseFuture;
pub use resumed::StreamReport;
pub(crate) use resumed::{Connections, Ending, MessageStream, StrategyOf};
pub(crate) use resumed::{
    GrpcConnections, Measured, MeasuringCodec, MessageSource, SharedSource, StreamCall, StreamCodec,
    StreamProtocol,
};
#[cfg(feature = "tables")]
pub use service::RetryService;
pub use status::CodeExt;
pub(crate) use status::Failure;
pub(crate) use status::not_sent;
pub(crate) use status::received::value as header;
pub(crate) use template::timeout::{GRPC_TIMEOUT, from_headers as timeout_in};
pub(crate) use template::{
    AttemptTimeout, ExampleRequest, ExtraHeaders, LIKE_EXAMPLE, PREVIOUS_ATTEMPTS, Template,
};
pub(crate) use transport::OwnService;
pub use transport::Transport;
