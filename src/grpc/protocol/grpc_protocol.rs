//! A call over a gRPC service, between its attempts.

use crate::grpc::request::ReplayableRequest;
use crate::grpc::response::ReadExtent;
use crate::grpc::status::Failure;
use crate::grpc::transport::ServiceHandle;
use gax_driver::observe::Transport;

/// gRPC, as observers see it: a generated client, or tonic's own client over the layer.
pub const GRPC: Transport = Transport::new("grpc").with_wire().with_rpc_names().with_messages();

/// One call on its way to its response.
#[derive(Debug)]
pub struct GrpcProtocol<A, Q> {
    pub handle: A,
    pub request: Q,
    pub extent: ReadExtent,
    /// The failure that the last attempt ended with.
    pub failure: Option<Box<Failure>>,
}

impl<A: ServiceHandle, Q: ReplayableRequest> GrpcProtocol<A, Q> {
    #[inline]
    pub fn new(handle: A, request: Q, extent: ReadExtent) -> Self {
        Self { handle, request, extent, failure: None }
    }

    /// The request, of which another message is to be sent from now on.
    pub fn request_mut(&mut self) -> &mut Q {
        &mut self.request
    }

    /// Returns whether a response may be a stream of messages.
    pub fn may_stream(&self) -> bool {
        self.extent != ReadExtent::Whole
    }
}
