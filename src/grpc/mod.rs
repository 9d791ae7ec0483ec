//! Operations over gRPC.

mod call;
pub(crate) mod deadline;
#[cfg(feature = "tables")]
pub(crate) mod layer;
mod methods;
mod protocol;
mod request;
mod response;
#[cfg(feature = "tables")]
mod response_future;
pub(crate) mod resumed;
#[cfg(feature = "tables")]
pub(crate) mod service;
pub(crate) mod status;
mod template;
pub(crate) mod transport;

pub(crate) use call::Call;
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
pub(crate) use resumed::{Connections, Ending, MessageStream, StrategyOf};
pub(crate) use resumed::{
    GrpcConnections, Measured, MeasuringCodec, MessageSource, SharedSource, StreamCall, StreamCodec,
    StreamProtocol,
};
pub(crate) use status::not_sent;
pub(crate) use status::received::value as header;
pub(crate) use status::{CodeExt, Failure};
pub(crate) use template::timeout::{GRPC_TIMEOUT, from_headers as timeout_in};
pub(crate) use template::{
    AttemptTimeout, ExampleRequest, ExtraHeaders, LIKE_EXAMPLE, PREVIOUS_ATTEMPTS, Template,
};
pub(crate) use transport::{OwnService, Transport};
